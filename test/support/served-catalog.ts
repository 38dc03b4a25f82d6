/** Catalogs for tests: small ones that are right, to be changed where a test needs it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Catalog, Resource } from "../../src/catalog/schema.ts";
import { temporaryFolder } from "./deliveries.ts";

export function resource(id: string, more: Partial<Resource> = {}): Resource {
  return {
    id,
    title: `Pashto resource ${id}`,
    url: `https://example.org/${id}`,
    category: "dataset",
    source: "other",
    status: "verified",
    summary: `What ${id} holds, in a sentence`,
    primary_use: "testing",
    pashto_evidence: {
      evidence_text: "The card names Pashto",
      evidence_url: `https://example.org/${id}/card`,
      markers: ["Pashto"],
    },
    tags: ["pashto"],
    ...more,
  };
}

export function catalog(resources: Resource[] = [resource("one")], version = "1.0.0"): Catalog {
  return { version, updated_on: "2026-01-31", resources };
}

/** Many that differ in all that can be filtered by. */
export function manyResources(count: number): Resource[] {
  const categories = ["dataset", "model", "benchmark", "tool", "paper", "project", "code"] as const;
  const sources = ["huggingface", "github", "arxiv", "zenodo", "other"] as const;
  const subjects = ["speech", "translation", "spelling", "grammar", "news", "poetry", "law", "medicine", "maps"];
  const pick = <Item>(items: readonly Item[], at: number) => items[at % items.length] as Item;
  return Array.from({ length: count }, (_, at) =>
    resource(`resource-${at}`, {
      title: `Pashto ${pick(subjects, at)} collection ${at}`,
      category: pick(categories, at),
      source: pick(sources, at),
      status: at % 3 === 0 ? "candidate" : "verified",
      summary: `A collection of ${pick(subjects, at)} and ${pick(subjects, at * 7 + 3)} in Pashto, number ${at}`,
      tags: ["pashto", pick(subjects, at)],
      tasks: [pick(["automatic-speech-recognition", "translation", "text-classification"], at)],
      ...(at % 4 !== 0 && { license: pick(["cc-by-4.0", "mit", "apache-2.0"], at) }),
    }),
  );
}

/** A catalog in a file of a folder that goes with the test. */
export async function catalogFile(content: Catalog | string = catalog()) {
  const folder = temporaryFolder();
  const path = join(folder, "catalog.json");
  const write = (next: Catalog | string) =>
    writeFile(path, typeof next === "string" ? next : `${JSON.stringify(next, null, 2)}\n`);
  await write(content);
  return { path, folder, write };
}
