/** `hubhook catalog promote`, `demote` and `remove`: one resource of a catalog file is changed, and nothing else. */
import type { Command } from "commander";
import type { Status } from "../catalog/schema.ts";
import { loadConfig } from "../config.ts";
import { type FileOptions, type Found, placeOf, writableFile, writeOption } from "./catalog-file.ts";
import { openCatalog, reportWritten, write } from "./catalog-write.ts";
import { Failure, UsageError } from "./exit.ts";
import { canAsk, confirm, type Format, formatOption, harmless, note, print, printJson } from "./output.ts";

type ChangeOptions = FileOptions & { format: Format };
type RemoveOptions = ChangeOptions & { yes?: true };

export function defineStatus(command: Command, status: Status): void {
  const verb = status === "verified" ? "promote" : "demote";
  writeOption(command.argument("<id>", "its whole id"))
    .addOption(formatOption())
    .addHelpText(
      "after",
      `
The patch version is raised and updated_on is set to today's date in UTC. Nothing else in the file is touched. Errors
that the file has already do not stop it.

Examples:
  $ hubhook catalog ${verb} pashto-speech
  $ hubhook catalog ${verb} pashto-speech --file catalog.json`,
    )
    .action((id: string, options: ChangeOptions) => setStatus(id, status, options));
}

export function defineRemove(command: Command): void {
  writeOption(command.argument("<id>", "its whole id"))
    .option("--yes", "do not ask")
    .addOption(formatOption())
    .addHelpText(
      "after",
      `
The patch version is raised and updated_on is set to today's date in UTC. Nothing else in the file is touched. Errors
that the file has already do not stop it, so a broken resource can be removed.

Examples:
  $ hubhook catalog remove pashto-speech
  $ hubhook catalog remove pashto-speech --yes`,
    )
    .action(remove);
}

async function setStatus(id: string, status: Status, options: ChangeOptions): Promise<void> {
  const config = loadConfig();
  const file = writableFile(options, config);
  const catalog = await openCatalog(file, config);
  const place = placeOf(id, catalog.resources, file);
  const { status: before } = catalog.resources[place] as Found;
  if (before === status) {
    if (options.format === "json") printJson({ id, status, written: false });
    else print(`${id} is ${status} already: nothing was written`);
    return;
  }
  const plan = await write(catalog, { setStatus: status, of: place }, file);
  reportWritten(plan, { id, status }, { file, format: options.format, said: `${id} is ${status} now` });
}

async function remove(id: string, options: RemoveOptions): Promise<void> {
  if (!options.yes && !canAsk()) throw new UsageError("nobody can be asked here: add --yes to remove it");
  const config = loadConfig();
  const file = writableFile(options, config);
  const catalog = await openCatalog(file, config);
  const place = placeOf(id, catalog.resources, file);
  if (!options.yes) {
    const { title, url } = catalog.resources[place] as Found;
    note(harmless([title, url].filter((one) => typeof one === "string").join("\n")));
    if (!(await confirm(`Remove ${id} from ${file}?`))) throw new Failure("nothing was removed");
  }
  const plan = await write(catalog, { remove: place }, file);
  reportWritten(plan, { id }, { file, format: options.format, said: `${id} is removed` });
}
