/**
 * An inverted index in flat arrays: which resources have a word, and in which of their fields. minisearch's own index
 * was tried first; over 100,000 resources it took 13 s to build, and broad queries took hundreds of milliseconds. Its
 * radix tree is what finds words that are nearly the asked one.
 */
import SearchableMap from "minisearch/SearchableMap";

/** A word that fits what was asked, and how well: 1 for the very word. */
interface Fitting {
  term: number;
  fit: number;
}

/** A letter more or less, or another one; from eight letters on, two. */
const SLIPS = [
  { from: 8, distance: 2 },
  { from: 4, distance: 1 },
];
/** Steps of looking one up. */
const LOOK_UP = 20;
const OF_A_BEGINNING = 0.7;
const OF_A_SLIP = 0.4;

export class Index {
  readonly size: number;
  /** Sorted, so that all words with the same beginning stand together. */
  readonly #terms: string[];
  readonly #ids: Map<string, number>;
  readonly #near: SearchableMap<number>;
  /** Where the entries of each word begin; the last one is where all end. */
  readonly #starts: Uint32Array;
  readonly #resources: Uint32Array;
  /** One bit for each field that has the word. */
  readonly #fields: Uint8Array;
  readonly #rarity: Float32Array;
  /** What a set of fields counts. */
  readonly #weights: Float32Array;
  readonly #total: Float32Array;
  readonly #best: Float32Array;
  /** How many of the words a resource has had so far. */
  readonly #stage: Uint8Array;
  readonly #found: Uint32Array;

  constructor(size: number, weights: readonly number[], { terms, starts, resources, fields }: Entries) {
    this.size = size;
    this.#terms = terms;
    this.#ids = new Map(terms.map((term, id) => [term, id]));
    this.#near = new SearchableMap();
    for (const [id, term] of terms.entries()) if (!/\d/.test(term)) this.#near.set(term, id);
    this.#starts = starts;
    this.#resources = resources;
    this.#fields = fields;
    this.#rarity = Float32Array.from(terms, (_, id) => Math.log(1 + size / this.#count(id)));
    this.#weights = Float32Array.from({ length: 2 ** weights.length }, (_, set) =>
      weights.reduce((sum, weight, field) => (set & (1 << field) ? sum + weight : sum), 0),
    );
    this.#total = new Float32Array(size);
    this.#best = new Float32Array(size);
    this.#stage = new Uint8Array(size);
    this.#found = new Uint32Array(size);
  }

  /**
   * The resources that have every word, and the score of each by its number; both are valid until the next call. Of the
   * last word the beginning is enough unless it is `whole`.
   */
  find(words: readonly string[], { whole = false } = {}): { found: Uint32Array; scores: Float32Array } {
    const asked = words.map((word, at) => {
      const fitting = this.#fitting(word, !whole && at === words.length - 1);
      return { fitting, cost: fitting.reduce((sum, { term }) => sum + this.#count(term), 0) };
    });
    // What the rarest word leaves over is all that the others are asked about.
    asked.sort((a, b) => a.cost - b.cost);
    this.#stage.fill(0);
    let count = 0;
    for (const [stage, { fitting, cost }] of asked.entries()) {
      if (stage === 0) for (const one of fitting) count = this.#begin(one, count);
      else {
        // Looking up a few in a long list is quicker than reading it.
        if (count * fitting.length * LOOK_UP < cost) for (const one of fitting) this.#lookUp(one, stage, count);
        else for (const one of fitting) this.#readOn(one, stage);
        count = this.#keep(stage + 1, count);
      }
      if (count === 0) break;
    }
    return { found: this.#found.subarray(0, count), scores: this.#total };
  }

  #begin({ term, fit }: Fitting, count: number): number {
    const [resources, fields, weights] = [this.#resources, this.#fields, this.#weights];
    const [stages, total, found] = [this.#stage, this.#total, this.#found];
    const factor = fit * (this.#rarity[term] as number);
    const end = this.#starts[term + 1] as number;
    for (let at = this.#starts[term] as number; at < end; at++) {
      const resource = resources[at] as number;
      const score = factor * (weights[fields[at] as number] as number);
      if (stages[resource] === 0) {
        stages[resource] = 1;
        total[resource] = score;
        found[count++] = resource;
      } else if (score > (total[resource] as number)) total[resource] = score;
    }
    return count;
  }

  #readOn({ term, fit }: Fitting, stage: number): void {
    const factor = fit * (this.#rarity[term] as number);
    const [resources, stages] = [this.#resources, this.#stage];
    const end = this.#starts[term + 1] as number;
    for (let at = this.#starts[term] as number; at < end; at++)
      if ((stages[resources[at] as number] as number) >= stage) this.#raise(at, factor, stage);
  }

  #lookUp({ term, fit }: Fitting, stage: number, count: number): void {
    const factor = fit * (this.#rarity[term] as number);
    const end = this.#starts[term + 1] as number;
    for (let index = 0; index < count; index++) {
      const resource = this.#found[index] as number;
      const at = firstFrom(this.#resources, resource, this.#starts[term] as number, end);
      if (at < end && this.#resources[at] === resource) this.#raise(at, factor, stage);
    }
  }

  /** Adds the score of one more word to a resource that has all words before. Of its many forms the best one counts. */
  #raise(at: number, factor: number, stage: number): void {
    const resource = this.#resources[at] as number;
    const score = factor * (this.#weights[this.#fields[at] as number] as number);
    if (this.#stage[resource] === stage) {
      this.#stage[resource] = stage + 1;
      this.#best[resource] = score;
      (this.#total[resource] as number) += score;
    } else if (score > (this.#best[resource] as number)) {
      (this.#total[resource] as number) += score - (this.#best[resource] as number);
      this.#best[resource] = score;
    }
  }

  #keep(stage: number, count: number): number {
    let kept = 0;
    for (let index = 0; index < count; index++) {
      const resource = this.#found[index] as number;
      if (this.#stage[resource] === stage) this.#found[kept++] = resource;
    }
    return kept;
  }

  #fitting(word: string, mayBegin: boolean): Fitting[] {
    const exact = this.#ids.get(word);
    const fitting: Fitting[] = exact === undefined ? [] : [{ term: exact, fit: 1 }];
    // A word that nobody wrote may be the beginning of one that somebody did.
    if (mayBegin || exact === undefined) {
      const first = firstFrom(this.#terms, word, 0, this.#terms.length);
      for (let term = first; this.#terms[term]?.startsWith(word); term++) {
        if (term !== exact) fitting.push({ term, fit: OF_A_BEGINNING });
      }
    }
    return fitting.length > 0 ? fitting : this.#slips(word);
  }

  /** Words that are nearly this one: asked only where nothing fits, so that what is written right stays what is found. */
  #slips(word: string): Fitting[] {
    const slip = SLIPS.find(({ from }) => word.length >= from);
    if (!slip) return [];
    const near = this.#near.fuzzyGet(word, slip.distance);
    return Array.from(near.values(), ([term, distance]) => ({ term, fit: OF_A_SLIP / distance }));
  }

  #count(term: number): number {
    return (this.#starts[term + 1] ?? 0) - (this.#starts[term] ?? 0);
  }
}

/** The first place from `low` on, in what is sorted, that is not below the value; `high` where there is none. */
function firstFrom<Value extends string | number>(
  sorted: { readonly [place: number]: Value },
  value: Value,
  low: number,
  high: number,
): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] as Value) < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** What an index is made of, as index-writer.ts makes it. */
export interface Entries {
  terms: string[];
  starts: Uint32Array;
  resources: Uint32Array;
  fields: Uint8Array;
}
