/** `hubhook webhooks`: the webhooks of a user on a hub, real or embedded. Names and flags are those of `hf webhooks`. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { deliveryStates } from "../protocol/webhook.ts";
import { UsageError } from "./exit.ts";
import { canAsk } from "./output.ts";
import {
  CREATE,
  type DeleteOptions,
  deleteOne,
  done,
  inform,
  list,
  MAX_ACTIVITY,
  replayOne,
  showActivity,
  tryOut,
  wholeId,
} from "./webhooks-actions.ts";
import { explained, type Hub, type HubOptions, hubOptions, introduce, openHub, WHOSE_TOKEN } from "./webhooks-hub.ts";
import { newWebhook, type WebhookOptions, webhookChanges, webhookOptions } from "./webhooks-input.ts";
import { momentOf } from "./when.ts";

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
  ls.alias("list").action(on(list));

  const info = withId(command, "info", "show all of a webhook but its secret", ["info 654bbb"]);
  info.action(on(inform));

  const create = subcommand(command, "create", "make a webhook", [
    "create --url https://example.com/webhooks/retrain --watch dataset:me/data --secret",
    "create --url https://example.com/webhooks/x --watch org:my-org --watch model:gpt2 --domain repo",
    "create --job-id 687f911eaea852de79c4a50a --watch user:me --secrets HF_TOKEN",
  ]);
  webhookOptions(create).action(
    prepared((options: WebhookOptions) => {
      const given = newWebhook(options);
      return async ({ client }) => done(await client.create(await given()), "made", options);
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
      prepared((id: string, options: WebhookOptions) => {
        const changes = webhookChanges(options);
        return async ({ client }) => {
          const whole = await wholeId(client, id);
          done(await client.update(whole, await changes()), "changed", options);
        };
      }),
    );

  const enable = withId(command, "enable", "enable a webhook, also one that the hub has suspended", ["enable 654bbb"]);
  enable.action(
    on(async ({ client }, id: string, options: HubOptions) =>
      done(await client.enable(await wholeId(client, id)), "enabled", options),
    ),
  );
  const disable = withId(command, "disable", "disable a webhook; what waits for it is cancelled", ["disable 654bbb"]);
  disable.action(
    on(async ({ client }, id: string, options: HubOptions) =>
      done(await client.disable(await wholeId(client, id)), "disabled", options),
    ),
  );

  const remove = withId(command, "delete", "delete a webhook for good", ["delete 654bbb", "delete 654bbb --yes"]);
  remove.option("-y, --yes", "do not ask").action(
    prepared((id: string, options: DeleteOptions) => {
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
    .addOption(new Option("--state <state>", "in this state").choices(deliveryStates))
    .option("--since <time>", "since: 30m, 2h, 7d, or a time as 2026-11-21T10:00:00Z", momentOf)
    .option("--limit <number>", "at most so many", limitOf, 20)
    .action(on(showActivity));

  const replay = withId(command, "replay", "send an old delivery again, to the present url", [
    "replay 654bbb 01nfc7fhv00",
  ]).argument("<delivery>", "its id, from `hubhook webhooks activity` or the webhook's page", idOf);
  replay.action(on(replayOne));

  const test = withId(command, "test", "let an event happen that it watches, and show the answer (embedded hub)", [
    "test 654bbb",
  ]);
  test.action(on(tryOut));

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
  return subcommand(parent, name, summary, examples).argument("<id>", "its id, or how it begins", idOf);
}

/** An unset variable in a script must not stand for the only webhook there is, which begins with nothing too. */
function idOf(text: string): string {
  if (/^[\w-]+$/.test(text)) return text;
  if (text === "") throw new UsageError("the id is empty (is the variable set?): `hubhook webhooks ls` lists the ids");
  throw new UsageError(`${JSON.stringify(text)} is no id: ids are made of letters and digits`);
}

type Work = (hub: Hub) => Promise<void>;

/** Wrong words are found by `prepare`, before a hub is asked; what it gives back is then done on the hub. */
function prepared<Words extends unknown[]>(prepare: (...words: Words) => Work) {
  return async (...given: unknown[]): Promise<void> => {
    const command = given.pop() as Command;
    const work = prepare(...(given as Words));
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

/** There is nothing to prepare: commander has looked at the words. */
function on<Words extends unknown[]>(work: (hub: Hub, ...words: Words) => Promise<void>) {
  return prepared(
    (...words: Words) =>
      (hub) =>
        work(hub, ...words),
  );
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_ACTIVITY) return limit;
  throw new InvalidArgumentError(`Write a number from 1 to ${MAX_ACTIVITY}.`);
}
