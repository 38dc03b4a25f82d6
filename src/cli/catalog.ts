/** `hubhook catalog`: keeps a catalog of language resources. Each verb has a file of its own. */
import type { Command } from "commander";
import { defineConvert } from "./catalog-convert.ts";
import { defineRules } from "./catalog-rules.ts";
import { defineSchema } from "./catalog-schema.ts";
import { defineValidate } from "./catalog-validate.ts";

const EXAMPLES = `
Examples:
  $ hubhook catalog validate catalog.json
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
}
