import { HttpError, toError } from "../errors.ts";
import { type Clock, systemClock } from "./clock.ts";
import { type Database, isStorageError, openDatabase, openingError } from "./database.ts";
import type {
  Accepted,
  DeliveriesHealth,
  Delivery,
  DeliveryChange,
  DeliveryFilter,
  DeliveryRecord,
  DeliveryState,
  DeliveryStats,
  MakeAttempt,
  NewDelivery,
} from "./delivery.ts";
import { Dispatcher } from "./dispatcher.ts";
import { idToText, textToId } from "./ids.ts";
import { Intake, type Taken } from "./intake.ts";
import { Ledger } from "./ledger.ts";
import { Retention } from "./retention.ts";
import { type Candidate, Runs } from "./runs.ts";
import { type DeliveryPage, type FoundRow, Search } from "./search.ts";
import { DEFAULT_SETTINGS, type DeliveriesSettings } from "./settings.ts";
import { Writer } from "./writer.ts";

/** Deliveries replayed or cancelled in one transaction. */
const STEP = 500;

export interface OpenDeliveries {
  /** The SQLite file. Or `database`: one that is open already, shared with its owner's tables. */
  file?: string;
  database?: Database;
  attempt: MakeAttempt;
  settings?: Partial<DeliveriesSettings>;
  clock?: Clock;
  /** 0 to 1, for the jitter. */
  random?: () => number;
  /** Sentences for the log, about the disk and about listeners that threw. */
  onProblem?: (problem: string) => void;
}

/**
 * Durable deliveries in one SQLite file: taken in before the caller is answered, attempted until they succeed or the
 * schedule ends, kept and replayable. Nothing runs before `start()`; what was running when the process died is put back
 * here, its attempt counted.
 *
 * @throws StartError when the file is in use, damaged, newer than this code or cannot be written
 */
export function openDeliveries(options: OpenDeliveries): Deliveries {
  const { file, database } = options;
  if (database) return new Deliveries(database, false, options);
  if (file === undefined) throw new TypeError("openDeliveries needs a file or a database");
  const opened = openDatabase(file);
  try {
    return new Deliveries(opened, true, options);
  } catch (error) {
    opened.close();
    throw openingError(error, file);
  }
}

export class Deliveries {
  readonly #database: Database;
  readonly #ownsDatabase: boolean;
  readonly #onProblem: (problem: string) => void;
  readonly #ledger: Ledger;
  readonly #intake: Intake;
  readonly #runs: Runs;
  readonly #search: Search;
  readonly #retention: Retention;
  readonly #dispatcher: Dispatcher;
  readonly #writer: Writer;
  readonly #listeners = new Set<(change: DeliveryChange) => void>();
  readonly #totals = { accepted: 0, known: 0, duplicate: 0, refused: 0 };
  #waiting: (() => void)[] = [];
  #closing: Promise<void> | undefined;

  constructor(database: Database, ownsDatabase: boolean, options: OpenDeliveries) {
    const settings = { ...DEFAULT_SETTINGS, ...options.settings };
    this.#database = database;
    this.#ownsDatabase = ownsDatabase;
    this.#onProblem = options.onProblem ?? (() => {});
    this.#ledger = new Ledger(database, options.clock ?? systemClock);
    this.#intake = new Intake(this.#ledger, settings);
    this.#runs = new Runs(this.#ledger, settings, options.random ?? Math.random);
    this.#search = new Search(this.#ledger);
    if (this.#ledger.counts.running > 0) this.#ledger.transaction(() => this.#runs.recover());
    this.#dispatcher = new Dispatcher({
      ledger: this.#ledger,
      runs: this.#runs,
      settings,
      make: options.attempt,
      write: (operation) => this.#writer.add(operation),
      wake: () => this.#writer.wake(),
      tell: (change) => this.#tell(change),
    });
    this.#writer = new Writer(this.#ledger, this.#dispatcher, this.#onProblem, () => this.#turnOver());
    this.#retention = new Retention(this.#ledger, settings.retention, this.#onProblem);
    this.#retention.start();
  }

  /** Begins to dispatch. */
  start(): void {
    if (this.#closing === undefined) this.#dispatcher.start();
  }

  /** Begins no further attempt until `start()`; those that run go on, and deliveries are accepted as before. */
  hold(): void {
    this.#dispatcher.hold();
  }

  /**
   * Takes a delivery in. Resolves when it is on the disk.
   * @throws HttpError 503 `backlog_full` or `storage_unavailable`, 413 `payload_too_large`: nothing was taken. But where
   * it was the wait for the disk that failed, it was, and may run; sent again with its key, it is known.
   */
  accept(delivery: NewDelivery): Promise<Accepted> {
    if (this.#closing !== undefined) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      let taken: Taken | undefined;
      let accepted: Accepted | undefined;
      let refusal: unknown;
      const refuse = (error: unknown) => {
        this.#totals.refused++;
        reject(error);
      };
      this.#writer.add({
        keep: false,
        work: () => {
          taken = refusal = undefined;
          try {
            taken = this.#intake.accept(delivery);
            this.#expect([taken]);
          } catch (error) {
            // A refusal comes before the first change. Anything else takes back the whole transaction.
            if (!(error instanceof HttpError)) throw error;
            refusal = error;
          }
        },
        done: () => {
          if (taken) accepted = this.#took(taken);
          else refuse(refusal);
        },
        onDisk: () => accepted && resolve(accepted),
        failed: (error) => refuse(unavailable(error)),
      });
    });
  }

  /**
   * Takes several deliveries in, all or none, in one transaction with what `within` writes to the same database.
   * Neighbours with the same payload and the same headers object share one copy.
   * @param within runs inside the transaction, before the deliveries; its throw takes back everything and is thrown on
   * @param committed hears that it stays, before it is on the disk: the next transaction builds on it
   */
  async acceptAll(
    deliveries: readonly NewDelivery[] | (() => readonly NewDelivery[]),
    within?: (database: Database) => void,
    committed?: () => void,
  ): Promise<Accepted[]> {
    let accepted: Accepted[] = [];
    await this.#write(
      () => {
        within?.(this.#database);
        const all = this.#intake.acceptAll(typeof deliveries === "function" ? deliveries() : deliveries);
        this.#expect(all);
        return all;
      },
      (all) => {
        accepted = all.map((one) => this.#took(one));
        committed?.();
      },
    );
    return accepted;
  }

  /** @throws HttpError 503 when a delivery of this size would not be accepted now: to refuse before reading a body */
  assertRoom(bytes = 0): void {
    if (this.#closing !== undefined) throw closed();
    this.#intake.assertRoom(1, bytes);
  }

  /** The newest first, `limit` at most; `next` is the cursor of the following page. */
  list(filter: DeliveryFilter = {}, page: { limit?: number; cursor?: string | undefined } = {}): Promise<DeliveryPage> {
    return this.#search.list(filter, page.limit ?? 50, page.cursor);
  }

  /** One delivery as lists show it; undefined where there is none. */
  summary(id: string): Delivery | undefined {
    return this.#search.summary(id);
  }

  /** One delivery with payload and attempts; undefined where there is none. */
  get(id: string): DeliveryRecord | undefined {
    return this.#search.get(id);
  }

  count(filter: DeliveryFilter = {}): Promise<number> {
    return this.#search.count(filter);
  }

  /**
   * Runs an old delivery again as a new one, whatever became of the old one.
   * @throws HttpError 404 `delivery_unknown`, 503 as `accept`
   */
  async replay(id: string): Promise<{ id: string; replayOf: string }> {
    const source = textToId(id);
    const [taken] = source === undefined ? [] : await this.#replay([source]);
    if (!taken) throw new HttpError(404, `there is no delivery ${id}`, { code: "delivery_unknown" });
    return { id: taken.id, replayOf: id };
  }

  /**
   * Replays every delivery that matches and is there now, in steps that leave room for others.
   * `count` is how many matched at the begin; with `dryRun` nothing else is done.
   * @throws HttpError 503 when the backlog is full: what was replayed until then stays
   */
  async replayMany(filter: DeliveryFilter, { dryRun = false } = {}): Promise<{ count: number; replayed: number }> {
    const count = await this.count(filter);
    let replayed = 0;
    if (dryRun) return { count, replayed };
    for await (const rows of this.#search.steps(filter, STEP)) {
      replayed += (await this.#replay(rows.map(({ id }) => id))).length;
    }
    return { count, replayed };
  }

  /** Those that are there. */
  #replay(sources: number[]): Promise<Taken[]> {
    return this.#write(
      () => sources.map((source) => this.#intake.replay(source)).filter((taken) => taken !== undefined),
      (taken) => {
        for (const one of taken) this.#took(one);
      },
    );
  }

  /**
   * Cancels what is pending and matches. What runs ends its attempt, and is cancelled then if that fails.
   * @returns how many were cancelled at once
   */
  async cancel(filter: Omit<DeliveryFilter, "state">): Promise<number> {
    if (this.#closing !== undefined) throw closed();
    const { lastId } = this.#ledger.counts;
    let cancelled = 0;
    // Whatever runs while the others are cancelled may be back among the pending ones after that: until none is left.
    for (let more = true; more; ) {
      more = false;
      for await (const rows of this.#search.steps({ ...filter, state: "running" }, STEP, lastId))
        this.#dispatcher.giveUp(rows.map((row) => row.id));
      for await (const rows of this.#search.steps({ ...filter, state: "pending" }, STEP, lastId)) {
        more = true;
        cancelled += await this.#cancelAll(rows);
      }
    }
    return cancelled;
  }

  async #cancelAll(rows: FoundRow[]): Promise<number> {
    const changed = await this.#write(
      () => rows.filter((row) => this.#cancelOne(row.id)),
      (gone) => {
        for (const row of gone)
          this.#tell(() => this.#change(idToText(row.id), row.receiver, "cancelled", row.attempts));
      },
    );
    return changed.length;
  }

  /** Hears every change of state until the function returned is called. What a listener throws is reported and ignored. */
  subscribe(listener: (change: DeliveryChange) => void): () => void {
    // A wrapper of its own: the same function may listen twice.
    const entry = (change: DeliveryChange) => listener(change);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** Counts kept in memory and two file sizes: cheap enough for every look at /metrics. */
  stats(): DeliveryStats {
    const { counts } = this.#ledger;
    return {
      pending: counts.fresh + counts.waiting,
      running: counts.running,
      succeeded: counts.succeeded,
      failed: counts.failed,
      cancelled: counts.cancelled,
      behindSince: this.#behindSince(),
      backlogBytes: counts.bytes,
      bytesOnDisk: this.#database.sizeOnDisk(),
      totals: { ...this.#totals, attempts: { ...this.#dispatcher.attempts } },
    };
  }

  /** Not ok from the first write that failed to the next that succeeded. */
  health(): DeliveriesHealth {
    return this.#writer.health();
  }

  /** Resolves when nothing runs, nothing is being written and nothing could begin now. */
  idle(): Promise<void> {
    if (this.#quiet) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Accepts nothing more, begins nothing more, lets what runs finish within `graceMs` and aborts the rest: those
   * attempts are recorded as interrupted and their deliveries go on at the next start.
   */
  close(graceMs = 0): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  async #close(graceMs: number): Promise<void> {
    this.#dispatcher.hold();
    this.#retention.stop();
    // Without any grace not at once either: a listener or a handler may be asking for it, in the middle of what ends here.
    await (graceMs > 0 ? this.#idleWithin(graceMs) : undefined);
    this.#dispatcher.interrupt();
    const lost = this.#writer.close();
    if (lost > 0)
      this.#onProblem(`the end of ${lost} attempts could not be written: those deliveries run again at the next start`);
    if (this.#ownsDatabase) this.#database.close();
    this.#turnOver();
  }

  async #idleWithin(ms: number): Promise<void> {
    let cancelTimer = () => {};
    const over = new Promise<void>((resolve) => {
      cancelTimer = this.#ledger.wall.setTimer(resolve, ms);
    });
    await Promise.race([this.idle(), over]);
    cancelTimer();
  }

  get #quiet(): boolean {
    return this.#writer.quiet && this.#dispatcher.quiet;
  }

  #turnOver(): void {
    if (this.#waiting.length === 0 || !this.#quiet) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  async #write<T>(work: () => T, done?: (result: T) => void): Promise<T> {
    if (this.#closing !== undefined) throw closed();
    try {
      return await this.#writer.write(work, done);
    } catch (error) {
      throw isStorageError(error) ? unavailable(toError(error)) : error;
    }
  }

  /** Inside the transaction: the dispatcher may take them up at the end of the same one. */
  #expect(taken: Taken[]): void {
    const fresh: Candidate[] = [];
    for (const { receiver, due, candidate } of taken) {
      if (due !== undefined) this.#dispatcher.expect(receiver, due);
      if (candidate) fresh.push(candidate);
    }
    if (fresh.length > 0) this.#dispatcher.offer(fresh);
  }

  /** After the commit. */
  #took({ id, outcome, receiver, attempts }: Taken): Accepted {
    this.#totals[outcome]++;
    if (outcome === "accepted") this.#tell(() => this.#change(id, receiver, "pending", attempts));
    return { id, outcome };
  }

  #cancelOne(id: number): boolean {
    const row = this.#runs.pending(id);
    if (!row) return false;
    const next = this.#runs.cancel(row);
    this.#dispatcher.forgetHeld();
    if (next) this.#dispatcher.expect(row.receiver, next.due);
    return true;
  }

  #behindSince(): Date | undefined {
    const { schedule, counts } = this.#ledger;
    const fresh = counts.fresh > 0 ? this.#dispatcher.oldestFresh() : undefined;
    const due = this.#dispatcher.earliestDue();
    const waiting = due <= schedule.now() ? schedule.toWall(due) : undefined;
    const times = [fresh, waiting].filter((time) => time !== undefined);
    return times.length > 0 ? new Date(Math.min(...times)) : undefined;
  }

  #change(id: string, receiver: number, state: DeliveryState, attempts: number): DeliveryChange {
    const name = this.#ledger.receivers.nameOf(receiver);
    return { id, receiver: name, state, attempts, at: new Date(this.#ledger.wall.now()) };
  }

  #tell(change: () => DeliveryChange): void {
    if (this.#listeners.size === 0) return;
    const told = change();
    for (const listener of this.#listeners) {
      try {
        listener(told);
      } catch (error) {
        this.#onProblem(`a listener to deliveries threw: ${toError(error).message}`);
      }
    }
  }
}

function unavailable(error: Error): Error {
  if (!isStorageError(error)) return error;
  const message = "the disk here is full or cannot be written, so nothing was taken: try again later";
  return new HttpError(503, message, {
    code: "storage_unavailable",
    headers: { "Retry-After": "30" },
    cause: error,
  });
}

function closed(): HttpError {
  return new HttpError(503, "this process is stopping: try again later", {
    code: "stopping",
    headers: { "Retry-After": "5" },
  });
}
