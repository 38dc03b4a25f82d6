/** Where a mark has its delivery's id and when its attempt began. */
const WIDTH = 2;

/**
 * The deliveries whose first attempt runs. They are written as one value with every commit, beside the counts: a change
 * of the row itself, and of an index, at the begin of each attempt was a third of what an attempt cost in the file.
 * All calls are made inside a transaction.
 */
export class Marks {
  readonly #begun: Map<number, number>;
  /** What takes back the changes since the last commit, the newest last. */
  #changes: (() => void)[] = [];

  /** @param stored what `toBytes` made */
  constructor(stored: Uint8Array | null) {
    const values = new Float64Array(stored?.slice().buffer ?? []);
    this.#begun = new Map();
    for (let at = 0; at < values.length; at += WIDTH) this.#begun.set(values[at] ?? 0, values[at + 1] ?? 0);
  }

  has(id: number): boolean {
    return this.#begun.has(id);
  }

  /** With the time when each attempt began. */
  all(): [id: number, begun: number][] {
    return [...this.#begun];
  }

  add(id: number, begun: number): void {
    this.#begun.set(id, begun);
    this.#changes.push(() => this.#begun.delete(id));
  }

  remove(id: number): void {
    const begun = this.#begun.get(id);
    if (begun === undefined) return;
    this.#begun.delete(id);
    this.#changes.push(() => this.#begun.set(id, begun));
  }

  /** 64 bits each number, as this machine writes them. */
  toBytes(): Uint8Array | null {
    if (this.#begun.size === 0) return null;
    const values = new Float64Array(this.#begun.size * WIDTH);
    let at = 0;
    for (const [id, begun] of this.#begun) {
      values[at++] = id;
      values[at++] = begun;
    }
    return new Uint8Array(values.buffer);
  }

  /** Returns what takes back all changes from here on. */
  mark(): () => void {
    const before = this.#changes.length;
    return () => {
      for (const takeBack of this.#changes.splice(before).reverse()) takeBack();
    };
  }

  committed(): void {
    this.#changes = [];
  }
}
