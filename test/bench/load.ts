/** Starts a server as a child process, sends it deliveries from this one, and measures. */
import { type ChildProcess, fork } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { SECRET } from "./servers/work.ts";

const PAYLOAD = JSON.stringify({
  event: { action: "update", scope: "repo.content" },
  repo: {
    type: "dataset",
    name: "me/data",
    id: "6366c000a2abcdf2fd69a080",
    private: false,
    url: { web: "https://huggingface.co/datasets/me/data", api: "https://huggingface.co/api/datasets/me/data" },
    headSha: "c379e821c9c95d613899e8c4343e4bfee2b0c600",
    tags: ["license:apache-2.0"],
    owner: { id: "61d2000c3c2083e1c08af22d" },
  },
  updatedRefs: [
    {
      ref: "refs/heads/main",
      oldSha: "ce9a4674fa833a68d5a73ec355f0ea95eedd60b7",
      newSha: "575db8b7a51b6f85eb06eee540738584589f131c",
    },
  ],
  webhook: { id: "6390e855e30d9209411de93b", version: 3 },
});

const HEADERS = {
  "content-type": "application/json",
  "x-webhook-secret": SECRET,
  "webhook-id": "bench",
};

/** What octokit's middleware looks for: to those who ask for it, for the Hub sends no such thing. */
export const GITHUB_HEADERS = {
  "x-github-event": "push",
  "x-github-delivery": "bench",
  "x-hub-signature-256": `sha256=${createHmac("sha256", SECRET).update(PAYLOAD).digest("hex")}`,
};

export interface Server {
  url: string;
  process: ChildProcess;
  /** CPU time in microseconds and resident memory in bytes, so far. */
  used(): Promise<{ cpu: number; rss: number }>;
  stop(): Promise<void>;
}

export async function startServer(name: string, env: Record<string, string> = {}): Promise<Server> {
  const file = new URL(`./servers/${name}.ts`, import.meta.url);
  const child = fork(file, { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const died = once(child, "exit").then(([code]) =>
    Promise.reject(new Error(`${name} ended with ${code} before it listened`)),
  );
  const [message] = (await Promise.race([once(child, "message"), died])) as [{ port: number }];
  died.catch(() => {});
  return {
    url: `http://127.0.0.1:${message.port}/webhooks/bench`,
    process: child,
    used: async () => {
      const answer = once(child, "message");
      child.send("used");
      const [used] = (await answer) as [{ cpu: number; rss: number }];
      return used;
    },
    stop: async () => {
      const exited = once(child, "exit");
      child.kill();
      const patience = setTimeout(() => child.kill("SIGKILL"), 5000);
      await exited;
      clearTimeout(patience);
    },
  };
}

export interface Measured {
  perSecond: number;
  answers: number;
  p50: number;
  p99: number;
}

const CONNECTIONS = 64;
const ID_LENGTH = 16;

export interface LoadOptions {
  /** A `Webhook-Id` of its own for each delivery, or a durable receiver would take it for a repetition. */
  uniqueIds?: boolean;
  /** Beside those of the Hub. */
  headers?: Record<string, string>;
}

let deliveries = Date.now();

/**
 * Posts over some connections, each time as soon as the answer is there. The bytes are made once and only the id in
 * them is changed: the machine has few cores, and what the sender takes of them the server lacks.
 * @throws when any answer was not 2xx: a benchmark of refusals measures nothing.
 */
export async function sendLoad(url: string, seconds: number, options: LoadOptions = {}): Promise<Measured> {
  const took: number[] = [];
  const begun = performance.now();
  const until = begun + seconds * 1000;
  await Promise.all(Array.from({ length: CONNECTIONS }, () => sendUntil(new URL(url), until, took, options)));
  const elapsed = (performance.now() - begun) / 1000;
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.floor(took.length * share)] ?? Number.NaN;
  return { perSecond: took.length / elapsed, answers: took.length, p50: at(0.5), p99: at(0.99) };
}

function sendUntil(
  url: URL,
  until: number,
  took: number[],
  { uniqueIds = false, headers = {} }: LoadOptions,
): Promise<void> {
  const { bytes, idAt } = requestBytes(url, headers);
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(Number(url.port), url.hostname);
    let sentAt = 0;
    const send = () => {
      if (uniqueIds) bytes.write(String(++deliveries).padStart(ID_LENGTH, "0"), idAt, "latin1");
      sentAt = performance.now();
      // A copy: the socket may still hold the bytes when the next id is written.
      socket.write(uniqueIds ? Buffer.from(bytes) : bytes);
    };
    socket.setNoDelay(true);
    socket.on("connect", send);
    socket.on("data", (answer) => {
      // "HTTP/1.1 2..": an answer of ours and of the peers is small enough to arrive in one piece.
      if (answer[9] !== 0x32) return reject(new Error(`${url} answered ${answer.toString("latin1", 9, 200)}`));
      const now = performance.now();
      took.push(now - sentAt);
      if (now < until) send();
      else socket.end();
    });
    socket.on("close", () => resolve());
    socket.on("error", reject);
  });
}

function requestBytes({ host, pathname }: URL, more: Record<string, string>): { bytes: Buffer; idAt: number } {
  const headers = {
    host,
    ...HEADERS,
    ...more,
    "webhook-id": "#".repeat(ID_LENGTH),
    "content-length": Buffer.byteLength(PAYLOAD),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const bytes = Buffer.from(`POST ${pathname} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${PAYLOAD}`);
  return { bytes, idAt: bytes.indexOf("#".repeat(ID_LENGTH)) };
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
