import type { Database } from "./database.ts";
import { KeyIndex } from "./key-index.ts";

/**
 * After so many deliveries the keys among them are written together, as one row. Each on its own would touch a page of
 * its own, since senders' keys are random: that was half of what accepting cost. More: a longer start, for the keys not
 * written yet are read from the deliveries themselves. Fewer: more rows to read at the start.
 */
const RUN = 4_096;

interface Run {
  hashes: Uint32Array;
  ids: Float64Array;
}

/**
 * Finds a delivery by its receiver and the sender's key, through a hash of both: whoever finds it looks at the delivery
 * itself, because two keys may share a hash, and the delivery may be gone. All calls are made inside a transaction;
 * one that is rolled back leaves entries behind that lead to nothing.
 */
export class Keys {
  readonly #database: Database;
  readonly #seed: number;
  readonly #isOf;
  readonly #oldest;
  readonly #index: KeyIndex;
  /** Read from the file and not in the index yet: they come into it one with each transaction, and not all at the start. */
  readonly #unsorted: Run[];
  /** Of the deliveries since the last run. */
  #hashes: number[] = [];
  #ids: number[] = [];
  #begun = 0;

  /**
   * @param seed of this file's hashes: what collides in one file does not in another
   * @param to up to which delivery the keys stand in runs
   */
  constructor(database: Database, seed: number, to: number) {
    this.#database = database;
    this.#seed = seed;
    this.#isOf = database.prepare("SELECT 1 FROM deliveries WHERE id = ? AND receiver = ? AND key = ?");
    this.#oldest = database.prepare("SELECT min(id) id FROM deliveries");
    this.#unsorted = database
      .prepare("SELECT hashes, ids FROM deliveries_keys")
      .all<{ hashes: Uint8Array; ids: Uint8Array }>()
      .map(({ hashes, ids }) => ({ hashes: new Uint32Array(hashes.buffer), ids: new Float64Array(ids.buffer) }));
    this.#index = new KeyIndex(this.#unsorted.reduce((sum, { ids }) => sum + ids.length, RUN));
    const newer = database.prepare("SELECT id, receiver, key FROM deliveries WHERE id > ?");
    for (const { id, receiver, key } of newer.all<{ id: number; receiver: number; key: string | null }>(to)) {
      this.began();
      if (key !== null) this.add(receiver, key, id);
    }
  }

  find(receiver: number, key: string): number | undefined {
    const hash = this.#hash(receiver, key);
    const isRight = (id: number) => this.#isOf.get(id, receiver, key) !== undefined;
    const found = this.#index.find(hash, isRight);
    if (found !== undefined) return found;
    for (const { hashes, ids } of this.#unsorted)
      for (let at = hashes.indexOf(hash); at >= 0; at = hashes.indexOf(hash, at + 1))
        if (isRight(ids[at] ?? 0)) return ids[at];
    return undefined;
  }

  /** Another delivery, with or without a key. */
  began(): void {
    this.#begun++;
  }

  add(receiver: number, key: string, id: number): void {
    const hash = this.#hash(receiver, key);
    this.#enter(hash, id);
    this.#hashes.push(hash);
    this.#ids.push(id);
  }

  #enter(hash: number, id: number): void {
    if (this.#index.full) this.#index.grow(this.#oldestId());
    this.#index.add(hash, id);
  }

  /**
   * Writes a run when there is enough for one.
   * @param lastId of the newest delivery
   * @returns up to which delivery all keys are in runs now; undefined where that has not changed
   */
  settle(lastId: number): number | undefined {
    const run = this.#unsorted.pop();
    if (run) for (let at = 0; at < run.ids.length; at++) this.#enter(run.hashes[at] ?? 0, run.ids[at] ?? 0);
    if (this.#begun < RUN) return undefined;
    this.#database.prepare("DELETE FROM deliveries_keys WHERE last < ?").run(this.#oldestId());
    if (this.#ids.length > 0) {
      const [hashes, ids] = [Uint32Array.from(this.#hashes), Float64Array.from(this.#ids)];
      const insert = this.#database.prepare("INSERT OR REPLACE INTO deliveries_keys VALUES (?, ?, ?)");
      insert.run(lastId, new Uint8Array(hashes.buffer), new Uint8Array(ids.buffer));
    }
    return lastId;
  }

  /** The transaction is on the disk, and with it what `settle` wrote. */
  committed(): void {
    if (this.#begun < RUN) return;
    this.#begun = 0;
    this.#hashes = [];
    this.#ids = [];
  }

  #oldestId(): number {
    return this.#oldest.get<{ id: number | null }>()?.id ?? Number.MAX_SAFE_INTEGER;
  }

  #hash(receiver: number, key: string): number {
    let hash = this.#seed ^ Math.imul(receiver, 0x9e3779b1);
    for (let i = 0; i < key.length; i++) {
      hash = Math.imul(hash ^ key.charCodeAt(i), 0x5bd1e995);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash ^ (hash >>> 13), 0x2c1b3c6d);
    return (hash ^ (hash >>> 16)) >>> 0;
  }
}
