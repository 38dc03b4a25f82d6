/** Requests per second through an endpoint, against peers that do the same work. */
import { join } from "node:path";
import { benchFolder } from "./deliveries-measures.ts";
import { GITHUB_HEADERS, type LoadOptions, type Measured, median, type Server, sendLoad, startServer } from "./load.ts";
import { against, type Measure } from "./report.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const SECONDS = 1;

/** Every competitor in turn, again and again: what disturbs the machine for a moment disturbs them all alike. */
export async function interleaved(servers: Map<string, Server>, options: LoadOptions = {}) {
  const send = (name: string, { url }: Server, seconds: number) =>
    sendLoad(url, seconds, name === "octokit" ? { ...options, headers: GITHUB_HEADERS } : options);
  for (const [name, server] of servers) await send(name, server, 2);
  const rounds = new Map<string, Measured[]>([...servers.keys()].map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, server] of servers) rounds.get(name)?.push(await send(name, server, SECONDS));
  return rounds;
}

/** The median over the rounds of one server's figure divided by another's in the same round. */
export function ratio(
  rounds: Map<string, Measured[]>,
  name: string,
  of: string,
  figure: (m: Measured) => number,
): number {
  const mine = rounds.get(name) ?? [];
  const theirs = rounds.get(of) ?? [];
  return median(mine.map((measured, round) => figure(measured) / figure(theirs[round] as Measured)));
}

export async function benchReceiver(): Promise<Measure[]> {
  const { folder, remove } = benchFolder();
  const servers = new Map<string, Server>();
  try {
    for (const name of ["bare", "hubhook", "express", "fastify", "hono", "octokit"])
      servers.set(name, await startServer(name));
    servers.set("hubhook, access log", await startServer("hubhook", { BENCH_LOG: join(folder, "access.log") }));
    const rounds = await interleaved(servers);
    const perSecond = (name: string) => median((rounds.get(name) ?? []).map((measured) => measured.perSecond));
    const compare = (name: string, of: string, goal?: { least: number }): Measure => ({
      ...against({ name, value: perSecond(name), unit: "/s" }, of, 1, goal),
      ...share(
        ratio(rounds, name, of, (measured) => measured.perSecond),
        goal,
      ),
    });
    const p99 = ratio(rounds, "hubhook", "bare", (measured) => measured.p99);
    return [
      { name: "bare node:http", value: perSecond("bare"), unit: "/s" },
      compare("hubhook", "bare", { least: 0.7 }),
      compare("hubhook, access log", "bare", { least: 0.45 }),
      compare("hubhook", "fastify", { least: 0.95 }),
      compare("hubhook", "hono", { least: 0.95 }),
      compare("hubhook", "express", { least: 1.8 }),
      compare("hubhook", "octokit"),
      compare("express", "bare"),
      compare("fastify", "bare"),
      compare("hono", "bare"),
      compare("octokit", "bare"),
      {
        name: "hubhook, 99th percentile",
        value: median((rounds.get("hubhook") ?? []).map((measured) => measured.p99)),
        unit: "ms",
        ratio: p99,
        of: "bare",
        goal: "at most 2",
        reached: p99 <= 2,
      },
    ];
  } finally {
    for (const server of servers.values()) await server.stop();
    remove();
  }
}

function share(value: number, goal?: { least: number }) {
  return goal ? { ratio: value, reached: value >= goal.least } : { ratio: value };
}
