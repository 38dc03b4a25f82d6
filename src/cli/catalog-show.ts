/** `hubhook catalog show`: all of one resource. */
import type { Command } from "commander";
import { positionOf } from "../catalog/position.ts";
import type { Resource } from "../catalog/schema.ts";
import { type FileOptions, idsOf, noSuch, readNamedCatalog, readOption } from "./catalog-file.ts";
import { Failure } from "./exit.ts";
import { type Format, formatOption, harmless, paint, print, printJson } from "./output.ts";

type ShowOptions = FileOptions & { format: Format };

/** Ids that share a beginning, named so that one can be told from the other. */
const NAMED = 5;

export function defineShow(command: Command): void {
  readOption(command.argument("<id>", "its id, or how it begins where only one begins so"))
    .addOption(formatOption())
    .addHelpText(
      "after",
      `
Examples:
  $ hubhook catalog show pashto-speech
  $ hubhook catalog show pashto-speech --format json | jq .pashto_evidence`,
    )
    .action(show);
}

async function show(id: string, options: ShowOptions): Promise<void> {
  const { source, name, bytes, catalog } = await readNamedCatalog(options);
  const whole = wholeId(id, idsOf(catalog.resources), source);
  const index = catalog.resources.findIndex((resource) => resource.id === whole);
  const resource = catalog.resources[index] as Resource;
  if (options.format === "json") return printJson(resource);
  const { line, column } = positionOf(bytes, ["resources", index]);
  report(resource, `${name}:${line}:${column}`);
}

function wholeId(id: string, ids: string[], source: string): string {
  if (ids.includes(id)) return id;
  const begun = id === "" ? [] : ids.filter((one) => one.startsWith(id));
  const [one] = begun;
  if (one === undefined) throw new Failure(noSuch(id, ids, source));
  if (begun.length === 1) return one;
  const some = begun.slice(0, NAMED).join(", ");
  throw new Failure(`several ids begin with "${id}": ${some}${begun.length > NAMED ? ", …" : ""}. Write more of it`);
}

function report(resource: Resource, place: string): void {
  const { status, title, pashto_evidence: evidence } = resource;
  print(`${paint(status === "verified" ? "green" : "yellow", status)} ${paint("bold", harmless(title))}`);
  fact("Id", resource.id);
  fact("URL", resource.url);
  fact("Category", resource.category);
  fact("Source", resource.source);
  fact("License", resource.license);
  fact("Tags", resource.tags.join(", "));
  fact("Tasks", resource.tasks?.join(", "));
  fact("Use", resource.primary_use);
  fact("Stands in", place);
  print(`\n${paint("bold", "Summary")}`);
  print(indented(resource.summary));
  print(`\n${paint("bold", "Evidence")} ${paint("gray", harmless(evidence.evidence_url))}`);
  print(indented(evidence.evidence_text));
  print(`  ${paint("gray", "markers:")} ${harmless(evidence.markers.join(", "))}`);
}

function fact(name: string, value: string | undefined): void {
  if (value) print(`${paint("gray", name.padEnd(11))}${harmless(value)}`);
}

function indented(text: string): string {
  return harmless(text).replace(/^/gm, "  ");
}
