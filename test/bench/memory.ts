/** Does memory stay flat over a million requests? */
import { type Server, sendLoad, startServer } from "./load.ts";
import type { Measure } from "./report.ts";

const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 1_000_000);

export async function benchMemory(): Promise<Measure[]> {
  const server = await startServer("hubhook");
  try {
    const early = await after(server, REQUESTS / 5);
    const late = await after(server, REQUESTS);
    const grown = (late - early) / 1e6;
    const count = REQUESTS.toLocaleString("en");
    return [
      { name: `memory after ${(REQUESTS / 5).toLocaleString("en")} requests`, value: early / 1e6, unit: "MB" },
      {
        name: `grown from there to ${count} requests`,
        value: grown,
        unit: "MB",
        goal: "under 10 MB",
        reached: grown < 10,
      },
    ];
  } finally {
    await server.stop();
  }
}

const sent = new WeakMap<Server, number>();

async function after(server: Server, requests: number): Promise<number> {
  while ((sent.get(server) ?? 0) < requests) {
    const { answers } = await sendLoad(server.url, 5);
    sent.set(server, (sent.get(server) ?? 0) + answers);
  }
  return (await server.used()).rss;
}
