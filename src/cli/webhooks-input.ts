/** The flags that describe a webhook, checked before anything is asked. */
import { type Command, Option } from "commander";
import { ArgumentError, changedFields, type NewWebhook, newFields, type WebhookChanges } from "../client/client.ts";
import { loadConfig } from "../config.ts";
import { domains, watchedTypes } from "../protocol/webhook.ts";
import { Failure, UsageError } from "./exit.ts";
import { askSecret, canAsk, readInput } from "./output.ts";
import { type HubOptions, inFlags } from "./webhooks-hub.ts";

export interface WebhookOptions extends HubOptions {
  url?: string;
  jobId?: string;
  watch: string[];
  domain: string[];
  /** true: ask for it; false: take it away. */
  secret?: string | boolean;
  secretStdin?: true;
  secrets: string[];
}

const EXAMPLE = "--url https://example.com/webhooks/retrain --watch dataset:me/data";

/** `--url`, `--job-id`, `--watch`, `--domain`, `--secret`, as `hf webhooks` has them. */
export function webhookOptions(command: Command): Command {
  return command
    .option("--url <url>", "where to send; or --job-id")
    .option("--job-id <id>", "the Job to start for each event; or --url")
    .addOption(repeatable("--watch <type:name>", `what to watch: ${watchedTypes.join(", ")}; repeatable`, "none"))
    .addOption(repeatable("--domain <domain>", `${domains.join(" or ")}; repeatable`, "both, or those it has"))
    .option("--secret [secret]", "proves the sender to the receiver; without a value it is asked for, and not shown")
    .option("--secret-stdin", "read the secret from standard input")
    .addOption(
      repeatable("--secrets <name=value>", "a secret of the Job, or a variable's name alone; repeatable", "none"),
    );
}

function repeatable(flags: string, description: string, leftOut: string): Option {
  return new Option(flags, description)
    .argParser((text: string, before: string[]) => [...before, text])
    .default([], leftOut);
}

/**
 * Checks the words. What it gives back asks for the secret, where that is wanted, and tells what to make.
 * @throws UsageError
 */
export function newWebhook(options: WebhookOptions): () => Promise<NewWebhook> {
  if (options.url === undefined && options.jobId === undefined)
    throw new UsageError(`say where it sends, by --url, or which Job it starts, by --job-id: as ${EXAMPLE}`);
  if (options.watch.length === 0) throw new UsageError(`say what it watches by --watch type:name: as ${EXAMPLE}`);
  const given = { ...commonOf(options), watched: options.watch };
  checked(() => newFields(given));
  const secret = secretOf(options);
  return async () => {
    const known = await secret();
    const webhook = typeof known === "string" ? { ...given, secret: known } : given;
    checked(() => newFields(webhook));
    return webhook;
  };
}

/** As `newWebhook`. @throws UsageError */
export function webhookChanges(options: WebhookOptions): () => Promise<WebhookChanges> {
  const given = { ...commonOf(options), ...(options.watch.length > 0 && { watched: options.watch }) };
  if (Object.keys(given).length > 0) checked(() => changedFields(given));
  else if (options.secret === undefined && !options.secretStdin)
    throw new UsageError("say what to change: --url, --job-id, --watch, --domain, --secret or --no-secret");
  const secret = secretOf(options);
  return async () => {
    const known = await secret();
    const changes = { ...given, ...(known !== undefined && { secret: known }) };
    checked(() => changedFields(changes));
    return changes;
  };
}

function commonOf({ url, jobId, domain, secrets }: WebhookOptions) {
  if (url !== undefined && jobId !== undefined)
    throw new UsageError(`a webhook sends somewhere or starts a Job: give --url or --job-id, not both, as ${EXAMPLE}`);
  if (secrets.length > 0 && jobId === undefined)
    throw new UsageError("--secrets are given to a Job: name it by --job-id too");
  return {
    ...(url !== undefined && { url }),
    ...(jobId !== undefined && { jobId }),
    ...(domain.length > 0 && { domains: domain }),
    ...(secrets.length > 0 && { jobSecrets: Object.fromEntries(secrets.map(jobSecret)) }),
  };
}

/** `NAME=value`, or `NAME` for the value of that variable here. */
function jobSecret(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at >= 0) return [text.slice(0, at), text.slice(at + 1)];
  const value = loadConfig().receiver.handlerEnv[text];
  if (value !== undefined) return [text, value];
  throw new UsageError(`--secrets ${text}: no variable of that name is set: write NAME=value`);
}

/** undefined: nothing is said of it; null: take it away. */
function secretOf({ secret, secretStdin }: WebhookOptions): () => Promise<string | null | undefined> {
  if (secretStdin && secret !== undefined) throw new UsageError("--secret and --secret-stdin: give one of the two");
  if (secretStdin) return async () => notEmpty(await readInput());
  if (typeof secret === "string") checked(() => changedFields({ secret: notEmpty(secret) }));
  if (secret !== true) return async () => (secret === false ? null : secret);
  if (!canAsk()) throw new UsageError("nobody can be asked for the secret here: pipe it in with --secret-stdin");
  return async () => {
    const typed = await askSecret("Secret (not shown):");
    if (typed === null) throw new Failure("no secret was typed: nothing was changed");
    return typed;
  };
}

function notEmpty(secret: string): string {
  if (secret !== "") return secret;
  throw new UsageError("the secret is empty (is the variable set?): leave it out for none, or --no-secret on update");
}

function checked(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof ArgumentError ? new UsageError(inFlags(error.message)) : error;
  }
}
