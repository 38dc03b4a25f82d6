/** `hubhook catalog`: keeps a catalog of language resources. Each verb has a file of its own. */
import type { Command } from "commander";
import { defineAdd } from "./catalog-add.ts";
import { defineRemove, defineStatus } from "./catalog-change.ts";
import { defineConvert } from "./catalog-convert.ts";
import { defineDiff } from "./catalog-diff.ts";
import { defineList, defineSearch } from "./catalog-ls.ts";
import { defineRules } from "./catalog-rules.ts";
import { defineSchema } from "./catalog-schema.ts";
import { defineShow } from "./catalog-show.ts";
import { defineStats } from "./catalog-stats.ts";
import { defineValidate } from "./catalog-validate.ts";

const EXAMPLES = `
Examples:
  $ hubhook catalog validate catalog.json
  $ hubhook catalog search speech --file catalog.json
  $ hubhook catalog add --file catalog.json
  $ hubhook catalog convert --sources platform catalog.json -o catalog.json
  $ hubhook catalog schema --sources neutral > catalog.schema.json`;

export function define(command: Command): void {
  command.usage("<verb> [options]").addHelpText("after", EXAMPLES);
  const verb = (name: string, summary: string) =>
    command
      .command(name)
      .summary(summary)
      .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
      .helpOption("-h, --help", "print help");
  defineValidate(verb("validate", "find everything that is wrong with a catalog"));
  defineConvert(verb("convert", "name the sources in the other words, and change nothing else"));
  defineSchema(verb("schema", "print the JSON Schema of a catalog"));
  defineRules(verb("rules", "list the rules by their names"));
  defineList(verb("ls", "list resources, in the order of the file"));
  defineSearch(verb("search", "find resources by words, the best first"));
  defineShow(verb("show", "show all of one resource, and where it stands"));
  defineStats(verb("stats", "count resources by category, source, license, task and tag"));
  defineDiff(verb("diff", "compare two catalogs, resource by resource"));
  defineAdd(verb("add", "add a resource, from flags or from answers at the terminal"));
  defineStatus(verb("promote", "make a candidate verified"), "verified");
  defineStatus(verb("demote", "make a verified resource a candidate"), "candidate");
  defineRemove(verb("remove", "remove a resource"));
}
