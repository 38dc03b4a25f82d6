import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { openDatabase } from "../../src/deliveries/database.ts";
import { type Deliveries, openDeliveries } from "../../src/deliveries/deliveries.ts";
import { HttpError } from "../../src/errors.ts";
import { onCleanup } from "../support/cleanup.ts";
import { delivery, gate, openTest, temporaryFolder, until } from "../support/deliveries.ts";

const DAY = 24 * 3_600_000;

async function ids(inbox: Deliveries, filter = {}): Promise<string[]> {
  return (await inbox.list(filter, { limit: 1000 })).deliveries.map(({ id }) => id);
}

describe("lists", () => {
  async function filled() {
    const test = openTest({
      attempt: ({ payload }) => {
        if (payload === "bad") throw new Error("bad");
      },
      settings: { scheduleMs: [DAY] },
    });
    const { inbox, clock } = test;
    const made: Record<string, string> = {};
    const take = async (name: string, payload: string, changed = {}) => {
      made[name] = (await inbox.accept(delivery(payload, changed))).id;
      await inbox.idle();
      clock.advance(1_000);
    };
    await take("old", "good");
    await take("bad", "bad", { receiver: "other" });
    await take("comment", "good", { scope: "discussion.comment", action: "create", repo: "model:me/m" });
    inbox.hold();
    await take("waiting", "good");
    return { ...test, made };
  }

  it("show the newest first and filter by receiver, state, time, scope, action and repo", async () => {
    const { inbox, made } = await filled();
    const since = new Date(Date.UTC(2026, 5, 1) + 1_000);
    const until = new Date(Date.UTC(2026, 5, 1) + 2_000);
    expect(await ids(inbox)).toEqual([made.waiting, made.comment, made.bad, made.old]);
    expect(await ids(inbox, { receiver: "train" })).toEqual([made.waiting, made.comment, made.old]);
    expect(await ids(inbox, { receiver: "unheard of" })).toEqual([]);
    expect(await ids(inbox, { state: "pending" })).toEqual([made.waiting, made.bad]);
    expect(await ids(inbox, { state: "pending", receiver: "other" })).toEqual([made.bad]);
    expect(await ids(inbox, { state: "succeeded" })).toEqual([made.comment, made.old]);
    expect(await ids(inbox, { state: "succeeded", receiver: "train" })).toEqual([made.comment, made.old]);
    expect(await ids(inbox, { state: "running" })).toEqual([]);
    expect(await ids(inbox, { since })).toEqual([made.waiting, made.comment, made.bad]);
    expect(await ids(inbox, { since, until })).toEqual([made.bad]);
    expect(await ids(inbox, { until, receiver: "train" })).toEqual([made.old]);
    expect(await ids(inbox, { scope: "discussion.comment", action: "create", repo: "model:me/m" })).toEqual([
      made.comment,
    ]);
  });

  it("tell what runs from what waits, be it the first attempt or a later one", async () => {
    const running = gate();
    const { inbox, clock } = openTest({
      settings: { concurrency: 2, scheduleMs: [1_000] },
      attempt: ({ payload, attempt }) => {
        if (payload === "later" && attempt === 1) throw new Error("not yet");
        return running.promise;
      },
    });
    const later = (await inbox.accept(delivery("later"))).id;
    await until(() => inbox.get(later)?.state === "pending");
    clock.advance(1_000);
    const first = (await inbox.accept(delivery("first", { receiver: "other" }))).id;
    const waiting = (await inbox.accept(delivery("waiting"))).id;
    await until(() => inbox.stats().running === 2);
    expect(await ids(inbox, { state: "running" })).toEqual([first, later]);
    expect(await ids(inbox, { state: "running", receiver: "other" })).toEqual([first]);
    expect(await ids(inbox, { state: "pending" })).toEqual([waiting]);
    for (const state of ["running", "pending"] as const)
      for (const receiver of ["train", "other"])
        expect(await inbox.count({ state, receiver })).toBe((await ids(inbox, { state, receiver })).length);
    expect(inbox.get(first)).toMatchObject({ state: "running", attempts: 1, nextAttemptAt: undefined });
    expect(inbox.get(later)).toMatchObject({ state: "running", attempts: 2, nextAttemptAt: undefined });
    running.open();
    await inbox.idle();
    expect(await inbox.count({ state: "succeeded" })).toBe(3);
  });

  it("count the same as they show", async () => {
    const { inbox } = await filled();
    for (const filter of [
      {},
      { state: "pending" },
      { receiver: "train" },
      { state: "succeeded", scope: "repo.content" },
    ] as const)
      expect(await inbox.count(filter)).toBe((await ids(inbox, filter)).length);
  });

  it("go on page by page while deliveries arrive", async () => {
    const { inbox } = openTest({ held: true });
    const all: string[] = [];
    for (let i = 0; i < 25; i++) all.unshift((await inbox.accept(delivery(`${i}`))).id);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await inbox.list({ state: "pending" }, { limit: 10, cursor });
      seen.push(...page.deliveries.map(({ id }) => id));
      cursor = page.next;
      await inbox.accept(delivery("newer"));
    } while (cursor);
    expect(seen).toEqual(all);
    await expect(inbox.list({}, { cursor: "no cursor" })).rejects.toMatchObject({
      status: 400,
      code: "cursor_invalid",
    });
  });
});

describe("replaying", () => {
  it("runs a delivery again as a new one that names the old one", async () => {
    const { inbox, ran } = openTest();
    const { id } = await inbox.accept(delivery("a", { key: "k", headers: { a: "b" } }));
    await inbox.idle();
    const replay = await inbox.replay(id);
    await inbox.idle();
    expect(replay.replayOf).toBe(id);
    expect(inbox.get(replay.id)).toMatchObject({ replayOf: id, state: "succeeded", payload: "a", headers: { a: "b" } });
    expect(inbox.get(replay.id)?.key).toBeUndefined();
    expect(ran).toEqual(["a#1", "a#1"]);
    expect(await inbox.accept(delivery("a", { key: "k" }))).toEqual({ id, outcome: "duplicate" });
    await expect(inbox.replay("0000000000v")).rejects.toMatchObject({ status: 404, code: "delivery_unknown" });
  });

  it("in bulk counts first, and takes each that matched once though replays match too", async () => {
    let broken = true;
    const { inbox, ran } = openTest({
      settings: { scheduleMs: [] },
      attempt: ({ payload }) => {
        if (broken && payload.startsWith("bad")) throw new Error("broken");
      },
    });
    const accepted = Array.from({ length: 2_000 }, (_, i) => inbox.accept(delivery(`${i % 2 ? "bad" : "good"}-${i}`)));
    await Promise.all(accepted);
    await inbox.idle();
    expect(await inbox.replayMany({ state: "failed" }, { dryRun: true })).toEqual({ count: 1_000, replayed: 0 });
    expect(inbox.stats().failed).toBe(1_000);
    expect(await inbox.replayMany({ state: "failed" })).toEqual({ count: 1_000, replayed: 1_000 });
    await inbox.idle();
    expect(inbox.stats().failed).toBe(2_000);
    broken = false;
    expect(await inbox.replayMany({ state: "failed", receiver: "train" })).toEqual({ count: 2_000, replayed: 2_000 });
    await inbox.idle();
    expect(inbox.stats()).toMatchObject({ succeeded: 3_000, failed: 2_000, pending: 0 });
    expect(ran).toHaveLength(5_000);
  });

  it("stops with 503 when the backlog is full, keeping what it had taken", async () => {
    const test = openTest({ settings: { backlog: { count: 10, bytes: 1e6 } } });
    for (let i = 0; i < 20; i++) {
      await test.inbox.accept(delivery(`${i}`));
      await test.inbox.idle();
    }
    test.inbox.hold();
    await expect(test.inbox.replayMany({})).rejects.toMatchObject({ code: "backlog_full" });
    expect(test.inbox.stats().pending).toBeLessThanOrEqual(10);
  });
});

describe("cancelling", () => {
  it("ends what is pending, lets what runs end its attempt and makes no other", async () => {
    const [begun, end] = [gate(), gate()];
    const { inbox, ran, clock } = openTest({
      settings: { concurrency: 1 },
      attempt: () => {
        begun.open();
        return end.promise;
      },
    });
    const running = await inbox.accept(delivery("a", { receiver: "w1" }));
    await begun.promise;
    const pending = await inbox.accept(delivery("b", { receiver: "w1" }));
    const other = await inbox.accept(delivery("c", { receiver: "w2" }));
    expect(await inbox.cancel({ receiver: "w1" })).toBe(1);
    expect(inbox.get(pending.id)?.state).toBe("cancelled");
    end.fail(new Error("no"));
    await inbox.idle();
    expect(inbox.get(running.id)).toMatchObject({ state: "cancelled", attempts: 1, error: "no" });
    clock.advance(DAY);
    await inbox.idle();
    expect(ran.filter((run) => run.startsWith("b"))).toEqual([]);
    expect(inbox.get(other.id)?.attempts).toBeGreaterThan(0);
    expect(inbox.stats().cancelled).toBe(2);
  });
});

describe("subscribers", () => {
  it("hear every change, and one that throws disturbs nobody", async () => {
    const { inbox, problems } = openTest({
      settings: { scheduleMs: [0] },
      attempt: ({ attempt }) => {
        if (attempt === 1) throw new Error("once");
      },
    });
    const heard: string[] = [];
    inbox.subscribe(() => {
      throw new Error("a bad listener");
    });
    const stop = inbox.subscribe(({ state, attempts }) => heard.push(`${state} ${attempts}`));
    await inbox.accept(delivery("a"));
    await inbox.idle();
    expect(heard).toEqual(["pending 0", "running 1", "pending 1", "running 2", "succeeded 2"]);
    expect(problems).toContain("a listener to deliveries threw: a bad listener");
    stop();
    await inbox.accept(delivery("b"));
    await inbox.idle();
    expect(heard).toHaveLength(5);
  });
});

describe("stats", () => {
  it("tell how far the schedule is behind", async () => {
    const test = openTest({ held: true });
    expect(test.inbox.stats().behindSince).toBeUndefined();
    await test.inbox.accept(delivery("a"));
    test.clock.advance(5_000);
    expect(test.inbox.stats()).toMatchObject({
      pending: 1,
      backlogBytes: 1,
      behindSince: new Date(test.clock.now() - 5_000),
    });
    expect(test.inbox.stats().bytesOnDisk).toBeGreaterThan(4_096);
  });
});

describe("retention", () => {
  it("removes what is finished and old with its key and its attempts, and keeps what is pending", async () => {
    const test = openTest({ settings: { retention: { ageMs: DAY, count: 1e6 } } });
    const { inbox, clock } = test;
    const { id } = await inbox.accept(delivery("a".repeat(1000), { key: "k" }));
    await inbox.idle();
    inbox.hold();
    await inbox.accept(delivery("waits"));
    clock.advance(2 * DAY);
    expect(inbox.get(id)).toBeUndefined();
    expect(inbox.stats()).toMatchObject({ succeeded: 0, pending: 1 });
    expect(await inbox.accept(delivery("a", { key: "k" }))).toMatchObject({ outcome: "accepted" });
  });

  it("keeps the newest, however many come, and gives the space back", async () => {
    const test = openTest({ settings: { retention: { ageMs: 365 * DAY, count: 100 } } });
    const { inbox, clock } = test;
    const made = await Promise.all(
      Array.from({ length: 3_000 }, (_, i) => inbox.accept(delivery("x".repeat(2_000), { key: `${i}` }))),
    );
    await inbox.idle();
    const before = inbox.stats().bytesOnDisk;
    const keys = (inbox: Deliveries) =>
      Promise.all(Array.from({ length: 3_000 }, (_, i) => inbox.accept(delivery("y", { key: `${i}` }))));
    clock.advance(10 * 60_000);
    expect(await ids(inbox)).toEqual(
      made
        .slice(-100)
        .map(({ id }) => id)
        .reverse(),
    );
    await test.reopen();
    expect(test.inbox.stats().bytesOnDisk).toBeLessThan(before / 4);
    test.inbox.hold();
    const outcomes = (await keys(test.inbox)).map(({ outcome }) => outcome);
    expect(outcomes.indexOf("duplicate")).toBe(2_900);
    expect(outcomes.lastIndexOf("accepted")).toBe(2_899);
  });

  it("keeps a payload as long as a replay carries it", async () => {
    const test = openTest({ settings: { retention: { ageMs: DAY, count: 1 } } });
    const { inbox, clock } = test;
    const { id } = await inbox.accept(delivery("shared"));
    await inbox.idle();
    const replay = await inbox.replay(id);
    await inbox.idle();
    clock.advance(60_000);
    expect(inbox.get(id)).toBeUndefined();
    expect(inbox.get(replay.id)).toMatchObject({ payload: "shared", replayOf: id });
  });
});

describe("one owner's other tables in the same file", () => {
  function outbox() {
    const database = openDatabase(join(temporaryFolder(), "hub.sqlite"));
    database.migrate("hub", ["CREATE TABLE events (id INTEGER PRIMARY KEY, name TEXT UNIQUE) STRICT"]);
    const test = openTest({ database, held: true });
    const event = (name: string) => database.prepare("INSERT INTO events (name) VALUES (?)").run(name);
    const events = () =>
      database
        .prepare("SELECT name FROM events")
        .all()
        .map(({ name }) => name);
    return { ...test, database, event, events };
  }

  it("are written in one transaction with the deliveries, or not at all", async () => {
    const { inbox, event, events } = outbox();
    const fanOut = ["w1", "w2", "w3"].map((receiver) => delivery("p", { receiver }));
    const [stored, twice, full] = await Promise.allSettled([
      inbox.acceptAll(fanOut, () => event("first")),
      inbox.acceptAll(fanOut, () => {
        event("second");
        event("first");
      }),
      inbox.acceptAll(
        () => {
          throw new HttpError(422, "no such repo");
        },
        () => event("third"),
      ),
    ]);
    expect(stored).toMatchObject({ status: "fulfilled", value: [{}, {}, {}] });
    expect(twice).toMatchObject({ status: "rejected", reason: { message: expect.stringContaining("UNIQUE") } });
    expect(full).toMatchObject({ status: "rejected", reason: { status: 422 } });
    expect(events()).toEqual(["first"]);
    expect(inbox.stats().pending).toBe(3);
    expect(inbox.health()).toEqual({ ok: true });
  });

  it("take nothing of a batch that is too large for the backlog", async () => {
    const database = openDatabase(join(temporaryFolder(), "hub.sqlite"));
    const { inbox } = openTest({ database, held: true, settings: { backlog: { count: 5, bytes: 1e6 } } });
    await inbox.acceptAll([delivery("a"), delivery("b")]);
    await expect(inbox.acceptAll(Array.from({ length: 4 }, () => delivery("c")))).rejects.toMatchObject({
      code: "backlog_full",
    });
    expect(await inbox.count()).toBe(2);
  });

  it("share one copy of a payload among the deliveries of an event", async () => {
    const { inbox, database } = outbox();
    const payload = "p".repeat(10_000);
    const headers = { a: "b" };
    const accepted = await inbox.acceptAll(
      Array.from({ length: 1_000 }, (_, i) => delivery(payload, { receiver: `w${i}`, headers })),
    );
    expect(database.prepare("SELECT count(*) n FROM deliveries_content").get()).toEqual({ n: 1 });
    expect(inbox.stats().backlogBytes).toBe(10_000);
    expect(inbox.get(accepted[999]?.id ?? "")).toMatchObject({ payload, headers, receiver: "w999" });
  });

  it("stay open when the deliveries are closed", async () => {
    const { inbox, database, events } = outbox();
    await inbox.close();
    expect(events()).toEqual([]);
    database.close();
  });
});

describe("opening", () => {
  it("refuses a folder that is in use, also by the same process, and says what to do", () => {
    const { file } = openTest();
    const again = () => openDeliveries({ file, attempt: () => undefined });
    expect(again).toThrow(`the folder ${dirname(file)} is in use`);
    expect(again).toThrow("stop the other hubhook first, or give this one a folder of its own with DATA_DIR");
  });

  it("refuses a file that a newer version wrote", async () => {
    const test = openTest();
    await test.inbox.close();
    const database = openDatabase(test.file);
    database.exec("UPDATE schema_versions SET version = 99");
    database.close();
    await expect(test.reopen()).rejects.toThrow(/written by a newer hubhook[\s\S]*version 99/);
    await expect(test.reopen()).rejects.toThrow(/written by a newer hubhook/);
  });

  it("refuses a file that is no database, and leaves it as it is", () => {
    const file = join(temporaryFolder(), "inbox.sqlite");
    writeFileSync(file, "my shopping list\n".repeat(100));
    expect(() => openDeliveries({ file, attempt: () => undefined })).toThrow(/is damaged/);
    expect(readFileSync(file, "utf8")).toContain("my shopping list");
  });

  it("says when a file stands where the folder should be", () => {
    const data = join(temporaryFolder(), "data");
    writeFileSync(data, "");
    for (const folder of [data, join(data, "deeper")])
      expect(() => openDatabase(join(folder, "inbox.sqlite"))).toThrow(
        `${data} is a file: move it away, or name a folder with DATA_DIR`,
      );
  });

  it("stays with its first owner when the same process opens it again", () => {
    const file = join(temporaryFolder(), "inbox.sqlite");
    const database = openDatabase(file);
    onCleanup(() => database.close());
    expect(() => openDatabase(file)).toThrow("is in use");
    const another = "new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec('BEGIN EXCLUSIVE')";
    const { stderr } = spawnSync(process.execPath, ["-e", another, file], { encoding: "utf8" });
    expect(stderr).toContain("database is locked");
  });

  it("follows a link to the file", async () => {
    const folder = temporaryFolder();
    symlinkSync(join(folder, "real.sqlite"), join(folder, "inbox.sqlite"));
    const { inbox } = openTest({ file: join(folder, "inbox.sqlite") });
    await inbox.accept(delivery("a"));
    await inbox.idle();
    expect(inbox.stats()).toMatchObject({ succeeded: 1, bytesOnDisk: expect.any(Number) });
    expect(inbox.stats().bytesOnDisk).toBeGreaterThan(statSync(join(folder, "real.sqlite")).size);
  });

  it("leaves the permissions of a folder that was there", () => {
    const folder = join(temporaryFolder(), "data");
    mkdirSync(folder, { mode: 0o755 });
    openTest({ file: join(folder, "inbox.sqlite") });
    expect(statSync(folder).mode & 0o777).toBe(0o755);
  });
});

describe("closing", () => {
  it("lets what runs finish within the grace and accepts nothing more", async () => {
    const [begun, end] = [gate(), gate()];
    const test = openTest({
      attempt: () => {
        begun.open();
        return end.promise;
      },
    });
    const { id } = await test.inbox.accept(delivery("a"));
    await begun.promise;
    const last = test.inbox.accept(delivery("b"));
    const closing = test.inbox.close(10_000);
    await expect(test.inbox.accept(delivery("c"))).rejects.toMatchObject({ status: 503, code: "stopping" });
    end.open();
    await closing;
    const inbox = await test.reopen();
    expect(inbox.get(id)?.state).toBe("succeeded");
    expect(inbox.get((await last).id)).toBeDefined();
  });

  it("aborts what takes longer, records that, and goes on at the next start without using up the schedule", async () => {
    const begun = gate();
    let aborted = false;
    const test = openTest({
      settings: { scheduleMs: [] },
      attempt: ({ attempt }, { signal }) => {
        if (attempt > 1) return;
        signal.addEventListener("abort", () => {
          aborted = true;
        });
        begun.open();
        return new Promise(() => {});
      },
    });
    const { id } = await test.inbox.accept(delivery("a"));
    await begun.promise;
    const closing = test.inbox.close(10_000);
    test.clock.advance(10_000);
    await closing;
    expect(aborted).toBe(true);
    const inbox = await test.reopen();
    await inbox.idle();
    expect(inbox.get(id)).toMatchObject({
      state: "succeeded",
      record: [
        { number: 1, outcome: "interrupted", ms: 10_000 },
        { number: 2, outcome: "succeeded" },
      ],
    });
  });
});
