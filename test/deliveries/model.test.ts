import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { type Database, openDatabase } from "../../src/deliveries/database.ts";
import type { Deliveries } from "../../src/deliveries/deliveries.ts";
import { HttpError, PermanentError } from "../../src/errors.ts";
import { checkFile, delivery, openTest, pass, temporaryFolder } from "../support/deliveries.ts";

const HOUR = 3_600_000;

/** How often a delivery fails before it succeeds: the schedule allows two; 9 gives up at once. */
const failures = fc.constantFrom(0, 0, 1, 2, 3, 9);
const receiver = fc.constantFrom("a", "b");
const key = fc.option(fc.constantFrom("k1", "k2", "k3"), { nil: undefined });
const serial = fc.option(fc.constantFrom("s1", "s2"), { nil: undefined });

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("accept" as const), receiver, key, serial, failures, rerun: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("batch" as const), receiver, serial, failures, broken: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1, 500, 1_000, 5_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("jump" as const), ms: fc.constantFrom(-24 * HOUR, 24 * HOUR) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("replay" as const), nth: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), receiver }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("full" as const), receiver, key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("uncommitted" as const, "unsynced" as const), receiver }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("hold" as const, "start" as const) }) },
);

/** A file whose commits, or whose waits for the disk, fail while `disk.fails` says so. */
function openFaulty() {
  const disk: { fails?: "uncommitted" | "unsynced" | undefined } = {};
  const failure = () => Object.assign(new Error("disk I/O error"), { errcode: 10 });
  const real = openDatabase(join(temporaryFolder(), "inbox.sqlite"));
  const database: Database = {
    ...real,
    transaction: (work) =>
      real.transaction(() => {
        const result = work();
        if (disk.fails === "uncommitted") throw failure();
        return result;
      }),
    toDisk: () => (disk.fails === "unsynced" ? Promise.reject(failure()) : real.toDisk()),
  };
  return { database, disk };
}

async function known(inbox: Deliveries): Promise<{ total: number; newest: string }> {
  const { deliveries } = await inbox.list({}, { limit: 1 });
  return { total: await inbox.count(), newest: deliveries[0]?.id ?? "" };
}

describe("whatever happens in whatever order", () => {
  it("everything accepted ends, the counts are right and a serial key never runs twice at once", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const { database, disk } = openFaulty();
        const running = new Set<string>();
        const serialOf = new Map<string, string>();
        const test = openTest({
          database,
          settings: {
            concurrency: 3,
            perReceiver: (name) => (name === "a" ? 2 : undefined),
            scheduleMs: [1_000, 1_000],
          },
          attempt: async ({ payload, attempt, id, replayOf, receiver }) => {
            const lane = serialOf.get(replayOf ?? id) ?? serialOf.get(payload);
            const one = lane === undefined ? undefined : `${receiver} ${lane}`;
            expect(one === undefined || !running.has(one)).toBe(true);
            if (one) running.add(one);
            await new Promise((resolve) => setImmediate(resolve));
            if (one) running.delete(one);
            const fail = Number(payload.split(" ")[0]);
            if (fail === 9) throw new PermanentError("never");
            if (attempt <= fail) throw new Error("not yet");
          },
        });
        const ids: string[] = [];
        const ofKey = new Map<string, string>();
        let number = 0;
        const make = (one: {
          receiver: string;
          key?: string | undefined;
          serial?: string | undefined;
          failures: number;
        }) => {
          const payload = `${one.failures} ${number++}`;
          if (one.serial) serialOf.set(payload, one.serial);
          return delivery(payload, one);
        };

        for (const one of steps) {
          const { inbox, clock } = test;
          if (one.do === "accept") {
            const name = `${one.receiver} ${one.key}`;
            const before = inbox.get(ofKey.get(name) ?? "");
            const { id, outcome } = await inbox.accept({ ...make(one), rerun: one.rerun });
            if (one.key === undefined || !before) {
              expect(outcome).toBe("accepted");
              expect(ids).not.toContain(id);
              ids.push(id);
              if (one.key !== undefined) ofKey.set(name, id);
            } else {
              expect(id).toBe(before.id);
              const moved = (inbox.get(id)?.record.length ?? 0) > before.record.length;
              // It may have ended between the look at it and the transaction that took the new one.
              if (before.state === "pending" || before.state === "running")
                expect(outcome === "known" || moved).toBe(true);
              else if (before.state === "succeeded" && !one.rerun) expect(outcome).toBe("duplicate");
              else expect(outcome).toBe("accepted");
            }
          } else if (one.do === "batch") {
            const refused = new HttpError(422, "refused");
            const taken = inbox.acceptAll(
              () => {
                if (one.broken) throw refused;
                return [make(one), make(one)];
              },
              () => database.exec("UPDATE deliveries_tally SET probe = NULL"),
            );
            if (one.broken) await expect(taken).rejects.toBe(refused);
            else ids.push(...(await taken).map(({ id }) => id));
          } else if (one.do === "wait") clock.advance(one.ms);
          else if (one.do === "jump") clock.jump(one.ms);
          else if (one.do === "replay") {
            const source = ids[one.nth];
            if (source) ids.push((await inbox.replay(source)).id);
          } else if (one.do === "cancel") await inbox.cancel({ receiver: one.receiver });
          else if (one.do === "restart") {
            await inbox.close(0);
            running.clear();
            await test.reopen();
          } else if (one.do === "full") {
            database.exec("PRAGMA query_only = 1");
            const refused = inbox.accept(delivery("0 full", { receiver: one.receiver, key: one.key }));
            await expect(refused).rejects.toMatchObject({ status: 503 });
            database.exec("PRAGMA query_only = 0");
          } else if (one.do === "uncommitted" || one.do === "unsynced") {
            disk.fails = one.do;
            const { total } = await known(inbox);
            const refused = inbox.accept(delivery("0 failing", { receiver: one.receiver }));
            await expect(refused).rejects.toMatchObject({ status: 503 });
            disk.fails = undefined;
            clock.advance(1_000);
            const { total: now, newest } = await known(inbox);
            expect(now).toBe(one.do === "unsynced" ? total + 1 : total);
            if (one.do === "unsynced") ids.push(newest);
          } else if (one.do === "hold") inbox.hold();
          else inbox.start();
          checkFile(database);
        }

        test.inbox.start();
        test.clock.advance(2_000);
        await test.inbox.idle();
        // Serial keys go on one after the other, each with its own retries.
        await pass(test, 20 * HOUR);
        expect(test.inbox.stats()).toMatchObject({ pending: 0, running: 0, backlogBytes: 0 });
        for (const id of ids) expect(["succeeded", "failed", "cancelled"]).toContain(test.inbox.get(id)?.state);
        expect(await test.inbox.count()).toBe(ids.length);
        checkFile(database);
        await test.inbox.close();
        database.close();
      }),
      { numRuns: Number(process.env.FAULT_ROUNDS ?? 25) },
    );
  }, 120_000);
});
