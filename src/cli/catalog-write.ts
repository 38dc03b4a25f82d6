/** What all commands that change a catalog file have in common. */
import { type Change, type EditableCatalog, EditRefused, openForEdit, type Plan } from "../catalog/edit.ts";
import { counted, problemLine } from "../catalog/problem-line.ts";
import type { Config } from "../config.ts";
import { validating, withProblems } from "./catalog-file.ts";
import { Failure } from "./exit.ts";
import { type Format, harmless, note, print, printJson } from "./output.ts";

/** @throws Failure where it cannot be read, or is no catalog */
export function openCatalog(file: string, { catalog }: Config): Promise<EditableCatalog> {
  return refusing(file, async () => openForEdit(file, { markers: catalog.markers }));
}

/** @throws Failure; the file is as it was then */
export function write(catalog: EditableCatalog, change: Change, file: string): Promise<Plan> {
  return refusing(file, async () => {
    const plan = catalog.plan(change);
    await plan.write();
    return plan;
  });
}

async function refusing<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof EditRefused)) throw error;
    throw new Failure(withProblems(error.message, file, error.problems), { cause: error });
  }
}

interface Told {
  file: string;
  format: Format;
  /** A sentence without its end. */
  said: string;
}

export function reportWritten(
  { version, updatedOn, warnings, errors }: Plan,
  facts: object,
  { file, format, said }: Told,
): void {
  if (format === "json") printJson({ ...facts, written: true, version, updated_on: updatedOn });
  else print(`${said}; ${file} is version ${version} of ${updatedOn}`);
  for (const warning of warnings) note(harmless(`warning: ${problemLine(warning, file)}`));
  if (errors > 0) note(`${file} has ${counted(errors, "error")} from before: ${validating(file)} shows what to mend.`);
}
