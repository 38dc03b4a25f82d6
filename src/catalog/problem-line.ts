/** Problems of a catalog in words, where no more than a line can be shown. */
import { type Problem, pathText } from "./problem.ts";

export const errorsOf = (problems: readonly Problem[]) => problems.filter(({ severity }) => severity === "error");

/** `1 error`, `2 errors`. */
export function counted(count: number, thing: string): string {
  return `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
}

/** As `resources[0].source (common-voice)`. */
export function whereText({ path, resource }: Problem): string {
  return resource === null ? pathText(path) : `${pathText(path)} (${oneLine(resource)})`;
}

/**
 * As `catalog.json:3:15 resources[0].source (common-voice): this is no source, found "githb" (did you mean github?)`;
 * without a file `line 3, column 15, …`.
 */
export function problemLine(problem: Problem, file?: string): string {
  const { line, column, message, found, allowed, suggestion } = problem;
  const place = file === undefined ? `line ${line}, column ${column},` : `${file}:${line}:${column}`;
  const what = found === undefined ? message : `${message}, found ${found}`;
  const allows = allowed === undefined ? "" : ` (allowed: ${allowed})`;
  const mend = suggestion === undefined ? allows : ` (did you mean ${suggestion}?)`;
  return `${place} ${whereText(problem)}: ${what}${mend}`;
}

/** An id that breaks its rule may hold line ends, and what it says below them would pass for a line of ours. */
function oneLine(id: string): string {
  return /\p{Cc}/u.test(id) ? JSON.stringify(id) : id;
}
