/** What was found in a file, up to the limit of a report. */
import { type Draft, type Problem, place } from "./problem.ts";

export class Findings {
  readonly #drafts: Draft[] = [];
  readonly #most: number;
  #left = false;

  constructor(most: number) {
    this.#most = most;
  }

  /** How many more may be added. */
  get room(): number {
    return this.#most - this.#drafts.length;
  }

  /** Something was left out already. */
  get full(): boolean {
    return this.#left;
  }

  add(drafts: readonly Draft[]): void {
    for (const draft of drafts) {
      if (this.room > 0) this.#drafts.push(draft);
      else this.#left = true;
    }
  }

  place(bytes: Uint8Array, value: unknown): Problem[] {
    const message = "there are more problems: they are left out";
    if (this.#left) this.#drafts.push({ rule: "too-many-problems", path: [], offset: bytes.length, message });
    return this.#drafts.length > 0 ? place(this.#drafts, bytes, value) : [];
  }
}
