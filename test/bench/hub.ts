/** The hub: deliveries per second, what stored webhooks cost, one event to many, a dead target among good ones. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Pool } from "undici";
import { openDatabase } from "../../src/deliveries/database.ts";
import { SCHEMA } from "../../src/hub/schema.ts";
import { completePayload } from "../../src/protocol/sample.ts";
import { benchFolder } from "./deliveries-measures.ts";
import { median } from "./load.ts";
import { against, type Measure } from "./report.ts";

/** Interleaved, so that a moment in which the machine is slow is slow for both. */
const ROUNDS = 8;
const DELIVERIES = 10_000;
const BATCH = 500;
const AT_ONCE = 32;
const MANY = 100_000;
const HEADERS = { "content-type": "application/json", authorization: "Bearer bench" };

interface Child {
  port: number;
  startMs: number;
  ask(): Promise<{ count: number; rss: number }>;
  stop(): Promise<void>;
}

async function start(server: "hub" | "target", folder = ""): Promise<Child> {
  const child: ChildProcess = fork(new URL(`servers/${server}.ts`, import.meta.url), {
    env: { ...process.env, BENCH_FOLDER: folder },
  });
  const [{ port, startMs }] = (await once(child, "message")) as [{ port: number; startMs: number }];
  return {
    port,
    startMs,
    ask: async () => {
      child.send("");
      const [answer] = await once(child, "message");
      return answer;
    },
    stop: async () => {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    },
  };
}

async function post(port: number, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

const event = (name: string) => ({ event: { scope: "repo.content", action: "update" }, repo: { type: "model", name } });

/** Events in batches until every delivery is recorded, per second. */
async function hubRate(hub: Child, target: Child): Promise<number> {
  const before = (await target.ask()).count;
  const begun = performance.now();
  for (let sent = 0; sent < DELIVERIES; sent += BATCH)
    await post(hub.port, "/api/hub/events", { events: Array.from({ length: BATCH }, (_, n) => event(`me/r${n}`)) });
  await hub.ask();
  const rate = (DELIVERIES / (performance.now() - begun)) * 1000;
  const arrived = (await target.ask()).count - before;
  if (arrived !== DELIVERIES) throw new Error(`${arrived} of ${DELIVERIES} arrived`);
  return rate;
}

/** The same bodies by a loop that stores nothing. */
async function poolRate(target: Child): Promise<number> {
  const pool = new Pool(`http://127.0.0.1:${target.port}`, { connections: AT_ONCE });
  const body = JSON.stringify(completePayload(event("me/r1")));
  const headers = { "content-type": "application/json", "webhook-id": "bench" };
  let left = DELIVERIES;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) await (await pool.request({ path: "/", method: "POST", headers, body })).body.dump();
    }),
  );
  const rate = (DELIVERIES / (performance.now() - begun)) * 1000;
  await pool.close();
  return rate;
}

async function throughput(folder: string): Promise<Measure[]> {
  const [target, hub] = [await start("target"), await start("hub", folder)];
  try {
    const url = `http://127.0.0.1:${target.port}/`;
    await post(hub.port, "/api/settings/webhooks", { url, watched: [{ type: "user", name: "me" }] });
    // Both warm: a loop that has not been compiled yet is half as fast.
    for (let warm = 0; warm < 2; warm++) {
      await poolRate(target);
      await hubRate(hub, target);
    }
    const rounds: { pool: number; hub: number }[] = [];
    for (let round = 0; round < ROUNDS; round++)
      rounds.push({ pool: await poolRate(target), hub: await hubRate(hub, target) });
    const ratio = median(rounds.map(({ hub, pool }) => hub / pool));
    return [
      { name: "bare undici pool, stores nothing", value: median(rounds.map(({ pool }) => pool)), unit: "/s" },
      {
        name: "deliveries, event in to attempt recorded",
        value: median(rounds.map(({ hub }) => hub)),
        unit: "/s",
        ratio,
        of: "bare undici pool",
        goal: "at least 0.35",
        reached: ratio >= 0.35,
      },
    ];
  } finally {
    await hub.stop();
    await target.stop();
  }
}

/** A file with so many webhooks that watch other repos, by SQL: only what they cost is measured. */
function fill(folder: string, count: number): void {
  mkdirSync(folder);
  const file = openDatabase(join(folder, "hub.sqlite"));
  file.migrate("hub", SCHEMA);
  file.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO hub_webhooks
    SELECT printf('%024x', i), 'me', 'http://127.0.0.1:9/', NULL, NULL, '[{"type":"model","name":"other/m' || i || '"}]',
      '["repo","discussion"]', 's', 0, NULL, NULL, 0, NULL, i, i, NULL FROM n`);
  file.close();
}

async function stored(folder: string): Promise<Measure[]> {
  const [few, many] = [join(folder, "few"), join(folder, "many")];
  fill(few, 100);
  fill(many, MANY);
  const small = await start("hub", few);
  const large = await start("hub", many);
  const one = async (hub: Child) => {
    const begun = performance.now();
    for (let n = 0; n < 200; n++) await post(hub.port, "/api/hub/events", event(`me/r${n}`));
    return (performance.now() - begun) / 200;
  };
  try {
    for (const hub of [small, large]) await one(hub);
    const rounds: { few: number; many: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push({ few: await one(small), many: await one(large) });
    const [a, b] = [median(rounds.map(({ few }) => few)), median(rounds.map(({ many }) => many))];
    const added = large.startMs - small.startMs;
    return [
      { name: "publish one event, 100 webhooks stored", value: a, unit: "ms" },
      against({ name: "publish one event, 100,000 webhooks stored", value: b, unit: "ms" }, "100 stored", a, {
        most: 1.3,
      }),
      {
        name: "added to the start by 100,000 webhooks",
        value: added,
        unit: "ms",
        goal: "under 1 s",
        reached: added < 1000,
      },
    ];
  } finally {
    await small.stop();
    await large.stop();
  }
}

const WATCHERS = 10_000;
/** Events until V8 has the memory it wants: it lets the old part of its heap grow before it looks through it again. */
const WARM_EVENTS = 15;

async function fanOut(folder: string): Promise<Measure[]> {
  mkdirSync(folder);
  fill(join(folder, "hub"), WATCHERS);
  const target = await start("target");
  const file = openDatabase(join(folder, "hub", "hub.sqlite"));
  file.exec(
    `UPDATE hub_webhooks SET watched = '[{"type":"user","name":"me"}]', url = 'http://127.0.0.1:${target.port}/'`,
  );
  file.close();
  const hub = await start("hub", join(folder, "hub"));
  try {
    const before = (await hub.ask()).rss;
    const took: number[] = [];
    const resident: number[] = [];
    for (let round = 0; round < 2 * WARM_EVENTS; round++) {
      const begun = performance.now();
      await post(hub.port, "/api/hub/events", event("me/m"));
      took.push(performance.now() - begun);
      resident.push((await hub.ask()).rss);
    }
    const value = median(took);
    // V8 takes what it likes at first. What leaks, or is kept for each delivery, goes on growing.
    const warm = (resident[WARM_EVENTS - 1] ?? Number.NaN) / 1e6;
    const last = { name: "memory after 300,000 deliveries", value: (resident.at(-1) ?? Number.NaN) / 1e6, unit: "MB" };
    return [
      { name: "one event to 10,000 webhooks, stored", value, unit: "ms", goal: "under 1 s", reached: value < 1000 },
      { name: "memory added by the first 150,000 deliveries", value: warm - before / 1e6, unit: "MB" },
      against(last, "after 150,000", warm, { most: 1.1 }),
    ];
  } finally {
    await hub.stop();
    await target.stop();
  }
}

/** One hundred webhooks, and the same with one more at an address where nothing listens. */
async function deadTarget(folder: string): Promise<Measure[]> {
  mkdirSync(folder);
  const target = await start("target");
  const hubs = { good: await start("hub", join(folder, "good")), dead: await start("hub", join(folder, "dead")) };
  try {
    for (const [name, hub] of Object.entries(hubs)) {
      for (let n = 0; n < 100; n++)
        await post(hub.port, "/api/settings/webhooks", {
          url: `http://127.0.0.1:${target.port}/${n}`,
          watched: [{ type: "user", name: "me" }],
        });
      if (name === "dead")
        await post(hub.port, "/api/settings/webhooks", {
          url: "http://127.0.0.1:9/",
          watched: [{ type: "user", name: "me" }],
        });
    }
    const one = async (hub: Child) => {
      const before = (await target.ask()).count;
      const begun = performance.now();
      await post(hub.port, "/api/hub/events", { events: Array.from({ length: 20 }, (_, n) => event(`me/r${n}`)) });
      while ((await target.ask()).count - before < 2_000) await new Promise((resolve) => setTimeout(resolve, 2));
      const took = performance.now() - begun;
      await hub.ask();
      return took;
    };
    for (const hub of Object.values(hubs)) await one(hub);
    const rounds: { good: number; dead: number }[] = [];
    for (let round = 0; round < ROUNDS * 2; round++)
      rounds.push({ good: await one(hubs.good), dead: await one(hubs.dead) });
    const ratios = median(rounds.map(({ good, dead }) => dead / good));
    return [
      { name: "2,000 deliveries to 100 good webhooks", value: median(rounds.map(({ good }) => good)), unit: "ms" },
      {
        name: "the same with a dead one among them",
        value: median(rounds.map(({ dead }) => dead)),
        unit: "ms",
        ratio: ratios,
        of: "without it",
        goal: "at most 1.15",
        reached: ratios <= 1.15,
      },
    ];
  } finally {
    await hubs.good.stop();
    await hubs.dead.stop();
    await target.stop();
  }
}

export async function benchHub(): Promise<Measure[]> {
  const { folder, remove } = benchFolder();
  try {
    return [
      ...(await throughput(join(folder, "throughput"))),
      ...(await stored(folder)),
      ...(await fanOut(join(folder, "fan-out"))),
      ...(await deadTarget(join(folder, "dead-target"))),
    ];
  } finally {
    remove();
  }
}
