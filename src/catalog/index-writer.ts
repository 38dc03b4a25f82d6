/** Takes the words of one resource after the other, and gives what an index is made of. */
import { randomInt } from "node:crypto";
import type { Entries } from "./search-index.ts";
import { eachWord } from "./words.ts";

export class IndexWriter {
  readonly #dictionary = new Dictionary();
  /** Of each word the number of its last resource, plus one, and the place of that entry. */
  #lastOf = new Uint32Array(1024);
  #placeOf = new Uint32Array(1024);
  #count = 0;
  #term = new Uint32Array(8192);
  #resource = new Uint32Array(8192);
  #fields = new Uint8Array(8192);

  /** @param field below 8 */
  add(resource: number, field: number, text: string): void {
    eachWord(text, (within, start, end) => {
      const term = this.#dictionary.idOf(within, start, end);
      if (term >= this.#lastOf.length) {
        this.#lastOf = grown(this.#lastOf);
        this.#placeOf = grown(this.#placeOf);
      }
      if (this.#lastOf[term] !== resource + 1) {
        this.#lastOf[term] = resource + 1;
        this.#placeOf[term] = this.#append(term, resource);
      }
      (this.#fields[this.#placeOf[term] as number] as number) |= 1 << field;
    });
  }

  #append(term: number, resource: number): number {
    const place = this.#count++;
    if (place >= this.#term.length) {
      this.#term = grown(this.#term);
      this.#resource = grown(this.#resource);
      const fields = new Uint8Array(2 * this.#fields.length);
      fields.set(this.#fields);
      this.#fields = fields;
    }
    this.#term[place] = term;
    this.#resource[place] = resource;
    return place;
  }

  entries(): Entries {
    const { terms: unsorted } = this.#dictionary;
    const byRank = Uint32Array.from(unsorted.keys()).sort((a, b) =>
      (unsorted[a] as string) < (unsorted[b] as string) ? -1 : 1,
    );
    const terms = Array.from(byRank, (id) => unsorted[id] as string);
    const rankOf = new Uint32Array(terms.length);
    for (const [rank, id] of byRank.entries()) rankOf[id] = rank;
    const starts = new Uint32Array(terms.length + 1);
    for (let place = 0; place < this.#count; place++) {
      const rank = rankOf[this.#term[place] as number] as number;
      starts[rank + 1] = (starts[rank + 1] as number) + 1;
    }
    for (let rank = 0; rank < terms.length; rank++)
      starts[rank + 1] = (starts[rank + 1] as number) + (starts[rank] as number);
    const next = starts.slice();
    const resources = new Uint32Array(this.#count);
    const fields = new Uint8Array(this.#count);
    for (let place = 0; place < this.#count; place++) {
      const rank = rankOf[this.#term[place] as number] as number;
      const to = next[rank] as number;
      next[rank] = to + 1;
      resources[to] = this.#resource[place] as number;
      fields[to] = this.#fields[place] as number;
    }
    return { terms, starts, resources, fields };
  }
}

/** Another one in every process: who writes a catalog cannot choose words that all come to lie in one place. */
const FACTOR = randomInt(2 ** 31) * 2 + 1;

/**
 * Numbers for words, counted from 0. A Map does the same, but wants a string for every word of every text; here one is
 * made only for a word that is new.
 */
class Dictionary {
  readonly terms: string[] = [];
  /** The number of a word plus one, at the first free place from where its hash points. */
  #slots = new Int32Array(8192);
  #hashes = new Int32Array(4096);

  idOf(within: string, start: number, end: number): number {
    let hash = end - start;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, FACTOR) + within.charCodeAt(at)) | 0;
    hash ^= hash >>> 15;
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const id = (this.#slots[slot] as number) - 1;
      if (id < 0) return this.#insert(within.slice(start, end), hash, slot);
      if (this.#hashes[id] === hash && isPart(this.terms[id] as string, within, start, end)) return id;
      slot = (slot + 1) & mask;
    }
  }

  #insert(term: string, hash: number, slot: number): number {
    const id = this.terms.push(term) - 1;
    this.#slots[slot] = id + 1;
    this.#hashes[id] = hash;
    if (this.terms.length === this.#hashes.length) this.#grow();
    return id;
  }

  /** Half of the places stay free, so that a free one is near. */
  #grow(): void {
    const hashes = new Int32Array(2 * this.#hashes.length);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    this.#slots = new Int32Array(2 * this.#slots.length);
    const mask = this.#slots.length - 1;
    for (let id = 0; id < this.terms.length; id++) {
      let slot = (hashes[id] as number) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = id + 1;
    }
  }
}

function isPart(term: string, within: string, start: number, end: number): boolean {
  if (term.length !== end - start) return false;
  for (let at = 0; at < term.length; at++) if (term.charCodeAt(at) !== within.charCodeAt(start + at)) return false;
  return true;
}

function grown(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * array.length);
  larger.set(array);
  return larger;
}
