/** What was found in a file, up to the limit of a report. */
import { type Finding, type Problem, place } from "./problem.ts";

export class Findings {
  readonly #all: Finding[] = [];
  readonly #most: number;
  #left = false;

  constructor(most: number) {
    this.#most = most;
  }

  /** How many more may be added. */
  get room(): number {
    return this.#most - this.#all.length;
  }

  /** Something was left out already. */
  get full(): boolean {
    return this.#left;
  }

  add(more: readonly Finding[]): void {
    for (const finding of more) {
      if (this.room > 0) this.#all.push(finding);
      else this.#left = true;
    }
  }

  place(bytes: Uint8Array, value: unknown): Problem[] {
    const message = "there are more problems: they are left out";
    if (this.#left) this.#all.push({ rule: "too-many-problems", path: [], offset: bytes.length, message });
    return this.#all.length > 0 ? place(this.#all, bytes, value) : [];
  }
}
