/** `hubhook catalog diff`: what is different between two catalogs. */
import type { Command } from "commander";
import { type CatalogDiff, diffCatalogs, type FieldChange, isSame } from "../catalog/diff.ts";
import type { Resource } from "../catalog/schema.ts";
import { loadConfig } from "../config.ts";
import { readCatalog } from "./catalog-file.ts";
import { Failure, UsageError } from "./exit.ts";
import { type Format, formatOption, harmless, paint, print, printJson } from "./output.ts";

interface DiffOptions {
  format: Format;
  exitCode?: true;
}

export function defineDiff(command: Command): void {
  command
    .argument("<old>", "a file, a URL, or - for standard input")
    .argument("<new>", "a file, a URL, or - for standard input")
    .option("--exit-code", "fail when there is a difference")
    .addOption(formatOption())
    .addHelpText(
      "after",
      `
Resources are compared by their ids. Where they stand in the file makes no difference, nor which vocabulary names the
source.

Examples:
  $ hubhook catalog diff old.json catalog.json
  $ git show HEAD:catalog.json | hubhook catalog diff - catalog.json
  $ hubhook catalog diff https://example.org/catalog.json catalog.json --format json | jq '.added[].id'`,
    )
    .action(diff);
}

async function diff(before: string, after: string, options: DiffOptions): Promise<void> {
  if (before === "-" && after === "-") throw new UsageError("standard input can be one of the two only");
  const config = loadConfig();
  const old = await readCatalog(before, config);
  const now = await readCatalog(after, config);
  const difference = diffCatalogs(old.catalog, now.catalog);
  if (options.format === "json") printJson(difference);
  else report(difference);
  if (options.exitCode && !isSame(difference)) throw new Failure(`${old.name} and ${now.name} differ`);
}

function report(difference: CatalogDiff): void {
  const { version, updated_on, added, removed, changed } = difference;
  if (isSame(difference)) {
    print(`No difference: version ${version.new} of ${updated_on.new}`);
    return;
  }
  print(`version ${arrow(version.old, version.new)}, updated on ${arrow(updated_on.old, updated_on.new)}`);
  for (const resource of added) print(paint("green", `+ ${named(resource)}`));
  for (const resource of removed) print(paint("red", `- ${named(resource)}`));
  for (const resource of changed) {
    print(paint("yellow", `~ ${named(resource)}`));
    for (const change of resource.fields) reportField(change);
  }
  print(paint("gray", `${added.length} added, ${removed.length} removed, ${changed.length} changed`));
}

function reportField({ field, old, new: now }: FieldChange): void {
  if (!Array.isArray(old) && !Array.isArray(now)) {
    print(`    ${field}`);
    if (old !== undefined) print(paint("red", `      - ${harmless(old)}`));
    if (now !== undefined) print(paint("green", `      + ${harmless(now)}`));
    return;
  }
  const [gone, come] = [without(old, now), without(now, old)];
  print(`    ${field}${gone.length + come.length === 0 ? " in another order" : ""}`);
  for (const item of gone) print(paint("red", `      - ${harmless(item)}`));
  for (const item of come) print(paint("green", `      + ${harmless(item)}`));
}

function without(items: FieldChange["old"], others: FieldChange["old"]): string[] {
  const known = new Set([others ?? []].flat());
  return [items ?? []].flat().filter((item) => !known.has(item));
}

function arrow(old: string, now: string): string {
  return old === now ? now : `${old} → ${now}`;
}

function named({ id, title }: Pick<Resource, "id" | "title">): string {
  return harmless(`${id}  ${title}`);
}
