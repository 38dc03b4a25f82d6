/** Which catalog a command reads or changes: `--file`, else CATALOG. Some verbs take it without `--file` too. */
import type { Command } from "commander";
import { counted, errorsOf, problemLine } from "../catalog/problem-line.ts";
import { isUrl } from "../catalog/read.ts";
import type { Catalog, Resource } from "../catalog/schema.ts";
import { type Problem, type Report, validateCatalog } from "../catalog/validate.ts";
import { type Config, loadConfig } from "../config.ts";
import { nearest } from "../nearest.ts";
import { nameOf, readSource, STDIN } from "./catalog-source.ts";
import { Failure, UsageError } from "./exit.ts";
import { harmless } from "./output.ts";
import { quoted } from "./quoted.ts";

export interface FileOptions {
  file?: string;
}

export function readOption(command: Command): Command {
  return command.option("--file <file>", "the catalog: a file, a URL, or - for standard input (default: CATALOG)");
}

/** For verbs that are about the whole catalog and nothing in it. */
export function readArgument(command: Command): Command {
  return readOption(command.argument("[file]", "the catalog, as after --file"));
}

export function writeOption(command: Command): Command {
  return command.option("--file <file>", "the catalog, a file of this machine (default: CATALOG)");
}

export interface ReadCatalog {
  source: string;
  /** As it is named to people. */
  name: string;
  bytes: Uint8Array;
  catalog: Catalog;
  vocabulary: Report["vocabulary"];
}

/** @throws UsageError when none is named, Failure when it cannot be read or has errors */
export async function readNamedCatalog(options: FileOptions): Promise<ReadCatalog> {
  const config = loadConfig();
  return readCatalog(sourceOf(options, config), config);
}

/** @throws UsageError when none is named, or one twice */
export function sourceOf({ file }: FileOptions, config: Config, argument?: string): string {
  if (argument !== undefined && file !== undefined)
    throw new UsageError("the catalog is named twice: name it with --file or without");
  return argument ?? file ?? config.catalog.source ?? missing();
}

export async function readCatalog(source: string, config: Config): Promise<ReadCatalog> {
  const name = nameOf(source);
  const bytes = await readSource(source, config);
  const { catalog, vocabulary, problems } = validateCatalog(bytes, { markers: config.catalog.markers });
  if (catalog) return { source, name, bytes, catalog, vocabulary };
  const errors = errorsOf(problems);
  throw new Failure(withProblems(`${name} has ${counted(errors.length, "error")}`, source, errors));
}

/** The file that a command may change. @throws UsageError */
export function writableFile({ file }: FileOptions, config: Config): string {
  const source = file ?? config.catalog.source ?? missing();
  const named = file === undefined ? "CATALOG" : "--file";
  if (source === STDIN)
    throw new UsageError(`${named} is standard input, and only a file can be changed: name one by --file`);
  if (isUrl(source))
    throw new UsageError(`${named} is a URL, and only a file can be changed: download it and name your copy by --file`);
  return source;
}

function missing(): never {
  throw new UsageError("say which catalog is meant: --file catalog.json, or set CATALOG");
}

/** A source as it stands in a command that is proposed. */
function shellWord(source: string): string {
  return quoted(source === STDIN ? source : nameOf(source));
}

/** The command that shows all that is wrong with it. */
export function validating(source: string): string {
  return `\`hubhook catalog validate ${shellWord(source)}\``;
}

const SHOWN = 5;

/** The sentence, and below it the first problems, each with its place. */
export function withProblems(sentence: string, source: string, problems: readonly Problem[]): string {
  const file = nameOf(source);
  const lines = problems.slice(0, SHOWN).map((problem) => `  ${harmless(problemLine(problem, file))}`);
  const rest = problems.length - lines.length;
  const more = rest > 0 ? [`  and ${rest} more: ${validating(source)} shows all`] : [];
  return [`${sentence}${lines.length > 0 ? ":" : ""}`, ...lines, ...more].join("\n");
}

/** What is known of a resource that stands in a file, valid or not. */
export type Found = Partial<Resource>;

/**
 * The place of the only resource with this id.
 * @throws Failure where there is none, or several
 */
export function placeOf(id: string, resources: readonly unknown[], file: string): number {
  const places = resources.flatMap((resource, index) => ((resource as Found | null)?.id === id ? [index] : []));
  const [place] = places;
  if (place === undefined) throw new Failure(noSuch(id, idsOf(resources), file));
  if (places.length === 1) return place;
  throw new Failure(
    `${counted(places.length, "resource")} of ${file} have the id "${id}": give each its own first (${validating(file)} says where they stand)`,
  );
}

export function idsOf(resources: readonly unknown[]): string[] {
  return resources.map((resource) => (resource as Found | null)?.id).filter((id) => typeof id === "string");
}

export function noSuch(id: string, ids: readonly string[], source: string): string {
  const near = nearest(id, ids);
  const next =
    near === undefined ? `\`hubhook catalog ls --file ${shellWord(source)}\` lists the ids` : `did you mean ${near}?`;
  return harmless(`${nameOf(source)} has no resource "${id}": ${next}`);
}
