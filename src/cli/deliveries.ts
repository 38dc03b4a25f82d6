/** `hubhook deliveries`: what became of background deliveries, and how to run one again. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { type DeliveryFilter, findDelivery, listDeliveries, replayMany, replayOne } from "./deliveries-client.ts";
import { reportDeliveries, reportDelivery } from "./deliveries-report.ts";
import { Failure, UsageError } from "./exit.ts";
import {
  canAsk,
  confirm,
  type Format,
  formatOption,
  type ListFormat,
  listFormatOption,
  note,
  print,
  printJson,
} from "./output.ts";
import { openReceiver, type ReceiverOptions, receiverOptions } from "./receiver.ts";
import { momentOf } from "./when.ts";

const STATES = ["pending", "running", "succeeded", "failed", "cancelled"];
const MAX_LIMIT = 100_000;

interface FilterOptions {
  state?: string;
  endpoint?: string;
  repo?: string;
  since?: Date;
  until?: Date;
}

type ListOptions = ReceiverOptions & FilterOptions & { limit: number; format: ListFormat };
type InfoOptions = ReceiverOptions & { format: Format };
type ReplayOptions = ReceiverOptions & FilterOptions & { dryRun?: true; yes?: true; format: Format };

const EXAMPLES = `
Examples:
  $ hubhook deliveries ls --state failed --since 2h
  $ hubhook deliveries info 01nfc7fhv00
  $ hubhook deliveries replay 01nfc7fhv00
  $ hubhook deliveries replay --state failed --endpoint trigger_training --dry-run`;

export function define(command: Command): void {
  command.usage("<ls|info|replay> [options]").addHelpText("after", EXAMPLES);

  const ls = subcommand(command, "ls", "list deliveries, the newest first");
  filterOptions(ls).option("--limit <number>", "at most so many", limitOf, 30).addOption(listFormatOption());
  receiverOptions(ls)
    .addHelpText(
      "after",
      `
Examples:
  $ hubhook deliveries ls
  $ hubhook deliveries ls --state failed --endpoint trigger_training --since 2h
  $ hubhook deliveries ls --repo 'dataset:me/*' --limit 500 --format json
  $ hubhook deliveries ls --state failed --format quiet | head -1 | xargs hubhook deliveries info`,
    )
    .action(list);

  const info = subcommand(command, "info", "show a delivery with its attempts, what they logged, and its payload")
    .argument("<id>", "its id, or how it begins where only one begins so")
    .addOption(formatOption());
  receiverOptions(info)
    .addHelpText(
      "after",
      `
Examples:
  $ hubhook deliveries info 01nfc7fhv00
  $ hubhook deliveries info 01nfc7fhv00 --format json | jq .payload > fixture.json`,
    )
    .action(inform);

  const replay = subcommand(
    command,
    "replay",
    "run one again, or all that a filter takes, each as a new delivery",
  ).argument("[id]", "of one delivery, or how it begins; left out, the options say which");
  filterOptions(replay).option("--dry-run", "only count").option("--yes", "do not ask").addOption(formatOption());
  receiverOptions(replay)
    .addHelpText(
      "after",
      `
Examples:
  $ hubhook deliveries replay 01nfc7fhv00
  $ hubhook deliveries replay --state failed --since 2h --dry-run
  $ hubhook deliveries replay --state failed --endpoint trigger_training --yes`,
    )
    .action(replayThem);
}

function subcommand(parent: Command, name: string, summary: string): Command {
  return parent
    .command(name)
    .summary(summary)
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
    .helpOption("-h, --help", "print help");
}

function filterOptions(command: Command): Command {
  return command
    .addOption(new Option("--state <state>", "in this state").choices(STATES))
    .option("--endpoint <name>", "of this endpoint")
    .option("--repo <type:name>", "of this repo; * stands for anything, as dataset:me/*")
    .option("--since <time>", "arrived since: 30m, 2h, 7d, or a time as 2026-11-21T10:00:00Z", momentOf)
    .option("--until <time>", "arrived before", momentOf);
}

async function list(options: ListOptions): Promise<void> {
  const receiver = openReceiver(options);
  const filter = filterOf(options);
  const found = await listDeliveries(receiver, filter, options.limit);
  if (options.format === "json") return printJson(found.deliveries);
  if (options.format === "quiet") for (const { id } of found.deliveries) print(id);
  else reportDeliveries(found.deliveries);
  if (!found.stored)
    note('No handler runs in the background, so nothing is kept: webhook({ mode: "background" }, …) says which does.');
  else if (found.deliveries.length === 0)
    note(
      Object.keys(filter).length > 0
        ? "No delivery matches: leave out an option to see more."
        : "No deliveries yet: `hubhook trigger repo.content:update` sends one.",
    );
  else if (found.more && options.format === "table")
    note(`There are older ones: --limit ${options.limit * 10} shows more.`);
}

async function inform(id: string, options: InfoOptions): Promise<void> {
  const receiver = openReceiver(options);
  const delivery = await findDelivery(receiver, id);
  if (options.format === "json") printJson(delivery);
  else reportDelivery(delivery);
}

async function replayThem(id: string | undefined, options: ReplayOptions): Promise<void> {
  const filter = filterOf(options);
  const filtered = Object.keys(filter).length > 0;
  if (id !== undefined && filtered) throw new UsageError("an id says which one is meant: leave out the other options");
  if (id === undefined && !filtered)
    throw new UsageError(
      "say which: an id, or options such as --state failed (see `hubhook deliveries replay --help`)",
    );
  if (id === undefined && !options.yes && !options.dryRun && !canAsk())
    throw new UsageError("nobody can be asked here: add --yes to replay them, or --dry-run to count them");
  const receiver = openReceiver(options);
  if (id === undefined) return replayFiltered(receiver, filter, options);
  const { id: known } = await findDelivery(receiver, id);
  if (options.dryRun) return reportCount(1, options.format);
  const made = await replayOne(receiver, known);
  if (options.format === "json") printJson(made);
  else print(made.id);
}

async function replayFiltered(
  receiver: ReturnType<typeof openReceiver>,
  filter: DeliveryFilter,
  { dryRun, yes, format }: ReplayOptions,
): Promise<void> {
  // What arrives between the count and the answer is not meant.
  const fixed = { ...filter, until: filter.until ?? new Date().toISOString() };
  const { count } = await replayMany(receiver, fixed, true);
  if (dryRun || count === 0) return reportCount(count, format);
  if (!yes && !(await confirm(`Replay ${counted(count)} on ${receiver.url}? Each runs again as a new delivery.`)))
    throw new Failure("nothing was replayed");
  const { replayed } = await replayMany(receiver, fixed, false);
  if (format === "json") printJson({ count, replayed });
  else print(`${counted(replayed)} replayed`);
}

function reportCount(count: number, format: Format): void {
  if (format === "json") printJson({ count, replayed: 0 });
  else print(count === 0 ? "No delivery matches: nothing to replay" : `${counted(count)} would be replayed`);
}

function counted(count: number): string {
  return `${count} ${count === 1 ? "delivery" : "deliveries"}`;
}

function filterOf({ state, endpoint, repo, since, until }: FilterOptions): DeliveryFilter {
  return {
    ...(state !== undefined && { state }),
    ...(endpoint !== undefined && { endpoint }),
    ...(repo !== undefined && { repo }),
    ...(since !== undefined && { since: since.toISOString() }),
    ...(until !== undefined && { until: until.toISOString() }),
  };
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new InvalidArgumentError(`Write a number from 1 to ${MAX_LIMIT}.`);
}
