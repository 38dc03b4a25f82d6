import { closeSync, existsSync, openSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { type Database, openDatabase } from "../../src/deliveries/database.ts";
import { onCleanup } from "../support/cleanup.ts";
import { delivery, type Gate, gate, openTest, temporaryFolder, turn, until } from "../support/deliveries.ts";

/** An inbox on a disk that takes as long as the test wants, or fails. */
function slowDisk(options: Parameters<typeof openTest>[0] = {}) {
  const real = openDatabase(join(temporaryFolder(), "inbox.sqlite"));
  const waits: Gate[] = [];
  const database: Database = {
    ...real,
    toDisk: () => {
      const wait = gate();
      waits.push(wait);
      return wait.promise.then(real.toDisk);
    },
  };
  const answered: string[] = [];
  const test = openTest({ database, ...options });
  const accept = (payload: string) =>
    test.inbox.accept(delivery(payload, { key: payload })).finally(() => answered.push(payload));
  return { ...test, waits, answered, accept };
}

describe("the wait for the disk", () => {
  it("comes before the answer, and is shared by all that came during the one before", async () => {
    const { inbox, waits, answered, accept, ran } = slowDisk();
    const first = accept("a");
    await until(() => waits.length === 1);
    const others = ["b", "c"].map(accept);
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(answered).toEqual([]);
    expect(ran).toEqual([]);

    waits[0]?.open();
    await first;
    expect(answered).toEqual(["a"]);
    await until(() => waits.length === 2);
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(answered).toEqual(["a"]);
    waits[1]?.open();
    await Promise.all(others);
    for (let open = 2; !answered.includes("idle"); open++) {
      const quiet = inbox.idle().then(() => answered.push("idle"));
      await Promise.race([quiet, until(() => waits.length > open)]);
      waits[open]?.open();
    }
    expect(ran).toEqual(["a#1", "b#1", "c#1"]);
  });

  it("holds up no attempt and no end of one, which come to the disk a moment later", async () => {
    const running: Gate[] = [];
    const { inbox, clock, waits, accept, ran } = slowDisk({
      settings: { concurrency: 1 },
      attempt: () => {
        const one = gate();
        running.push(one);
        return one.promise;
      },
    });
    const accepted = Promise.all(["a", "b", "c"].map(accept));
    await until(() => waits.length === 1);
    waits[0]?.open();
    const [first] = await accepted;
    await until(() => running.length === 1);
    running[0]?.open();
    await until(() => running.length === 2);
    expect(ran).toEqual(["a#1", "b#1"]);
    expect(inbox.get(first?.id ?? "")?.state).toBe("succeeded");
    expect(waits).toHaveLength(1);

    clock.advance(100);
    expect(waits).toHaveLength(2);
    running[1]?.open();
    await until(() => running.length === 3);
    waits[1]?.open();
    running[2]?.open();
    // Nothing more runs that would bring the last end to the disk along with it.
    await until(() => waits.length === 3);
    waits[2]?.open();
    await inbox.idle();
    expect(inbox.stats()).toMatchObject({ succeeded: 3, running: 0 });
  });

  it("that fails is a 503, told until one succeeds; what came with it is known by its key", async () => {
    const { inbox, clock, waits, accept, problems } = slowDisk();
    const refused = accept("a");
    await until(() => waits.length === 1);
    waits[0]?.fail(Object.assign(new Error("disk I/O error: EIO"), { errcode: 10 }));
    await expect(refused).rejects.toMatchObject({ status: 503, code: "storage_unavailable" });
    expect(inbox.health()).toMatchObject({ ok: false, problem: expect.stringContaining("EIO") });
    expect(problems).toHaveLength(1);

    const again = accept("a");
    for (let open = 1; !inbox.health().ok; open++) {
      await until(() => waits.length > open);
      waits[open]?.open();
      clock.advance(1_000);
      await turn();
    }
    expect((await again).outcome).not.toBe("accepted");
    expect(inbox.health()).toEqual({ ok: true });
    expect(problems).toHaveLength(2);
  });

  it("is made on the spot where the disk is quick, and no longer once it is slow again", async () => {
    const real = openDatabase(join(temporaryFolder(), "inbox.sqlite"));
    const waits: string[] = [];
    let slow = false;
    const database: Database = {
      ...real,
      toDisk: () => {
        waits.push("meanwhile");
        return real.toDisk();
      },
      toDiskNow: () => {
        waits.push("on the spot");
        real.toDiskNow();
        if (slow) test.clock.advance(20);
      },
    };
    const test = openTest({ database, held: true });
    const accept = async (count: number) => {
      waits.length = 0;
      for (let n = 0; n < count; n++) await test.inbox.accept(delivery("x"));
    };
    await accept(32);
    expect(waits).toEqual([...Array(31).fill("meanwhile"), "on the spot"]);
    await accept(5);
    expect(waits).toEqual(Array(5).fill("on the spot"));
    slow = true;
    await accept(3);
    // Every disk is slow for once.
    expect(waits).toEqual(["on the spot", "on the spot", "meanwhile"]);
  });

  it("is cut short by a stop in good order, which brings all to the disk itself", async () => {
    const { inbox, waits, answered, accept, reopen } = slowDisk({ held: true });
    const accepted = [accept("a")];
    await until(() => waits.length === 1);
    accepted.push(accept("b"));
    await inbox.close();
    await Promise.all(accepted);
    expect(answered).toEqual(["a", "b"]);
    waits[0]?.open();
    expect(await (await reopen()).count()).toBe(2);
  });

  it("that lasts longer than what nobody waits for may take is followed by the next at once", async () => {
    const running: Gate[] = [];
    const { inbox, clock, waits, accept, reopen } = slowDisk({
      attempt: () => {
        const one = gate();
        running.push(one);
        return one.promise;
      },
    });
    const accepted = Promise.all(["a", "b"].map(accept));
    await until(() => waits.length === 1);
    waits[0]?.open();
    const [first] = await accepted;
    await until(() => running.length === 2);
    const third = accept("c");
    await until(() => waits.length === 2);
    running[0]?.open();
    await until(() => inbox.get(first?.id ?? "")?.state === "succeeded");
    clock.advance(100);
    waits[1]?.open();
    await third;
    await until(() => waits.length === 3);
    await reopen();
  });

  it("keeps nobody waiting who waits for quiet while all is closed", async () => {
    const { inbox, waits, accept } = slowDisk({ held: true });
    const accepted = accept("a");
    await until(() => waits.length === 1);
    const before = inbox.idle();
    const closed = Promise.all([inbox.close(), inbox.close(1_000)]);
    await Promise.all([before, closed, accepted, inbox.idle()]);
    inbox.start();
    await inbox.idle();
    await expect(inbox.cancel({})).rejects.toMatchObject({ code: "stopping" });
  });

  it("lets nothing slip through a cancel that comes back to the schedule meanwhile", async () => {
    const running: Gate[] = [];
    const { inbox, clock, waits, accept } = slowDisk({
      settings: { concurrency: 1, scheduleMs: [1_000, 60_000] },
      attempt: ({ payload, attempt }) => {
        if (payload.startsWith("again") && attempt === 1) throw new Error("not yet");
        const one = gate();
        running.push(one);
        return one.promise;
      },
    });
    let open = 0;
    const disk = async (done: () => boolean) => {
      while (!done()) {
        await until(() => waits.length > open || done());
        if (waits.length > open) waits[open++]?.open();
      }
    };
    const settled = async <T>(promise: Promise<T>): Promise<T> => {
      let done = false;
      const mark = promise.finally(() => {
        done = true;
      });
      await disk(() => done);
      return mark;
    };
    await settled(Promise.all(["again", "again too"].map(accept)));
    await disk(() => inbox.stats().pending === 2 && inbox.stats().running === 0);
    inbox.hold();
    await settled(accept("fresh"));
    const cancelled = inbox.cancel({});
    await until(() => inbox.stats().cancelled === 1);
    // While this is on its way to the disk, one that waited begins, and fails while the other is on its way.
    clock.advance(1_000);
    inbox.start();
    await until(() => running.length === 1);
    await disk(() => inbox.stats().cancelled === 2);
    running[0]?.fail(new Error("no"));
    await until(() => inbox.stats().running === 0);
    // Which of the two ways the last one goes, cancelled at once or when it fails, is a matter of the moment.
    await settled(cancelled);
    await settled(inbox.idle());
    expect(inbox.stats()).toMatchObject({ pending: 0, running: 0, cancelled: 3 });
  });

  it("that fails is made good by bringing all of the log into the main file", async () => {
    const fds = () => readdirSync("/proc/self/fd");
    if (!existsSync("/proc/self/fd")) return; // Only there a test can break a descriptor that it was not given.
    const file = join(temporaryFolder(), "inbox.sqlite");
    const database = openDatabase(file);
    onCleanup(() => database.close());
    const log = Math.max(...fds().map((fd) => (linkOf(fd) === `${file}-wal` ? Number(fd) : -1)));
    database.exec("CREATE TABLE t (a)");
    await database.toDisk();
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);

    closeSync(log);
    await expect(database.toDisk()).rejects.toMatchObject({ errcode: 10 });
    expect(openSync(`${file}-wal`, "r+")).toBe(log);
    await database.toDisk();
    expect(statSync(`${file}-wal`).size).toBe(0);
    database.exec("INSERT INTO t VALUES (1)");
    await database.toDisk();
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
  });
});

function linkOf(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined; // The one that the folder itself was read with.
  }
}

describe("a commit that fails", () => {
  /** Commits fail as on a full disk while `full` is true. */
  function fullAtCommit(options: Parameters<typeof openTest>[0] = {}) {
    const real = openDatabase(join(temporaryFolder(), "inbox.sqlite"));
    const disk = { full: false };
    const database: Database = {
      ...real,
      transaction: (work) =>
        real.transaction(() => {
          const result = work();
          if (disk.full) throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
          return result;
        }),
    };
    return { ...openTest({ database, ...options }), disk };
  }

  it("leaves the schedule as it was, also of what it would have cancelled", async () => {
    let works = false;
    const { inbox, clock, disk, ran } = fullAtCommit({
      settings: { scheduleMs: [1_000] },
      attempt: () => {
        if (!works) throw new Error("not yet");
      },
    });
    await inbox.accept(delivery("a"));
    await inbox.idle();
    works = true;
    inbox.hold();
    clock.advance(1_000);
    const cancelled = inbox.cancel({});
    disk.full = true;
    inbox.start();
    await expect(cancelled).rejects.toMatchObject({ code: "storage_unavailable" });
    disk.full = false;
    clock.advance(1_000);
    await inbox.idle();
    expect(ran).toEqual(["a#1", "a#2"]);
    expect(inbox.stats()).toMatchObject({ succeeded: 1, pending: 0 });
  });

  it("tells the gate the name of a receiver that was new", async () => {
    const inside: string[] = [];
    const left: string[] = [];
    const { inbox, clock, disk, ran } = fullAtCommit({
      settings: {
        gate: {
          enter: (receiver) => {
            inside.push(receiver);
            return 0;
          },
          leave: (receiver) => {
            left.push(receiver);
            return undefined;
          },
        },
      },
    });
    disk.full = true;
    await expect(inbox.accept(delivery("a", { receiver: "first" }))).rejects.toMatchObject({ status: 503 });
    disk.full = false;
    clock.advance(1_000);
    await inbox.accept(delivery("b", { receiver: "second" }));
    await inbox.idle();
    expect(inside).toEqual(["first", "second"]);
    expect(left).toEqual(inside);
    expect(ran).toEqual(["b#1"]);
  });
});
