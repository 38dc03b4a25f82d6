/** What a benchmark says: a table for the eye, JSON for programs, a chart for the page that shows it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";

export interface Measure {
  name: string;
  /** What was measured, in `unit`. */
  value: number;
  unit: string;
  /** The same as a share of `of`, measured in the same run. */
  ratio?: number;
  of?: string;
  /** What the ratio (or, where there is none, the value) must reach or stay under. */
  goal?: string;
  reached?: boolean;
}

/** The measure as a ratio to another one of the same run, with what it should come to. */
export function against(
  measure: Measure,
  of: string,
  reference: number,
  goal?: { least: number } | { most: number },
): Measure {
  const ratio = measure.value / reference;
  if (!goal) return { ...measure, ratio, of };
  if ("least" in goal) return { ...measure, ratio, of, goal: `at least ${goal.least}`, reached: ratio >= goal.least };
  return { ...measure, ratio, of, goal: `at most ${goal.most}`, reached: ratio <= goal.most };
}

export function print(suite: string, measures: Measure[]): void {
  process.stdout.write(`\n${suite}\n`);
  for (const { name, value, unit, ratio, of, goal, reached } of measures) {
    const shown = `${value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(2)} ${unit}`;
    const share = ratio === undefined ? "" : `${ratio.toFixed(2)} of ${of}`;
    const verdict = goal === undefined ? "" : `${goal}: ${reached ? "reached" : "NOT REACHED"}`;
    process.stdout.write(
      `  ${name.padEnd(50)}${shown.padStart(15)}  ${share.padEnd(36)}${verdict}\n`.trimEnd().concat("\n"),
    );
  }
}

/** Writes `<suite>.json` and `<suite>.svg` into the folder. */
export function write(folder: URL, suite: string, measures: Measure[]): void {
  mkdirSync(folder, { recursive: true });
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
  const result = { suite, at: new Date().toISOString(), machine, measures };
  writeFileSync(new URL(`${suite}.json`, folder), `${JSON.stringify(result, null, 2)}\n`);
  writeFileSync(new URL(`${suite}.svg`, folder), chart(suite, measures));
}

const quoted = (text: string) => text.replace(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`);

/** A bar for each measure that has a ratio; the line is the reference itself. */
function chart(suite: string, measures: Measure[]): string {
  const bars = measures.filter(({ ratio }) => ratio !== undefined);
  const longest = Math.max(1, ...bars.map(({ ratio }) => ratio ?? 0));
  const width = (ratio: number) => Math.round((ratio / longest) * 400);
  const rows = bars.map(({ name, ratio = 0, of }, index) => {
    const y = 40 + index * 28;
    return (
      `<text x="10" y="${y + 14}">${quoted(name)}</text>` +
      `<rect x="330" y="${y}" width="${width(ratio)}" height="18" rx="3"/>` +
      `<text x="${340 + width(ratio)}" y="${y + 14}">${ratio.toFixed(2)} of ${quoted(of ?? "")}</text>`
    );
  });
  const height = 60 + bars.length * 28;
  const style = "text{font:13px sans-serif;fill:#444}rect{fill:#f59e0b}line{stroke:#888;stroke-dasharray:3}";
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 ${height}" role="img" aria-label="${quoted(suite)}">` +
    `<style>${style}</style><text x="10" y="22">${quoted(suite)}</text>${rows.join("")}` +
    `<line x1="${330 + width(1)}" x2="${330 + width(1)}" y1="32" y2="${height - 16}"/></svg>\n`
  );
}
