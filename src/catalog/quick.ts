/**
 * Is a resource good? The schema once more, by hand: most resources are good, and zod needs three times as long to
 * say so. Only a resource that is not passed here is shown to zod, which says what is wrong. NOTE: whoever changes
 * schema.ts changes this; tests hold the two and the published schema together.
 */
import { codePoints, isHttpUri } from "./formats.ts";
import { CATEGORIES, SOURCES, STATUSES, type Vocabulary } from "./schema.ts";

const categories: ReadonlySet<unknown> = new Set(CATEGORIES);
const statuses: ReadonlySet<unknown> = new Set(STATUSES);
const ID = /^[a-z0-9][a-z0-9._-]*$/;
const REQUIRED = 10;
const EVIDENCE = 3;

/** A check that gives how many keys a good resource has, those inside it too; 0: it may not be good. */
export function quickCheck(vocabulary: Vocabulary): (resource: unknown) => number {
  const sources: ReadonlySet<unknown> = new Set(SOURCES[vocabulary]);
  return (resource) => {
    if (typeof resource !== "object" || resource === null) return 0;
    const { id, title, url, category, source, status, summary, primary_use, pashto_evidence, tags, license, tasks } =
      resource as Record<string, unknown>;
    const keys = REQUIRED + (license === undefined ? 0 : 1) + (tasks === undefined ? 0 : 1);
    const good =
      isText(id, 1) &&
      ID.test(id) &&
      isText(title, 3) &&
      isAddress(url) &&
      categories.has(category) &&
      sources.has(source) &&
      statuses.has(status) &&
      isText(summary, 10) &&
      isText(primary_use, 3) &&
      isEvidence(pashto_evidence) &&
      isTexts(tags, 1, 0) &&
      (license === undefined || typeof license === "string") &&
      (tasks === undefined || isTexts(tasks, 0, 0)) &&
      // No others, and none that is only inherited.
      keyCount(resource) === keys;
    return good ? keys + EVIDENCE : 0;
  };
}

function isEvidence(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { evidence_text, evidence_url, markers } = value as Record<string, unknown>;
  return isText(evidence_text, 3) && isAddress(evidence_url) && isTexts(markers, 1, 1) && keyCount(value) === EVIDENCE;
}

/** Quicker than a list of them. What JSON.parse made inherits nothing that would be counted. */
function keyCount(value: object): number {
  let count = 0;
  for (const _ in value) count++;
  return count;
}

function isText(value: unknown, least: number): value is string {
  return typeof value === "string" && (value.length >= 2 * least || codePoints(value) >= least);
}

function isAddress(value: unknown): boolean {
  return typeof value === "string" && isHttpUri(value);
}

function isTexts(value: unknown, leastItems: number, leastLength: number): boolean {
  if (!Array.isArray(value) || value.length < leastItems) return false;
  for (const item of value) if (typeof item !== "string" || item.length < leastLength) return false;
  return true;
}
