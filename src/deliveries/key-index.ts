/**
 * From a hash to the deliveries that may have it, in memory: open addressing, 12 bytes a slot, at most half of them
 * taken. Entries are never taken out one by one: whoever finds a delivery here looks at it anyway, and those whose
 * delivery is gone go when the table grows.
 */
export class KeyIndex {
  #hashes: Uint32Array;
  /** 0: the slot is free. */
  #ids: Float64Array;
  #size = 0;

  /** @param expected how many entries it takes before it must grow */
  constructor(expected: number) {
    const slots = slotsFor(expected);
    this.#hashes = new Uint32Array(slots);
    this.#ids = new Float64Array(slots);
  }

  get size(): number {
    return this.#size;
  }

  get full(): boolean {
    return this.#size * 2 >= this.#ids.length;
  }

  /** @param hash of 32 bits, evenly spread. @param id at least 1 */
  add(hash: number, id: number): void {
    const mask = this.#ids.length - 1;
    let at = hash & mask;
    while (this.#ids[at] !== 0) at = (at + 1) & mask;
    this.#hashes[at] = hash;
    this.#ids[at] = id;
    this.#size++;
  }

  /** The first with this hash that `isRight` confirms. */
  find(hash: number, isRight: (id: number) => boolean): number | undefined {
    const mask = this.#ids.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const id = this.#ids[at];
      if (id === undefined || id === 0) return undefined;
      if (this.#hashes[at] === hash && isRight(id)) return id;
    }
  }

  /** Makes room for as many again as stay: those from `oldest` on. */
  grow(oldest: number): void {
    const [hashes, ids] = [this.#hashes, this.#ids];
    const stay = ids.reduce((count, id) => (id !== 0 && id >= oldest ? count + 1 : count), 0);
    const slots = slotsFor(2 * stay);
    this.#hashes = new Uint32Array(slots);
    this.#ids = new Float64Array(slots);
    this.#size = 0;
    for (let at = 0; at < ids.length; at++) {
      const [hash = 0, id = 0] = [hashes[at], ids[at]];
      if (id !== 0 && id >= oldest) this.add(hash, id);
    }
  }
}

const LEAST_SLOTS = 16_384;

function slotsFor(entries: number): number {
  return Math.max(LEAST_SLOTS, 2 ** Math.ceil(Math.log2(2 * entries + 1)));
}
