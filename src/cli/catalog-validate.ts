/** `hubhook catalog validate`: all problems of a catalog at once, each with its place. */
import { type Command, Option } from "commander";
import { counted, errorsOf } from "../catalog/problem-line.ts";
import { type Report, validateCatalog } from "../catalog/validate.ts";
import { type Config, loadConfig } from "../config.ts";
import { type FileOptions, readArgument, sourceOf, validating } from "./catalog-file.ts";
import { type ReportFormat, reportProblems, sourcesText } from "./catalog-report.ts";
import { nameOf, readSource, STDIN } from "./catalog-source.ts";
import { Failure, UsageError } from "./exit.ts";
import { noteProgress, print } from "./output.ts";

interface ValidateOptions extends FileOptions {
  against?: string;
  format: ReportFormat;
  strict?: true;
}

const EXAMPLES = `
Lines and columns count from 1, columns in UTF-16 code units as editors do. A URL is read when it leads to a public
address, to the hub (HF_ENDPOINT, the only place that sees HF_TOKEN), or where CATALOG_ALLOW_TARGETS says.
\`hubhook catalog rules\` lists what is looked for; CATALOG_MARKERS are the words for the language.

Exit codes: 0 no errors, 1 errors (with --strict also warnings) or unreadable, 2 wrong words.

Examples:
  $ hubhook catalog validate catalog.json
  $ hubhook catalog validate https://huggingface.co/datasets/me/catalog/resolve/main/catalog.json
  $ git show main:catalog.json > old.json && hubhook catalog validate catalog.json --against old.json --strict
  $ hubhook catalog validate catalog.json --format github`;

/** Below it nobody has to wait. */
const LARGE_BYTES = 5_000_000;

export function defineValidate(command: Command): void {
  readArgument(command)
    .option("--against <old>", "the catalog before, a file or a URL: the version must be above its")
    .addOption(
      new Option("--format <format>", "for people, for programs, or as annotations of a GitHub workflow")
        .choices(["text", "json", "github"])
        .default("text"),
    )
    .option("--strict", "warnings fail too")
    .addHelpText("after", EXAMPLES)
    .action(validate);
}

async function validate(file: string | undefined, options: ValidateOptions): Promise<void> {
  const config = loadConfig();
  const source = sourceOf(options, config, file);
  if (source === STDIN && options.against === STDIN)
    throw new UsageError("standard input can be one of the two catalogs only: name a file for the other");
  const bytes = await readSource(source, config);
  const against = options.against === undefined ? null : await versionBefore(options.against, config);
  const large = bytes.length > LARGE_BYTES;
  if (large) noteProgress(`reading ${(bytes.length / 1e6).toFixed(0)} MB`);
  const report = validateCatalog(bytes, {
    against,
    markers: config.catalog.markers,
    ...(large && { onProgress: ({ done, total }) => noteProgress(`${Math.floor((100 * done) / total)} % checked`) }),
  });
  noteProgress(null);
  reportProblems(source, report, options.format);
  conclude(source, report, options);
}

/** @throws Failure when there is too much wrong */
function conclude(source: string, report: Report, { format, strict }: ValidateOptions): void {
  const errors = errorsOf(report.problems).length;
  const warnings = report.problems.length - errors;
  const counts = [
    ...(errors > 0 ? [counted(errors, "error")] : []),
    ...(warnings > 0 ? [counted(warnings, "warning")] : []),
  ];
  const found = counts.length > 0 ? counts.join(" and ") : "no problems";
  const summary = `${nameOf(source)} has ${found}${describe(report)}`;
  if (errors > 0) throw new Failure(summary);
  if (strict && warnings > 0) throw new Failure(`${summary}: --strict lets none pass`);
  if (format === "text") print(summary);
}

function describe({ read, vocabulary }: Report): string {
  if (!read) return "";
  return ` (${counted(read.resources, "resource")}, ${sourcesText(vocabulary)})`;
}

/** Only its version counts: what else is wrong with it is why there is a new one. */
async function versionBefore(old: string, config: Config): Promise<{ version: string }> {
  const bytes = await readSource(old, config);
  let version: unknown;
  try {
    version = (JSON.parse(Buffer.from(bytes).toString("utf8")) as { version?: unknown } | null)?.version;
  } catch (error) {
    throw new Failure(`${nameOf(old)} (--against) is no JSON: ${validating(old)} says where`, {
      cause: error,
    });
  }
  if (typeof version === "string" && /^\d+\.\d+\.\d+$/.test(version)) return { version };
  throw new Failure(`${nameOf(old)} (--against) has no version as 1.0.0 to compare with`);
}
