import { describe, expect, it } from "@jest/globals";
import { HttpError, PermanentError } from "../../src/errors.ts";
import { delivery, type Gate, gate, openTest, pass, turn, until } from "../support/deliveries.ts";

const HOUR = 3_600_000;
const SCHEDULE = [5_000, 30_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000];

describe("the retry schedule", () => {
  it("makes eight attempts over 17 h 35 min and keeps the delivery as failed", async () => {
    const times: number[] = [];
    const test = openTest({
      attempt: () => {
        times.push(test.clock.now());
        throw new Error("the target is down");
      },
    });
    const { id } = await test.inbox.accept(delivery("a"));
    await test.inbox.idle();
    for (const gap of SCHEDULE) {
      test.clock.advance(gap - 1);
      await test.inbox.idle();
      expect(test.inbox.get(id)?.state).toBe("pending");
      test.clock.advance(1);
      await test.inbox.idle();
    }
    expect(times.slice(1).map((time, at) => time - (times[at] ?? 0))).toEqual(SCHEDULE);
    expect(test.inbox.get(id)).toMatchObject({ state: "failed", attempts: 8, error: "the target is down" });
    await pass(test, 30 * HOUR);
    expect(times).toHaveLength(8);
  });

  it("spreads each gap by a fifth either way", async () => {
    for (const [random, gap] of [
      [0, 4_000],
      [1, 6_000],
    ] as const) {
      const { inbox, clock } = openTest({
        random: () => random,
        attempt: () => {
          throw new Error("no");
        },
      });
      const { id } = await inbox.accept(delivery("a"));
      await inbox.idle();
      expect(inbox.get(id)?.nextAttemptAt?.getTime()).toBe(clock.now() + gap);
    }
  });

  it("ends at once with a PermanentError", async () => {
    const { inbox } = openTest({
      attempt: () => {
        throw new PermanentError("this dataset is gone");
      },
    });
    const { id } = await inbox.accept(delivery("a"));
    await inbox.idle();
    expect(inbox.get(id)).toMatchObject({ state: "failed", attempts: 1, error: "this dataset is gone" });
  });

  it.each([
    ["seconds", 90, 90_000],
    ["a date", new Date(Date.UTC(2026, 5, 1) + 60_000), 60_000],
    ["more than the last gap", 1e9, 36_000_000],
    ["a time in the past, which is none,", new Date(0), 5_000],
    ["at once, which is none,", 0, 5_000],
    ["no number", Number.NaN, 5_000],
  ])("follows a Retry-After of %s", async (_name, retryAfter, gap) => {
    const { inbox, clock } = openTest({
      attempt: ({ attempt }) => {
        if (attempt === 1) throw Object.assign(new HttpError(429, "slow down"), { retryAfter });
      },
    });
    const { id } = await inbox.accept(delivery("a"));
    clock.advance(0);
    await inbox.idle();
    expect(inbox.get(id)?.nextAttemptAt?.getTime()).toBe(clock.now() + gap);
    clock.advance(gap);
    await inbox.idle();
    expect(inbox.get(id)?.state).toBe("succeeded");
  });
});

describe("one attempt", () => {
  it("is recorded with its answer, its time and its log", async () => {
    const test = openTest({
      attempt: (_delivery, { log }) => {
        log("first line");
        log("second line");
        test.clock.advance(25);
        return { message: "training" };
      },
    });
    const { id } = await test.inbox.accept(delivery("a"));
    await test.inbox.idle();
    expect(test.inbox.get(id)?.record).toEqual([
      {
        number: 1,
        at: new Date(Date.UTC(2026, 5, 1)),
        ms: 25,
        outcome: "succeeded",
        error: undefined,
        log: ["first line", "second line"],
        response: { message: "training" },
      },
    ]);
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  it.each([
    ["a BigInt", 1n, /cannot be kept as JSON/],
    ["a cycle", cycle, /cannot be kept as JSON/],
    ["a function", () => 1, /cannot be kept as JSON: a function/],
    ["a toJSON that throws", { toJSON: () => JSON.parse("{") }, /cannot be kept as JSON/],
    ["more than 20 kB", "x".repeat(30_000), /30002 characters of JSON/],
  ])("has succeeded although it returned %s, with a note", async (_name, value, note) => {
    const { inbox } = openTest({ attempt: () => Promise.resolve(value) });
    const { id } = await inbox.accept(delivery("a"));
    await inbox.idle();
    expect(inbox.get(id)).toMatchObject({ state: "succeeded", error: expect.stringMatching(note) });
    expect(JSON.stringify(inbox.get(id)?.record[0]?.response ?? null).length).toBeLessThan(20_100);
  });

  it.each([
    ["a string", "gone wrong", "gone wrong"],
    ["nothing", undefined, /no Error/],
    ["an error with a cause", new Error("no answer", { cause: new Error("ECONNREFUSED") }), "no answer: ECONNREFUSED"],
    [
      "an error that cannot be read",
      Object.defineProperty(new Error(), "message", { get: () => JSON.parse("{") }),
      /./,
    ],
  ])("has failed when %s is thrown", async (_name, thrown, error) => {
    const { inbox } = openTest({ attempt: () => Promise.reject(thrown) });
    const { id } = await inbox.accept(delivery("a"));
    await inbox.idle();
    expect(inbox.get(id)).toMatchObject({
      state: "pending",
      record: [{ outcome: "failed", error: typeof error === "string" ? error : expect.stringMatching(error) }],
    });
  });

  it("keeps at most 16 kB of its log and 4 kB of its error", async () => {
    const { inbox } = openTest({
      attempt: (_delivery, { log }) => {
        for (let i = 0; i < 1000; i++) log(`line ${i} ${"x".repeat(100)}`);
        throw new Error("e".repeat(10_000));
      },
    });
    const { id } = await inbox.accept(delivery("a"));
    await inbox.idle();
    const attempt = inbox.get(id)?.record[0];
    expect(attempt?.log.join("\n").length).toBeLessThan(16_200);
    expect(attempt?.log.at(-1)).toBe("(more was logged than is kept)");
    expect(attempt?.error?.length).toBe(4_000);
  });

  it("that hangs is timed out, aborted and tried again, and its late end is ignored", async () => {
    const begun = gate();
    const late = gate<string>();
    let reason: unknown;
    const test = openTest({
      settings: { concurrency: 1, attemptTimeoutMs: 1_000 },
      attempt: ({ payload, attempt }, { signal, log }) => {
        if (payload !== "hangs" || attempt > 1) return "done";
        signal.addEventListener("abort", () => {
          reason = signal.reason;
          log("too late");
        });
        begun.open();
        return late.promise;
      },
    });
    const { inbox, clock } = test;
    const { id } = await inbox.accept(delivery("hangs"));
    const { id: other } = await inbox.accept(delivery("other"));
    await begun.promise;
    expect(inbox.get(other)?.state).toBe("pending");
    clock.advance(1_000);
    await inbox.idle();
    expect(inbox.get(other)?.state).toBe("succeeded");
    expect(String(reason)).toContain("still running after 1 s");
    expect(inbox.get(id)).toMatchObject({ state: "pending", record: [{ outcome: "timed out", ms: 1_000, log: [] }] });
    late.open("at last");
    clock.advance(5_000);
    await inbox.idle();
    expect(inbox.get(id)).toMatchObject({ state: "succeeded", attempts: 2 });
    expect(inbox.get(id)?.record.map(({ outcome }) => outcome)).toEqual(["timed out", "succeeded"]);
  });

  it("that keeps the processor busy does not hold up the answers to those accepted with it", async () => {
    let busy = false;
    const { inbox } = openTest({
      attempt: ({ payload }) => {
        if (payload !== "busy") return;
        busy = true;
        const end = performance.now() + 200;
        while (performance.now() < end);
      },
    });
    const answers = [inbox.accept(delivery("busy")), inbox.accept(delivery("other"))];
    await Promise.all(answers);
    expect(busy).toBe(false);
    await inbox.idle();
    expect(inbox.stats()).toMatchObject({ succeeded: 2, pending: 0 });
  });
});

describe("concurrency", () => {
  /** Attempts that wait for the test, and how many ran at once. */
  function waiting() {
    const open = new Map<string, Gate>();
    const running = new Map<string, number>();
    const most = new Map<string, number>();
    return {
      open,
      most,
      attempt: async ({ payload, receiver }: { payload: string; receiver: string }) => {
        for (const name of [receiver, "all"]) {
          running.set(name, (running.get(name) ?? 0) + 1);
          most.set(name, Math.max(most.get(name) ?? 0, running.get(name) ?? 0));
        }
        const own = gate();
        open.set(payload, own);
        await own.promise;
        for (const name of [receiver, "all"]) running.set(name, (running.get(name) ?? 0) - 1);
      },
    };
  }
  async function finish(open: Map<string, Gate>, idle: Promise<void>) {
    let done = false;
    void idle.then(() => {
      done = true;
    });
    await until(() => {
      for (const one of open.values()) one.open();
      return done;
    });
  }

  it("runs a burst of 10,000 with at most four at once, each once", async () => {
    let running = 0;
    let most = 0;
    const { inbox, ran } = openTest({
      settings: { concurrency: 4 },
      attempt: async () => {
        most = Math.max(most, ++running);
        await turn();
        running--;
      },
    });
    await Promise.all(Array.from({ length: 10_000 }, (_, i) => inbox.accept(delivery(`${i}`))));
    await inbox.idle();
    expect(most).toBe(4);
    expect(new Set(ran).size).toBe(10_000);
    expect(ran).toHaveLength(10_000);
    expect(inbox.stats()).toMatchObject({ pending: 0, running: 0, succeeded: 10_000 });
  });

  it("runs all of one receiver's, however many more than it may run at once or than are held in memory", async () => {
    const { inbox, ran } = openTest({
      settings: { concurrency: 64, perReceiver: (receiver) => (receiver === "busy" ? 8 : undefined) },
      attempt: turn,
    });
    const busy = Array.from({ length: 3_000 }, (_, i) => delivery(`busy-${i}`, { receiver: "busy" }));
    const others = Array.from({ length: 50 }, (_, i) => delivery(`other-${i}`, { receiver: "other" }));
    await inbox.acceptAll([...busy, ...others]);
    await inbox.idle();
    expect(new Set(ran).size).toBe(3_050);
    expect(ran).toHaveLength(3_050);
    expect(ran.indexOf("other-49#1")).toBeLessThan(1_500);
  });

  it("gives a slow receiver its own limit and lets the others pass", async () => {
    const { open, most, attempt } = waiting();
    const { inbox } = openTest({
      settings: { concurrency: 8, perReceiver: (receiver) => (receiver === "slow" ? 2 : undefined) },
      attempt,
    });
    const accepted = Array.from({ length: 600 }, (_, i) => inbox.accept(delivery(`slow-${i}`, { receiver: "slow" })));
    await Promise.all(accepted);
    await inbox.accept(delivery("quick", { receiver: "quick" }));
    await until(() => open.has("quick"));
    expect([...open.keys()]).toEqual(["slow-0", "slow-1", "quick"]);
    await finish(open, inbox.idle());
    expect(most.get("slow")).toBe(2);
    expect([...open.keys()].filter((key) => key !== "quick")).toEqual(
      Array.from({ length: 600 }, (_, i) => `slow-${i}`),
    );
  });

  it("runs the deliveries of one serial key one at a time in order of arrival, beside all others", async () => {
    const { open, attempt } = waiting();
    const { inbox } = openTest({ attempt });
    const serial = (payload: string, key: string) => inbox.accept(delivery(payload, { serial: key }));
    const all = [serial("a1", "a"), serial("a2", "a"), serial("b1", "b"), serial("a3", "a"), serial("b2", "b")];
    await Promise.all([...all, inbox.accept(delivery("free"))]);
    await until(() => open.size >= 3);
    expect([...open.keys()]).toEqual(["a1", "b1", "free"]);
    open.get("a1")?.open();
    await until(() => open.size >= 4);
    expect([...open.keys()]).toEqual(["a1", "b1", "free", "a2"]);
    open.get("b1")?.open();
    await until(() => open.size >= 5);
    expect([...open.keys()]).toEqual(["a1", "b1", "free", "a2", "b2"]);
    await finish(open, inbox.idle());
    expect([...open.keys()].filter((key) => key.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
  });

  it("keeps the order of a serial key through retries, restarts and cancelling", async () => {
    const test = openTest({
      settings: { scheduleMs: [1_000, 1_000] },
      attempt: ({ payload, attempt }) => {
        if (payload === "1" && attempt < 3) throw new Error("not yet");
      },
    });
    for (const payload of ["1", "2", "3", "4"]) await test.inbox.accept(delivery(payload, { serial: "s" }));
    await test.inbox.idle();
    expect(test.ran).toEqual(["1#1"]);
    await test.reopen();
    test.clock.advance(1_000);
    await test.inbox.idle();
    expect(test.ran).toEqual(["1#1", "1#2"]);
    test.clock.advance(1_000);
    await test.inbox.idle();
    expect(test.ran).toEqual(["1#1", "1#2", "1#3", "2#1", "3#1", "4#1"]);
  });

  it("passes the turn of a serial key on when the first is cancelled", async () => {
    const { inbox, ran } = openTest({ held: true });
    await inbox.accept(delivery("1", { serial: "s", repo: "model:me/old" }));
    await inbox.accept(delivery("2", { serial: "s" }));
    expect(await inbox.cancel({ repo: "model:me/old" })).toBe(1);
    inbox.start();
    await inbox.idle();
    expect(ran).toEqual(["2#1"]);
  });
});

describe("waiting", () => {
  it("of 100,000 deliveries costs one timer and no look at them", async () => {
    const { inbox, clock, ran } = openTest({
      settings: { scheduleMs: [24 * HOUR] },
      attempt: () => {
        throw new Error("no");
      },
    });
    // All but the first wait for their serial turn.
    for (let i = 0; i < 10; i++)
      await inbox.acceptAll(Array.from({ length: 10_000 }, () => delivery("x", { serial: "s" })));
    await inbox.idle();
    expect(ran).toHaveLength(1);
    expect(inbox.stats()).toMatchObject({ pending: 100_000, running: 0 });
    const before = clock.calls;
    clock.advance(HOUR);
    expect(clock.timers).toBe(1);
    // Once a minute it looks at the clock, and retention looks for what is old.
    expect(clock.calls - before).toBeLessThanOrEqual(120);
    await inbox.idle();
    expect(ran).toHaveLength(1);
  });

  it("wakes for the next due time and not in between", async () => {
    const test = openTest({
      settings: { scheduleMs: [50_000] },
      attempt: ({ attempt }) => {
        if (attempt === 1) throw new Error("no");
      },
    });
    await Promise.all(Array.from({ length: 100 }, (_, i) => test.inbox.accept(delivery(`${i}`))));
    await test.inbox.idle();
    expect(test.clock.timers).toBe(1);
    const before = test.clock.calls;
    test.clock.advance(49_999);
    expect(test.clock.calls).toBe(before);
    test.clock.advance(1);
    expect(test.clock.calls).toBe(before + 1);
    await test.inbox.idle();
    expect(test.inbox.stats()).toMatchObject({ succeeded: 100, pending: 0 });
  });
});

describe("a clock that jumps", () => {
  it.each([
    ["a day back", -24 * HOUR],
    ["a day forth", 24 * HOUR],
  ])("%s loses nothing, waits no day and makes no attempt twice", async (_name, jump) => {
    const test = openTest({
      settings: { scheduleMs: [10_000, 10_000] },
      attempt: ({ attempt }) => {
        if (attempt < 3) throw new Error("not yet");
      },
    });
    const { inbox, clock } = test;
    await inbox.accept(delivery("a"));
    await inbox.idle();
    clock.jump(jump);
    await inbox.accept(delivery("b"));
    await inbox.idle();
    const calls = clock.calls;
    clock.advance(60_000);
    await inbox.idle();
    clock.jump(-jump);
    clock.advance(60_000);
    await inbox.idle();
    expect(inbox.stats()).toMatchObject({ succeeded: 2, pending: 0 });
    expect([...test.ran].sort()).toEqual(["a#1", "a#2", "a#3", "b#1", "b#2", "b#3"]);
    expect(clock.calls - calls).toBeLessThan(20);
  });

  it("back between two starts does not hold up what waits", async () => {
    const test = openTest({
      settings: { scheduleMs: [10_000] },
      attempt: ({ payload, attempt }) => {
        if (payload === "a" && attempt === 1) throw new Error("not yet");
      },
    });
    await test.inbox.accept(delivery("a"));
    await test.inbox.idle();
    test.clock.jump(-24 * HOUR);
    await test.reopen();
    const { id } = await test.inbox.accept(delivery("b"));
    test.clock.advance(10_000);
    await test.inbox.idle();
    expect(test.ran).toEqual(["a#1", "b#1", "a#2"]);
    expect(test.inbox.get(id)?.createdAt.getTime()).toBe(test.clock.now() - 10_000);
    expect((await test.inbox.list()).deliveries.map(({ id }) => id)[0]).toBe(id);
  });

  it("follows a machine that slept", async () => {
    const test = openTest({
      settings: { scheduleMs: [5 * HOUR] },
      attempt: ({ attempt }) => {
        if (attempt === 1) throw new Error("not yet");
      },
    });
    await test.inbox.accept(delivery("a"));
    await test.inbox.idle();
    test.clock.jump(8 * HOUR);
    test.clock.advance(60_000);
    await test.inbox.idle();
    expect(test.ran).toEqual(["a#1", "a#2"]);
  });
});
