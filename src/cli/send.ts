/** One POST as the Hub makes it. */
import { randomUUID } from "node:crypto";
import http from "node:http";
import https from "node:https";
import { performance } from "node:perf_hooks";
import { DELIVERY_ID_HEADER, SECRET_HEADER } from "../protocol/headers.ts";

/** The Hub gives up on an answer after this long. */
const TIMEOUT_MS = 30_000;
/** More of an answer than this is not read. */
const MAX_REPLY_BYTES = 1_000_000;

export interface Message {
  url: URL;
  body: string;
  secret: string | null;
  userAgent: string;
}

/** How a delivery went: answered, or not. */
export interface Sent {
  deliveryId: string;
  /** Milliseconds from the start to the end of the answer. */
  ms: number;
  answer: { status: number; statusText: string; location: string | null; text: string; cut: boolean } | null;
  /** Why there was no answer, as Node's code (`ECONNREFUSED`, `TIMEOUT`) and a sentence. */
  trouble: { code: string; message: string } | null;
}

export interface Sender {
  send(message: Message): Promise<Sent>;
  close(): void;
}

/** A sender that keeps its connections open between deliveries, until `close()`. Redirects are not followed. */
export function makeSender({ timeoutMs = TIMEOUT_MS } = {}): Sender {
  const agents = {
    "http:": new http.Agent({ keepAlive: true }),
    "https:": new https.Agent({ keepAlive: true }),
  };
  return {
    async send(message) {
      const deliveryId = randomUUID();
      const start = performance.now();
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const agent = message.url.protocol === "https:" ? agents["https:"] : agents["http:"];
        const response = await post(message, deliveryId, agent, signal);
        const { text, cut } = await readReply(response);
        const answer = {
          status: response.statusCode ?? 0,
          statusText: response.statusMessage ?? "",
          location: response.headers.location ?? null,
          text,
          cut,
        };
        return { deliveryId, ms: performance.now() - start, answer, trouble: null };
      } catch (error) {
        const trouble = signal.aborted
          ? { code: "TIMEOUT", message: `no answer within ${timeoutMs / 1000} s, and the Hub waits no longer` }
          : troubleOf(error as NodeJS.ErrnoException);
        return { deliveryId, ms: performance.now() - start, answer: null, trouble };
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

function post({ url, body, secret, userAgent }: Message, deliveryId: string, agent: http.Agent, signal: AbortSignal) {
  const { request } = url.protocol === "https:" ? https : http;
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "user-agent": userAgent,
    [DELIVERY_ID_HEADER]: deliveryId,
    ...(secret !== null && { [SECRET_HEADER]: secret }),
  };
  return new Promise<http.IncomingMessage>((resolve, reject) => {
    request(url, { method: "POST", headers, agent, signal }, resolve).on("error", reject).end(body);
  });
}

async function readReply(response: http.IncomingMessage): Promise<{ text: string; cut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop ends the connection too.
    if (size > MAX_REPLY_BYTES) break;
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_REPLY_BYTES).toString("utf8");
  return { text, cut: size > MAX_REPLY_BYTES };
}

function troubleOf(error: NodeJS.ErrnoException): { code: string; message: string } {
  const code = error.code ?? error.name;
  const sentences: Record<string, string> = {
    ECONNREFUSED: "nothing listens there",
    ECONNRESET: "the connection was cut before the answer was complete",
    ENOTFOUND: "there is no such host",
    EAI_AGAIN: "the host's name cannot be looked up now",
  };
  return { code, message: sentences[code] ?? error.message };
}
