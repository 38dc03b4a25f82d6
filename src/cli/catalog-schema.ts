/** `hubhook catalog schema`: the published JSON Schema. */
import type { Command } from "commander";
import { jsonSchema } from "../catalog/json-schema.ts";
import type { Vocabulary } from "../catalog/schema.ts";
import { sourcesOption } from "./catalog-convert.ts";
import { printJson } from "./output.ts";

const EXAMPLES = `
Draft 2020-12. What JSON Schema cannot say, as that an id stands once, \`hubhook catalog rules\` lists.

Examples:
  $ hubhook catalog schema > catalog.schema.json
  $ hubhook catalog schema --sources platform > catalog.platform.schema.json`;

export function defineSchema(command: Command): void {
  command
    .addOption(sourcesOption().default("neutral"))
    .addHelpText("after", EXAMPLES)
    .action(({ sources }: { sources: Vocabulary }) => printJson(jsonSchema(sources), "text"));
}
