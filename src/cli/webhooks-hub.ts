/** Which hub `hubhook webhooks` asks, with whose token, and what its errors mean to a person. */
import type { Command } from "commander";
import { ArgumentError, HubError, WebhooksClient } from "../client/client.ts";
import { type Config, loadConfig } from "../config.ts";
import { withoutSecret } from "../protocol/webhook.ts";
import { Failure, UsageError } from "./exit.ts";
import { harmless, type ListFormat, listFormatOption, note } from "./output.ts";
import { version } from "./program.ts";
import { isLoopback } from "./target.ts";

export interface HubOptions {
  endpoint?: string;
  token?: string;
  format: ListFormat;
}

export function hubOptions(command: Command): Command {
  return command
    .option("--endpoint <address>", "the hub (default: HF_ENDPOINT, else https://huggingface.co)")
    .option("--token <token>", "token of its user (default: HF_TOKEN, else the one that `hf auth login` stored)")
    .addOption(listFormatOption());
}

export const WHOSE_TOKEN = `
The stored token goes to HF_ENDPOINT only. To a hub that --endpoint names goes the one of --token or HF_TOKEN, and to
one on this machine, where there is none, the word "any". --verbose says whom it acts as.`;

/** A token, and where it was found. */
type Chosen = { token: string } & (
  | { from: "--token" | "HF_TOKEN" | "HUB_TOKEN" }
  | { from: "stored"; file: string }
  /** There is none, and on this machine none may be needed. */
  | { from: "nowhere" }
);

export interface Hub {
  client: WebhooksClient;
  chosen: Chosen;
}

/** @throws UsageError for a wrong address, Failure where there is no token for it. Nothing is asked yet. */
export function openHub({ endpoint, token }: HubOptions): Hub {
  const config = loadConfig();
  const hub =
    endpoint === undefined ? addressOf(config.hub.endpoint, "HF_ENDPOINT") : addressOf(endpoint, "--endpoint");
  const chosen = chooseToken(hub, token, config);
  try {
    const client = new WebhooksClient({ endpoint: hub.href, token: chosen.token, userAgent: `hubhook/${version}` });
    return { client, chosen };
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    const Kind = chosen.from === "--token" ? UsageError : Failure;
    const rule = "a token is made of visible ASCII characters, without spaces";
    throw new Kind(`the token of ${sourceOf(chosen)} is not usable: ${rule}`);
  }
}

type Settings = Pick<Config, "hub" | "embeddedHub">;

/**
 * A token that somebody chose for this call, or this shell, goes where they say. The stored one was made for one hub,
 * and goes to no other.
 * @throws Failure where there is none
 */
export function chooseToken(hub: URL, given: string | undefined, config: Settings): Chosen {
  const { endpoint, token, tokenFile } = config.hub;
  if (given !== undefined) return { token: given, from: "--token" };
  if (token !== null && tokenFile === null) return { token, from: "HF_TOKEN" };
  const { publicUrl, port, tokens } = config.embeddedHub;
  const [own] = tokens;
  const isEmbedded = hub.origin === new URL(publicUrl ?? `http://127.0.0.1:${port}`).origin;
  if (own && isEmbedded) return { token: own.token, from: "HUB_TOKEN" };
  const isConfigured = hub.origin === new URL(endpoint).origin;
  if (token !== null && tokenFile !== null && isConfigured) return { token, from: "stored", file: tokenFile };
  // A hub without tokens wants to see some all the same: a web page could not send one.
  if (isLoopback(hub.hostname)) return { token: "any", from: "nowhere" };
  if (token !== null)
    throw new Failure(
      `the stored token is for ${endpoint} and does not go to ${hub.origin}: give one by --token, or set HF_TOKEN`,
    );
  throw new Failure(
    `there is no token for ${hub.origin}: log in by \`hf auth login\`, set HF_TOKEN, or give one by --token`,
  );
}

function addressOf(text: string, from: string): URL {
  const url = URL.parse(text);
  const problem =
    !url || !/^https?:$/.test(url.protocol)
      ? `"${withoutSecret(text)}" is no address of a hub`
      : url.username || url.password
        ? "holds a name or a password, and --token is for that"
        : url.search || url.hash
          ? `"${url.origin}${url.pathname}…" goes on behind ? or #`
          : null;
  if (url && problem === null) return url;
  throw new UsageError(`${from} ${problem}: write it as https://huggingface.co or http://127.0.0.1:7861`);
}

/** For --verbose: where it asks, and as whom. */
export async function introduce({ client, chosen }: Hub): Promise<void> {
  const { name } = await client.whoami();
  const from = chosen.from === "nowhere" ? "none was found, and none is needed" : `from ${sourceOf(chosen)}`;
  note(`As ${harmless(name)} on ${client.endpoint} (token: ${from})`);
}

/** A sentence that says what to do next; what is no error of a hub stays what it is. */
export function explained(error: unknown, { client, chosen }: Hub): unknown {
  if (error instanceof ArgumentError) return new UsageError(inFlags(error.message));
  if (!(error instanceof HubError)) return error;
  return new Failure(sentenceOf(error, client.endpoint, chosen), { cause: error });
}

function sentenceOf(error: HubError, endpoint: string, chosen: Chosen): string {
  const { kind, status, code, reason, requestId, message } = error;
  const local = isLoopback(new URL(endpoint).hostname);
  if (kind === "unreachable") {
    const start = local ? "Start one by `hubhook hub`" : "Look at the network";
    return `${message}. ${start}, or name another hub by --endpoint or HF_ENDPOINT`;
  }
  if (status === 401) return `${endpoint} did not take the token: ${newToken(chosen, endpoint, local)}`;
  // A name that the hub does not go by is no question of rights.
  if (status === 403 && code !== "host_unknown") {
    const right = `give the token the right to manage webhooks at ${endpoint}/settings/tokens`;
    return `${endpoint} does not allow this${reason === null ? "" : ` (${reason})`}: ${right}`;
  }
  if (status === 404 && (code === "webhook_unknown" || /\/webhooks\/[^/]+(\/(enable|disable))?$/.test(error.url)))
    return `${reason ?? "there is no such webhook"}: \`hubhook webhooks ls\` lists the ids`;
  if (kind === "refused" && reason !== null && status !== null && status < 500 && status !== 429)
    return `the hub refused this: ${reason}`;
  return requestId === null ? message : `${message} (request id ${requestId})`;
}

function newToken(chosen: Chosen, endpoint: string, local: boolean): string {
  if (chosen.from === "nowhere")
    return "it has tokens of its own: give one by --token or HF_TOKEN (HUB_TOKEN is the embedded hub's)";
  if (chosen.from === "stored")
    return `the stored one (${chosen.file}) may have expired: \`hf auth whoami\` renews it, \`hf auth login\` makes a new one`;
  const where = local ? "the hub's HUB_TOKEN and HUB_TOKENS say which it takes" : `see ${endpoint}/settings/tokens`;
  return `the one of ${chosen.from} is not known there: ${where}`;
}

function sourceOf(chosen: Chosen): string {
  return chosen.from === "stored" ? chosen.file : chosen.from;
}

const FLAGS: [RegExp, string][] = [
  [/^url: /, "--url: "],
  [/^jobId: /, "--job-id "],
  [/^watched: /, "--watch "],
  [/^domains: /, "--domain "],
  [/^secret: /, "--secret: "],
  [/^jobSecrets: /, "--secrets "],
];

/** The client's sentence in the words of the command line. */
export function inFlags(message: string): string {
  const [found] = FLAGS.filter(([start]) => start.test(message));
  return found ? message.replace(found[0], found[1]) : message;
}
