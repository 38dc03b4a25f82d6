/** Accepting durably over HTTP, against a server that stores nothing and against two plain ways of storing. */
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { benchFolder, fsyncTimes } from "./deliveries-measures.ts";
import { median, type Server, startServer } from "./load.ts";
import { interleaved, ratio } from "./receiver.ts";
import type { Measure } from "./report.ts";

export async function benchDurable(): Promise<Measure[]> {
  const { folder, remove } = benchFolder();
  // PostgreSQL refuses to run as root, so a user of its own must find the way to its folder.
  chmodSync(folder, 0o755);
  const servers = new Map<string, Server>();
  const folderOf = (name: string) => {
    const path = join(folder, name);
    mkdirSync(path);
    return path;
  };
  try {
    servers.set("bare", await startServer("bare"));
    servers.set("held", await startServer("durable", { BENCH_FOLDER: folderOf("held"), BENCH_HOLD: "1" }));
    servers.set("running", await startServer("durable", { BENCH_FOLDER: folderOf("running") }));
    servers.set("naive", await startServer("naive", { BENCH_FOLDER: folderOf("naive") }));
    servers.set("pg-boss", await startServer("pgboss", { BENCH_FOLDER: folderOf("pgboss") }));
    const rounds = await interleaved(servers, { uniqueIds: true });
    const fsync = fsyncTimes(folder);
    const perSecond = (name: string) => median((rounds.get(name) ?? []).map((measured) => measured.perSecond));
    const compare = (label: string, name: string, of: string, least: number): Measure => {
      const share = ratio(rounds, name, of, (measured) => measured.perSecond);
      return {
        name: label,
        value: perSecond(name),
        unit: "/s",
        ratio: share,
        of,
        goal: `at least ${least}`,
        reached: share >= least,
      };
    };
    const p99 = (name: string) => median((rounds.get(name) ?? []).map((measured) => measured.p99));
    const allowed = p99("bare") + 3 * fsync.p99;
    return [
      { name: "bare node:http, stores nothing", value: perSecond("bare"), unit: "/s" },
      compare("durable accept, dispatcher held", "held", "bare", 0.7),
      compare("durable accept, no-op handlers running", "running", "bare", 0.4),
      compare("durable accept, dispatcher held", "held", "naive", 3),
      compare("durable accept, dispatcher held", "held", "pg-boss", 10),
      { name: "one fsync, 99th percentile", value: fsync.p99, unit: "ms" },
      { name: "bare, 99th percentile", value: p99("bare"), unit: "ms" },
      {
        name: "durable accept, 99th percentile",
        value: p99("held"),
        unit: "ms",
        goal: `at most ${allowed.toFixed(1)} ms (bare's, and three fsyncs')`,
        reached: p99("held") <= allowed,
      },
    ];
  } finally {
    for (const server of servers.values()) await server.stop();
    remove();
  }
}
