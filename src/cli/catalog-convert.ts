/** `hubhook catalog convert`: the same catalog with its sources in the other words. */
import { type Command, Option } from "commander";
import { convertSources, NotConvertible } from "../catalog/convert.ts";
import { counted } from "../catalog/problem-line.ts";
import { VOCABULARIES, type Vocabulary } from "../catalog/schema.ts";
import { FileChanged, replaceFile } from "../catalog/write.ts";
import { loadConfig } from "../config.ts";
import { nameOf, readSource } from "./catalog-source.ts";
import { Failure } from "./exit.ts";
import { note, printBytes } from "./output.ts";

interface ConvertOptions {
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
  command
    .argument("<file>", "a file, a URL, or - for standard input")
    .addOption(sourcesOption().makeOptionMandatory())
    .option("-o, --output <file>", "write there, which may be the same file (default: standard output)")
    .addHelpText("after", EXAMPLES)
    .action(convert);
}

async function convert(source: string, { sources, output }: ConvertOptions): Promise<void> {
  const before = await readSource(source, loadConfig());
  const { bytes, changed } = converted(source, before, sources);
  if (output === undefined) printBytes(bytes);
  else await replace(output, bytes, output === source ? before : undefined);
  note(`${counted(changed, "source")} renamed${output === undefined ? "" : ` in ${output}`}`);
}

function converted(source: string, before: Uint8Array, sources: Vocabulary): ReturnType<typeof convertSources> {
  try {
    return convertSources(before, sources);
  } catch (error) {
    if (!(error instanceof NotConvertible)) throw error;
    const errors = counted(error.problems.length, "error");
    throw new Failure(
      `${nameOf(source)} has ${errors}, and nothing was converted: \`hubhook catalog validate\` lists them`,
    );
  }
}

async function replace(file: string, bytes: Uint8Array, before?: Uint8Array): Promise<void> {
  try {
    await replaceFile(file, bytes, before);
  } catch (error) {
    if (error instanceof FileChanged) throw new Failure(error.message);
    throw new Failure(`${file} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}
