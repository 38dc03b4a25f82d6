/** `hubhook catalog stats`: what a catalog holds, in numbers. */
import type { Command } from "commander";
import { counted } from "../catalog/problem-line.ts";
import { type Counts, statsOf } from "../catalog/stats.ts";
import { type FileOptions, readNamedCatalog, readOption } from "./catalog-file.ts";
import { sourcesText } from "./catalog-report.ts";
import { type Format, formatOption, harmless, paint, print, printJson } from "./output.ts";
import { displayWidth } from "./table.ts";

type StatsOptions = FileOptions & { format: Format };

/** Of tags and the like there may be thousands: the most frequent ones tell the most. */
const TOP = 10;

export function defineStats(command: Command): void {
  readOption(command)
    .addOption(formatOption())
    .addHelpText(
      "after",
      `
Of tags, tasks and licenses the ${TOP} most frequent are shown, as JSON all of them.

Examples:
  $ hubhook catalog stats
  $ hubhook catalog stats --format json | jq '.tag[:3]'`,
    )
    .action(stats);
}

async function stats(options: StatsOptions): Promise<void> {
  const { name, catalog, vocabulary } = await readNamedCatalog(options);
  const { version, updated_on, ...rest } = statsOf(catalog);
  if (options.format === "json") return printJson({ version, updated_on, vocabulary, ...rest });
  print(`${paint("bold", harmless(name))} version ${version} of ${updated_on}`);
  const held = [counted(rest.resources, "resource"), share(rest.verified, rest.resources), sourcesText(vocabulary)];
  print(held.join(", "));
  reportCounts("Category", rest.category, Number.POSITIVE_INFINITY);
  reportCounts("Source", rest.source, Number.POSITIVE_INFINITY);
  reportCounts("License", rest.license, TOP);
  reportCounts("Task", rest.task, TOP);
  reportCounts("Tag", rest.tag, TOP);
}

function share(verified: number, all: number): string {
  return all === 0 ? "none verified" : `${verified} verified (${Math.round((100 * verified) / all)} %)`;
}

function reportCounts(title: string, counts: Counts, top: number): void {
  if (counts.length === 0) return;
  print(`\n${paint("bold", title)}`);
  const shown = counts.slice(0, top);
  // Numbers first: what is written from right to left turns around whatever follows it on the line.
  const width = Math.max(...shown.map(({ count }) => displayWidth(`${count}`)));
  for (const { value, count } of shown) print(`  ${`${count}`.padStart(width)}  ${oneLine(value)}`);
  if (counts.length > shown.length) print(paint("gray", `  and ${counts.length - shown.length} more`));
}

function oneLine(text: string): string {
  return harmless(text).replace(/\s+/g, " ");
}
