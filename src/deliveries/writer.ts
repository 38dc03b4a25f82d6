import { toError } from "../errors.ts";
import type { Clock } from "./clock.ts";
import { isStorageError } from "./database.ts";
import type { DeliveriesHealth } from "./delivery.ts";
import type { Ledger } from "./ledger.ts";

/** Something to be written, and what follows from it. */
export interface Operation {
  /** Inside the transaction, which it may share with others. */
  work(): void;
  /** After the commit: it is on the disk. */
  done(): void;
  /** Nothing of it was written. */
  failed(error: Error): void;
  /** Try again until it is written, and never call `failed`: for what has happened already. */
  readonly keep: boolean;
}

interface Dispatch {
  claim(): void;
  claimed(): void;
  unclaimed(): void;
  /** Nothing runs and nothing could begin now. */
  readonly quiet: boolean;
}

/** Between tries to write to a disk that is full or gone. */
const TRY_AGAIN_MS = 1_000;

/**
 * What happened already, as the end of an attempt, nobody waits for: it need not be on the disk at once, but no later
 * than this. A wait for the disk costs as much as twenty such records.
 */
const ON_DISK_WITHIN_MS = 100;

/** While more comes in, a commit waits for it up to two more turns of the loop: a turn is short, a wait for the disk is not. */
const MORE_TURNS = 2;

/**
 * Group commit: everything that is handed in during one turn of the event loop, or a few where they bring more, is
 * written in one transaction, with one wait for the disk.
 */
export class Writer {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #dispatch: Dispatch;
  readonly #onProblem: (problem: string) => void;
  readonly #turnOver: () => void;
  readonly #probe;
  #queue: Operation[] = [];
  #scheduled = false;
  #closed = false;
  #problem: { problem: string; since: Date } | undefined;
  #cancelRetry: (() => void) | undefined;
  /** Calls off the timer of what was written and is not on the disk yet. */
  #cancelSync: (() => void) | undefined;

  constructor(ledger: Ledger, dispatch: Dispatch, onProblem: (problem: string) => void, turnOver: () => void) {
    this.#ledger = ledger;
    this.#clock = ledger.wall;
    this.#dispatch = dispatch;
    this.#onProblem = onProblem;
    this.#turnOver = turnOver;
    this.#probe = ledger.database.prepare("UPDATE deliveries_tally SET probe = ?");
  }

  /** Nothing is to be written, and what was is on the disk. */
  get quiet(): boolean {
    return this.#queue.length === 0 && !this.#scheduled && !this.#cancelSync;
  }

  health(): DeliveriesHealth {
    return this.#problem ? { ok: false, ...this.#problem } : { ok: true };
  }

  add(operation: Operation): void {
    this.#queue.push(operation);
    this.wake();
  }

  /** Does `work` within a transaction of this turn; a throw takes back `work` alone. */
  write<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let settle: () => void;
      this.add({
        work: () => {
          try {
            const result = this.#ledger.part(work);
            settle = () => resolve(result);
          } catch (error) {
            if (isStorageError(error)) throw error;
            settle = () => reject(error);
          }
        },
        done: () => settle(),
        failed: reject,
        keep: false,
      });
    });
  }

  /** Lets the dispatcher look for work at the end of this turn, in the transaction that is written anyway. */
  wake(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#soon(MORE_TURNS);
  }

  #soon(moreTurns: number, had = 0): void {
    setImmediate(() => {
      if (this.#closed) return;
      const grows = this.#queue.length > had;
      if (grows && moreTurns > 0) this.#soon(moreTurns - 1, this.#queue.length);
      else this.#flush();
    });
  }

  /** Writes what is there now, for the last time. Returns how many operations to be kept could not be written. */
  close(): number {
    if (this.#queue.length > 0 || this.#cancelSync) this.#flush();
    this.#closed = true;
    this.#cancelRetry?.();
    return this.#queue.length;
  }

  #flush(toDisk = false): void {
    this.#scheduled = false;
    const batch = this.#queue;
    this.#queue = [];
    this.#commit(batch, toDisk);
    // Nothing comes that would bring it to the disk along with it.
    if (this.#cancelSync && this.#dispatch.quiet) this.#commit([]);
    this.#turnOver();
  }

  /** @param toDisk even where nobody waits for that */
  #commit(batch: Operation[], toDisk = false): void {
    const lazy = !toDisk && !this.#dispatch.quiet && batch.every((operation) => operation.keep);
    try {
      this.#ledger.transaction(() => {
        for (const operation of batch) operation.work();
        this.#dispatch.claim();
      }, lazy);
    } catch (error) {
      this.#dispatch.unclaimed();
      this.#rolledBack(batch, toError(error));
      return;
    }
    if (lazy) this.#cancelSync ??= this.#clock.setTimer(() => this.#sync(), ON_DISK_WITHIN_MS);
    else this.#synced();
    // Recording what happened takes less room than what is asked for: it proves nothing.
    if (this.#problem && batch.some((operation) => !operation.keep)) this.#mended();
    for (const operation of batch) operation.done();
    this.#dispatch.claimed();
  }

  #sync(): void {
    this.#cancelSync = undefined;
    if (!this.#closed) this.#flush(true);
  }

  #synced(): void {
    this.#cancelSync?.();
    this.#cancelSync = undefined;
  }

  #rolledBack(batch: Operation[], error: Error): void {
    const storage = isStorageError(error);
    // One that is wrong in itself must not take the others of its turn with it.
    if (!storage && batch.length > 1) {
      for (const operation of batch) this.#commit([operation]);
      return;
    }
    const kept = batch.filter((operation) => operation.keep);
    for (const operation of batch) if (!operation.keep) operation.failed(error);
    if (storage || kept.length > 0) this.#broken(error);
    // What has happened is less than what was asked for: there may be room for that much.
    if (storage && kept.length > 0 && kept.length < batch.length) this.#commit(kept);
    else this.#queue = [...kept, ...this.#queue];
  }

  #broken(error: Error): void {
    if (!this.#problem) {
      const problem = `${this.#ledger.database.file} cannot be written: ${error.message}`;
      this.#problem = { problem, since: new Date(this.#clock.now()) };
      this.#onProblem(`${problem}. Nothing new is accepted; what was accepted is kept. Look at the disk's space`);
    }
    this.#cancelRetry ??= this.#clock.setTimer(() => this.#tryAgain(), TRY_AGAIN_MS);
  }

  #mended(): void {
    this.#problem = undefined;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.#onProblem(`${this.#ledger.database.file} can be written again`);
  }

  #tryAgain(): void {
    this.#cancelRetry = undefined;
    // A page or two fit where nothing else does, so see whether a usual amount fits; the next write takes it away again.
    this.#queue.unshift({
      ...PROBE,
      work: () => void this.#probe.run(new Uint8Array(65_536)),
      done: () => this.add({ ...PROBE, work: () => void this.#probe.run(null) }),
    });
    this.#flush();
  }
}

const PROBE: Operation = { work() {}, done() {}, failed() {}, keep: false };
