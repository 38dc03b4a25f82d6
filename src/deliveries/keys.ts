import type { Database } from "./database.ts";

/**
 * How many of the newest keys wait in memory before they are put into their table, a few with each commit.
 *
 * Senders' keys are random: written one by one, each would touch a page of its own, and that alone was half of what
 * accepting costs. Written in order of their hash, many share a page. More: more memory and a longer start after a crash
 * (they are read again from the newest deliveries, at most twice this many); fewer: more pages for each commit.
 */
const NEWEST = 16_384;

/** Finds a delivery by its receiver and the sender's key. All calls are made inside a transaction. */
export class Keys {
  readonly #find;
  readonly #put;
  readonly #remove;
  readonly #isOf;
  #newest = new Map<string, number>();
  /** Once `#newest` was full: on its way into the table in order of hash; those before `#left` are there. */
  #leaving = new Map<string, number>();
  #order: { hash: number; name: string; id: number }[] = [];
  #left = 0;
  #leavingTo = 0;
  /** By the present transaction. */
  #added: string[] = [];
  #removed = new Map<number, string>();

  constructor(database: Database) {
    this.#find = database.prepare("SELECT id FROM deliveries_keys WHERE hash = ?");
    this.#put = database.prepare("INSERT OR IGNORE INTO deliveries_keys VALUES (?, ?)");
    this.#remove = database.prepare("DELETE FROM deliveries_keys WHERE hash = ? AND id = ?");
    this.#isOf = database.prepare("SELECT 1 FROM deliveries WHERE id = ? AND receiver = ? AND key = ?");
  }

  /** Takes up the keys that no table has yet. */
  load(rows: Iterable<{ id: number; receiver: number; key: string }>): void {
    for (const row of rows) this.#newest.set(nameOf(row.receiver, row.key), row.id);
  }

  find(receiver: number, key: string): number | undefined {
    const name = nameOf(receiver, key);
    const known = this.#newest.get(name) ?? this.#leaving.get(name);
    if (known !== undefined && !this.#removed.has(known)) return known;
    for (const { id } of this.#find.all<{ id: number }>(hashOf(name))) if (this.#isOf.get(id, receiver, key)) return id;
    return undefined;
  }

  add(receiver: number, key: string, id: number): void {
    const name = nameOf(receiver, key);
    this.#newest.set(name, id);
    this.#added.push(name);
  }

  remove(receiver: number, key: string, id: number): void {
    const name = nameOf(receiver, key);
    this.#removed.set(id, name);
    this.#remove.run(hashOf(name), id);
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
      this.#order = Array.from(this.#leaving, ([name, id]) => ({ hash: hashOf(name), name, id }));
      this.#order.sort((a, b) => a.hash - b.hash);
    }
    const end = all ? this.#order.length : Math.min(this.#order.length, this.#left + 2 * this.#added.length);
    for (; this.#left < end; this.#left++) {
      const entry = this.#order[this.#left];
      if (entry && this.#leaving.get(entry.name) === entry.id && !this.#removed.has(entry.id))
        this.#put.run(entry.hash, entry.id);
    }
    if (this.#left < this.#order.length) return undefined;
    this.#order = [];
    this.#leaving = new Map();
    const to = this.#leavingTo;
    return all ? (this.settle(lastId, true) ?? to) : to;
  }

  /** Where the transaction stands. The function returned brings that back after a rollback. */
  mark(): () => void {
    const added = this.#added.length;
    const removed = new Map(this.#removed);
    const [newest, leaving, order, left, to] = [this.#newest, this.#leaving, this.#order, this.#left, this.#leavingTo];
    return () => {
      this.#newest = newest;
      this.#leaving = leaving;
      this.#order = order;
      this.#left = left;
      this.#leavingTo = to;
      this.#removed = removed;
      for (const name of this.#added.splice(added)) newest.delete(name);
    };
  }

  committed(): void {
    this.#added = [];
    for (const [id, name] of this.#removed)
      for (const keys of [this.#newest, this.#leaving]) if (keys.get(name) === id) keys.delete(name);
    this.#removed.clear();
  }
}

function nameOf(receiver: number, key: string): string {
  return `${receiver} ${key}`;
}

/** 51 bits of two multiplicative hashes. Two keys may share one: whoever finds it looks at the delivery itself. */
function hashOf(name: string): number {
  let high = 0x9e3779b9;
  let low = 0x85ebca6b;
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    high = Math.imul(high ^ code, 0x5bd1e995);
    low = Math.imul(low ^ code, 0x1b873593);
  }
  high = Math.imul(high ^ (high >>> 15) ^ low, 0x2c1b3c6d);
  low = Math.imul(low ^ (low >>> 13) ^ high, 0x297a2d39);
  high ^= high >>> 16;
  low ^= low >>> 15;
  return ((high >>> 0) % 0x80000) * 0x100000000 + (low >>> 0);
}
