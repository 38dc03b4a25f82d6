/** `hubhook catalog ls` and `search`: resources of a catalog as a table. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { FACETS, type FacetName, type Filters } from "../catalog/facets.ts";
import { counted } from "../catalog/problem-line.ts";
import { CATEGORIES, type Resource, SOURCES, STATUSES } from "../catalog/schema.ts";
import { openSearch } from "../catalog/search.ts";
import { nearest } from "../nearest.ts";
import { type FileOptions, readNamedCatalog, readOption } from "./catalog-file.ts";
import { type ListFormat, lineWidth, listFormatOption, note, paint, print, printJson } from "./output.ts";
import { type Column, tableLines } from "./table.ts";

interface ListOptions extends FileOptions, Partial<Record<FacetName, string[]>> {
  limit?: number;
  format: ListFormat;
}

/** What a person looks through. */
const SEARCH_LIMIT = 20;
const MAX_LIMIT = 1_000_000;

// The title stands last: what is written from right to left turns around whatever follows it on the line.
const COLUMNS: Column<Resource>[] = [
  // What `show` takes: cut only where it is no id that a person would type.
  { title: "ID", text: ({ id }) => id, atLeast: 32 },
  { title: "CATEGORY", text: ({ category }) => category },
  { title: "SOURCE", text: ({ source }) => source, atLeast: 6 },
  {
    title: "STATUS",
    text: ({ status }) => status,
    paint: (cell, { status }) => paint(status === "verified" ? "green" : "yellow", cell),
  },
  { title: "TITLE", text: ({ title }) => title, atLeast: 10 },
];

export function defineList(command: Command): void {
  listOptions(command, "at most so many (default: all)").action((options: ListOptions) => list("", options));
  command.addHelpText(
    "after",
    `
Of one option any value is enough, and every option that is given must fit. Sources may be named in either vocabulary.

Examples:
  $ hubhook catalog ls
  $ hubhook catalog ls --category dataset --category benchmark --status verified
  $ hubhook catalog ls --source huggingface --license cc-by-4.0 --format json
  $ hubhook catalog ls --status candidate --format quiet | head -1 | xargs hubhook catalog show`,
  );
}

export function defineSearch(command: Command): void {
  command.argument("<words...>", "in any order; the last one may be only begun");
  listOptions(command, `at most so many (default: ${SEARCH_LIMIT})`).action((words: string[], options: ListOptions) =>
    list(words.join(" "), { limit: SEARCH_LIMIT, ...options }),
  );
  command.addHelpText(
    "after",
    `
The best come first. What matters most is the title, then id, tags, tasks, use, summary and evidence; a slip of the
keyboard is forgiven.

Examples:
  $ hubhook catalog search speech
  $ hubhook catalog search پښتو --category dataset
  $ hubhook catalog search speech recogn --status verified --format quiet`,
  );
}

function listOptions(command: Command, limit: string): Command {
  const many = (text: string, before: string[] = []) => [...before, text];
  readOption(command)
    .addOption(
      new Option("--category <category>", `of this one: ${CATEGORIES.join(", ")}`).argParser(choice(CATEGORIES)),
    )
    .addOption(
      new Option("--source <source>", "from this place, as huggingface or model_hub").argParser(
        choice([...new Set(Object.values(SOURCES).flat())]),
      ),
    )
    .addOption(new Option("--status <status>", STATUSES.join(" or ")).argParser(choice(STATUSES)))
    .addOption(new Option("--tag <tag>", "with this tag").argParser(many))
    .addOption(new Option("--task <task>", "for this task").argParser(many))
    .addOption(new Option("--license <license>", "under this license").argParser(many));
  return command.option("--limit <number>", limit, limitOf).addOption(listFormatOption());
}

function choice(choices: readonly string[]) {
  return (text: string, before: string[] = []) => {
    const word = text.toLowerCase();
    if (choices.includes(word)) return [...before, word];
    const near = nearest(word, choices);
    throw new InvalidArgumentError(
      near === undefined ? `Allowed choices are ${choices.join(", ")}.` : `Did you mean ${near}?`,
    );
  };
}

async function list(words: string, options: ListOptions): Promise<void> {
  const { name, catalog } = await readNamedCatalog(options);
  const search = openSearch(catalog);
  const filters: Filters = Object.fromEntries(
    FACETS.flatMap((facet) => (options[facet] ? [[facet, options[facet]]] : [])),
  );
  const { resources, total } = search.query(words, filters, { limit: options.limit ?? MAX_LIMIT, facets: false });
  report(resources, options.format);
  if (total > resources.length) note(`${total - resources.length} more fit: --limit ${total} shows all.`);
  if (total > 0) return;
  if (catalog.resources.length === 0)
    return note(`${name} lists nothing yet: \`hubhook catalog add\` adds a resource.`);
  const narrowed = Object.keys(filters).length > 0;
  const among = `Nothing fits among the ${counted(catalog.resources.length, "resource")} of ${name}`;
  const hint = mistypedValue(filters, catalog.resources);
  if (hint) note(`${among}: ${hint}`);
  else if (narrowed) note(`${among}: leave out an option to see more.`);
  else note(`${among}: try fewer or shorter words; \`hubhook catalog stats\` shows the tags.`);
}

function report(resources: readonly Resource[], format: ListFormat): void {
  if (format === "json") printJson(resources);
  else if (format === "quiet") for (const { id } of resources) print(id);
  else if (resources.length > 0) {
    const [head = "", ...rows] = tableLines(COLUMNS, resources, lineWidth());
    print(paint("gray", head));
    for (const row of rows) print(row);
  }
}

/** Tags, tasks and licenses are free words: one that no resource has may be a slip. */
function mistypedValue(filters: Filters, resources: readonly Resource[]): string | undefined {
  const known = {
    tag: new Set(resources.flatMap(({ tags }) => tags)),
    task: new Set(resources.flatMap(({ tasks = [] }) => tasks)),
    license: new Set(resources.flatMap(({ license }) => license ?? [])),
  };
  for (const facet of ["tag", "task", "license"] as const)
    for (const value of filters[facet] ?? []) {
      const words = [...known[facet]];
      if (words.some((word) => word.trim().toLowerCase() === value.trim().toLowerCase())) continue;
      const near = nearest(value, words);
      return `no resource has the ${facet} "${value}"${near === undefined ? "." : `: did you mean ${near}?`}`;
    }
  return undefined;
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new InvalidArgumentError(`Write a number from 1 to ${MAX_LIMIT}.`);
}
