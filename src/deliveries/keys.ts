import type { Database } from "./database.ts";
import { KeyIndex } from "./key-index.ts";

/**
 * After so many deliveries the keys among them are written together, as one row. Each on its own would touch a page of
 * its own, since senders' keys are random: that was half of what accepting cost. More: a longer start, for the keys not
 * written yet are read from the deliveries themselves. Fewer: more rows to read at the start.
 */
const RUN = 16_384;

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
    const runs = database
      .prepare("SELECT hashes, ids FROM deliveries_keys")
      .all<{ hashes: Uint8Array; ids: Uint8Array }>()
      .map(({ hashes, ids }) => ({ hashes: numbers(hashes, Uint32Array), ids: numbers(ids, Float64Array) }));
    this.#index = new KeyIndex(runs.reduce((sum, { ids }) => sum + ids.length, RUN));
    for (const { hashes, ids } of runs)
      for (let at = 0; at < ids.length; at++) this.#index.add(hashes[at] ?? 0, ids[at] ?? 0);
    const newer = database.prepare("SELECT id, receiver, key FROM deliveries WHERE id > ?");
    for (const { id, receiver, key } of newer.all<{ id: number; receiver: number; key: string | null }>(to)) {
      this.began();
      if (key !== null) this.add(receiver, key, id);
    }
  }

  find(receiver: number, key: string): number | undefined {
    return this.#index.find(this.#hash(receiver, key), (id) => this.#isOf.get(id, receiver, key) !== undefined);
  }

  /** Another delivery, with or without a key. */
  began(): void {
    this.#begun++;
  }

  add(receiver: number, key: string, id: number): void {
    const hash = this.#hash(receiver, key);
    if (this.#index.full) this.#index.grow(this.#oldestId());
    this.#index.add(hash, id);
    this.#hashes.push(hash);
    this.#ids.push(id);
  }

  /**
   * Writes a run when there is enough for one.
   * @param lastId of the newest delivery
   * @returns up to which delivery all keys are in runs now; undefined where that has not changed
   */
  settle(lastId: number): number | undefined {
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

/** Bytes as the numbers they were written from; a copy, for bytes may begin anywhere and numbers may not. */
function numbers<T>(bytes: Uint8Array, type: new (buffer: ArrayBuffer) => T): T {
  return new type(new Uint8Array(bytes).buffer);
}
