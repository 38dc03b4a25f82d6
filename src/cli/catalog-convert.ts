/** `hubhook catalog convert`: the same catalog with its sources in the other words. */
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { convertSources, NotConvertible } from "../catalog/convert.ts";
import { counted } from "../catalog/problem-line.ts";
import { isUrl } from "../catalog/read.ts";
import { VOCABULARIES, type Vocabulary } from "../catalog/schema.ts";
import { FileUnwritable, replaceFile } from "../catalog/write.ts";
import { loadConfig } from "../config.ts";
import { type FileOptions, readArgument, sourceOf, validating } from "./catalog-file.ts";
import { nameOf, readSource, STDIN } from "./catalog-source.ts";
import { Failure, UsageError } from "./exit.ts";
import { note, printBytes } from "./output.ts";

interface ConvertOptions extends FileOptions {
  sources: Vocabulary;
  output?: string;
}

const EXAMPLES = `
Everything else stays byte for byte: order of keys, white space, line ends. A file that mixes both vocabularies comes
out with one.

Examples:
  $ hubhook catalog convert --sources neutral catalog.json > neutral.json
  $ hubhook catalog convert --sources platform catalog.json -o catalog.json`;

export function sourcesOption(): Option {
  return new Option("--sources <words>", "neutral words (model_hub) or the platforms' names (huggingface)").choices(
    VOCABULARIES,
  );
}

export function defineConvert(command: Command): void {
  readArgument(command)
    .addOption(sourcesOption().makeOptionMandatory())
    .option("-o, --output <file>", "write there, which may be the same file (default: -, standard output)")
    .addHelpText("after", EXAMPLES)
    .action(convert);
}

async function convert(file: string | undefined, options: ConvertOptions): Promise<void> {
  const { sources, output = STDIN } = options;
  if (isUrl(output)) throw new UsageError("-o is a URL, and only a file can be written");
  const config = loadConfig();
  const source = sourceOf(options, config, file);
  const before = await readSource(source, config);
  const { bytes, changed } = converted(source, before, sources);
  const toOutput = output === STDIN;
  if (toOutput) printBytes(bytes);
  else await replace(output, bytes, resolve(output) === resolve(source) ? before : undefined);
  note(`${counted(changed, "source")} renamed${toOutput ? "" : ` in ${output}`}`);
}

function converted(source: string, before: Uint8Array, sources: Vocabulary): ReturnType<typeof convertSources> {
  try {
    return convertSources(before, sources);
  } catch (error) {
    if (!(error instanceof NotConvertible)) throw error;
    const errors = counted(error.problems.length, "error");
    throw new Failure(`${nameOf(source)} has ${errors}, and nothing was converted: ${validating(source)} lists them`);
  }
}

async function replace(file: string, bytes: Uint8Array, before?: Uint8Array): Promise<void> {
  try {
    await replaceFile(file, bytes, before);
  } catch (error) {
    if (error instanceof FileUnwritable) throw new Failure(error.message, { cause: error });
    throw error;
  }
}
