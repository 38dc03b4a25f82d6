/** One POST to a webhook's url. Anything but a whole 2xx answer is a failure; redirects are not followed. */
import type { Readable } from "node:stream";
import { Agent, type Dispatcher } from "undici";
import type { Clock } from "../deliveries/clock.ts";
import { guardedConnector, type Lookup } from "../http/address-guard.ts";

/** Of an answer so much is kept; the rest is not read. */
const MAX_RESPONSE_BYTES = 20_000;
/** What is kept of an attempt has room for 20,000 characters of JSON, and the text is not all of it. */
const MAX_JSON_CHARACTERS = 19_900;
const KEEP_ALIVE_MS = 30_000;

export interface Message {
  url: string;
  /** A stream only where the test of a receiver wants it cut. */
  body: string | Readable;
  headers: Record<string, string>;
}

/** What came back. `status` is null where no answer came. */
export interface Outcome {
  status: number | null;
  body: string;
  /** A sentence; null for a success. */
  problem: string | null;
  /** Went wrong on purpose, which tells nothing of the target. */
  planned?: boolean;
  /** Seconds, or a moment. */
  retryAfter?: number | Date | undefined;
}

interface SenderOptions {
  timeoutMs: number;
  connectTimeoutMs: number;
  loopback: boolean;
  allow: readonly string[];
  clock: Clock;
  lookup?: Lookup | undefined;
}

export class Sender {
  readonly #agent: Agent;
  readonly #timeoutMs: number;
  readonly #clock: Clock;

  constructor({ timeoutMs, connectTimeoutMs, clock, ...guard }: SenderOptions) {
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#agent = new Agent({
      connect: guardedConnector({ connectTimeoutMs, setting: "HUB_ALLOW_TARGETS", ...guard }),
      // One clock for the whole attempt, below: these two would count on their own.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
    });
  }

  /** Never throws for what the other side does. `close()` ends what still runs. */
  async send({ url, body, headers }: Message): Promise<Outcome> {
    const { origin, pathname, search } = new URL(url);
    const aborter = new AbortController();
    const cancelTimer = this.#clock.setTimer(() => aborter.abort(), this.#timeoutMs);
    let status: number | null = null;
    try {
      const response = await this.#agent.request({
        origin,
        path: pathname + search,
        method: "POST",
        headers,
        body,
        signal: aborter.signal,
      });
      status = response.statusCode;
      const text = await readStart(response.body);
      return { status, body: text, ...verdict(response) };
    } catch (error) {
      const problem = aborter.signal.aborted ? this.#lateness(status) : sentence(error, status);
      return { status, body: "", problem };
    } finally {
      cancelTimer();
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  #lateness(status: number | null): string {
    const seconds = `${this.#timeoutMs / 1000} s`;
    return status === null
      ? `no answer within ${seconds}`
      : `the answer (${status}) was not complete within ${seconds}`;
  }
}

async function readStart(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop ends the connection, and whatever would still come.
    if (size >= MAX_RESPONSE_BYTES) break;
  }
  if (size === 0) return "";
  let text = Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES).toString("utf8");
  while (text.length > MAX_JSON_CHARACTERS / 6 && JSON.stringify(text).length > MAX_JSON_CHARACTERS)
    text = text.slice(0, Math.floor(text.length * 0.9));
  return text;
}

function verdict({ statusCode, headers }: Dispatcher.ResponseData): Pick<Outcome, "problem" | "retryAfter"> {
  if (statusCode >= 200 && statusCode < 300) return { problem: null };
  if (statusCode >= 300 && statusCode < 400) {
    const { location } = headers;
    const whither = typeof location === "string" ? ` to ${location.slice(0, 500)}` : "";
    return {
      problem: `answered ${statusCode}, a redirect${whither}: it is not followed, name the address where it ends`,
    };
  }
  return { problem: `answered ${statusCode}`, retryAfter: retryAfterOf(headers["retry-after"]) };
}

function retryAfterOf(header: string | string[] | undefined): number | Date | undefined {
  if (typeof header !== "string") return undefined;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header);
  const date = new Date(header);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

const SENTENCES: Record<string, string> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was cut before the answer was complete",
  UND_ERR_SOCKET: "the connection was cut before the answer was complete",
  UND_ERR_CONNECT_TIMEOUT: "the target could not be reached in time",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host's name cannot be looked up now",
};

function sentence(thrown: unknown, status: number | null): string {
  const error = thrown as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
  const one = error.errors?.[0] ?? error;
  const text = SENTENCES[one.code ?? ""] ?? `${one.message}${one.code ? ` (${one.code})` : ""}`;
  return status === null ? text : `answered ${status}, but ${text}`;
}
