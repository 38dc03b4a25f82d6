/** The rules beyond the schema: what resources must not share, what each should show, and what time and version tell. */
import { isDate } from "./formats.ts";
import { type Finder, markerFinder, readableUrl } from "./markers.ts";
import { type Draft, foundText } from "./problem.ts";
import type { RuleName } from "./rules.ts";
import { type Fingerprint, fingerprint, Seen } from "./seen.ts";

const NEEDS_MARKER = new Set(["model", "paper", "tool", "code", "project"]);

type Field = "id" | "url" | "title";

interface Unique {
  rule: RuleName;
  /** Equal for texts that are the same. */
  key(text: string): string;
  /** The same, quickly and less surely. */
  fingerprint(text: string): Fingerprint;
  says: string;
}

/** What resources must not share. */
const UNIQUE: Record<Field, Unique> = {
  id: { rule: "duplicate-id", key: (id) => id, fingerprint: plainFingerprint, says: "this is already the id of" },
  url: { rule: "duplicate-url", key: urlKey, fingerprint: urlFingerprint, says: "this is also the address of" },
  title: {
    rule: "near-duplicate-title",
    key: titleKey,
    fingerprint: titleFingerprint,
    says: "this is nearly the title of",
  },
};
const FIELDS = Object.keys(UNIQUE) as Field[];

/**
 * Looks at one resource after the other, whatever it is: what is broken elsewhere in it is no reason to keep silent.
 * Gives the problems of the one at the index; asked once for each, in order.
 */
export function crossChecker(resources: readonly unknown[], markers: readonly string[]): (index: number) => Draft[] {
  const { length } = resources;
  const seen = { id: new Seen(length), url: new Seen(length), title: new Seen(length) };
  /** Made only where something seems to be shared. */
  const firsts: Partial<Record<Field, Map<string, number>>> = {};
  const named = markerFinder(markers);

  return (index) => {
    const drafts: Draft[] = [];
    const resource = resources[index];
    if (typeof resource !== "object" || resource === null) return drafts;
    const fields = resource as Record<string, unknown>;
    for (const field of FIELDS) {
      const text = fields[field];
      if (typeof text !== "string" || !seen[field].again(UNIQUE[field].fingerprint(text))) continue;
      firsts[field] ??= firstIndexes(resources, field);
      const first = firsts[field].get(UNIQUE[field].key(text)) ?? index;
      if (first < index) drafts.push(shared(field, text, index, first));
    }
    if (NEEDS_MARKER.has(fields.category as string) && !isNamed(named, fields))
      drafts.push({
        rule: "no-marker",
        path: ["resources", index],
        message: `this ${fields.category} shows no marker of the language in its title, url or evidence`,
        allowed: markers.join(", "),
      });
    return drafts;
  };
}

function shared(field: Field, text: string, index: number, first: number): Draft {
  const { rule, says } = UNIQUE[field];
  return {
    rule,
    path: ["resources", index, field],
    other: ["resources", first, field],
    message: (line) => `${says} resources[${first}] (line ${line})`,
    found: foundText(text),
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
  const { evidence_text, evidence_url, markers } = (pashto_evidence ?? {}) as Record<string, unknown>;
  const texts = [title, evidence_text, ...(Array.isArray(markers) ? markers : [])];
  const isText = (one: unknown) => typeof one === "string";
  return texts.filter(isText).some(named) || [url, evidence_url].filter(isText).some((one) => named(readableUrl(one)));
}

function plainFingerprint(text: string): Fingerprint {
  return fingerprint(text, 0, text.length, false) as Fingerprint;
}

/** Without its scheme, and without a slash at its end. */
function urlRange(url: string): [start: number, end: number] {
  const scheme = /^https?:\/\//i.exec(url)?.[0].length ?? 0;
  return [scheme, url.endsWith("/") ? Math.max(scheme, url.length - 1) : url.length];
}

/** The same for addresses that lead to the same place as a rule. */
function urlKey(url: string): string {
  const rest = url.slice(...urlRange(url));
  const [host = ""] = /^[^/?#]*/.exec(rest) ?? [];
  return `${host.toLowerCase()}${rest.slice(host.length)}`;
}

function urlFingerprint(url: string): Fingerprint {
  return fingerprint(url, ...urlRange(url), false) as Fingerprint;
}

/** What parts words, but for the single space that most often does and may stay. */
const BETWEEN_WORDS = /[\p{P}\p{Z}\p{C}]{2,}|[\p{P}\p{C}]/gu;

/** The same for titles that differ in case, punctuation, white space or compatibility forms only. */
function titleKey(title: string): string {
  const words = title.normalize("NFKC").toLowerCase().replace(BETWEEN_WORDS, " ").trim();
  return words === "" ? title : words;
}

function titleFingerprint(title: string): Fingerprint {
  const quick = fingerprint(title, 0, title.length, true);
  if (quick) return quick;
  // Letters and digits of ASCII only, as in the quick one.
  const key = titleKey(title).replace(/[^a-z0-9\u0080-\uffff]/g, "");
  return plainFingerprint(key);
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
