/**
 * What the engine of deliveries does by itself, without HTTP: `node test/bench/deliveries.ts`.
 * Every figure that depends on the machine stands beside one measured in the same run.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { openDatabase } from "../../src/deliveries/database.ts";
import { type Deliveries, openDeliveries } from "../../src/deliveries/deliveries.ts";
import { benchFolder, fsyncTimes, percentile, sample } from "./deliveries-measures.ts";
import { type Measure, print } from "./report.ts";

const NEVER = async () => {};
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Deliveries accepted per second by `clients` who each wait for their answer before the next. */
async function acceptRate(inbox: Deliveries, total: number, clients: number): Promise<{ rate: number; p99: number }> {
  const keys = Array.from({ length: total }, () => randomUUID());
  const took: number[] = [];
  let next = 0;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (next < total) {
        const at = next++;
        const from = performance.now();
        await inbox.accept(sample(at, keys[at]));
        took.push(performance.now() - from);
      }
    }),
  );
  return { rate: (total / (performance.now() - begun)) * 1000, p99: percentile(took, 0.99) };
}

/** The plain way: a table, one transaction for each delivery. */
function naiveRate(folder: string, total: number): number {
  const database = new DatabaseSync(join(folder, "naive.sqlite"));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE queue (id INTEGER PRIMARY KEY, receiver TEXT, key TEXT, payload TEXT, state TEXT, UNIQUE (receiver, key))`);
  const insert = database.prepare("INSERT INTO queue (receiver, key, payload, state) VALUES (?, ?, ?, 'pending')");
  const begun = performance.now();
  for (let i = 0; i < total; i++) insert.run("trigger_training", randomUUID(), sample(i).payload);
  const rate = (total / (performance.now() - begun)) * 1000;
  database.close();
  return rate;
}

export async function acceptAndDispatch(folder: string, scale = 1): Promise<Measure[]> {
  const naive = naiveRate(folder, 4_000 * scale);
  const { p50, p99: fsyncP99 } = fsyncTimes(folder);
  const total = 50_000 * scale;
  // As wide on the way out as on the way in: how much shares a commit makes most of the difference.
  const settings = { concurrency: 64 };
  const inbox = openDeliveries({ file: join(folder, "inbox.sqlite"), settings, attempt: NEVER });
  await acceptRate(inbox, total / 10, 64);
  const held = await acceptRate(inbox, total, 64);

  const waiting = inbox.stats().pending;
  const begun = performance.now();
  inbox.start();
  await inbox.idle();
  const dispatch = (waiting / (performance.now() - begun)) * 1000;
  const beside = await acceptRate(inbox, total, 64);
  await inbox.close();
  return [
    { name: "one fsync of 4 kB, median", value: p50, unit: "ms" },
    { name: "one fsync of 4 kB, 99th percentile", value: fsyncP99, unit: "ms" },
    { name: "one transaction a delivery, plain table", value: naive, unit: "/s" },
    goal(
      { name: "accept, 64 at once, dispatcher held", value: held.rate, unit: "/s", of: "one transaction each" },
      naive,
      3,
    ),
    { name: "accept, 99th percentile", value: held.p99, unit: "ms", ratio: held.p99 / fsyncP99, of: "one fsync's p99" },
    goal(
      { name: "dispatch of a full backlog, no-op, 64 at once", value: dispatch, unit: "/s", of: "accept" },
      held.rate,
      0.5,
    ),
    {
      name: "accept with the dispatcher running",
      value: beside.rate,
      unit: "/s",
      ratio: beside.rate / held.rate,
      of: "accept, held",
    },
  ];
}

function goal(measure: Measure, reference: number, least: number): Measure {
  const ratio = measure.value / reference;
  return { ...measure, ratio, goal: `at least ${least}`, reached: ratio >= least };
}

/** As many keys as stand in one row. */
const RUN = 4_096;

/** Fills a file with finished deliveries, by SQL: only the opening is measured. */
function fill(file: string, rows: number): void {
  const inbox = openDatabase(file);
  inbox.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO deliveries (id, receiver, key, scope, action, repo, state, attempts, tries, created, finished, content, bytes)
    SELECT i * 1024, 1 + i % 3, 'key-' || i, 'repo.content', 'update', 'dataset:me/texts', 1, 1, 1, i, i, i * 1024, 600 FROM n;
    INSERT INTO deliveries_content SELECT id, 1, NULL, printf('%0600d', id) FROM deliveries;
    INSERT INTO deliveries_attempts SELECT id, 1, created, 5, 'succeeded', NULL, NULL, NULL FROM deliveries;
    INSERT INTO deliveries_receivers VALUES (1, 'a'), (2, 'b'), (3, 'c');
    UPDATE deliveries_tally SET succeeded = ${rows}, last_id = ${rows} * 1024, seen_to = ${rows} * 1024, keys_to = ${rows} * 1024;
  `);
  const insert = inbox.prepare("INSERT INTO deliveries_keys VALUES (?, ?, ?)");
  for (let from = 0; from < rows; from += RUN) {
    const length = Math.min(RUN, rows - from);
    const hashes = Uint32Array.from({ length }, () => Math.random() * 2 ** 32);
    const ids = Float64Array.from({ length }, (_, at) => (from + at + 1) * 1024);
    insert.run((from + length) * 1024, new Uint8Array(hashes.buffer), new Uint8Array(ids.buffer));
  }
  inbox.close();
}

export async function openLarge(folder: string, rows = 1_000_000): Promise<Measure[]> {
  const open = async (name: string) => {
    const begun = performance.now();
    const inbox = openDeliveries({ file: join(folder, name), attempt: NEVER });
    inbox.start();
    await inbox.idle();
    inbox.stats();
    const took = performance.now() - begun;
    const listing = performance.now();
    await inbox.list();
    const listed = performance.now() - listing;
    await inbox.close();
    return { took, listed };
  };
  for (const name of ["empty.sqlite", "large.sqlite"]) await open(name);
  fill(join(folder, "large.sqlite"), rows);
  const empty = percentile(
    [await open("empty.sqlite"), await open("empty.sqlite")].map(({ took }) => took),
    0.5,
  );
  const large = await open("large.sqlite");
  const added = large.took - empty;
  const of = `${rows.toLocaleString("en")} past deliveries`;
  return [
    { name: "open an empty file", value: empty, unit: "ms" },
    { name: `added by ${of}`, value: added, unit: "ms", goal: "under 100 ms", reached: added < 100 },
    { name: `first page of a list of ${of}`, value: large.listed, unit: "ms" },
  ];
}

export async function bulkReplay(folder: string, total = 100_000): Promise<Measure[]> {
  const file = join(folder, "replay.sqlite");
  await openDeliveries({ file, attempt: NEVER }).close();
  fill(file, total);
  const inbox = openDeliveries({ file, attempt: NEVER });
  // A process that has done some work: what is asked is whether memory grows with the number that is replayed.
  inbox.start();
  await acceptRate(inbox, total / 5, 64);
  await inbox.idle();
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 5);
  const begun = performance.now();
  await inbox.replayMany({ state: "succeeded" });
  const replayed = performance.now() - begun;
  await inbox.idle();
  await turn();
  clearInterval(watch);
  await inbox.close();
  const grown = (most - before) / 1e6;
  return [
    { name: `replay of ${total.toLocaleString("en")} in bulk, taken`, value: (total / replayed) * 1000, unit: "/s" },
    { name: "memory grown meanwhile", value: grown, unit: "MB", goal: "under 100 MB", reached: grown < 100 },
  ];
}

/** All of it, each part in a folder of its own; first the one that watches memory, while the process has used little. */
export async function benchDeliveries(): Promise<Measure[]> {
  const measures: Measure[] = [];
  for (const part of [bulkReplay, acceptAndDispatch, openLarge]) {
    const { folder, remove } = benchFolder();
    try {
      measures.push(...(await part(folder)));
    } finally {
      remove();
    }
  }
  return measures;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) print("deliveries", await benchDeliveries());
