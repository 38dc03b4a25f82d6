/** What a search can be narrowed by, and how many resources each choice would leave. */
import type { Resource } from "./schema.ts";
import { fold } from "./words.ts";

export const FACETS = ["category", "source", "status", "tag", "task", "license"] as const;
export type FacetName = (typeof FACETS)[number];

/** Values that are allowed of each facet: one of them is enough. A facet that is left out, or has none, allows all. */
export type Filters = Partial<Record<FacetName, string | readonly string[] | undefined>>;

/** A value as the catalog writes it, and how many resources have it, among those that fit all but this facet's filter. */
export interface FacetValue {
  value: string;
  count: number;
}
export type Facets = Record<FacetName, FacetValue[]>;

const textsOf: ((resource: Resource) => readonly string[])[] = [
  ({ category }) => [category],
  ({ source }) => [source],
  ({ status }) => [status],
  ({ tags }) => tags,
  ({ tasks = [] }) => tasks,
  ({ license }) => (license === undefined ? [] : [license]),
];

/** So many of the facets, the first ones, have exactly one value in every resource. */
const ONE_EACH = 3;

/** Of tags and the like there may be thousands: the most frequent ones are told. */
const TOLD = 50;

/** The values of all facets, numbered, and in flat arrays which ones each resource has. */
export class FacetTable {
  readonly #size: number;
  /** As they were written first: `MIT` and `mit` are one value. */
  readonly #labels: string[] = [];
  /** Of each value: the number of its facet. */
  readonly #facetOf: Uint8Array;
  readonly #ids = FACETS.map(() => new Map<string, number>());
  /** Where the values of each resource begin; the last one is where all end. */
  readonly #starts: Uint32Array;
  readonly #values: Uint32Array;
  /** The other way round: which resources have each value. */
  readonly #holderStarts: Uint32Array;
  readonly #holders: Uint32Array;
  #whole: Facets | null = null;

  constructor(resources: readonly Resource[]) {
    this.#size = resources.length;
    this.#starts = new Uint32Array(resources.length + 1);
    const facetOf: number[] = [];
    const values: number[] = [];
    /** Of each value: the last resource that has it. */
    const lastWith: number[] = [];
    const seen = FACETS.map(() => new Map<string, number>());
    for (const [number, resource] of resources.entries()) {
      for (const [facet, texts] of textsOf.entries())
        for (const text of texts(resource)) {
          let id = seen[facet]?.get(text);
          if (id === undefined) {
            id = this.#idOf(facet, text);
            seen[facet]?.set(text, id);
            facetOf[id] = facet;
          }
          // The same value twice counts once.
          if (lastWith[id] === number) continue;
          lastWith[id] = number;
          values.push(id);
        }
      this.#starts[number + 1] = values.length;
    }
    this.#values = Uint32Array.from(values);
    this.#facetOf = Uint8Array.from(facetOf);
    const starts = new Uint32Array(this.#labels.length + 1);
    for (const id of this.#values) (starts[id + 1] as number)++;
    for (let id = 0; id < this.#labels.length; id++) (starts[id + 1] as number) += starts[id] as number;
    const next = starts.slice();
    this.#holders = new Uint32Array(values.length);
    for (let resource = 0; resource < this.#size; resource++)
      for (let at = this.#starts[resource] as number; at < (this.#starts[resource + 1] as number); at++)
        this.#holders[(next[this.#values[at] as number] as number)++] = resource;
    this.#holderStarts = starts;
  }

  #idOf(facet: number, text: string): number {
    const key = fold(text.trim());
    const known = this.#ids[facet]?.get(key);
    if (known !== undefined) return known;
    this.#ids[facet]?.set(key, this.#labels.length);
    return this.#labels.push(text.trim()) - 1;
  }

  /**
   * Those of the found resources that pass the filters, in the same order, and how each facet would count.
   * @param found numbers of resources; null: all of them
   */
  narrow(found: Uint32Array | null, filters: Filters, { count }: { count: boolean }): Narrowed {
    const chosen = FACETS.map((name, facet) => this.#idsOf(facet, filters[name]));
    const asked = chosen.some((ids) => ids !== null);
    if (!asked && (found === null || found.length === this.#size)) {
      this.#whole ??= this.#told(this.#narrow(null, null).counts, []);
      return { passed: found, facets: count ? structuredClone(this.#whole) : null };
    }
    const { passed, counts } = this.#narrow(found, asked ? this.#failed(chosen) : null, count);
    return { passed, facets: count ? this.#told(counts, chosen) : null };
  }

  /** null: the facet allows all. Text that is no value of it allows none. */
  #idsOf(facet: number, wanted: string | readonly string[] | undefined): number[] | null {
    if (wanted === undefined || wanted.length === 0) return null;
    return [wanted].flat().flatMap((text) => this.#ids[facet]?.get(fold(text.trim())) ?? []);
  }

  /** Of each resource: the facets, as bits, whose filter it does not pass. */
  #failed(chosen: (number[] | null)[]): Uint8Array {
    const asked = chosen.reduce((bits, ids, facet) => (ids ? bits | (1 << facet) : bits), 0);
    const failed = new Uint8Array(this.#size).fill(asked);
    for (const [facet, ids] of chosen.entries()) {
      const others = 0xff ^ (1 << facet);
      for (const id of ids ?? []) {
        const end = this.#holderStarts[id + 1] as number;
        for (let at = this.#holderStarts[id] as number; at < end; at++) {
          const resource = this.#holders[at] as number;
          failed[resource] = (failed[resource] as number) & others;
        }
      }
    }
    return failed;
  }

  /** Keeps what passes all filters. A facet counts what passes the filters of all others. */
  #narrow(found: Uint32Array | null, failed: Uint8Array | null, count = true) {
    const [starts, values, facetOf] = [this.#starts, this.#values, this.#facetOf];
    const counts = new Uint32Array(this.#labels.length);
    const total = found?.length ?? this.#size;
    const passed = failed ? new Uint32Array(total) : found;
    let kept = 0;
    for (let index = 0; index < total; index++) {
      const resource = found ? (found[index] as number) : index;
      const bits = failed ? (failed[resource] as number) : 0;
      if (failed && passed && bits === 0) passed[kept++] = resource;
      // With two bits or more there is no facet that would count it.
      if (!count || (bits & (bits - 1)) !== 0) continue;
      const begin = starts[resource] as number;
      if (bits !== 0 && bits < 1 << ONE_EACH) {
        const value = values[begin + 31 - Math.clz32(bits)] as number;
        (counts[value] as number)++;
        continue;
      }
      const end = starts[resource + 1] as number;
      for (let at = begin; at < end; at++) {
        const value = values[at] as number;
        if (bits === 0 || bits === 1 << (facetOf[value] as number)) (counts[value] as number)++;
      }
    }
    return { passed: failed && passed ? passed.subarray(0, kept) : found, counts };
  }

  /** The most frequent first; what was chosen is told even where nothing has it. */
  #told(counts: Uint32Array, chosen: (number[] | null)[]): Facets {
    const ids: number[][] = FACETS.map(() => []);
    for (let id = 0; id < counts.length; id++) if (counts[id] !== 0) ids[this.#facetOf[id] as number]?.push(id);
    const told = ids.map((own, facet) => {
      const wanted = chosen[facet] ?? [];
      own.push(...wanted.filter((id) => counts[id] === 0));
      own.sort((a, b) => (counts[b] as number) - (counts[a] as number) || a - b);
      return own
        .filter((id, rank) => rank < TOLD || wanted.includes(id))
        .map((id) => ({ value: this.#labels[id] as string, count: counts[id] as number }));
    });
    return Object.fromEntries(FACETS.map((name, facet) => [name, told[facet]])) as Facets;
  }
}

interface Narrowed {
  /** null: all resources. */
  passed: Uint32Array | null;
  facets: Facets | null;
}
