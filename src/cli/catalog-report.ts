/** Problems of a catalog: for people, for programs, and as annotations of a GitHub workflow. */
import { errorsOf, whereText } from "../catalog/problem-line.ts";
import type { Problem, Report } from "../catalog/validate.ts";
import { nameOf, STDIN } from "./catalog-source.ts";
import { harmless, paint, print, printJson } from "./output.ts";

export type ReportFormat = "text" | "json" | "github";

export function reportProblems(source: string, report: Report, format: ReportFormat): void {
  const { problems } = report;
  if (format === "json") printJson(asJson(source, report));
  else if (format === "github") for (const problem of problems) print(asAnnotation(source, problem));
  else for (const problem of problems) printProblem(source, problem);
}

function asJson(source: string, { problems, vocabulary, read }: Report): object {
  const errors = errorsOf(problems).length;
  return {
    file: nameOf(source),
    valid: errors === 0,
    vocabulary,
    resources: read?.resources ?? null,
    errors,
    warnings: problems.length - errors,
    problems,
  };
}

function printProblem(source: string, problem: Problem): void {
  const { severity, line, column, rule, message, found, allowed, suggestion, excerpt } = problem;
  const tone = severity === "error" ? "red" : "yellow";
  const where = paint("bold", harmless(`${nameOf(source)}:${line}:${column}`));
  print(`${where} ${paint(tone, severity)} ${paint("cyan", rule)} ${harmless(whereText(problem))}`);
  print(`  ${harmless(message)}`);
  if (found !== undefined) print(`  found    ${harmless(found)}`);
  if (allowed !== undefined) print(`  allowed  ${harmless(allowed)}`);
  if (suggestion !== undefined) print(`  meant?   ${paint("green", harmless(suggestion))}`);
  if (excerpt !== undefined) for (const one of excerpt.split("\n")) print(`  ${paint("dim", "|")} ${harmless(one)}`);
  print("");
}

/** Which words a file has for its sources, as `platforms as sources`. */
export function sourcesText(vocabulary: Report["vocabulary"]): string {
  if (vocabulary === null) return "no source that tells the vocabulary";
  return { neutral: "neutral sources", platform: "platforms as sources" }[vocabulary];
}

/** A workflow command, in which these characters have a meaning. */
function asAnnotation(source: string, problem: Problem): string {
  const { severity, line, column, rule, message, found, allowed, suggestion } = problem;
  const text = [
    `${whereText(problem)}: ${message}`,
    ...(found === undefined ? [] : [`found ${found}`]),
    ...(allowed === undefined ? [] : [`allowed: ${allowed}`]),
    ...(suggestion === undefined ? [] : [`did you mean ${suggestion}?`]),
  ].join("\n");
  const place = {
    ...(source !== STDIN && { file: nameOf(source) }),
    line: String(line),
    col: String(column),
    title: rule,
  };
  const properties = Object.entries(place).map(([name, value]) => `${name}=${escapedProperty(value)}`);
  return harmless(`::${severity} ${properties.join(",")}::${escaped(text)}`);
}

function escaped(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapedProperty(text: string): string {
  return escaped(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
