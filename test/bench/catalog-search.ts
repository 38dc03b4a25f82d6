/** Searching a large catalog, as people type: how long one query takes, and how long the index takes to be built. */
import MiniSearch from "minisearch";
import type { Filters } from "../../src/catalog/facets.ts";
import type { Catalog, Resource } from "../../src/catalog/schema.ts";
import { openSearch } from "../../src/catalog/search.ts";
import { largeCatalog } from "./catalog-file.ts";
import { median } from "./load.ts";
import { against, type Measure } from "./report.ts";

const QUERIES = 2_000;
/** They are slow. */
const MINISEARCH_QUERIES = 100;
const BUILD_MS = 3_000;
const QUERY_MS = 2;
const COMMON =
  "pashto speech corpus translation model dataset text language recognition پښتو the of for and with audio";

interface Query {
  text: string;
  filters: Filters;
}

export function searching(count: number): Measure[] {
  const chance = random(7);
  const catalog = worded(largeCatalog(count), chance);
  const queries = Array.from({ length: QUERIES }, () => queryFor(catalog, chance));
  const what = `${count.toLocaleString("en")} resources`;

  const begun = performance.now();
  const search = openSearch(catalog);
  const build = performance.now() - begun;
  const timed = (all: readonly Query[], facets: boolean) =>
    median(all.map(({ text, filters }) => took(() => search.query(text, filters, { facets }))));
  timed(queries, true);
  const plain = timed(queries, false);
  const counted = timed(queries, true);
  // The word that every resource has, and one letter: nothing finds more.
  const broadest = (text: string) => timed(Array(20).fill({ text, filters: { category: "dataset" } }), true);

  const theirs = minisearch(catalog, queries.slice(0, MINISEARCH_QUERIES));
  return [
    { name: `minisearch, index of ${what}`, value: theirs.build, unit: "ms" },
    within({ name: `hubhook, index of ${what}`, value: build, unit: "ms" }, theirs.build, BUILD_MS),
    { name: "minisearch, median query as typed, no filters", value: theirs.query, unit: "ms" },
    within({ name: "hubhook, median query as typed, with filters", value: plain, unit: "ms" }, theirs.query, QUERY_MS),
    within({ name: "… and facets counted", value: counted, unit: "ms" }, theirs.query, QUERY_MS),
    { name: "… of a word that all have, with facets", value: broadest("pashto"), unit: "ms" },
    { name: "… of one letter, with facets", value: broadest("p"), unit: "ms" },
  ];
}

function within(measure: Measure, reference: number, most: number): Measure {
  const goal = { goal: `under ${most} ${measure.unit}`, reached: measure.value < most };
  return { ...against(measure, "minisearch", reference), ...goal };
}

function took(work: () => unknown): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

function minisearch({ resources }: Catalog, queries: readonly Query[]) {
  const fields = ["title", "summary", "primary_use", "evidence", "tags", "tasks"];
  const documents = resources.map(({ title, summary, primary_use, pashto_evidence, tags, tasks = [] }, id) => {
    const evidence = `${pashto_evidence.evidence_text} ${pashto_evidence.markers.join(" ")}`;
    return { id, title, summary, primary_use, evidence, tags: tags.join(" "), tasks: tasks.join(" ") };
  });
  const index = new MiniSearch({ fields });
  const build = took(() => index.addAll(documents));
  const options = { prefix: true, fuzzy: 0.2, combineWith: "AND" } as const;
  return { build, query: median(queries.map(({ text }) => took(() => index.search(text, options)))) };
}

/** The same catalog in the words of a language: few that are everywhere, and very many that are rare (Zipf's law). */
function worded(catalog: Catalog, chance: () => number): Catalog {
  const syllables = "ba ke ri no ta lu mo se di fa gu pe sha kha zo wi ja ne tor mel".split(" ");
  const syllable = () => syllables[Math.floor(chance() * syllables.length)] ?? "";
  const words = new Set(COMMON.split(" "));
  while (words.size < 30_000) words.add(syllable() + syllable() + syllable() + (chance() < 0.7 ? syllable() : ""));
  const all = [...words];
  const word = () => all[Math.floor(all.length ** chance()) - 1] ?? "pashto";
  const text = (length: number) => Array.from({ length }, word).join(" ");
  const resources = catalog.resources.map(
    (resource): Resource => ({
      ...resource,
      title: text(5),
      summary: text(16),
      primary_use: text(5),
      pashto_evidence: { ...resource.pashto_evidence, evidence_text: `Pashto (پښتو) ${text(10)}` },
      tags: ["pashto", ...new Set([word(), word()])],
    }),
  );
  return { ...catalog, resources };
}

/** One to three words of a title, the last one mostly not typed to its end, one in ten with a slip, half of them filtered. */
function queryFor({ resources }: Catalog, chance: () => number): Query {
  const one = resources[Math.floor(chance() * resources.length)] as Resource;
  const words = one.title.split(" ");
  const count = 1 + Math.floor(chance() * 3);
  const first = Math.floor(chance() * (words.length - count + 1));
  let text = words.slice(first, first + count).join(" ");
  if (chance() < 0.7) text = text.slice(0, Math.max(1, text.length - Math.floor(chance() * 4)));
  if (chance() < 0.1 && text.length > 5) text = text.slice(0, 3) + text.slice(4);
  const filters: Filters = chance() < 0.5 ? {} : { category: one.category };
  if (chance() < 0.25) filters.status = "verified";
  return { text, filters };
}

/** The same numbers in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
