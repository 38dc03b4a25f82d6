import type { Clock } from "./clock.ts";
import { ScheduleClock } from "./clock.ts";
import type { Database } from "./database.ts";
import type { DeliveryState } from "./delivery.ts";
import { nextId, timeOfId } from "./ids.ts";
import { Keys } from "./keys.ts";
import { Marks } from "./marks.ts";
import { Receivers } from "./receivers.ts";
import { SCHEMA } from "./schema.ts";

export const FRESH = 0;
export const SUCCEEDED = 1;
export const WAITING = 2;
export const RUNNING = 3;
export const FAILED = 4;
export const CANCELLED = 5;

const NAMES = ["fresh", "succeeded", "waiting", "running", "failed", "cancelled"] as const;

export function stateName(state: number): DeliveryState {
  const name = NAMES[state] ?? "fresh";
  return name === "fresh" || name === "waiting" ? "pending" : name;
}

function isOpen(state: number): boolean {
  return state === FRESH || state === WAITING || state === RUNNING;
}

export interface Counts {
  fresh: number;
  waiting: number;
  running: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  bytes: number;
  lastId: number;
  seenTo: number;
  keysTo: number;
  clock: number;
  idLead: number;
}

/**
 * The open file with what is known of it in memory: counts, names, keys, marks. `transaction` keeps both in step:
 * the counts are written with every commit and nothing is ever counted by reading a table.
 */
export class Ledger {
  readonly database: Database;
  readonly wall: Clock;
  readonly schedule: ScheduleClock;
  readonly keys: Keys;
  readonly receivers: Receivers;
  readonly marks: Marks;
  readonly counts: Counts;
  readonly #save;

  constructor(database: Database, clock: Clock) {
    database.migrate("deliveries", SCHEMA);
    this.database = database;
    this.wall = clock;
    const tally = database
      .prepare(
        `SELECT fresh, waiting, running, succeeded, failed, cancelled, bytes, last_id lastId, seen_to seenTo,
                keys_to keysTo, key_seed seed, clock, id_lead idLead, marks FROM deliveries_tally`,
      )
      .get<Counts & { seed: number; marks: Uint8Array | null }>();
    if (!tally) throw new Error(`the table deliveries_tally of ${database.file} has lost its row: restore a backup`);
    const { seed, marks, ...counts } = tally;
    this.counts = counts;
    this.schedule = new ScheduleClock(clock, tally.clock);
    this.receivers = new Receivers(database);
    this.keys = new Keys(database, seed, tally.keysTo);
    this.marks = new Marks(marks);
    this.#save = database.prepare(
      `UPDATE deliveries_tally SET fresh = ?, waiting = ?, running = ?, succeeded = ?, failed = ?, cancelled = ?,
              bytes = ?, last_id = ?, seen_to = ?, keys_to = ?, clock = ?, id_lead = ?, marks = ?`,
    );
  }

  /** How many deliveries are pending or running. */
  get open(): number {
    return this.counts.fresh + this.counts.waiting + this.counts.running;
  }

  get finished(): number {
    return this.counts.succeeded + this.counts.failed + this.counts.cancelled;
  }

  /** One step: all of `work` in the file and in memory, or nothing of it. */
  transaction<T>(work: () => T): T {
    const takeBack = this.#mark();
    try {
      const result = this.database.transaction(() => {
        const value = work();
        this.#settle();
        return value;
      });
      this.keys.committed();
      this.receivers.committed();
      this.marks.committed();
      return result;
    } catch (error) {
      takeBack();
      throw error;
    }
  }

  /** A part of a transaction that can be taken back alone. */
  part<T>(work: () => T): T {
    const takeBack = this.#mark();
    try {
      return this.database.savepoint(work);
    } catch (error) {
      takeBack();
      throw error;
    }
  }

  /** Counts one more delivery in `state` and gives it its id. */
  begin(state: number, bytes: number, now: number): number {
    const { counts } = this;
    counts.lastId = nextId(counts.lastId, now);
    counts.idLead = Math.max(counts.idLead, timeOfId(counts.lastId) - now);
    counts[NAMES[state] ?? "fresh"]++;
    counts.bytes += bytes;
    this.keys.began();
    return counts.lastId;
  }

  /** Counts a delivery's change of state. */
  move(from: number, to: number, bytes: number): void {
    this.counts[NAMES[from] ?? "fresh"]--;
    this.counts[NAMES[to] ?? "fresh"]++;
    if (isOpen(from) && !isOpen(to)) this.counts.bytes -= bytes;
    if (!isOpen(from) && isOpen(to)) this.counts.bytes += bytes;
  }

  /** Counts a finished delivery out of the file. */
  forget(state: number): void {
    this.counts[NAMES[state] ?? "fresh"]--;
  }

  #settle(): void {
    const { counts } = this;
    counts.keysTo = this.keys.settle(counts.lastId) ?? counts.keysTo;
    counts.clock = this.schedule.now();
    this.#save.run(
      counts.fresh,
      counts.waiting,
      counts.running,
      counts.succeeded,
      counts.failed,
      counts.cancelled,
      counts.bytes,
      counts.lastId,
      counts.seenTo,
      counts.keysTo,
      counts.clock,
      counts.idLead,
      this.marks.toBytes(),
    );
  }

  #mark(): () => void {
    const counts = { ...this.counts };
    const takeBackReceivers = this.receivers.mark();
    const takeBackMarks = this.marks.mark();
    return () => {
      Object.assign(this.counts, counts);
      takeBackReceivers();
      takeBackMarks();
    };
  }
}
