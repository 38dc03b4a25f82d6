/**
 * Finds everything that is wrong with a catalog, each problem with its place in the file. What JSON.parse and the
 * schema do well is left to them; the text itself is walked only where there are problems, to find their places.
 */
import type { z } from "zod";
import { checkDate, checkVersion, crossChecker } from "./cross.ts";
import { countKeys } from "./duplicate-keys.ts";
import { explain } from "./explain.ts";
import { Findings } from "./findings.ts";
import { hiddenProblems, readText } from "./parse.ts";
import type { Finding, Problem } from "./problem.ts";
import { errorsOf } from "./problem-line.ts";
import { quickCheck } from "./quick.ts";
import { MAX_DEPTH, MAX_PROBLEMS } from "./rules.ts";
import { type Catalog, frameSchema, resourceSchemas, type Vocabulary } from "./schema.ts";
import { vocabularyOf } from "./sources.ts";

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
  const { bytes, problems: inText, parsed } = readText(input);
  const findings = new Findings(options.maxProblems ?? MAX_PROBLEMS);
  findings.add(inText);
  if (!parsed) return { catalog: null, vocabulary: null, read: null, problems: findings.place(bytes, null) };
  const { value, keys } = parsed;
  const resources = resourcesOf(value);
  const vocabulary = vocabularyOf(resources);
  checkFrame(value, options, findings);
  const keysInside = checkResources(resources, vocabulary, options, findings);
  const keysAround = countKeys(resources.length > 0 ? { ...(value as object), resources: [] } : value, MAX_DEPTH);
  if (keysAround + keysInside !== keys) findings.add(hiddenProblems(bytes, findings.room + 1));
  const problems = findings.place(bytes, value);
  const bad = errorsOf(problems).length > 0;
  return { catalog: bad ? null : (value as Catalog), vocabulary, read: { resources: resources.length }, problems };
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
  const checkCross = crossChecker(resources, markers, (finding) => findings.add([finding]));
  const total = resources.length;
  for (let index = 0; index < total && !findings.full; index++) {
    const value = resources[index];
    const good = quickKeys(value);
    keys += good || countKeys(value, MAX_DEPTH - RESOURCE_DEPTH);
    if (good === 0) findings.add(explained(value, index, schema, vocabulary, findings.room + 1));
    checkCross(index);
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
): Finding[] {
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
