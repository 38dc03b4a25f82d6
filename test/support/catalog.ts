/** Catalogs for tests: a good one, and what becomes of it. */
import type { Catalog, Resource } from "../../src/catalog/schema.ts";
import { type Problem, type ValidateOptions, validateCatalog } from "../../src/catalog/validate.ts";

export const MARKERS = ["Pashto", "Pukhto", "Pakhto", "Pushto", "ps", "ps_af", "pus", "pbt_Arab", "پښتو", "پشتو"];
export const NOW = new Date("2026-06-15T12:00:00Z");

/** Each with an id, an address and a title of its own. */
export function resource(number = 1, changes: object = {}): Resource {
  return {
    id: `resource-${number}`,
    title: `Pashto resource ${number}`,
    url: `https://example.org/${number}`,
    category: "dataset",
    source: "code_host_a",
    status: "verified",
    summary: "Ten or more characters",
    primary_use: "Testing",
    pashto_evidence: {
      evidence_text: "The page says Pashto",
      evidence_url: `https://example.org/${number}#evidence`,
      markers: ["Pashto"],
    },
    tags: ["test"],
    ...changes,
  };
}

export function catalog(resources: readonly unknown[] = [resource()], changes: object = {}): Catalog {
  return { version: "1.2.3", updated_on: "2026-06-01", resources: resources as Resource[], ...changes };
}

/** All problems of a value (written as JSON over several lines) or of a text. */
export function problemsOf(file: unknown, options: ValidateOptions = {}): Problem[] {
  const text = typeof file === "string" || file instanceof Uint8Array ? file : JSON.stringify(file, null, 2);
  return validateCatalog(text, { markers: MARKERS, now: NOW, ...options }).problems;
}

/** As `rule pointer`, in the order of the file. */
export function foundIn(file: unknown, options: ValidateOptions = {}): string[] {
  return problemsOf(file, options).map(({ rule, pointer }) => `${rule} ${pointer}`);
}
