import { firstIdAt } from "./ids.ts";
import type { Ledger } from "./ledger.ts";
import type { DeliveriesSettings } from "./settings.ts";

/** Deliveries removed in one transaction: some milliseconds. */
const STEP = 250;
/** Between steps, so that what is accepted meanwhile comes first. */
const PAUSE_MS = 20;
/** Between looks when there is nothing to remove. */
const LOOK_MS = 60_000;
/** Pages given back to the file system with each step: more than a step frees, so that the file gets smaller. */
const PAGES = 500;

interface Old {
  id: number;
  state: number;
  content: number;
}

/** Removes what is finished and too old or too much, a little at a time. */
export class Retention {
  readonly #ledger: Ledger;
  readonly #limits: DeliveriesSettings["retention"];
  readonly #onProblem: (problem: string) => void;
  readonly #old;
  readonly #remove;
  readonly #removeAttempts;
  readonly #removeContent;
  readonly #releaseContent;
  /** What is older is gone, or not finished yet. */
  #position = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(ledger: Ledger, limits: DeliveriesSettings["retention"], onProblem: (problem: string) => void) {
    const { database } = ledger;
    this.#ledger = ledger;
    this.#limits = limits;
    this.#onProblem = onProblem;
    this.#old = database.prepare(
      `SELECT id, state, content FROM deliveries NOT INDEXED
       WHERE id > ? AND id < ? AND state IN (1, 4, 5) ORDER BY id LIMIT ?`,
    );
    this.#remove = database.prepare("DELETE FROM deliveries WHERE id = ?");
    this.#removeAttempts = database.prepare("DELETE FROM deliveries_attempts WHERE delivery = ?");
    this.#removeContent = database.prepare("DELETE FROM deliveries_content WHERE id = ? AND uses = 1");
    this.#releaseContent = database.prepare("UPDATE deliveries_content SET uses = uses - 1 WHERE id = ?");
  }

  start(): void {
    this.#cancelTimer = this.#ledger.wall.setTimer(() => this.#look(), LOOK_MS, true);
  }

  stop(): void {
    this.#cancelTimer?.();
  }

  #look(): void {
    let more = false;
    try {
      more = this.step();
    } catch (error) {
      this.#onProblem(`old deliveries could not be removed: ${error instanceof Error ? error.message : error}`);
    }
    if (!more) this.#position = 0;
    this.#cancelTimer = this.#ledger.wall.setTimer(() => this.#look(), more ? PAUSE_MS : LOOK_MS, true);
  }

  /** Removes some. Is there more to remove? */
  step(): boolean {
    const ledger = this.#ledger;
    const tooOld = firstIdAt(ledger.wall.now() - this.#limits.ageMs);
    const tooMany = ledger.finished - this.#limits.count;
    const old =
      tooMany > 0
        ? this.#old.all<Old>(this.#position, Number.MAX_SAFE_INTEGER, Math.min(tooMany, STEP))
        : this.#old.all<Old>(this.#position, tooOld, STEP);
    const last = old.at(-1);
    if (!last) return false;
    ledger.transaction(() => {
      for (const row of old) {
        this.#remove.run(row.id);
        this.#removeAttempts.run(row.id);
        if (this.#removeContent.run(row.content) === 0) this.#releaseContent.run(row.content);
        ledger.forget(row.state);
      }
    });
    this.#position = last.id;
    ledger.database.exec(`PRAGMA incremental_vacuum(${PAGES})`);
    return true;
  }
}
