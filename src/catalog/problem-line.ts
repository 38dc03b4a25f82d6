/** A problem of a catalog in one line, where no more than a line can be shown. */
import { type Problem, pathText } from "./problem.ts";

/** As `line 3, column 15, common-voice, resources[0].source: this is no source, found "githb"; perhaps: github` */
export function problemLine({ line, column, resource, path, message, found, allowed, suggestion }: Problem): string {
  const where = [`line ${line}, column ${column}`, resource ?? "", pathText(path)].filter((part) => part !== "");
  const mend =
    suggestion !== undefined ? `; perhaps: ${suggestion}` : allowed !== undefined ? `; allowed: ${allowed}` : "";
  const what = found === undefined ? message : `${message}, found ${found}`;
  return `${where.join(", ")}: ${what}${mend}`;
}
