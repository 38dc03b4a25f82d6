/** `hubhook trigger`: makes an event's complete payload and posts it as the Hub would. */
import { type Command, InvalidArgumentError } from "commander";
import { loadConfig } from "../config.ts";
import { UsageError } from "./exit.ts";
import { type Format, formatOption, printJson } from "./output.ts";
import { version } from "./program.ts";
import { quoted } from "./quoted.ts";
import { reportMany, reportOne } from "./report.ts";
import { type SampleOptions, sampleFrom, sampleOptions } from "./sample.ts";
import { type Message, makeSender, type Sender, type Sent } from "./send.ts";
import { findTarget, secretFor, Undecided } from "./target.ts";

interface TriggerOptions extends SampleOptions {
  to?: string;
  secret?: string;
  count?: number;
  print?: true;
  format: Format;
}

const MAX_COUNT = 10_000;
/** Enough to keep a receiver busy, few enough not to be the thing that is measured. */
const AT_ONCE = 8;

const EXAMPLES = `
The payload is complete; --set changes it, and what is left out is filled in to agree. The value is JSON or text.
WEBHOOK_SECRET goes along to this machine only, --secret anywhere. Redirects are not followed, as by the Hub.

Examples:
  $ hubhook trigger repo.content:update --repo dataset:me/data
  $ hubhook trigger repo.content:update --set updatedRefs.0.ref=refs/pr/1 --to trigger_training
  $ hubhook trigger discussion:create --set discussion.isPullRequest=true --set discussion.title="Mend it"
  $ hubhook trigger discussion.comment:create --to https://me-my-space.hf.space/webhooks/reply --secret s3cret
  $ hubhook trigger repo.content:update --repo bucket:me/files --print
  $ hubhook trigger repo:update --count 1000`;

export function define(command: Command): void {
  command.argument("<scope:action>", "the event, as discussion.comment:create");
  sampleOptions(command)
    .option("--to <address>", "address or name of the endpoint (default: the local receiver's only one)")
    .option("--secret <secret>", "secret to send (default: WEBHOOK_SECRET, to this machine only)")
    .option("--count <number>", `send it this often, ${AT_ONCE} at a time`, countOf)
    .option("--print", "print the payload and send nothing")
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action(trigger);
}

async function trigger(event: string, options: TriggerOptions): Promise<void> {
  const config = loadConfig();
  const payload = sampleFrom(event, options, config.hub.endpoint);
  if (options.print) return printJson(payload, options.format);

  const url = await findTarget(options.to, config.server).catch((error: unknown) => {
    throw error instanceof Undecided ? withCommands(error, event, options) : error;
  });
  const message: Message = {
    url,
    body: JSON.stringify(payload),
    secret: secretFor(url, options.secret, config.receiver.secrets),
    userAgent: `hubhook/${version}`,
  };
  const sender = makeSender();
  try {
    if (options.count === undefined) reportOne(await sender.send(message), { event, url, format: options.format });
    else reportMany(await sendMany(sender, message, options.count), { event, url, format: options.format });
  } finally {
    sender.close();
  }
}

/** Sends it `count` times, each with an id of its own. */
async function sendMany(sender: Sender, message: Message, count: number): Promise<Sent[]> {
  const sent: Sent[] = [];
  let started = 0;
  const sendOn = async () => {
    while (started++ < count) sent.push(await sender.send(message));
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, sendOn));
  return sent;
}

/** The same command once for each endpoint, to be copied. */
function withCommands({ message, names }: Undecided, event: string, options: TriggerOptions): UsageError {
  const words = [
    event,
    ...(options.repo === undefined ? [] : ["--repo", options.repo]),
    ...options.set.flatMap((assignment) => ["--set", assignment]),
    ...(options.count === undefined ? [] : ["--count", `${options.count}`]),
    ...(options.format === "text" ? [] : ["--format", options.format]),
  ];
  const command = `hubhook trigger ${words.map(quoted).join(" ")}`;
  return new UsageError([message, ...names.map((name) => `  ${command} --to ${name}`)].join("\n"));
}

function countOf(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_COUNT) return count;
  throw new InvalidArgumentError(`Write a number from 1 to ${MAX_COUNT}.`);
}
