/** A problem of a catalog file, from the rule that found it to its place in the file. */
import { positionsOf } from "./lines.ts";
import { type Located, locate, type Path } from "./locate.ts";
import { type RuleName, rules } from "./rules.ts";

export interface Problem {
  /** Its name in rules.ts. */
  rule: RuleName;
  severity: "error" | "warning";
  path: Path;
  /** The path as a JSON Pointer (RFC 6901). */
  pointer: string;
  /** Id of the resource it stands in, where it has one that can be read. */
  resource: string | null;
  /** From 1. A line ends with LF or CR LF. */
  line: number;
  /** From 1, in UTF-16 code units as editors count. */
  column: number;
  /** A sentence without the path. */
  message: string;
  /** What stands there, as JSON, cut where it is long. */
  found?: string;
  /** In words. */
  allowed?: string;
  /** What was probably meant, ready to be written there. */
  suggestion?: string;
  /** Malformed text: the line around it, and below it a line with a caret. */
  excerpt?: string;
}

/** A problem whose place is still to be found: where its path leads, unless an offset in bytes is known. */
export interface Finding extends Pick<Problem, "found" | "allowed" | "suggestion" | "excerpt"> {
  rule: RuleName;
  path: Path;
  /** At the key, not at its value. */
  atKey?: true;
  offset?: number;
  /** Where the path of `other` leads, or its offset, is the line that the message names. */
  other?: Path | number;
  message: string | ((otherLine: number) => string);
}

/** Finds the places of all findings in one walk, and puts them in the order of the file. */
export function place(findings: readonly Finding[], bytes: Uint8Array, value: unknown): Problem[] {
  const wanted: Path[] = [];
  for (const { path, offset, other } of findings) {
    if (offset === undefined) wanted.push(path);
    if (typeof other === "object") wanted.push(other);
  }
  const spans = wanted.length > 0 ? locate(bytes, wanted) : [];
  let next = 0;
  const offsetOf = (span: Located | null | undefined, atKey = false) => (atKey ? span?.key : span?.start) ?? 0;
  const placed = findings.map((finding) => {
    const offset = finding.offset ?? offsetOf(spans[next++], finding.atKey);
    const other = typeof finding.other === "object" ? offsetOf(spans[next++]) : finding.other;
    return { finding, offset, other };
  });
  placed.sort((a, b) => a.offset - b.offset);
  const positions = positionsOf(
    bytes,
    placed.map(({ offset }) => offset),
  );
  const others = placed.map(({ other }) => other ?? 0);
  const ascending = [...new Set(others)].sort((a, b) => a - b);
  const lines = new Map(positionsOf(bytes, ascending).map(({ line }, index) => [ascending[index] ?? 0, line]));
  return placed.map(({ finding, other }, index) => {
    const { line, column } = positions[index] ?? { line: 1, column: 1 };
    const message = typeof finding.message === "string" ? finding.message : finding.message(lines.get(other ?? 0) ?? 1);
    return problemOf(finding, message, line, column, value);
  });
}

function problemOf(finding: Finding, message: string, line: number, column: number, value: unknown): Problem {
  const { rule, path, found, allowed, suggestion, excerpt } = finding;
  return {
    rule,
    severity: rules[rule].severity,
    path,
    pointer: pointerOf(path),
    resource: resourceIdOf(path, value),
    line,
    column,
    message,
    ...(found !== undefined && { found }),
    ...(allowed !== undefined && { allowed }),
    ...(suggestion !== undefined && { suggestion }),
    ...(excerpt !== undefined && { excerpt }),
  };
}

function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Each problem of a resource names it. */
const MAX_ID = 200;

function resourceIdOf([list, index]: Path, value: unknown): string | null {
  if (list !== "resources" || typeof index !== "number") return null;
  const resources = (value as { resources?: unknown } | null | undefined)?.resources;
  const id = Array.isArray(resources) ? (resources[index] as { id?: unknown } | null)?.id : null;
  return typeof id === "string" ? id.slice(0, MAX_ID) : null;
}

/** As `resources[3].url`; the whole file is `$`. */
export function pathText(path: Path): string {
  const text = path
    .map((step) => {
      if (typeof step === "number") return `[${step}]`;
      return /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
    })
    .join("");
  return text === "" ? "$" : text.replace(/^\./, "");
}

const MAX_FOUND = 80;

/** A value as it is shown: JSON on one line, cut where it is long. */
export function foundText(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return JSON.stringify(value) ?? "nothing";
  const characters = [...value.slice(0, 2 * MAX_FOUND + 2)];
  return JSON.stringify(characters.length > MAX_FOUND ? `${characters.slice(0, MAX_FOUND).join("")}…` : value);
}
