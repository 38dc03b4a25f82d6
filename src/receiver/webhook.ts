/**
 * What a handler is written with. A handler is a function: it gets the payload and a small bag of helpers, returns its
 * reply or throws. `webhook()` adds a name, a filter, a mode or settings, and types the payload by the filter.
 */
import type { z } from "zod";
import type { EventFilter, FilteredPayload } from "../protocol/events.ts";
import type { WebhookPayload } from "../protocol/payload.ts";
import type { WebhooksApi } from "../protocol/webhooks-api.ts";

export { HttpError, PermanentError } from "../errors.ts";
export type { Comment, Discussion, EventPayload, Repo, UpdatedRef, WebhookPayload } from "../protocol/payload.ts";

/**
 * - `reply`: runs inside the request; what it returns is the answer. Nothing is stored.
 * - `background`: stored first and answered 202, then run, and tried again when it fails.
 */
export type Mode = "reply" | "background";

export interface HandlerLog {
  error(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  debug(message: string, fields?: object): void;
}

export interface HandlerContext<Settings = unknown> {
  /** A log that names the endpoint and the delivery in every line. In background mode the lines stay with the attempt. */
  readonly log: HandlerLog;
  /**
   * The same over the sender's retries. In background mode the id under which the delivery is kept; in reply mode the
   * sender's `Webhook-Id`, or an id of this request where there is none.
   */
  readonly deliveryId: string;
  /** 1 for the first try. Always 1 in reply mode. */
  readonly attempt: number;
  /** Aborted when the process must end or the attempt has run out of time. */
  readonly signal: AbortSignal;
  /** The request's headers, lower case, without the secret and without those of the connection (`host`, `content-length`). */
  readonly headers: Readonly<Record<string, string>>;
  /** For `@huggingface/hub`: `listFiles({ repo, ...context.hub })`. */
  readonly hub: { readonly hubUrl: string; readonly accessToken?: string };
  /** The webhooks of that hub's user: `await context.webhooks.list()`. */
  readonly webhooks: WebhooksApi;
  /** The handler's own settings, as its `settings` schema reads them from the environment. */
  readonly settings: Settings;
}

/** Returns the JSON of the reply, or nothing for 204; throws `HttpError` to answer with a status of its choice. */
export type Handler<Payload = WebhookPayload, Settings = unknown> = (
  payload: Payload,
  context: HandlerContext<Settings>,
) => unknown;

export interface WebhookOptions<On extends EventFilter = EventFilter, Settings extends z.ZodType = z.ZodType> {
  /** Name of the endpoint, with or without a leading slash. */
  name?: string;
  /** One sentence for the landing page. */
  description?: string;
  /** Scopes (`discussion`, which takes narrower ones too) or events (`discussion.comment:create`). */
  on?: On | readonly On[];
  /** Globs of `type:owner/name`, as `dataset:me/*` or `*:me/*`. */
  repos?: string | readonly string[];
  /** Globs of refs, as `refs/heads/main` or `refs/pr/*`; leaves out events that bring no refs. */
  refs?: string | readonly string[];
  /** Default: `reply`. */
  mode?: Mode;
  /** A zod object of environment variables, read and checked at start. */
  settings?: Settings;
  /** Background mode: `repo` runs the deliveries of one repo one at a time, in order of arrival. */
  serial?: "repo";
  /** Background mode: run again when the sender repeats a delivery that has succeeded. Default: false. */
  rerun?: boolean;
  /** Background mode: how many attempts of this endpoint may run at once. Default: as many as the process may. */
  concurrency?: number;
}

const WEBHOOK = Symbol.for("hubhook.webhook");

/** What `webhook()` gives back and the loader looks for. */
export interface DefinedWebhook {
  readonly [WEBHOOK]: true;
  readonly options: WebhookOptions;
  readonly handler: Handler;
}

/**
 * Describes an endpoint.
 *
 * @example
 * export const welcome = webhook({ on: "discussion:create" }, (payload, context) => {
 *   context.log.info(`${payload.repo.name} has a new discussion: ${payload.discussion.title}`);
 * });
 */
export function webhook<const On extends EventFilter = never, Settings extends z.ZodType = z.ZodUnknown>(
  options: WebhookOptions<On, Settings>,
  handler: Handler<[On] extends [never] ? WebhookPayload : FilteredPayload<On>, z.output<Settings>>,
): DefinedWebhook;
export function webhook(handler: Handler): DefinedWebhook;
export function webhook(first: unknown, second?: unknown): DefinedWebhook {
  // Wrong arguments are not refused here but by the loader, which can name the file and list them with all others.
  const [options, handler] = typeof first === "function" ? [{}, first] : [first, second];
  return { [WEBHOOK]: true, options: options as WebhookOptions, handler: handler as Handler };
}

export function isDefinedWebhook(value: unknown): value is DefinedWebhook {
  return typeof value === "object" && value !== null && (value as Partial<DefinedWebhook>)[WEBHOOK] === true;
}
