/** A large catalog, made the same each time. */
import { writeFileSync } from "node:fs";
import { CATEGORIES, type Catalog, type Resource, SOURCES } from "../../src/catalog/schema.ts";

const TOPICS = ["speech", "translation", "named entities", "handwriting", "sentiment", "poetry", "news", "law"];

export function largeCatalog(count: number): Catalog {
  return {
    version: "1.0.0",
    updated_on: "2026-01-31",
    resources: Array.from({ length: count }, (_, one) => resourceOf(one)),
  };
}

function resourceOf(number: number): Resource {
  const pick = <Item>(items: readonly Item[], salt: number) => items[(number * salt) % items.length] as Item;
  const topic = pick(TOPICS, 5);
  return {
    id: `resource-${number}`,
    title: `Pashto ${topic} resource ${number}: پښتو`,
    url: `https://example.org/resources/${number}`,
    category: pick(CATEGORIES, 3),
    source: pick(SOURCES.platform, 7),
    status: number % 3 === 0 ? "candidate" : "verified",
    summary: `A resource about ${topic} in Pashto that says a little more than its title does, number ${number}.`,
    primary_use: `Training of models for ${topic}`,
    pashto_evidence: {
      evidence_text: `The page lists Pashto (ps) as one of ${number % 200} languages.`,
      evidence_url: `https://example.org/resources/${number}#languages`,
      markers: ["Pashto", "ps"],
    },
    tags: ["pashto", topic, `collection-${number % 50}`],
    license: "CC-BY-4.0",
    tasks: [topic],
  };
}

/** In one resource of a hundred something is wrong: a slip in a word, a key, or a list without items. */
export function damaged(catalog: Catalog): object {
  const slips = [{ source: "huggingfce" }, { licence: "MIT" }, { tags: [] }];
  const resources = catalog.resources.map((one, index) =>
    index % 100 === 7 ? { ...one, ...slips[Math.floor(index / 100) % slips.length] } : one,
  );
  return { ...catalog, resources };
}

export function writeCatalog(path: string, catalog: object): void {
  writeFileSync(path, JSON.stringify(catalog, null, 2));
}
