/** `hubhook catalog add`: a new resource, from flags, or from answers at a terminal. */
import type { Command } from "commander";
import { type Draft, type DraftField, fieldProblems, resourceFrom, sourceWord } from "../catalog/draft.ts";
import { loadConfig } from "../config.ts";
import { draftOf, FIELDS, type Field, fieldOptions } from "./catalog-fields.ts";
import { type FileOptions, writableFile, writeOption } from "./catalog-file.ts";
import { alikeTo, completed, interview, type Place, sentenceOf, takenBy } from "./catalog-interview.ts";
import { openCatalog, reportWritten, write } from "./catalog-write.ts";
import { Failure, UsageError } from "./exit.ts";
import { canAsk, confirm, type Format, formatOption, harmless } from "./output.ts";
import { quoted } from "./quoted.ts";

type AddOptions = FileOptions & Record<string, unknown> & { yes?: true; format: Format };

export function defineAdd(command: Command): void {
  fieldOptions(writeOption(command))
    .option("--yes", "do not ask about a title that is nearly another's")
    .addOption(formatOption())
    .addHelpText(
      "after",
      `
At a terminal what is missing is asked for; elsewhere it is an error that names all of it. The source may be named in
either vocabulary and is written in the file's. The resource is put last, in the formatting of the file; the patch
version is raised, and updated_on is set to today's date in UTC. Nothing else in the file is touched. Errors that the
file has already do not stop it, new ones do.

Examples:
  $ hubhook catalog add
  $ hubhook catalog add --url https://huggingface.co/datasets/me/pashto-speech --title "Pashto Speech"
  $ hubhook catalog add --url https://github.com/me/pashto-nlp --title "Pashto NLP" --category code \\
      --summary "Tokenizer and stemmer for Pashto" --use "text processing" \\
      --evidence "A tokenizer for Pashto" --tag nlp --tag tokenizer`,
    )
    .action(add);
}

async function add(options: AddOptions): Promise<void> {
  const config = loadConfig();
  const file = writableFile(options, config);
  const place: Place = { file, catalog: await openCatalog(file, config), markers: config.catalog.markers };
  const given = checked(draftOf(options), place);
  const needed = missing(completed(given, place));
  if (needed.length > 0 && !canAsk())
    throw new UsageError(`nobody can be asked here: add ${needed.map(({ flag }) => flag).join(", ")}`);
  const draft = needed.length > 0 ? await interview(given, place) : completed(given, place);
  if (!options.yes) await askAboutTwin(draft, place);
  try {
    const plan = await write(place.catalog, { add: resourceFrom(draft) }, file);
    const { id = "", status = "" } = draft;
    reportWritten(plan, { id, status }, { file, format: options.format, said: `${id} is added as ${status}` });
  } catch (error) {
    if (needed.length === 0 || !(error instanceof Failure)) throw error;
    // Nobody wants to type all of it again.
    throw new Failure(`${error.message}\nThe same again with your answers:\n  ${commandFor(draft, options.file)}`);
  }
}

/**
 * What the flags say, the source in the file's words.
 * @throws UsageError that names all that is wrong with it, Failure where the catalog has it already
 */
function checked(given: Draft, { catalog }: Place): Draft {
  const { vocabulary, resources } = catalog;
  const draft = { ...given, ...(given.source !== undefined && { source: sourceWord(given.source, vocabulary) }) };
  const fields = FIELDS.filter(({ name }) => draft[name] !== undefined);
  const wrong = fields.flatMap(({ name, flag }) =>
    fieldProblems(name, draft, vocabulary).map((problem) => `${flag}: ${sentenceOf(problem)}`),
  );
  if (wrong.length > 0) throw new UsageError(listed(wrong));
  const taken = fields.flatMap(({ name }) => takenBy(name, draft, resources) ?? []);
  if (taken.length > 0) throw new Failure(harmless(`nothing was added: ${taken.join(", and ")}`));
  return draft;
}

function listed(sentences: readonly string[]): string {
  const [only = "", ...more] = sentences;
  return more.length === 0 ? only : ["this is no resource yet:", ...sentences.map((one) => `  ${one}`)].join("\n");
}

/** What is missing from a draft that has all that follows from it; what would follow from a missing one is not. */
function missing(draft: Draft): Field[] {
  const follows: Partial<Record<DraftField, DraftField>> = { evidence_url: "url", markers: "evidence_text" };
  const lacks = (name: DraftField) => draft[name] === undefined;
  return FIELDS.filter(({ name, optional }) => !optional && lacks(name) && !lacks(follows[name] ?? "id"));
}

/** @throws Failure where another one has nearly the same title, and nobody says yes */
async function askAboutTwin(draft: Draft, place: Place): Promise<void> {
  const [alike] = alikeTo(draft, place);
  if (alike === undefined) return;
  if (!canAsk()) throw new Failure(`nothing was added: ${alike}. If yours is another one, add --yes`);
  if (!(await confirm(`${alike}. Is yours another one?`))) throw new Failure("nothing was added");
}

function commandFor(draft: Draft, file: string | undefined): string {
  const words = FIELDS.flatMap(({ name, flag }) =>
    [draft[name] ?? []].flat().flatMap((value) => [flag, quoted(value)]),
  );
  return ["hubhook catalog add", ...(file === undefined ? [] : ["--file", quoted(file)]), ...words].join(" ");
}
