/**
 * Does memory stay flat over a million requests? V8 lets its heap grow by a step now and then, so the measure is how
 * much more than a bare server's it grows.
 */
import { type Server, sendLoad, startServer } from "./load.ts";
import type { Measure } from "./report.ts";

const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 1_000_000);

export async function benchMemory(): Promise<Measure[]> {
  const bare = await grown("bare");
  const ours = await grown("hubhook");
  const count = REQUESTS.toLocaleString("en");
  const early = (REQUESTS / 5).toLocaleString("en");
  return [
    { name: `bare node:http, grown from ${early} to ${count} requests`, value: bare, unit: "MB" },
    {
      name: `hubhook, grown from ${early} to ${count} requests`,
      value: ours,
      unit: "MB",
      goal: "at most 10 MB more than bare",
      reached: ours <= Math.max(0, bare) + 10,
    },
  ];
}

/** Megabytes. */
async function grown(name: string): Promise<number> {
  const server = await startServer(name);
  try {
    const early = await residentAfter(server, 0, REQUESTS / 5);
    const late = await residentAfter(server, early.sent, REQUESTS);
    return (late.rss - early.rss) / 1e6;
  } finally {
    await server.stop();
  }
}

async function residentAfter(server: Server, sent: number, requests: number): Promise<{ sent: number; rss: number }> {
  let total = sent;
  while (total < requests) total += (await sendLoad(server.url, 5)).answers;
  return { sent: total, rss: (await server.used()).rss };
}
