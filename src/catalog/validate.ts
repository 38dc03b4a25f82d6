/**
 * Finds everything that is wrong with a catalog, each problem with its place in the file. What JSON.parse and the
 * schema do well is left to them; the text is walked once for keys that come twice, and places are looked for only
 * where there are problems.
 */
import { isUtf8 } from "node:buffer";
import type { z } from "zod";
import { checkDate, checkVersion, crossChecker } from "./cross.ts";
import { countKeys, findDuplicateKeys } from "./duplicate-keys.ts";
import { explain } from "./explain.ts";
import { excerptAt } from "./lines.ts";
import { type Draft, type Problem, place } from "./problem.ts";
import { quickCheck } from "./quick.ts";
import { MANY_LEVELS, MAX_BYTES, MAX_DEPTH, MAX_PROBLEMS } from "./rules.ts";
import { keysIn, listsIn, tooDeepAt } from "./scan.ts";
import { type Catalog, frameSchema, resourceSchemas, type Vocabulary } from "./schema.ts";
import { vocabularyOf } from "./sources.ts";
import { findSyntaxProblem } from "./syntax.ts";

export type { Problem } from "./problem.ts";

export interface Report {
  /** null when there are errors. */
  catalog: Catalog | null;
  /** null when no source tells: the file is unreadable, empty, or knows only `other`, which either one has. */
  vocabulary: Vocabulary | null;
  /** What was read, errors or not; null when the text is no JSON, too large or too deep. */
  read: { resources: number } | null;
  /** In the order of the file. */
  problems: Problem[];
}

export interface ValidateOptions {
  /** The catalog before: the version must be above its. */
  against?: Pick<Catalog, "version"> | null;
  /** Words for the language; none: nothing is looked for. */
  markers?: readonly string[];
  now?: Date;
  /** Problems beyond so many are left out: 100,000 if nothing is said. */
  maxProblems?: number;
  /** Told of resources as they are checked. */
  onProgress?: (progress: { done: number; total: number }) => void;
}

/** A resource lies in a list in the catalog. */
const RESOURCE_DEPTH = 2;
/** So many resources between two words on progress. */
const STEP = 2_000;

export function validateCatalog(input: Uint8Array | string, options: ValidateOptions = {}): Report {
  const given = typeof input === "string" ? Buffer.from(input) : asBuffer(input);
  const bytes = withoutMark(given);
  const findings = new Findings(options.maxProblems ?? MAX_PROBLEMS);
  if (bytes !== given) findings.add([BYTE_ORDER_MARK]);
  const parsed = parse(bytes);
  if ("problem" in parsed) {
    findings.add([parsed.problem]);
    return { catalog: null, vocabulary: null, read: null, problems: findings.place(bytes, null) };
  }
  const { value, keys } = parsed;
  const resources = resourcesOf(value);
  const vocabulary = vocabularyOf(resources);
  checkFrame(value, options, findings);
  const keysInside = checkResources(resources, vocabulary, options, findings);
  const keysAround = countKeys(resources.length > 0 ? { ...(value as object), resources: [] } : value, MAX_DEPTH);
  if (keysAround + keysInside !== keys) findings.add(hiddenProblems(bytes, findings.room + 1));
  const problems = findings.place(bytes, value);
  const bad = problems.some(({ severity }) => severity === "error");
  return { catalog: bad ? null : (value as Catalog), vocabulary, read: { resources: resources.length }, problems };
}

/** What was found, up to the limit of a report. */
class Findings {
  readonly #drafts: Draft[] = [];
  readonly #most: number;
  #left = false;

  constructor(most: number) {
    this.#most = most;
  }

  /** How many more may be added. */
  get room(): number {
    return this.#most - this.#drafts.length;
  }

  /** Something was left out already. */
  get full(): boolean {
    return this.#left;
  }

  add(drafts: readonly Draft[]): void {
    for (const draft of drafts) {
      if (this.room > 0) this.#drafts.push(draft);
      else this.#left = true;
    }
  }

  place(bytes: Uint8Array, value: unknown): Problem[] {
    const message = "there are more problems: they are left out";
    if (this.#left) this.#drafts.push({ rule: "too-many-problems", path: [], offset: bytes.length, message });
    return this.#drafts.length > 0 ? place(this.#drafts, bytes, value) : [];
  }
}

const BYTE_ORDER_MARK: Draft = {
  rule: "byte-order-mark",
  path: [],
  offset: 0,
  message: "the file begins with a byte order mark: save it as UTF-8 without one",
};

/** Nobody counts the mark as a column. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

type Parsed = { value: unknown; keys: number } | { problem: Draft };

function parse(bytes: Buffer): Parsed {
  if (bytes.length > MAX_BYTES) {
    const found = `${(bytes.length / 1e6).toFixed(1)} MB`;
    return {
      problem: { rule: "too-large", path: [], offset: 0, message: "the file is too large", found, allowed: "256 MB" },
    };
  }
  if (!isUtf8(bytes)) return { problem: notUtf8(bytes) };
  const keys = keysIn(bytes);
  // An object must have a key before anything can lie in it.
  const tooDeep = keys + listsIn(bytes) > MANY_LEVELS ? tooDeepAt(bytes, MAX_DEPTH) : -1;
  if (tooDeep >= 0) return { problem: tooDeepDraft(tooDeep) };
  try {
    return { value: JSON.parse(bytes.toString("utf8")), keys };
  } catch (error) {
    const found = findSyntaxProblem(bytes) ?? { offset: 0, message: (error as Error).message };
    const excerpt = bytes.length > 0 ? { excerpt: excerptAt(bytes, found.offset) } : {};
    return { problem: { rule: "syntax", path: [], ...found, ...excerpt } };
  }
}

function tooDeepDraft(offset: number): Draft {
  const message = `brackets lie deeper in one another here than the ${MAX_DEPTH} levels that are read`;
  return { rule: "too-deep", path: [], offset, message };
}

function notUtf8(bytes: Buffer): Draft {
  const [first, second] = bytes;
  const wide =
    (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || first === 0 || second === 0;
  if (wide) return { rule: "encoding", path: [], offset: 0, message: "the file looks like UTF-16: save it as UTF-8" };
  const text = bytes.toString("utf8");
  let offset = 0;
  let counted = 0;
  // A replacement character that stands in the file itself is none that the decoding put there.
  for (let at = text.indexOf("\ufffd"); at >= 0; at = text.indexOf("\ufffd", at + 1)) {
    offset += Buffer.byteLength(text.slice(counted, at));
    counted = at;
    if (bytes[offset] !== 0xef || bytes[offset + 1] !== 0xbf || bytes[offset + 2] !== 0xbd) break;
  }
  const byte = `0x${(bytes[offset] ?? 0).toString(16).padStart(2, "0")}`;
  const message = `the byte ${byte} is not UTF-8: save the file as UTF-8`;
  return { rule: "encoding", path: [], offset, message, excerpt: excerptAt(bytes, offset) };
}

/** What the parsed value does not show: that the text is too deep, or has keys twice. */
function hiddenProblems(bytes: Uint8Array, limit: number): Draft[] {
  const tooDeep = tooDeepAt(bytes, MAX_DEPTH);
  if (tooDeep >= 0) return [tooDeepDraft(tooDeep)];
  return findDuplicateKeys(bytes, limit).map(({ path, offset, first }) => ({
    rule: "duplicate-key",
    path,
    offset,
    other: first,
    message: (line) => `the key "${path.at(-1)}" stands in this object already (line ${line}): only one can count`,
  }));
}

function resourcesOf(value: unknown): readonly unknown[] {
  const resources = (value as { resources?: unknown } | null)?.resources;
  return Array.isArray(resources) ? resources : [];
}

function checkFrame(value: unknown, { against, now = new Date() }: ValidateOptions, findings: Findings): void {
  const issues = frameSchema.safeParse(value).error?.issues ?? [];
  findings.add(explain({ value, at: [], issues, vocabulary: null }, findings.room + 1));
  const { version, updated_on } = (value ?? {}) as Record<string, unknown>;
  const isGood = typeof version === "string" && !issues.some(({ path }) => path[0] === "version");
  if (against && isGood) findings.add(checkVersion(version, against.version));
  if (typeof updated_on === "string") findings.add(checkDate(updated_on, now));
}

/** Gives how many keys there are in all of them. */
function checkResources(
  resources: readonly unknown[],
  vocabulary: Vocabulary | null,
  { markers = [], onProgress }: ValidateOptions,
  findings: Findings,
): number {
  let keys = 0;
  const quickKeys = quickCheck(vocabulary ?? "neutral");
  const schema = resourceSchemas[vocabulary ?? "neutral"];
  const cross = crossChecker(resources, markers);
  const total = resources.length;
  for (let index = 0; index < total && !findings.full; index++) {
    const value = resources[index];
    const good = quickKeys(value);
    keys += good || countKeys(value, MAX_DEPTH - RESOURCE_DEPTH);
    if (good === 0) findings.add(explained(value, index, schema, vocabulary, findings.room + 1));
    findings.add(cross(index));
    if (onProgress && (index % STEP === 0 || index === total - 1)) onProgress({ done: index + 1, total });
  }
  return keys;
}

function explained(
  value: unknown,
  index: number,
  schema: z.ZodType,
  vocabulary: Vocabulary | null,
  limit: number,
): Draft[] {
  const issues = schema.safeParse(withShortLists(value, limit)).error?.issues ?? [];
  return explain({ value, at: ["resources", index], issues, vocabulary }, limit);
}

/**
 * Each item of a list could be wrong in its turn: who sends millions must not fill the memory with what is wrong. A
 * list that is longer than a report ends so much behind its first wrong item.
 */
function withShortLists(resource: unknown, limit: number): unknown {
  if (typeof resource !== "object" || resource === null) return resource;
  const { tags, tasks, pashto_evidence } = resource as Record<string, unknown>;
  const { markers } = (pashto_evidence ?? {}) as Record<string, unknown>;
  const isLong = (list: unknown): list is unknown[] => Array.isArray(list) && list.length > limit;
  if (![tags, tasks, markers].some(isLong)) return resource;
  const short = (list: unknown[], isWrong: (item: unknown) => boolean) =>
    list.slice(0, list.findIndex(isWrong) + limit + 1);
  return {
    ...resource,
    ...(isLong(tags) && { tags: short(tags, isNoText) }),
    ...(isLong(tasks) && { tasks: short(tasks, isNoText) }),
    ...(isLong(markers) && {
      pashto_evidence: { ...(pashto_evidence as object), markers: short(markers, isNoMarker) },
    }),
  };
}

const isNoText = (item: unknown) => typeof item !== "string";
const isNoMarker = (item: unknown) => typeof item !== "string" || item === "";
