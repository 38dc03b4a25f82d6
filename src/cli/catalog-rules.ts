/** `hubhook catalog rules`: what validation looks for. */
import type { Command } from "commander";
import { type Rule, rules } from "../catalog/rules.ts";
import { type Format, formatOption, lineWidth, paint, print, printJson } from "./output.ts";
import { tableLines } from "./table.ts";

type NamedRule = Rule & { name: string };

export function defineRules(command: Command): void {
  command
    .addOption(formatOption())
    .addHelpText("after", "\nExamples:\n  $ hubhook catalog rules\n  $ hubhook catalog rules --format json")
    .action(list);
}

function list({ format }: { format: Format }): void {
  const all = Object.entries<Rule>(rules).map(([name, rule]): NamedRule => ({ name, ...rule }));
  if (format === "json") {
    printJson(all);
    return;
  }
  const columns = [
    { title: "RULE", text: ({ name }: NamedRule) => name },
    {
      title: "SEVERITY",
      text: ({ severity }: NamedRule) => severity,
      paint: (cell: string, { severity }: NamedRule) => paint(severity === "error" ? "red" : "yellow", cell),
    },
    { title: "SAYS", text: ({ says }: NamedRule) => says },
  ];
  for (const line of tableLines(columns, all, lineWidth())) print(line);
}
