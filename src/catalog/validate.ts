/**
 * Finds everything that is wrong with a catalog, each problem with its place in the file. What JSON.parse and the
 * schema do well is left to them; the text is walked once for keys that come twice, and places are looked for only
 * where there are problems.
 */
import { isUtf8 } from "node:buffer";
import { checkDate, checkVersion, crossChecker } from "./cross.ts";
import { countKeys, findDuplicateKeys } from "./duplicate-keys.ts";
import { explain } from "./explain.ts";
import { excerptAt } from "./lines.ts";
import { type Draft, type Problem, place } from "./problem.ts";
import { MAX_BYTES, MAX_DEPTH, MAX_ITEMS, MAX_PROBLEMS } from "./rules.ts";
import { shapeOf } from "./scan.ts";
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
  /** Told of resources as they are checked. */
  onProgress?: (progress: { done: number; total: number }) => void;
}

/** So many resources between two words on progress. */
const STEP = 2_000;

export function validateCatalog(input: Uint8Array | string, options: ValidateOptions = {}): Report {
  const given = typeof input === "string" ? Buffer.from(input) : input;
  const bytes = withoutMark(given);
  const findings = new Findings();
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
  checkResources(resources, vocabulary, options, findings);
  if (countKeys(value) !== keys) findings.add(duplicateKeys(bytes));
  const problems = findings.place(bytes, value);
  const bad = problems.some(({ severity }) => severity === "error");
  return { catalog: bad ? null : (value as Catalog), vocabulary, read: { resources: resources.length }, problems };
}

/** What was found, up to the limit of a report. */
class Findings {
  readonly #drafts: Draft[] = [];
  #left = false;

  /** How many more may be added. */
  get room(): number {
    return MAX_PROBLEMS - this.#drafts.length;
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
function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

type Parsed = { value: unknown; keys: number } | { problem: Draft };

function parse(bytes: Uint8Array): Parsed {
  if (bytes.length > MAX_BYTES) {
    const found = `${(bytes.length / 1e6).toFixed(1)} MB`;
    return {
      problem: { rule: "too-large", path: [], offset: 0, message: "the file is too large", found, allowed: "256 MB" },
    };
  }
  if (!isUtf8(bytes)) return { problem: notUtf8(bytes) };
  const { keys, tooDeep } = shapeOf(bytes, MAX_DEPTH);
  if (tooDeep >= 0) {
    const message = `brackets lie deeper in one another here than the ${MAX_DEPTH} levels that are read`;
    return { problem: { rule: "too-deep", path: [], offset: tooDeep, message } };
  }
  try {
    return { value: JSON.parse(textOf(bytes)), keys };
  } catch (error) {
    const found = findSyntaxProblem(bytes) ?? { offset: 0, message: (error as Error).message };
    const excerpt = bytes.length > 0 ? { excerpt: excerptAt(bytes, found.offset) } : {};
    return { problem: { rule: "syntax", path: [], ...found, ...excerpt } };
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

function notUtf8(bytes: Uint8Array): Draft {
  const [first, second] = bytes;
  const wide =
    (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || first === 0 || second === 0;
  if (wide) return { rule: "encoding", path: [], offset: 0, message: "the file looks like UTF-16: save it as UTF-8" };
  const text = textOf(bytes);
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

function duplicateKeys(bytes: Uint8Array): Draft[] {
  return findDuplicateKeys(bytes, MAX_PROBLEMS + 1).map(({ path, offset, first }) => ({
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

function checkResources(
  resources: readonly unknown[],
  vocabulary: Vocabulary | null,
  { markers = [], onProgress }: ValidateOptions,
  findings: Findings,
): void {
  const schema = resourceSchemas[vocabulary ?? "neutral"];
  const cross = crossChecker(resources, markers);
  const total = resources.length;
  for (let index = 0; index < total && !findings.full; index++) {
    const value = resources[index];
    const at = ["resources", index];
    const long = longList(value);
    if (long) findings.add([{ ...long, path: [...at, ...long.path] }]);
    else {
      const { error } = schema.safeParse(value);
      if (error) findings.add(explain({ value, at, issues: error.issues, vocabulary }, findings.room + 1));
    }
    findings.add(cross(index));
    if (onProgress && (index % STEP === 0 || index === total - 1)) onProgress({ done: index + 1, total });
  }
}

/** Each item of a list could be wrong in its turn: who sends a million must not fill the memory with what is wrong. */
function longList(resource: unknown): Draft | undefined {
  if (typeof resource !== "object" || resource === null) return undefined;
  const { tags, tasks, pashto_evidence } = resource as Record<string, unknown>;
  const { markers } = (pashto_evidence ?? {}) as Record<string, unknown>;
  const isLong = (list: unknown): list is unknown[] => Array.isArray(list) && list.length > MAX_ITEMS;
  const found = (path: string[], { length }: unknown[]): Draft => ({
    rule: "too-many",
    path,
    message: "this list is too long",
    found: `a list of ${length}`,
    allowed: `at most ${MAX_ITEMS} items`,
  });
  if (isLong(tags)) return found(["tags"], tags);
  if (isLong(tasks)) return found(["tasks"], tasks);
  if (isLong(markers)) return found(["pashto_evidence", "markers"], markers);
  return undefined;
}
