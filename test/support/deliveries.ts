import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "@jest/globals";
import type { Database } from "../../src/deliveries/database.ts";
import { type Deliveries, type OpenDeliveries, openDeliveries } from "../../src/deliveries/deliveries.ts";
import type { NewDelivery } from "../../src/deliveries/delivery.ts";
import { onCleanup } from "./cleanup.ts";
import { type TestClock, testClock } from "./clock.ts";

const HOUR = 3_600_000;

export interface TestInbox {
  inbox: Deliveries;
  clock: TestClock;
  file: string;
  problems: string[];
  /** What the attempts were given, `payload#attempt`, in order. */
  ran: string[];
  /** Closes and opens again with the same options, changed by these. */
  reopen(changed?: Partial<OpenDeliveries>): Promise<Deliveries>;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "deliveries-"));
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An inbox of its own, with a clock of its own and no jitter, that is started and closes itself after the test. */
export function openTest(options: Partial<OpenDeliveries> & { held?: boolean } = {}): TestInbox {
  const { held = false, ...changed } = options;
  const clock = testClock();
  const file = join(temporaryFolder(), "inbox.sqlite");
  const problems: string[] = [];
  const ran: string[] = [];
  const attempt = changed.attempt ?? (() => undefined);
  const all: OpenDeliveries = {
    file,
    clock,
    random: () => 0.5,
    onProblem: (problem) => problems.push(problem),
    ...changed,
    attempt: (delivery, tools) => {
      ran.push(`${delivery.payload}#${delivery.attempt}`);
      return attempt(delivery, tools);
    },
  };
  const test: TestInbox = {
    inbox: openDeliveries(all),
    clock,
    file,
    problems,
    ran,
    async reopen(again = {}) {
      await test.inbox.close();
      test.inbox = openDeliveries({ ...all, ...again });
      if (!held) test.inbox.start();
      return test.inbox;
    },
  };
  onCleanup(() => test.inbox.close());
  if (!held) test.inbox.start();
  return test;
}

/** Lets hours pass step by step, so that each due attempt ends before the next step. */
export async function pass({ inbox, clock }: TestInbox, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= HOUR / 4) {
    clock.advance(Math.min(left, HOUR / 4));
    await inbox.idle();
  }
}

export function delivery(payload: string, changed: Partial<NewDelivery> = {}): NewDelivery {
  return { receiver: "train", scope: "repo.content", action: "update", repo: "dataset:me/texts", payload, ...changed };
}

/** A promise with its ends, for attempts that wait for the test. */
export interface Gate<T = void> {
  promise: Promise<T>;
  open(value: T): void;
  fail(error: Error): void;
}

export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open, fail };
}

/** What the file keeps of itself in counts must be what is there. */
export function checkFile(database: Database): void {
  expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  const counted = database
    .prepare(
      `SELECT total(state = 0) fresh, total(state = 1) succeeded, total(state = 2) waiting, total(state = 3) running,
              total(state = 4) failed, total(state = 5) cancelled, total(CASE WHEN state IN (0, 2, 3) THEN bytes ELSE 0 END) bytes
       FROM deliveries`,
    )
    .get();
  const kept = database
    .prepare(
      // What is running by its mark is fresh in its row.
      `SELECT fresh + coalesce(length(marks), 0) / 16 fresh, succeeded, waiting,
              running - coalesce(length(marks), 0) / 16 running, failed, cancelled, bytes FROM deliveries_tally`,
    )
    .get();
  expect(kept).toEqual(counted);
  expect(
    database
      .prepare(
        `SELECT count(*) <= (SELECT coalesce(length(marks), 0) / 16 FROM deliveries_tally) ok
         FROM deliveries WHERE state = 0 AND id <= (SELECT seen_to FROM deliveries_tally)`,
      )
      .get(),
  ).toEqual({ ok: 1 });
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Waits, turn by turn, for what is on its way; many turns without it are a failure. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; !condition(); turns++) {
    if (turns > 100_000) throw new Error(`it never came true: ${condition}`);
    await turn();
  }
}
