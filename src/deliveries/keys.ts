import type { Database } from "./database.ts";

/**
 * How many of the newest keys wait in memory before they are put into their table, a few with each commit.
 *
 * Senders' keys are random: written one by one, each would touch a page of its own, and that alone was half of what
 * accepting costs. Written in order of their hash, many share a page. More: more memory and a longer start after a crash
 * (they are read again from the newest deliveries, at most twice this many); fewer: more pages for each commit.
 */
const NEWEST = 16_384;

/**
 * Finds a delivery by its receiver and the sender's key, through a hash of both: whoever finds it looks at the delivery
 * itself, because two keys may share a hash. All calls are made inside a transaction.
 */
export class Keys {
  readonly #find;
  readonly #put;
  readonly #remove;
  readonly #isOf;
  /** Hash to delivery. */
  #newest = new Map<number, number>();
  /** Once `#newest` was full: on its way into the table in order of hash; those before `#left` are there. */
  #leaving = new Map<number, number>();
  #order = new Float64Array();
  #left = 0;
  #leavingTo = 0;
  /** By the present transaction. */
  #added: number[] = [];
  #removed = new Map<number, number>();

  constructor(database: Database) {
    this.#find = database.prepare("SELECT id FROM deliveries_keys WHERE hash = ? AND id > ? ORDER BY id LIMIT 1");
    this.#put = database.prepare("INSERT OR IGNORE INTO deliveries_keys VALUES (?, ?)");
    this.#remove = database.prepare("DELETE FROM deliveries_keys WHERE hash = ? AND id = ?");
    this.#isOf = database.prepare("SELECT 1 FROM deliveries WHERE id = ? AND receiver = ? AND key = ?");
  }

  /** Takes up the keys that no table has yet. */
  load(rows: Iterable<{ id: number; receiver: number; key: string }>): void {
    for (const row of rows) this.#newest.set(hashOf(row.receiver, row.key), row.id);
  }

  find(receiver: number, key: string): number | undefined {
    const hash = hashOf(receiver, key);
    for (const keys of [this.#newest, this.#leaving]) {
      const id = keys.get(hash);
      if (id !== undefined && this.#isOf.get(id, receiver, key)) return id;
    }
    for (let after = 0; ; ) {
      const id = this.#find.get<{ id: number }>(hash, after)?.id;
      if (id === undefined || this.#isOf.get(id, receiver, key)) return id;
      after = id;
    }
  }

  add(receiver: number, key: string, id: number): void {
    const hash = hashOf(receiver, key);
    // Another key with this hash, or one whose delivery was just removed: at once into the table, which holds any number.
    if (this.#newest.has(hash)) this.#put.run(hash, id);
    else {
      this.#newest.set(hash, id);
      this.#added.push(hash);
    }
  }

  remove(receiver: number, key: string, id: number): void {
    const hash = hashOf(receiver, key);
    this.#removed.set(id, hash);
    this.#remove.run(hash, id);
  }

  /**
   * Puts keys into the table as part of the present transaction: about two for each added, or `all` of them.
   * @param lastId of the newest delivery
   * @returns up to which delivery all keys are in the table now; undefined where that has not changed
   */
  settle(lastId: number, all = false): number | undefined {
    if (this.#order.length === 0) {
      if (this.#newest.size < (all ? 1 : NEWEST)) return undefined;
      this.#leaving = this.#newest;
      this.#newest = new Map();
      this.#leavingTo = lastId;
      this.#left = 0;
      this.#order = Float64Array.from(this.#leaving.keys()).sort();
    }
    const end = all ? this.#order.length : Math.min(this.#order.length, this.#left + 2 * this.#added.length);
    for (; this.#left < end; this.#left++) {
      const hash = this.#order[this.#left] ?? 0;
      const id = this.#leaving.get(hash);
      if (id !== undefined && !this.#removed.has(id)) this.#put.run(hash, id);
    }
    if (this.#left < this.#order.length) return undefined;
    this.#order = new Float64Array();
    this.#leaving = new Map();
    const to = this.#leavingTo;
    return all ? (this.settle(lastId, true) ?? to) : to;
  }

  /** Where the transaction stands. The function returned brings that back after a rollback. */
  mark(): () => void {
    const added = this.#added.length;
    const removed = this.#removed.size > 0 ? new Map(this.#removed) : undefined;
    const [newest, leaving, order, left, to] = [this.#newest, this.#leaving, this.#order, this.#left, this.#leavingTo];
    return () => {
      this.#newest = newest;
      this.#leaving = leaving;
      this.#order = order;
      this.#left = left;
      this.#leavingTo = to;
      this.#removed = removed ?? new Map();
      for (const hash of this.#added.splice(added)) newest.delete(hash);
    };
  }

  committed(): void {
    this.#added = [];
    for (const [id, hash] of this.#removed)
      for (const keys of [this.#newest, this.#leaving]) if (keys.get(hash) === id) keys.delete(hash);
    if (this.#removed.size > 0) this.#removed.clear();
  }
}

/** 51 bits of two multiplicative hashes. */
function hashOf(receiver: number, key: string): number {
  let high = 0x9e3779b9 ^ receiver;
  let low = 0x85ebca6b;
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i);
    high = Math.imul(high ^ code, 0x5bd1e995);
    low = Math.imul(low ^ code, 0x1b873593);
  }
  high = Math.imul(high ^ (high >>> 15) ^ low, 0x2c1b3c6d);
  low = Math.imul(low ^ (low >>> 13) ^ high, 0x297a2d39);
  high ^= high >>> 16;
  low ^= low >>> 15;
  return ((high >>> 0) % 0x80000) * 0x100000000 + (low >>> 0);
}
