/** From the start of the process to its first answer, and what it holds in memory while it waits. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "./load.ts";
import { against, type Measure } from "./report.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TIMES = 15;

export async function benchStart(): Promise<Measure[]> {
  const bareCode = 'require("node:http").createServer((q, s) => s.end("ok")).listen(process.env.PORT, "127.0.0.1")';
  const bare: Started[] = [];
  const ours: Started[] = [];
  for (let time = -1; time < TIMES; time++) {
    const one = await start(["-e", bareCode]);
    const other = await start(["--import", "./src/preflight.js", "src/index.ts"]);
    // The first of each fills the caches.
    if (time < 0) continue;
    bare.push(one);
    ours.push(other);
  }
  const ms = (all: Started[]) => median(all.map((started) => started.ms));
  const rss = (all: Started[]) => median(all.map((started) => started.rss));
  return [
    { name: "bare node:http, start to first answer", value: ms(bare), unit: "ms" },
    against({ name: "hubhook, start to first answer", value: ms(ours), unit: "ms" }, "bare", ms(bare), { most: 3.5 }),
    { name: "bare node:http, memory while idle", value: rss(bare), unit: "MB" },
    against({ name: "hubhook, memory while idle", value: rss(ours), unit: "MB" }, "bare", rss(bare), { most: 1.9 }),
  ];
}

interface Started {
  ms: number;
  rss: number;
}

async function start(args: string[]): Promise<Started> {
  const port = await freePort();
  const env = {
    ...process.env,
    PORT: String(port),
    WEBHOOK_SECRET: "bench-secret",
    NODE_COMPILE_CACHE: join(tmpdir(), "hubhook-bench-cache"),
  };
  const begun = performance.now();
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: "ignore" });
  try {
    while (!(await answers(port))) if (performance.now() - begun > 20_000) throw new Error("it did not start");
    const ms = performance.now() - begun;
    // Long enough for what a start leaves to be done later.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
    return { ms, rss: Number(resident) / 1000 };
  } finally {
    const exited = once(child, "exit");
    child.kill();
    await exited;
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ port, host: "127.0.0.1", path: "/health", agent: false }, (response) => {
      response.resume();
      resolve(true);
    }).on("error", () => setTimeout(resolve, 1, false));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
