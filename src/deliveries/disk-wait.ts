import { toError } from "../errors.ts";
import type { Clock } from "./clock.ts";
import type { Database } from "./database.ts";

/**
 * Where the disk is quicker than this it is waited for on the spot: to let others go on meanwhile costs a thread's way
 * there and back, and two small commits in place of one.
 */
const QUICK_DISK_MS = 1;
/** Every so many waits it is tried how quick the disk is. */
const WAITS_UNTIL_TRIED = 32;

/** The wait for the disk, on the spot or while others go on, whichever costs less. */
export class DiskWait {
  readonly #database: Database;
  readonly #clock: Clock;
  #quick = false;
  #lastMs = Number.POSITIVE_INFINITY;
  #waits = 0;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Resolves when all that was committed before the call is on the disk, or with what went wrong. */
  async wait(): Promise<Error | undefined> {
    try {
      if (this.#quick || ++this.#waits % WAITS_UNTIL_TRIED === 0) this.#waitHere();
      else await this.#database.toDisk();
    } catch (error) {
      return toError(error);
    }
    return undefined;
  }

  #waitHere(): void {
    const begun = this.#clock.monotonic();
    this.#database.toDiskNow();
    const ms = this.#clock.monotonic() - begun;
    // Every disk is slow for once.
    this.#quick = Math.min(ms, this.#lastMs) < QUICK_DISK_MS;
    this.#lastMs = ms;
  }
}
