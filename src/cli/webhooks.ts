/** `hubhook webhooks`: the webhooks of a user on a hub, real or embedded. Names and flags are those of `hf webhooks`. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { ActivityDelivery, ActivityQuery, Webhook, WebhooksClient } from "../client/client.ts";
import { Failure, UsageError } from "./exit.ts";
import { canAsk, confirm, harmless, note, paint, print, printJson } from "./output.ts";
import { explained, type Hub, type HubOptions, hubOptions, introduce, openHub, WHOSE_TOKEN } from "./webhooks-hub.ts";
import { newWebhook, type WebhookOptions, webhookChanges, webhookOptions } from "./webhooks-input.ts";
import {
  printable,
  reportActivity,
  reportAttempt,
  reportWebhook,
  reportWebhooks,
  targetOf,
  written,
} from "./webhooks-report.ts";
import { testWebhook } from "./webhooks-test.ts";
import { momentOf } from "./when.ts";

type Format = HubOptions["format"];
type ActivityOptions = HubOptions & { limit: number; state?: ActivityQuery["state"]; since?: Date };
type Work = (hub: Hub) => Promise<void>;

const STATES = ["pending", "running", "succeeded", "failed", "cancelled"];
const MAX_ACTIVITY = 200;
const CREATE = "hubhook webhooks create --url https://example.com/webhooks/retrain --watch dataset:me/data";

export function define(command: Command): void {
  command.usage("<ls|info|create|update|enable|disable|delete|activity|replay|test> [options]").addHelpText(
    "after",
    `${WHOSE_TOKEN}

Examples:
  $ hubhook webhooks ls
  $ ${CREATE} --secret
  $ hubhook webhooks update 654bbb --domain repo
  $ hubhook webhooks ls --endpoint http://127.0.0.1:7861
  $ hubhook webhooks test 654bbb`,
  );

  const ls = subcommand(command, "ls", "list your webhooks", ["ls", "ls --format json", "ls --format quiet | head -1"]);
  ls.alias("list").action(on((options: HubOptions) => (hub) => list(hub, options)));

  const info = withId(command, "info", "show all of a webhook but its secret", ["info 654bbb"]);
  info.action(
    on(
      (id: string, { format }: HubOptions) =>
        (hub) =>
          inform(hub, id, format),
    ),
  );

  const create = subcommand(command, "create", "make a webhook", [
    "create --url https://example.com/webhooks/retrain --watch dataset:me/data --secret",
    "create --url https://example.com/webhooks/x --watch org:my-org --watch model:gpt2 --domain repo",
    "create --job-id 687f911eaea852de79c4a50a --watch user:me --secrets HF_TOKEN",
  ]);
  webhookOptions(create).action(
    on(async (options: WebhookOptions) => {
      const given = await newWebhook(options);
      return async ({ client }) => done(await client.create(given), "made", options.format);
    }),
  );

  const update = withId(command, "update", "change what is given, and keep the rest", [
    "update 654bbb --url https://example.com/webhooks/new",
    "update 654bbb --watch dataset:me/data --watch model:me/m --domain repo",
    "update 654bbb --secret-stdin < secret.txt",
  ]);
  webhookOptions(update)
    .option("--no-secret", "take the secret away")
    .action(
      on(async (id: string, options: WebhookOptions) => {
        const changes = await webhookChanges(options);
        return async ({ client }) =>
          done(await client.update(await wholeId(client, id), changes), "changed", options.format);
      }),
    );

  const enable = withId(command, "enable", "enable a webhook, also one that the hub has suspended", ["enable 654bbb"]);
  enable.action(
    on((id: string, { format }: HubOptions) => async ({ client }) => {
      done(await client.enable(await wholeId(client, id)), "enabled", format);
    }),
  );
  const disable = withId(command, "disable", "disable a webhook; what waits for it is cancelled", ["disable 654bbb"]);
  disable.action(
    on((id: string, { format }: HubOptions) => async ({ client }) => {
      done(await client.disable(await wholeId(client, id)), "disabled", format);
    }),
  );

  const remove = withId(command, "delete", "delete a webhook for good", ["delete 654bbb", "delete 654bbb --yes"]);
  remove.option("-y, --yes", "do not ask").action(
    on((id: string, options: HubOptions & { yes?: true }) => {
      if (!options.yes && !canAsk())
        throw new UsageError(`nobody can be asked here: \`hubhook webhooks delete ${id} --yes\` deletes it`);
      return (hub) => deleteOne(hub, id, options);
    }),
  );

  const activity = withId(command, "activity", "list what was sent and answered, the newest first (embedded hub)", [
    "activity 654bbb",
    "activity 654bbb --state failed --since 2h",
    "activity 654bbb --format json | jq '.[0].attempts'",
  ]);
  activity
    .addOption(new Option("--state <state>", "in this state").choices(STATES))
    .option("--since <time>", "since: 30m, 2h, 7d, or a time as 2026-11-21T10:00:00Z", momentOf)
    .option("--limit <number>", "at most so many", limitOf, 20)
    .action(on((id: string, options: ActivityOptions) => (hub) => showActivity(hub, id, options)));

  const replay = withId(command, "replay", "send an old delivery again, to the present url", [
    "replay 654bbb 01nfc7fhv00",
  ]).argument("<delivery>", "its id, from `hubhook webhooks activity` or the webhook's page");
  replay.action(
    on(
      (id: string, delivery: string, { format }: HubOptions) =>
        (hub) =>
          replayOne(hub, id, delivery, format),
    ),
  );

  const test = withId(command, "test", "let an event happen that it watches, and show the answer (embedded hub)", [
    "test 654bbb",
  ]);
  test.action(
    on(
      (id: string, { format }: HubOptions) =>
        (hub) =>
          tryOut(hub, id, format),
    ),
  );

  for (const one of command.commands) hubOptions(one);
}

function subcommand(parent: Command, name: string, summary: string, examples: string[]): Command {
  return parent
    .command(name)
    .summary(summary)
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
    .helpOption("-h, --help", "print help")
    .addHelpText("after", ["", "Examples:", ...examples.map((words) => `  $ hubhook webhooks ${words}`)].join("\n"));
}

function withId(parent: Command, name: string, summary: string, examples: string[]): Command {
  return subcommand(parent, name, summary, examples).argument("<id>", "its id, or how it begins");
}

/** Wrong words are found by `prepare`, before a hub is asked; what it gives back is then done on the hub. */
function on<Words extends unknown[]>(prepare: (...words: Words) => Work | Promise<Work>) {
  return async (...given: unknown[]): Promise<void> => {
    const command = given.pop() as Command;
    const work = await prepare(...(given as Words));
    const { verbose, ...options } = command.optsWithGlobals<HubOptions & { verbose?: true }>();
    const hub = openHub(options);
    try {
      if (verbose) await introduce(hub);
      await work(hub);
    } catch (error) {
      throw explained(error, hub);
    }
  };
}

async function list({ client }: Hub, { format, endpoint }: HubOptions): Promise<void> {
  const webhooks = (await client.list()).map(printable);
  if (format === "json") printJson(webhooks);
  else if (format === "quiet") for (const { id } of webhooks) print(harmless(id));
  else reportWebhooks(webhooks);
  if (webhooks.length === 0 && format !== "json") {
    const there = endpoint === undefined ? "" : ` --endpoint ${client.endpoint}`;
    note(`No webhooks on ${client.endpoint} yet: \`${CREATE}${there}\` makes one.`);
  }
}

async function inform({ client }: Hub, id: string, format: Format): Promise<void> {
  const webhook = printable(await client.get(await wholeId(client, id)));
  if (format === "json") printJson(webhook);
  else if (format === "quiet") print(harmless(webhook.id));
  else reportWebhook(webhook);
}

function done(webhook: Webhook, what: string, format: Format): void {
  if (format === "json") printJson(printable(webhook));
  else if (format === "quiet") print(harmless(webhook.id));
  else print(`${paint("green", "✓")} Webhook ${harmless(webhook.id)} is ${what}: ${harmless(inShort(webhook))}`);
}

function inShort(webhook: Webhook): string {
  const items = webhook.watched.map(written);
  const named = items.slice(0, 3).join(", ");
  return `${targetOf(webhook)} watches ${named}${items.length > 3 ? ` and ${items.length - 3} more` : ""}`;
}

async function deleteOne({ client }: Hub, id: string, { yes, format }: HubOptions & { yes?: true }): Promise<void> {
  const whole = await wholeId(client, id);
  if (!yes) {
    const webhook = await client.get(whole);
    const question = `Delete webhook ${whole} (${inShort(webhook)}) on ${client.endpoint}?`;
    if (!(await confirm(harmless(question)))) throw new Failure("nothing was deleted");
  }
  await client.delete(whole);
  if (format === "json") printJson({ id: whole, deleted: true });
  else print(format === "quiet" ? whole : `${paint("green", "✓")} Webhook ${whole} is deleted`);
}

async function showActivity(
  { client }: Hub,
  id: string,
  { limit, state, since, format }: ActivityOptions,
): Promise<void> {
  const whole = await wholeId(client, id);
  const { deliveries, next } = await client.activity(whole, { limit, state, since });
  if (format === "json") return printJson(deliveries);
  if (format === "quiet") for (const delivery of deliveries) print(harmless(delivery.id));
  else reportActivity(deliveries);
  if (deliveries.length === 0)
    note(
      state || since
        ? "Nothing matches: leave out an option to see more."
        : `Nothing was sent yet: \`hubhook webhooks test ${whole}\` sends something.`,
    );
  else if (next !== undefined && format === "table" && limit < MAX_ACTIVITY)
    note(`There are older ones: --limit ${Math.min(MAX_ACTIVITY, limit * 5)} shows more.`);
}

async function replayOne({ client }: Hub, id: string, delivery: string, format: Format): Promise<void> {
  const replayed = await client.replay(await wholeId(client, id), delivery);
  const { status, error } = replayed;
  const good = status >= 200 && status < 300;
  if (format === "json") printJson(replayed);
  else if (format === "quiet") print(harmless(replayed.id ?? delivery));
  else print(`${paint(good ? "green" : "red", status > 0 ? `${status}` : "no answer")} from the receiver`);
  if (!good) throw new Failure(`the replay did not succeed${error === undefined ? "" : `: ${harmless(error)}`}`);
}

async function tryOut({ client }: Hub, id: string, format: Format): Promise<void> {
  const webhook = await client.get(await wholeId(client, id));
  const { event, repo, others, delivery } = await testWebhook(client, webhook);
  if (format === "json") printJson(delivery);
  else if (format === "quiet") print(harmless(delivery.id));
  else {
    print(harmless(`${event} of ${repo} went to ${targetOf(webhook)}`));
    reportAttempt(delivery);
  }
  if (others > 0) note(`${others} more of the hub's webhooks watch that, and got the event too.`);
  if (delivery.state !== "succeeded") throw new Failure(whatNow(delivery, webhook));
}

function whatNow({ nextAttemptAt }: ActivityDelivery, { id }: Webhook): string {
  const again = nextAttemptAt === undefined ? "" : "; the hub tries it again";
  return `the test did not succeed${again}. \`hubhook webhooks activity ${id}\` shows all attempts`;
}

const WHOLE_ID = /^[0-9a-f]{24}$/i;

/**
 * The id that is meant by how it begins.
 * @throws Failure where there is none, or more than one
 */
async function wholeId(client: WebhooksClient, id: string): Promise<string> {
  if (WHOLE_ID.test(id)) return id.toLowerCase();
  const webhooks = await client.list();
  const found = webhooks.filter((webhook) => webhook.id.toLowerCase().startsWith(id.toLowerCase()));
  const [one] = found;
  if (!one)
    throw new Failure(`no webhook's id is or begins with "${harmless(id)}": \`hubhook webhooks ls\` lists the ids`);
  if (found.length === 1 || one.id === id) return one.id;
  const named = found.slice(0, 5).map((webhook) => `  ${webhook.id}  ${inShort(webhook)}`);
  const more = found.length > named.length ? [`  and ${found.length - named.length} more`] : [];
  const candidates = harmless([...named, ...more].join("\n"));
  throw new Failure(`several webhooks begin with ${id}: write more of the id that is meant\n${candidates}`);
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_ACTIVITY) return limit;
  throw new InvalidArgumentError(`Write a number from 1 to ${MAX_ACTIVITY}.`);
}
