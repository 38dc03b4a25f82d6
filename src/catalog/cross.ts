/** The rules beyond the schema: what resources must not share, what each should show, and what time and version tell. */
import { isDate } from "./formats.ts";
import { type Finder, markerFinder, readableUrl } from "./markers.ts";
import { type Finding, foundText } from "./problem.ts";
import type { RuleName } from "./rules.ts";
import { Seen } from "./seen.ts";

const NEEDS_MARKER: ReadonlySet<unknown> = new Set(["model", "paper", "tool", "code", "project"]);

/**
 * Looks at one resource after the other, whatever it is: what is broken elsewhere in it is no reason to keep silent.
 * Asked once for each index, in order; tells `found` what it finds.
 */
export function crossChecker(
  resources: readonly unknown[],
  markers: readonly string[],
  found: (finding: Finding) => void,
): (index: number) => void {
  const ids = new Seen(resources.length);
  const urls = new Seen(resources.length);
  const titles = new Seen(resources.length);
  const checkShared = sharedChecker(resources, found);
  const named = markerFinder(markers);

  return (index) => {
    const resource = resources[index];
    if (typeof resource !== "object" || resource === null) return;
    const fields = resource as Record<string, unknown>;
    const { id, url, title, category } = fields;
    if (typeof id === "string" && ids.again(id)) checkShared("id", id, index);
    if (typeof url === "string" && urls.again(url, schemeEnd(url), pathEnd(url))) checkShared("url", url, index);
    if (typeof title === "string" && titleAgain(titles, title)) checkShared("title", title, index);
    if (NEEDS_MARKER.has(category) && !isNamed(named, fields)) found(noMarker(category, index, markers));
  };
}

function noMarker(category: unknown, index: number, markers: readonly string[]): Finding {
  return {
    rule: "no-marker",
    path: ["resources", index],
    message: `this ${category} shows no marker of the language in its title, url or evidence`,
    allowed: markers.join(", "),
  };
}

type Field = "id" | "url" | "title";

/** What resources must not share, and what makes two texts the same. */
const UNIQUE: Record<Field, { rule: RuleName; key(text: string): string; says: string }> = {
  id: { rule: "duplicate-id", key: (id) => id, says: "this is already the id of" },
  url: { rule: "duplicate-url", key: urlKey, says: "this is also the address of" },
  title: { rule: "near-duplicate-title", key: titleKey, says: "this is nearly the title of" },
};

/** Looks for the first resource that really has the same, now that one seems to. */
function sharedChecker(resources: readonly unknown[], found: (finding: Finding) => void) {
  const firsts: Partial<Record<Field, Map<string, number>>> = {};
  return (field: Field, text: string, index: number) => {
    const { rule, key, says } = UNIQUE[field];
    firsts[field] ??= firstIndexes(resources, field);
    const first = firsts[field].get(key(text)) ?? index;
    // The numbers were equal and the texts are not.
    if (first === index) return;
    found({
      rule,
      path: ["resources", index, field],
      other: ["resources", first, field],
      message: (line) => `${says} resources[${first}] (line ${line})`,
      found: foundText(text),
    });
  };
}

function firstIndexes(resources: readonly unknown[], field: Field): Map<string, number> {
  const firsts = new Map<string, number>();
  for (const [index, resource] of resources.entries()) {
    const text = (resource as Record<string, unknown> | null)?.[field];
    if (typeof text !== "string") continue;
    const key = UNIQUE[field].key(text);
    if (!firsts.has(key)) firsts.set(key, index);
  }
  return firsts;
}

/** The evidence is its text, its address and the markers that were found. */
function isNamed(named: Finder, { title, url, pashto_evidence }: Record<string, unknown>): boolean {
  // Most often it is the title.
  if (typeof title === "string" && named(title)) return true;
  const inText = (text: unknown) => typeof text === "string" && named(text);
  const inUrl = (text: unknown) => typeof text === "string" && named(readableUrl(text));
  const { evidence_text, evidence_url, markers } = (pashto_evidence ?? {}) as Record<string, unknown>;
  return inText(evidence_text) || (Array.isArray(markers) && markers.some(inText)) || inUrl(url) || inUrl(evidence_url);
}

/** Addresses are compared without their scheme, and without a slash at their end. */
function schemeEnd(url: string): number {
  return url.startsWith("https://") ? 8 : url.startsWith("http://") ? 7 : 0;
}

function pathEnd(url: string): number {
  return url.endsWith("/") ? url.length - 1 : url.length;
}

/** The same for addresses that lead to the same place as a rule. */
function urlKey(url: string): string {
  const rest = url.slice(schemeEnd(url), pathEnd(url));
  const [host = ""] = /^[^/?#]*/.exec(rest) ?? [];
  return `${host.toLowerCase()}${rest.slice(host.length)}`;
}

function titleAgain(titles: Seen, title: string): boolean {
  return titles.againByLetters(title) ?? titles.again(titleKey(title).replace(NO_LETTERS, ""));
}

/** What does not count in ASCII when titles are compared by letters. */
const NO_LETTERS = /[\0-/:-`{-\x7f]/g;

/** What parts words, but for the single space that most often does and may stay. */
const BETWEEN_WORDS = /[\p{P}\p{Z}\p{C}]{2,}|[\p{P}\p{C}]/gu;

/** The same for titles that differ in case, punctuation, white space or compatibility forms only. */
function titleKey(title: string): string {
  const words = title.normalize("NFKC").toLowerCase().replace(BETWEEN_WORDS, " ").trim();
  return words === "" ? title : words;
}

/** @param version already of its form */
export function checkVersion(version: string, before: string): Finding[] {
  if (compareVersions(version, before) > 0) return [];
  const [major = "0", minor = "0", patch = "0"] = before.split(".");
  return [
    {
      rule: "version-not-raised",
      path: ["version"],
      message: "the version is not above that of the catalog before",
      found: foundText(version),
      allowed: `above ${before}`,
      suggestion: `${major}.${minor}.${BigInt(patch) + 1n}`,
    },
  ];
}

/** Numbers of any length. */
function compareVersions(a: string, b: string): number {
  const left = a.split(".");
  const right = b.split(".");
  for (let index = 0; index < 3; index++) {
    const difference = BigInt(left[index] ?? 0) - BigInt(right[index] ?? 0);
    if (difference !== 0n) return difference > 0n ? 1 : -1;
  }
  return 0;
}

/** Where the day begins first: UTC+14. */
const EARLIEST_MS = 14 * 3_600_000;

export function checkDate(updatedOn: string, now: Date): Finding[] {
  const today = new Date(now.getTime() + EARLIEST_MS).toISOString().slice(0, 10);
  if (!isDate(updatedOn) || updatedOn <= today) return [];
  return [
    {
      rule: "future-date",
      path: ["updated_on"],
      message: "this day has not come yet, wherever on Earth",
      found: foundText(updatedOn),
      allowed: `at most ${today}`,
      suggestion: now.toISOString().slice(0, 10),
    },
  ];
}
