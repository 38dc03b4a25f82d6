/** The rules beyond the schema: what resources must not share, what each should show, and what time and version tell. */
import { isDate } from "./formats.ts";
import { markerFinder, readableUrl } from "./markers.ts";
import { type Draft, foundText } from "./problem.ts";
import type { RuleName } from "./rules.ts";

const NEEDS_MARKER = new Set(["model", "paper", "tool", "code", "project"]);

/**
 * Looks at one resource after the other, whatever it is: what is broken elsewhere in it is no reason to keep silent.
 * Gives the problems of the one that was shown.
 */
export function crossChecker(markers: readonly string[]): (resource: unknown, index: number) => Draft[] {
  const ids = new Map<string, number>();
  const urls = new Map<string, number>();
  const titles = new Map<string, number>();
  const named = markerFinder(markers);

  return (resource, index) => {
    const drafts: Draft[] = [];
    if (typeof resource !== "object" || resource === null) return drafts;
    const { id, url, title, category, pashto_evidence } = resource as Record<string, unknown>;

    const once = (seen: Map<string, number>, field: string, key: string, rule: RuleName, what: string) => {
      const first = seen.get(key);
      if (first === undefined) seen.set(key, index);
      else
        drafts.push({
          rule,
          path: ["resources", index, field],
          other: ["resources", first, field],
          message: (line) => `${what} resources[${first}] (line ${line})`,
          found: foundText((resource as Record<string, unknown>)[field]),
        });
    };
    if (typeof id === "string") once(ids, "id", id, "duplicate-id", "this is already the id of");
    if (typeof url === "string") once(urls, "url", sameUrl(url), "duplicate-url", "this is also the address of");
    if (typeof title === "string")
      once(titles, "title", sameTitle(title), "near-duplicate-title", "this is nearly the title of");
    if (NEEDS_MARKER.has(category as string) && !isNamed(named, title, url, pashto_evidence))
      drafts.push({
        rule: "no-marker",
        path: ["resources", index],
        message: `this ${category} shows no marker of the language in its title, url or evidence`,
        allowed: markers.join(", "),
      });
    return drafts;
  };
}

/** The evidence is its text, its address and the markers that were found. */
function isNamed(named: (text: string) => boolean, title: unknown, url: unknown, evidence: unknown): boolean {
  const { evidence_text, evidence_url, markers } = (evidence ?? {}) as Record<string, unknown>;
  const texts = [title, evidence_text, ...(Array.isArray(markers) ? markers : [])];
  const isText = (one: unknown) => typeof one === "string";
  return texts.filter(isText).some(named) || [url, evidence_url].filter(isText).some((one) => named(readableUrl(one)));
}

/** The same for addresses that lead to the same place as a rule. */
function sameUrl(url: string): string {
  const [, host = "", rest = ""] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(url) ?? [];
  return host === "" ? url : `${host.toLowerCase()}${rest.replace(/\/$/, "")}`;
}

/** The same for titles that differ in case, punctuation, white space or compatibility forms only. */
function sameTitle(title: string): string {
  const words = title
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\p{P}\p{Z}\p{C}]+/gu, " ")
    .trim();
  return words === "" ? title : words;
}

/** @param version already of its form */
export function checkVersion(version: string, before: string): Draft[] {
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

export function checkDate(updatedOn: string, now: Date): Draft[] {
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
