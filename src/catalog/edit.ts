/**
 * Changes a catalog file and nothing else in it. A change is tried first: what would come of it is validated, and
 * refused when it brings an error that was not there before. Old errors are no hindrance: one may promote a resource
 * where another one is broken, and remove the broken one.
 */
import { readFileSync, statSync } from "node:fs";
import { type Change, type Changed, changed, Unchangeable } from "./change.ts";
import { reasonOf } from "./file-errors.ts";
import { readText } from "./parse.ts";
import { errorsOf } from "./problem-line.ts";
import { MAX_BYTES } from "./rules.ts";
import type { Vocabulary } from "./schema.ts";
import { type Problem, validateCatalog } from "./validate.ts";
import { FileUnwritable, replaceFile } from "./write.ts";

/** The file is as it was. The message is a sentence that says why, and the problems say more. */
export class EditRefused extends Error {
  override readonly name = "EditRefused";
  readonly problems: Problem[];

  constructor(message: string, problems: Problem[] = [], options: ErrorOptions = {}) {
    super(message, options);
    this.problems = problems;
  }
}

export interface EditOptions {
  /** Words for the language; none: nothing is looked for. */
  markers?: readonly string[];
  now?: () => Date;
}

/** What would come of a change. */
export interface Plan {
  readonly change: Change;
  readonly version: string;
  readonly updatedOn: string;
  /** Those that were not there before. */
  readonly warnings: Problem[];
  /** How many of the old ones are left. */
  readonly errors: number;
  /** @throws EditRefused where the file was changed meanwhile, or cannot be written */
  write(): Promise<void>;
}

export interface EditableCatalog {
  /** null: no source tells. */
  readonly vocabulary: Vocabulary | null;
  /** As they stand there, in their order. Some may lack anything, or be no objects. */
  readonly resources: readonly unknown[];
  /** That the file has already. */
  readonly problems: readonly Problem[];
  /** @throws EditRefused */
  plan(change: Change): Plan;
}

/** @throws EditRefused where it cannot be read, or is no catalog at all */
export function openForEdit(file: string, { markers, now = () => new Date() }: EditOptions = {}): EditableCatalog {
  const bytes = readRegular(file);
  const validate = (bytes: Uint8Array) => validateCatalog(bytes, { now: now(), ...(markers && { markers }) });
  const { catalog, problems, vocabulary } = validate(bytes);
  const resources = catalog?.resources ?? brokenResources(bytes, file, problems);
  return {
    vocabulary,
    resources,
    problems,
    plan: (change) => {
      // The day is the one of UTC: where it is later already, a validator elsewhere would take it for the future.
      const updatedOn = now().toISOString().slice(0, 10);
      const { bytes: after, version } = changedFile(bytes, change, updatedOn, file);
      const report = validate(after);
      const fresh = notIn(problems, report.problems);
      const errors = errorsOf(fresh);
      if (errors.length > 0) throw new EditRefused(`nothing was written: ${file} would get new errors`, errors);
      return {
        change,
        version,
        updatedOn,
        warnings: fresh,
        errors: errorsOf(report.problems).length,
        write: () => replace(file, bytes, after),
      };
    },
  };
}

function readRegular(file: string): Buffer {
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw new EditRefused(`${file} is no file: only files of this machine can be changed`);
    if (stats.size > MAX_BYTES) throw new EditRefused(`${file} is larger than the ${MAX_BYTES / 1e6} MB that are read`);
    return readFileSync(file);
  } catch (error) {
    const why = reasonOf(error);
    if (why === null) throw error;
    throw new EditRefused(`${file} cannot be read: ${why}`, [], { cause: error });
  }
}

/** Only what could not even be read, or is none at all, is refused. */
function brokenResources(bytes: Uint8Array, file: string, problems: Problem[]): unknown[] {
  const { parsed } = readText(bytes);
  if (!parsed) throw new EditRefused(`${file} cannot be changed before it is mended`, problems);
  const { resources } = (parsed.value ?? {}) as { resources?: unknown };
  if (Array.isArray(resources)) return resources;
  throw new EditRefused(`${file} is no catalog: it has no list of "resources"`, problems);
}

function changedFile(bytes: Uint8Array, change: Change, updatedOn: string, file: string): Changed {
  try {
    return changed(bytes, change, updatedOn);
  } catch (error) {
    if (error instanceof Unchangeable) throw new EditRefused(`${file} cannot be changed: ${error.message}`);
    throw error;
  }
}

/** What is new. The place does not count: a change may move what stands below it. */
function notIn(before: readonly Problem[], after: readonly Problem[]): Problem[] {
  const known = new Map<string, number>();
  for (const problem of before) known.set(keyOf(problem), (known.get(keyOf(problem)) ?? 0) + 1);
  // In a file that mixes vocabularies already, the other one may be the one of most by now.
  const mixed = before.some(({ rule }) => rule === "mixed-vocabulary");
  return after.filter((problem) => {
    if (mixed && problem.rule === "mixed-vocabulary") return false;
    const left = known.get(keyOf(problem)) ?? 0;
    known.set(keyOf(problem), left - 1);
    return left <= 0;
  });
}

function keyOf({ rule, severity, resource, path, found }: Problem): string {
  return JSON.stringify([rule, severity, resource, path.filter((step) => typeof step === "string"), found]);
}

async function replace(file: string, before: Uint8Array, after: Uint8Array): Promise<void> {
  try {
    await replaceFile(file, after, before);
  } catch (error) {
    if (error instanceof FileUnwritable) throw new EditRefused(error.message, [], { cause: error });
    throw error;
  }
}

export type { Change };
