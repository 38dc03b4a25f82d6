/**
 * The webhooks of a user on a hub, real or embedded: the door of this room, which could be published alone.
 *
 * Nothing is wiped by an update: the client reads first, and sends what was there along with what changed. Every call
 * takes an `AbortSignal`, ends within a bounded time, and rejects with a `HubError` whose message is a whole sentence.
 * The token goes to the endpoint's origin and nowhere else.
 *
 * Source of the calls: https://huggingface.co/docs/hub/webhooks and the official Python client.
 */
import { HUB_ENDPOINT } from "../protocol/repo.ts";
import type {
  ActivityPage,
  ActivityQuery,
  CallOptions,
  NewWebhook,
  Replayed,
  Webhook,
  WebhookChanges,
  WebhooksApi,
} from "../protocol/webhooks-api.ts";
import { activitySearch, readActivity } from "./activity.ts";
import { type Call, type Connection, call, defaultSleep } from "./call.ts";
import { ArgumentError, HubError } from "./hub-error.ts";
import { changedFields, checkId, type Fields, newFields } from "./input.ts";
import { isRecord, readWebhook } from "./webhook.ts";

export type * from "../protocol/webhooks-api.ts";
export { ArgumentError, HubError, type HubErrorKind } from "./hub-error.ts";
export { changedFields, newFields } from "./input.ts";

export interface WebhooksClientOptions {
  /** Address of the hub. Default: the real one. */
  endpoint?: string | undefined;
  /** Access token of the user whose webhooks they are. */
  token?: string | null | undefined;
  fetch?: typeof globalThis.fetch | undefined;
  /** How long one answer may take, milliseconds. Default: 30,000. */
  timeoutMs?: number | undefined;
  userAgent?: string | undefined;
  /** How to wait between tries, for tests. */
  sleep?: Connection["sleep"] | undefined;
  /** From 0 to 1, for the jitter of those waits. */
  random?: (() => number) | undefined;
}

const PATH = "/api/settings/webhooks";
/** A replay is answered once the receiver has answered, and a hub gives that 30 seconds. */
const REPLAY_EXTRA_MS = 15_000;

/**
 * @example
 * const webhooks = new WebhooksClient({ token: process.env.HF_TOKEN });
 * const { id } = await webhooks.create({ url: "https://example.com/webhooks/retrain", watched: ["dataset:me/data"] });
 * await webhooks.update(id, { domains: ["repo"] });
 */
export class WebhooksClient implements WebhooksApi {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly #connection: Connection;

  /** @throws ArgumentError */
  constructor(options: WebhooksClientOptions = {}) {
    this.endpoint = checkEndpoint(options.endpoint ?? HUB_ENDPOINT);
    this.#connection = {
      endpoint: this.endpoint,
      token: checkToken(options.token ?? null),
      fetch: options.fetch ?? globalThis.fetch,
      timeoutMs: checkTimeout(options.timeoutMs ?? 30_000),
      userAgent: checkUserAgent(options.userAgent ?? "hubhook"),
      sleep: options.sleep ?? defaultSleep,
      random: options.random ?? Math.random,
    };
  }

  async list({ signal }: CallOptions = {}): Promise<Webhook[]> {
    const asked: Call = { method: "GET", path: PATH, signal };
    const answer = await call(this.#connection, asked);
    const found = Array.isArray(answer) ? answer.map(readWebhook) : [null];
    return found.map((webhook) => webhook ?? this.#notUnderstood(asked, "a list of webhooks"));
  }

  async get(id: string, { signal }: CallOptions = {}): Promise<Webhook> {
    return this.#webhook({ method: "GET", path: pathOf(id), signal });
  }

  async create(webhook: NewWebhook, { signal }: CallOptions = {}): Promise<Webhook> {
    return this.#send(PATH, newFields(webhook), signal);
  }

  async update(id: string, changes: WebhookChanges, { signal }: CallOptions = {}): Promise<Webhook> {
    const path = pathOf(id);
    const changed = changedFields(changes);
    const before = await this.#webhook({ method: "GET", path, signal });
    const { watched, domains } = before;
    // An empty list might mean "none from now on" to a hub that has not told of its domains.
    const kept: Fields = { watched, ...(domains.length > 0 && { domains }), ...targetOf(before, changed) };
    const body: Fields = { ...kept, ...changed };
    return this.#send(path, body, signal);
  }

  async enable(id: string, { signal }: CallOptions = {}): Promise<Webhook> {
    return this.#webhook({ method: "POST", path: `${pathOf(id)}/enable`, signal });
  }

  async disable(id: string, { signal }: CallOptions = {}): Promise<Webhook> {
    return this.#webhook({ method: "POST", path: `${pathOf(id)}/disable`, signal });
  }

  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await call(this.#connection, { method: "DELETE", path: pathOf(id), ignoreBody: true, signal });
  }

  async replay(id: string, logId: string, { signal }: CallOptions = {}): Promise<Replayed> {
    const path = `${pathOf(id)}/replay/${checkId(logId, "delivery")}`;
    const asked: Call = { method: "POST", path, signal, extraMs: REPLAY_EXTRA_MS };
    const answer = await call(this.#connection, asked);
    if (!isRecord(answer) || typeof answer.status !== "number") return this.#notUnderstood(asked, "a replay's status");
    return {
      status: answer.status,
      ...(typeof answer.id === "string" && { id: answer.id }),
      ...(typeof answer.job === "string" && { job: answer.job }),
      ...(typeof answer.error === "string" && { error: answer.error }),
    };
  }

  /** @throws HubError `unsupported` on a hub that does not tell, naming the page that shows it */
  async activity(id: string, { signal, ...query }: ActivityQuery & CallOptions = {}): Promise<ActivityPage> {
    const asked: Call = { method: "GET", path: `${pathOf(id)}/activity`, query: activitySearch(query), signal };
    try {
      return readActivity(await call(this.#connection, asked)) ?? this.#notUnderstood(asked, "a list of deliveries");
    } catch (error) {
      if (!isUnknownPath(error)) throw error;
      // Or is it the webhook that is not there?
      await this.get(id, { signal });
      const page = `${this.endpoint}/settings/webhooks/${id}`;
      throw this.#unsupported(asked, `this hub shows the activity of a webhook on its page only: ${page}`, error);
    }
  }

  /**
   * Lets an event happen: as little as `{ event: { scope, action }, repo: { type, name } }`. Only the embedded hub does.
   * @returns the payload as it was completed, and how many webhooks get it
   */
  async publish(event: object, { signal }: CallOptions = {}): Promise<{ deliveries: number; payload: unknown }> {
    const asked: Call = { method: "POST", path: "/api/hub/events", body: event, signal };
    try {
      const answer = await call(this.#connection, asked);
      if (!isRecord(answer) || typeof answer.deliveries !== "number")
        return this.#notUnderstood(asked, "a published event");
      return { deliveries: answer.deliveries, payload: answer.payload };
    } catch (error) {
      if (!isUnknownPath(error)) throw error;
      throw this.#unsupported(asked, `${this.endpoint} takes no events from outside: only an embedded hub does`, error);
    }
  }

  /** Whose token it is. */
  async whoami({ signal }: CallOptions = {}): Promise<{ name: string }> {
    const asked: Call = { method: "GET", path: "/api/whoami-v2", signal };
    const answer = await call(this.#connection, asked);
    if (!isRecord(answer) || typeof answer.name !== "string") return this.#notUnderstood(asked, "a user");
    return { name: answer.name };
  }

  #send(path: string, body: Fields, signal: AbortSignal | undefined): Promise<Webhook> {
    const secrets = [body.secret ?? "", ...Object.values(body.secrets ?? {})].filter((one) => one !== "");
    return this.#webhook({ method: "POST", path, body, secrets, signal });
  }

  async #webhook(asked: Call): Promise<Webhook> {
    const answer = await call(this.#connection, asked);
    const webhook = readWebhook(isRecord(answer) ? answer.webhook : undefined);
    return webhook ?? this.#notUnderstood(asked, "a webhook");
  }

  #notUnderstood({ method, path }: Call, expected: string): never {
    const url = `${this.endpoint}${path}`;
    const message = `${method} ${url} was answered with something that is not ${expected}`;
    throw new HubError(message, { kind: "not-understood", method, url });
  }

  #unsupported({ method, path }: Call, message: string, cause: HubError): HubError {
    return new HubError(message, { kind: "unsupported", method, url: `${this.endpoint}${path}`, status: 404, cause });
  }
}

/** A url is sent along though it stays; which Job was cloned is not known, and a hub keeps it. */
function targetOf({ url }: Webhook, changed: Fields): Pick<Fields, "url"> {
  return url === null || changed.jobSourceId !== undefined ? {} : { url };
}

/** 404 and 405 of the path, and not of the webhook, which the embedded hub names. */
function isUnknownPath(error: unknown): error is HubError {
  return (
    error instanceof HubError && (error.status === 404 || error.status === 405) && error.code !== "webhook_unknown"
  );
}

function pathOf(id: string): string {
  return `${PATH}/${checkId(id, "id")}`;
}

function checkEndpoint(text: unknown): string {
  const url = typeof text === "string" ? URL.parse(text) : null;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new ArgumentError("endpoint: write the hub's whole address, as https://huggingface.co");
  if (url.username || url.password)
    throw new ArgumentError("endpoint: an address may not hold a name or a password: give the token as token");
  if (url.search || url.hash) throw new ArgumentError("endpoint: write the address without ? and #");
  return url.href.replace(/\/+$/, "");
}

/** Never quoted. */
function checkToken(token: unknown): string | null {
  if (token === null || (typeof token === "string" && /^[\x21-\x7e]+$/.test(token))) return token;
  throw new ArgumentError("token: it is not usable: a token is made of visible ASCII characters, without spaces");
}

function checkUserAgent(text: unknown): string {
  if (typeof text === "string" && /^[\x20-\x7e]+$/.test(text)) return text;
  throw new ArgumentError("userAgent: write visible ASCII characters: it is sent in a header");
}

function checkTimeout(ms: number): number {
  if (Number.isFinite(ms) && ms > 0 && ms <= 2 ** 31 - 1 - REPLAY_EXTRA_MS) return ms;
  throw new ArgumentError("timeoutMs: write a number of milliseconds above 0");
}
