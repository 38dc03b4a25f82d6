/** Starts a server as a child process, sends it deliveries from this one, and measures. */
import { type ChildProcess, fork } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import autocannon from "autocannon";
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
  // What octokit's middleware looks for.
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
  const [message] = (await once(child, "message")) as [{ port: number }];
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
      child.kill("SIGKILL");
      await exited;
    },
  };
}

export interface Measured {
  perSecond: number;
  answers: number;
  p50: number;
  p99: number;
}

/** @throws when any answer was not 2xx: a benchmark of refusals measures nothing. */
export async function sendLoad(url: string, seconds: number, headers: Record<string, string> = {}): Promise<Measured> {
  const result = await autocannon({
    url,
    method: "POST",
    headers: { ...HEADERS, ...headers },
    body: PAYLOAD,
    connections: 32,
    duration: seconds,
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refusals, ${result.errors} errors from ${url}`);
  return {
    perSecond: result["2xx"] / result.duration,
    answers: result["2xx"],
    p50: result.latency.p50,
    p99: result.latency.p99,
  };
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
