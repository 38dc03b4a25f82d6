import { Queue } from "./queue.ts";
import type { Candidate } from "./runs.ts";

/** More: more memory. Fewer: more deliveries of busy receivers are written and read once more before they run. */
const MAX_HELD = 16_384;
const MAX_CHARACTERS = 32_000_000;
/** All of them are asked in every transaction. */
const MAX_RECEIVERS = 1_024;
/** Later ones that may be looked at meanwhile: the next start looks at all from the oldest held one on. */
const MAX_PASSED = 65_536;

interface Held {
  /** Undefined once it was taken: it may be long until the front, and a payload may be large. */
  candidate: Candidate | undefined;
  /** How many deliveries had been looked at when this one was. */
  looked: number;
}

/** Fresh deliveries that wait in memory for a place, in order of arrival. */
export class Holding {
  /** Those that were taken go when they come to the front. */
  #inOrder = new Queue<Held>();
  readonly #ofReceiver = new Map<number, Queue<Held>>();
  #size = 0;
  #characters = 0;

  get size(): number {
    return this.#size;
  }

  get oldest(): Candidate | undefined {
    return this.#oldest()?.candidate;
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
    const { receiver, payload } = candidate;
    if (this.#size >= MAX_HELD || this.#characters + payload.length > MAX_CHARACTERS) return false;
    let row = this.#ofReceiver.get(receiver);
    if (!row) {
      if (this.#ofReceiver.size >= MAX_RECEIVERS) return false;
      row = new Queue();
      this.#ofReceiver.set(receiver, row);
    }
    const held = { candidate, looked };
    row.push(held);
    this.#inOrder.push(held);
    this.#size++;
    this.#characters += payload.length;
    return true;
  }

  /** Lets go of the oldest for this receiver, and puts the receiver last. */
  take(receiver: number): Candidate | undefined {
    const row = this.#ofReceiver.get(receiver);
    const held = row?.shift();
    const candidate = held?.candidate;
    if (!row || !candidate) return undefined;
    if (row.empty || this.#ofReceiver.size > 1) {
      this.#ofReceiver.delete(receiver);
      if (!row.empty) this.#ofReceiver.set(receiver, row);
    }
    held.candidate = undefined;
    this.#size--;
    this.#characters -= candidate.payload.length;
    return candidate;
  }

  /** Lets go of the oldest of all, if too many others were looked at since. */
  takeOverdue(looked: number): Candidate | undefined {
    const first = this.#oldest();
    return first?.candidate && looked - first.looked > MAX_PASSED ? this.take(first.candidate.receiver) : undefined;
  }

  clear(): void {
    this.#inOrder = new Queue();
    this.#ofReceiver.clear();
    this.#size = 0;
    this.#characters = 0;
  }

  #oldest(): Held | undefined {
    while (this.#inOrder.first && !this.#inOrder.first.candidate) this.#inOrder.shift();
    return this.#inOrder.first;
  }
}
