/** What the schema refuses, in words for a contributor: what was found, what is allowed, what was probably meant. */
import type { z } from "zod";
import { nearest } from "../nearest.ts";
import { codePoints, isDate, isHttpUri } from "./formats.ts";
import { slug } from "./ids.ts";
import { jsonSchema } from "./json-schema.ts";
import type { Path } from "./locate.ts";
import { type Finding, foundText } from "./problem.ts";
import type { RuleName } from "./rules.ts";
import { SOURCES, type Vocabulary } from "./schema.ts";
import { translate } from "./sources.ts";

/** As much of JSON Schema as ours uses. */
interface Fragment {
  type?: string;
  enum?: string[];
  format?: string;
  description?: string;
  minLength?: number;
  minItems?: number;
  properties?: Record<string, Fragment>;
  items?: Fragment;
}

export interface Explained {
  /** What was checked, and where it stands in the file. */
  value: unknown;
  at: Path;
  issues: readonly z.core.$ZodIssue[];
  /** null: no source of the file tells. */
  vocabulary: Vocabulary | null;
}

/** At most `limit` problems. */
export function explain({ value, at, issues, vocabulary }: Explained, limit: number): Finding[] {
  const findings: Finding[] = [];
  for (const issue of issues) {
    const inside = issue.path as Path;
    const path = [...at, ...inside];
    if (issue.code === "unrecognized_keys") {
      const known = Object.keys(fragmentAt(path).properties ?? {});
      const has = valueAt(value, inside) as object;
      // So many are no slips of the finger.
      const free = issue.keys.length > MANY ? [] : known.filter((one) => !Object.hasOwn(has, one));
      for (const key of issue.keys.slice(0, limit - findings.length)) findings.push(unknownKey(path, key, known, free));
    } else if (findings.length < limit) findings.push(findingOf(issue, path, value, vocabulary));
  }
  return findings;
}

const MANY = 100;

function unknownKey(path: Path, key: string, known: readonly string[], free: readonly string[]): Finding {
  return {
    rule: "unknown-key",
    path: [...path, key],
    atKey: true,
    message: "the schema has no such key",
    found: foundText(key),
    allowed: known.join(", "),
    ...suggested(near(key, free)),
  };
}

function findingOf(issue: z.core.$ZodIssue, path: Path, value: unknown, vocabulary: Vocabulary | null): Finding {
  const inside = issue.path as Path;
  const key = inside.at(-1);
  const found = valueAt(value, inside);
  const fragment = fragmentAt(path);
  const allowed = key === "source" ? sourcesInWords(vocabulary) : inWords(fragment);
  if (found === undefined && key !== undefined)
    return { rule: "missing-key", path: path.slice(0, -1), message: `"${key}" is missing`, allowed };
  const common = { path, found: foundText(found), allowed };
  const isNoWord = issue.code === "invalid_value" && typeof found !== "string";
  if (issue.code === "invalid_type" || isNoWord)
    return { rule: "wrong-type", message: `this should be ${withArticle(fragment.type)}`, ...common };
  if (issue.code === "invalid_value" && key === "source") return wrongSource(String(found), common, vocabulary);
  if (issue.code === "invalid_value") {
    const suggestion = near(String(found), fragment.enum ?? []);
    return { rule: "not-allowed", message: `this is no ${key}`, ...common, ...suggested(suggestion) };
  }
  if (issue.code === "too_small") return { rule: "too-few", message: "this list has too few items", ...common };
  const rule = (issue.code === "custom" ? issue.params?.rule : undefined) as keyof typeof SENTENCES | undefined;
  // A check that the schema has and this file does not know: still said, in the library's words.
  if (rule === undefined || !(rule in SENTENCES)) return { rule: "not-allowed", message: issue.message, ...common };
  const text = String(found);
  const length = rule === "too-short" ? ` (${codePoints(text)})` : "";
  return {
    rule,
    message: SENTENCES[rule],
    ...common,
    found: common.found + length,
    ...suggested(mended(rule, key, text)),
  };
}

const SENTENCES = {
  "too-short": "this text is too short",
  url: "this is no address of the web",
  date: "this is no day of the calendar",
  pattern: "this is not of the form",
} as const satisfies Partial<Record<RuleName, string>>;

function wrongSource(word: string, common: Pick<Finding, "path">, vocabulary: Vocabulary | null): Finding {
  const translated = vocabulary ? translate(word, vocabulary) : undefined;
  if (vocabulary && translated !== undefined) {
    const [this_, others] =
      vocabulary === "neutral" ? ["a platform's name", "neutral words"] : ["a neutral word", "the platforms' names"];
    return {
      rule: "mixed-vocabulary",
      ...common,
      message: `this is ${this_}, while the file's other sources are ${others}`,
      suggestion: translated,
    };
  }
  const suggestion = near(word, sourceLists(vocabulary).flat());
  return { rule: "not-allowed", ...common, message: "this is no source", ...suggested(suggestion) };
}

function sourcesInWords(vocabulary: Vocabulary | null): string {
  return sourceLists(vocabulary)
    .map((words) => words.join(", "))
    .join("; or, in the whole file: ");
}

function sourceLists(vocabulary: Vocabulary | null): (readonly string[])[] {
  return vocabulary ? [SOURCES[vocabulary]] : [SOURCES.neutral, SOURCES.platform];
}

/** What the text would be if it kept the rule, where that is plain to see. */
function mended(rule: keyof typeof SENTENCES, key: string | number | undefined, text: string): string | undefined {
  if (text.length > MAX_MENDED) return undefined;
  if (rule === "url") {
    const whole = /^[a-z][a-z0-9+.-]*:/i.test(text) ? text.trim() : `https://${text.trim().replace(/^\/+/, "")}`;
    const escaped = URL.canParse(whole) ? new URL(whole).href : "";
    return isHttpUri(escaped) && /^[^/]*\/\/[^/]*\.[^/]/.test(escaped) ? escaped : undefined;
  }
  if (rule === "date") {
    const [, year = "", month = "", day = ""] = /^\s*(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/.exec(text) ?? [];
    const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
    return isDate(date) ? date : undefined;
  }
  if (rule !== "pattern") return undefined;
  if (key === "id") return slug(text) || undefined;
  const [, numbers = ""] = /^\s*v?(\d+(?:\.\d+){0,2})\s*$/i.exec(text) ?? [];
  return numbers === "" ? undefined : [...numbers.split("."), "0", "0"].slice(0, 3).join(".");
}

const MAX_MENDED = 2000;
/** Longer words are no slips of the finger. */
const MAX_NEAR = 64;

function near(word: string, words: readonly string[]): string | undefined {
  return word.length > MAX_NEAR ? undefined : nearest(word, words);
}

function suggested(suggestion: string | undefined): { suggestion?: string } {
  return suggestion === undefined ? {} : { suggestion };
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inside, step) => {
    if (typeof inside !== "object" || inside === null || !Object.hasOwn(inside, step)) return undefined;
    return (inside as Record<string | number, unknown>)[step];
  }, value);
}

let root: Fragment | undefined;

/** The published schema at this path. The two forms differ in their sources only, which are not asked for here. */
function fragmentAt(path: Path): Fragment {
  root ??= jsonSchema("neutral") as Fragment;
  return path.reduce<Fragment>((fragment, step) => {
    const inside = typeof step === "number" ? fragment.items : fragment.properties?.[step];
    return inside ?? {};
  }, root);
}

function withArticle(type = "value"): string {
  const words: Record<string, string> = { string: "a text", array: "a list", object: "an object" };
  return words[type] ?? `a ${type}`;
}

function inWords({ type, enum: words, description, format, minLength = 0, minItems = 0, items }: Fragment): string {
  if (words) return words.join(", ");
  if (description !== undefined) return description;
  if (format === "date") return "a day as 2026-01-31";
  if (format === "uri")
    return "an address that begins with http:// or https://, with spaces and other than ASCII letters written as %…";
  if (minLength === 1) return "a text that is not empty";
  if (minLength > 1) return `a text of at least ${minLength} characters`;
  if (type !== "array") return withArticle(type);
  const what = items?.type === "string" ? "texts" : "resources";
  return minItems > 0 ? `a list of ${what}, at least ${minItems}` : `a list of ${what}`;
}
