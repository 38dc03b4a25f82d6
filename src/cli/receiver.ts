/** A running receiver, as the command line asks it over HTTP. */
import type { Command } from "commander";
import { loadConfig } from "../config.ts";
import { Failure, UsageError } from "./exit.ts";
import { harmless } from "./output.ts";
import { version } from "./program.ts";
import { localReceiver, secretFor } from "./target.ts";

export interface ReceiverOptions {
  to?: string;
  secret?: string;
}

/** How long an answer may take. What replays thousands may take as long as it does. */
const PATIENCE_MS = 20_000;

export function receiverOptions(command: Command): Command {
  return command
    .option("--to <address>", "address of the receiver (default: the local one, on PORT)")
    .option("--secret <secret>", "its secret (default: WEBHOOK_SECRET, to this machine only)");
}

export interface Receiver {
  /** `http://127.0.0.1:7860` */
  readonly url: string;
  /** @throws Failure with a sentence that says what to do next */
  get<Answer>(path: string, query?: Query): Promise<Answer>;
  post<Answer>(path: string, body?: object): Promise<Answer>;
}

type Query = Record<string, string | number | undefined>;

/** @throws UsageError where the address is none */
export function openReceiver({ to, secret }: ReceiverOptions): Receiver {
  const config = loadConfig();
  const base = addressOf(to ?? localReceiver(config.server));
  const proof = secretFor(base, secret, config.receiver.secrets);
  const headers = {
    "user-agent": `hubhook/${version}`,
    ...(proof !== null && { authorization: `Bearer ${proof}` }),
  };
  const ask = async (path: string, init: RequestInit) => {
    const url = new URL(path, base);
    const answer = await fetch(url, { ...init, redirect: "manual", headers: { ...headers, ...init.headers } }).catch(
      (error: unknown) => {
        throw new Failure(noAnswer(base.origin, to !== undefined), { cause: error });
      },
    );
    const body = (await answer.json().catch(() => null)) as unknown;
    if (answer.ok && typeof body === "object" && body !== null) return body;
    throw new Failure(refusal(body, base.origin));
  };
  return {
    url: base.origin,
    get: async <Answer>(path: string, query: Query = {}) => {
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, `${value}`);
      const signal = AbortSignal.timeout(PATIENCE_MS);
      return (await ask(search.size > 0 ? `${path}?${search}` : path, { signal })) as Answer;
    },
    post: async <Answer>(path: string, body: object = {}) => {
      const init = { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
      return (await ask(path, init)) as Answer;
    },
  };
}

function addressOf(text: string): URL {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return new URL(text);
  throw new UsageError(`--to "${text}" is no address of a receiver: write it as http://127.0.0.1:7860`);
}

function noAnswer(origin: string, named: boolean): string {
  const advice = named
    ? "is it running there?"
    : "is it running? Start it by `npm start`, set PORT to where it listens, or name an address by --to";
  return `no receiver answers on ${origin}: ${advice}`;
}

function refusal(body: unknown, origin: string): string {
  const { error, code } = (body ?? {}) as { error?: unknown; code?: unknown };
  if (typeof error !== "string" || typeof code !== "string")
    return `what answers on ${origin} is no hubhook receiver: set PORT to where yours listens, or name it by --to`;
  if (code === "secret_missing")
    return `the receiver on ${origin} wants its secret: set WEBHOOK_SECRET to the same one, or use --secret`;
  if (code === "secret_invalid")
    return `the receiver on ${origin} has another secret than the one that was sent: look at its WEBHOOK_SECRET`;
  if (code === "secret_not_set")
    return `the receiver on ${origin} has no secret, so it shows this to its own machine only: set WEBHOOK_SECRET there`;
  return harmless(error);
}
