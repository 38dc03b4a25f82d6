import type { Candidate } from "./runs.ts";

/** More: more memory. Fewer: more deliveries of busy receivers are written and read once more before they run. */
const MAX_HELD = 1_024;
const MAX_CHARACTERS = 8_000_000;
/** Later ones that may be looked at meanwhile: the next start looks at all from the oldest held one on. */
const MAX_PASSED = 16_384;

interface Held {
  candidate: Candidate;
  /** How many deliveries had been looked at when this one was. */
  looked: number;
}

/** Fresh deliveries that were read while their receiver was busy: they wait in memory, in order of arrival. */
export class Holding {
  /** By id, which is in order of arrival. */
  readonly #held = new Map<number, Held>();
  readonly #ofReceiver = new Map<number, Candidate[]>();
  #characters = 0;

  get size(): number {
    return this.#held.size;
  }

  /** The id of the oldest. */
  get oldest(): number | undefined {
    return this.#held.keys().next().value;
  }

  has(receiver: number): boolean {
    return this.#ofReceiver.has(receiver);
  }

  /** Those that something is held for, the one served longest ago first. */
  receivers(): number[] {
    return [...this.#ofReceiver.keys()];
  }

  /** Is there room for it? Then it is held. */
  add(candidate: Candidate, looked: number): boolean {
    const { id, receiver, payload } = candidate;
    if (this.size >= MAX_HELD || this.#characters + payload.length > MAX_CHARACTERS) return false;
    this.#held.set(id, { candidate, looked });
    this.#characters += payload.length;
    const row = this.#ofReceiver.get(receiver);
    if (row) row.push(candidate);
    else this.#ofReceiver.set(receiver, [candidate]);
    return true;
  }

  /** Lets go of the oldest for this receiver, and puts the receiver last. */
  take(receiver: number): Candidate | undefined {
    const row = this.#ofReceiver.get(receiver);
    const candidate = row?.shift();
    if (!row || !candidate) return undefined;
    this.#ofReceiver.delete(receiver);
    if (row.length > 0) this.#ofReceiver.set(receiver, row);
    this.#held.delete(candidate.id);
    this.#characters -= candidate.payload.length;
    return candidate;
  }

  /** Lets go of the oldest of all, if too many others were looked at since. */
  takeOverdue(looked: number): Candidate | undefined {
    const first = this.#held.values().next().value;
    return first && looked - first.looked > MAX_PASSED ? this.take(first.candidate.receiver) : undefined;
  }

  clear(): void {
    this.#held.clear();
    this.#ofReceiver.clear();
    this.#characters = 0;
  }
}
