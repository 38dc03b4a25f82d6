import { toError } from "../errors.ts";
import type { Clock } from "./clock.ts";
import { isStorageError } from "./database.ts";
import type { DeliveriesHealth } from "./delivery.ts";
import { DiskWait } from "./disk-wait.ts";
import type { Ledger } from "./ledger.ts";

/** Something to be written, and what follows from it. */
export interface Operation {
  /** Inside the transaction, which it may share with others. */
  work(): void;
  /** After the commit: it stays, however this process ends. */
  done(): void;
  /** It is on the disk, where it survives a power cut as well. Left out where nobody waits for that. */
  onDisk?(): void;
  /** Nothing of it was written; or, after `done`, it may not be on the disk. */
  failed(error: Error): void;
  /** Try again until it is written, and never call `failed`: for what has happened already. */
  readonly keep: boolean;
}

interface Dispatch {
  /** Inside the transaction: takes up what may begin now. */
  claim(): void;
  /** After the commit. What is returned begins what was taken up. */
  claimed(): () => void;
  /** After a rollback. */
  unclaimed(): void;
  /** Nothing runs and nothing could begin now. */
  readonly quiet: boolean;
}

/** Between tries to write to a disk that is full or gone. */
const TRY_AGAIN_MS = 1_000;

/** While more comes in, a commit waits for it up to two more turns of the loop: a turn is short, a commit is not. */
const MORE_TURNS = 2;

/**
 * What nobody waits for, as the end of an attempt, is on the disk after this time at the latest: a wait for the disk
 * costs as much as twenty such records.
 */
const ON_DISK_WITHIN_MS = 100;

/**
 * Group commit: everything that is handed in during one turn of the event loop, or a few where they bring more, is
 * written in one transaction; and all that is written while one wait for the disk lasts shares the next.
 */
export class Writer {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #dispatch: Dispatch;
  readonly #disk: DiskWait;
  readonly #onProblem: (problem: string) => void;
  readonly #turnOver: () => void;
  readonly #probe;
  #queue: Operation[] = [];
  #scheduled = false;
  #closed = false;
  #problem: { problem: string; since: Date } | undefined;
  #cancelRetry: (() => void) | undefined;
  /** Committed, and somebody waits for the disk; and what begins then. */
  #awaited: Operation[] = [];
  #begins: (() => void)[] = [];
  /** Those that the present wait for the disk is for. */
  #syncing: Operation[] | undefined;
  /** Calls off the timer of what was committed and nobody waits for. */
  #cancelSync: (() => void) | undefined;
  /** That timer has rung. */
  #overdue = false;
  /** How often something could not be written, and how often that had been when something awaited was committed last. */
  #failures = 0;
  #failuresBefore = 0;

  constructor(ledger: Ledger, dispatch: Dispatch, onProblem: (problem: string) => void, turnOver: () => void) {
    this.#ledger = ledger;
    this.#clock = ledger.wall;
    this.#dispatch = dispatch;
    this.#disk = new DiskWait(ledger.database, ledger.wall);
    this.#onProblem = onProblem;
    this.#turnOver = turnOver;
    this.#probe = ledger.database.prepare("UPDATE deliveries_tally SET probe = ?");
  }

  /** Nothing is to be written, and what was is on the disk. */
  get quiet(): boolean {
    if (this.#closed) return true;
    return this.#queue.length === 0 && !this.#scheduled && !this.#syncing && !this.#cancelSync;
  }

  health(): DeliveriesHealth {
    return this.#problem ? { ok: false, ...this.#problem } : { ok: true };
  }

  add(operation: Operation): void {
    if (this.#closed) {
      operation.failed(new Error(`${this.#ledger.database.file} is closed`));
      return;
    }
    this.#queue.push(operation);
    // Whoever waits for the disk waits for its turn there: until then more may come to share the commit.
    if (!this.#syncing || operation.keep) this.wake();
  }

  /**
   * Does `work` within a transaction of this turn; a throw takes back `work` alone. Resolves when it is on the disk.
   * @param done hears of the result at once after the commit; what it throws rejects
   */
  write<T>(work: () => T, done: (result: T) => void = () => {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let outcome: { result: T } | { error: unknown };
      this.add({
        work: () => {
          try {
            outcome = { result: this.#ledger.part(work) };
          } catch (error) {
            if (isStorageError(error)) throw error;
            outcome = { error };
          }
        },
        done: () => {
          try {
            if ("error" in outcome) reject(outcome.error);
            else done(outcome.result);
          } catch (error) {
            reject(error);
          }
        },
        onDisk: () => "result" in outcome && resolve(outcome.result),
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
    if (this.#queue.length > 0) this.#flush();
    this.#closed = true;
    const awaited = [...(this.#syncing ?? []), ...this.#awaited];
    try {
      this.#ledger.database.toDiskNow();
      for (const operation of awaited) operation.onDisk?.();
    } catch (error) {
      for (const operation of awaited) operation.failed(toError(error));
      this.#broken(toError(error));
    }
    this.#cancelRetry?.();
    this.#cancelSync?.();
    return this.#queue.length;
  }

  #flush(): void {
    this.#scheduled = false;
    const batch = this.#queue;
    this.#queue = [];
    this.#commit(batch);
    this.#toDiskSoon();
    this.#turnOver();
  }

  #commit(batch: Operation[]): void {
    try {
      this.#ledger.transaction(() => {
        for (const operation of batch) operation.work();
        this.#dispatch.claim();
      });
    } catch (error) {
      this.#dispatch.unclaimed();
      this.#rolledBack(batch, toError(error));
      return;
    }
    this.#cancelSync ??= this.#clock.setTimer(() => {
      this.#overdue = true;
      this.#toDiskSoon();
    }, ON_DISK_WITHIN_MS);
    let awaited = false;
    for (const operation of batch) {
      operation.done();
      if (!operation.onDisk) continue;
      this.#awaited.push(operation);
      this.#failuresBefore = this.#failures;
      awaited = true;
    }
    const begin = this.#dispatch.claimed();
    // In a turn of their own: whoever waits is answered before a handler may hold the processor.
    if (awaited) this.#begins.push(begin);
    else setImmediate(begin);
  }

  #toDiskSoon(): void {
    // Where nothing goes on, nothing comes that would bring it to the disk along with it.
    const atOnce = this.#awaited.length > 0 || this.#overdue || (this.#cancelSync && this.#dispatch.quiet);
    if (atOnce) void this.#toDisk();
  }

  async #toDisk(): Promise<void> {
    if (this.#syncing || this.#closed) return;
    this.#cancelSync?.();
    this.#cancelSync = undefined;
    this.#overdue = false;
    const [awaited, begins, failuresBefore] = [this.#awaited, this.#begins, this.#failuresBefore];
    [this.#awaited, this.#begins] = [[], []];
    this.#syncing = awaited;
    const problem = await this.#disk.wait();
    // Then `close` has brought it to the disk.
    if (this.#closed) return;
    this.#syncing = undefined;
    for (const operation of awaited) {
      if (problem) operation.failed(problem);
      else operation.onDisk?.();
    }
    if (problem) this.#broken(problem);
    // Recording what happened takes less room than what is asked for: it proves nothing. Nor does what came before.
    else if (this.#problem && awaited.length > 0 && failuresBefore === this.#failures) this.#mended();
    for (const begin of begins) setImmediate(begin);
    if (this.#queue.length > 0) this.wake();
    this.#toDiskSoon();
    this.#turnOver();
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
    this.#failures++;
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
      onDisk: () => this.add({ ...PROBE, work: () => void this.#probe.run(null) }),
    });
    this.#flush();
  }
}

const PROBE: Operation = { work() {}, done() {}, failed() {}, keep: false };
