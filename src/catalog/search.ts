/** Searching a catalog: every word must be found, the last one may be only begun, and a slip of the keyboard is forgiven. */
import { type Facets, FacetTable, type Filters } from "./facets.ts";
import { IndexWriter } from "./index-writer.ts";
import { type Catalog, type Resource, VOCABULARIES } from "./schema.ts";
import { Index } from "./search-index.ts";
import { translate } from "./sources.ts";
import { fold, wordsOf } from "./words.ts";

export interface Page {
  /** How many resources come before the first one that is wanted. Default: 0. */
  offset?: number;
  /** How many are wanted at most. Default: 50. */
  limit?: number;
  /** Count what each filter would leave? Default: true. */
  facets?: boolean;
}

export interface SearchResult {
  /** How many fit, on all pages. */
  total: number;
  /** The best first; where nothing is searched for, in the order of the file. */
  resources: Resource[];
  /** The `offset` of the page that comes next; null: this is the last one. */
  next: number | null;
  /** null where they were not asked for. */
  facets: Facets | null;
}

export interface CatalogSearch {
  readonly catalog: Catalog;
  /**
   * @param text words in any order; what comes last is taken for the beginning of a word, unless a space follows it
   * @param filters values of facets, in upper or lower case; sources by the words of either vocabulary
   */
  query(text: string, filters?: Filters, page?: Page): SearchResult;
  /** By its id. */
  get(id: string): Resource | null;
}

/** More of them narrow nothing any more, but cost. */
const MAX_WORDS = 16;

/** Fields and what a word in them counts. At most eight. */
const FIELDS: [number, (resource: Resource) => string | readonly string[] | undefined][] = [
  [10, ({ title }) => title],
  [8, ({ id }) => id],
  [6, ({ tags }) => tags],
  [5, ({ tasks }) => tasks],
  [4, ({ primary_use }) => primary_use],
  [3, ({ summary }) => summary],
  [2, ({ pashto_evidence }) => pashto_evidence.evidence_text],
  [2, ({ pashto_evidence }) => pashto_evidence.markers],
];

/** So many characters are taken in before others may have their turn: a few milliseconds. */
const STEP = 100_000;
/** So many of one resource can be found: whoever writes megabytes into one must not hold up a server. */
const MOST = 100_000;

/** Makes a catalog searchable at once. */
export function openSearch(catalog: Catalog): CatalogSearch {
  const opening = open(catalog);
  for (;;) {
    const { done, value } = opening.next();
    if (done) return value;
  }
}

/** The same in small steps, so that a server goes on answering meanwhile. */
export async function openSearchGently(catalog: Catalog, signal?: AbortSignal): Promise<CatalogSearch> {
  const opening = open(catalog);
  for (;;) {
    const { done, value } = opening.next();
    if (done) return value;
    await new Promise(setImmediate);
    signal?.throwIfAborted();
  }
}

function* open(catalog: Catalog): Generator<void, CatalogSearch> {
  const { resources } = catalog;
  const writer = new IndexWriter();
  let taken = 0;
  for (const [number, resource] of resources.entries()) {
    taken += write(writer, number, resource);
    if (taken < STEP) continue;
    taken = 0;
    yield;
  }
  const weights = FIELDS.map(([weight]) => weight);
  const entries = writer.entries();
  yield;
  const index = new Index(resources.length, weights, entries);
  yield;
  const facets = new FacetTable(resources);
  const byId = new Map(resources.map((resource) => [resource.id, resource]));
  return {
    catalog,
    get: (id) => byId.get(id) ?? null,
    query: (text, filters = {}, { offset = 0, limit = 50, facets: count = true } = {}) => {
      const words = [...new Set(wordsOf(text))].slice(0, MAX_WORDS);
      const whole = /\s$/.test(text);
      const match = words.length > 0 ? index.find(words, { whole }) : null;
      const wanted = { ...filters, ...(filters.source && { source: bothWords(filters.source) }) };
      const { passed, facets: counted } = facets.narrow(match?.found ?? null, wanted, { count });
      const total = passed?.length ?? resources.length;
      const numbers =
        match && passed ? best(passed, match.scores, offset, limit) : inOrder(passed, resources.length, offset, limit);
      return {
        total,
        resources: numbers.map((number) => resources[number] as Resource),
        next: offset + limit < total ? offset + limit : null,
        facets: counted,
      };
    },
  };
}

/** Gives how many characters were taken in. */
function write(writer: IndexWriter, number: number, resource: Resource): number {
  let taken = 0;
  for (const [field, [, textOf]] of FIELDS.entries()) {
    const text = textOf(resource);
    const texts = typeof text === "string" ? [text] : (text ?? []);
    for (const one of texts) {
      if (taken >= MOST) return taken;
      const left = MOST - taken;
      writer.add(number, field, one.length > left ? one.slice(0, left) : one);
      // Also an empty one costs something.
      taken += 1 + one.length;
    }
  }
  return taken;
}

/** The numbers of a page in the order of the file. */
function inOrder(passed: Uint32Array | null, size: number, offset: number, limit: number): number[] {
  if (passed) return [...passed.subarray(offset, offset + limit)];
  return Array.from({ length: Math.max(0, Math.min(limit, size - offset)) }, (_, at) => offset + at);
}

/** A source in its neutral word and by its platform's name: a file may have either. */
function bothWords(asked: string | readonly string[]): string[] {
  return [asked].flat().flatMap((word) => [word, ...VOCABULARIES.flatMap((to) => translate(fold(word), to) ?? [])]);
}

/** The numbers of a page. What has equal scores keeps the order of the file. */
function best(passed: Uint32Array, scores: Float32Array, offset: number, limit: number): number[] {
  const size = scores.length;
  const wanted = Math.min(offset + limit, passed.length);
  // What is worse than as many as are wanted is let go at once; the others are sorted whenever there is no room left.
  const kept = new Float64Array(2 * wanted + 256);
  let count = 0;
  let worst = Number.POSITIVE_INFINITY;
  let least = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < passed.length; at++) {
    const number = passed[at] as number;
    const score = scores[number] as number;
    // Most are sorted out by this alone.
    if (score < least) continue;
    // Score and place in one number, so that the smallest is the best: the higher score, then the earlier place.
    const key = number - Math.round(score * FINE) * size;
    if (key >= worst) continue;
    kept[count++] = key;
    if (count < kept.length) continue;
    kept.sort();
    count = wanted;
    worst = kept[wanted - 1] as number;
    least = (scores[numberOf(worst, size)] as number) - 1 / FINE;
  }
  const sorted = kept.subarray(0, count).sort().subarray(offset, wanted);
  return Array.from(sorted, (key) => numberOf(key, size));
}

/** Scores that differ by less than a thousandth are the same. */
const FINE = 1000;
const numberOf = (key: number, size: number) => ((key % size) + size) % size;
