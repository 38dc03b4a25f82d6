/**
 * What can be done with the webhooks of a user on a hub, and the words of it. `src/client/` does it; handlers get it as
 * `context.webhooks`.
 */
import type { DeliveryState, SUSPENDED } from "./webhook.ts";

export interface WebhooksApi {
  /** All webhooks of the user. */
  list(options?: CallOptions): Promise<Webhook[]>;
  get(id: string, options?: CallOptions): Promise<Webhook>;
  create(webhook: NewWebhook, options?: CallOptions): Promise<Webhook>;
  /**
   * Changes what is given and keeps the rest. A new `url` takes the place of a Job, a new `jobId` that of a url.
   * What somebody else changes in the same moment may be lost: a hub has no way to ask for more.
   */
  update(id: string, changes: WebhookChanges, options?: CallOptions): Promise<Webhook>;
  /** Also resumes one that the hub has suspended. */
  enable(id: string, options?: CallOptions): Promise<Webhook>;
  disable(id: string, options?: CallOptions): Promise<Webhook>;
  delete(id: string, options?: CallOptions): Promise<void>;
  /** Sends an old delivery again, to the webhook's present url, and waits for the receiver's answer. */
  replay(id: string, logId: string, options?: CallOptions): Promise<Replayed>;
  /** What was sent and answered, the newest first. Only the embedded hub tells. */
  activity(id: string, options?: ActivityQuery & CallOptions): Promise<ActivityPage>;
}

export interface CallOptions {
  /** Cancels the call, also while it waits for its next try. */
  signal?: AbortSignal | undefined;
}

/** Open: a hub may know more types than we do. */
export interface Watched {
  type: string;
  name: string;
}

/** The Job that a webhook starts. Names of its secrets, never their values. */
export interface WebhookJob {
  dockerImage?: string;
  spaceId?: string;
  command: string[];
  arguments: string[];
  environment: Record<string, string>;
  secrets: string[];
  flavor?: string;
  /** Seconds. */
  timeout?: number;
}

export interface Webhook {
  id: string;
  /** Where it sends; null when it starts a Job. */
  url: string | null;
  job: WebhookJob | null;
  watched: Watched[];
  domains: string[];
  /** As on the wire. */
  disabled: boolean | typeof SUSPENDED;
  /** The same as one word. `suspended`: the hub switched it off after failures. */
  status: "enabled" | "disabled" | "suspended";
  /** Is a secret set? No answer ever tells which. */
  hasSecret: boolean;
  /** Why and since when it is disabled, where a hub says so. */
  disabledReason?: string;
  disabledAt?: string;
  /** Attempts in a row that failed. Embedded hub. */
  failures?: number;
  /** Deliveries of the last 24 hours, and how many there may be. Embedded hub. */
  quota?: { limit: number; used: number; over: number };
  createdAt?: string;
  updatedAt?: string;
}

/** `{ type: "dataset", name: "me/data" }`, or the same as `dataset:me/data`. */
export type WatchedGiven = string | { readonly type: string; readonly name: string };

interface Common {
  /** `repo`, `discussion`; left out on creation: both. */
  domains?: readonly string[] | undefined;
  /** Values for the Job's secrets; only together with `jobId`. */
  jobSecrets?: Readonly<Record<string, string>> | undefined;
}

export interface NewWebhook extends Common {
  /** Where to send. Or `jobId`. */
  url?: string | undefined;
  /** The Job to start anew for each event. */
  jobId?: string | undefined;
  watched: readonly WatchedGiven[];
  secret?: string | undefined;
}

/** What is left out stays as it is. */
export interface WebhookChanges extends Common {
  url?: string | undefined;
  jobId?: string | undefined;
  /** In place of all that was watched. */
  watched?: readonly WatchedGiven[] | undefined;
  /** null takes it away. */
  secret?: string | null | undefined;
}

export interface Replayed {
  /** What the receiver answered; 0: nothing. Of a Job: 200 when it completed, 202 while it still runs, else 0. */
  status: number;
  /** The Job that was started. */
  job?: string;
  /** The new delivery, where the hub names it. */
  id?: string;
  error?: string;
}

export interface ActivityQuery {
  /** At most so many, up to 200. Default: 20. */
  limit?: number | undefined;
  /** `next` of the page before. */
  cursor?: string | undefined;
  state?: DeliveryState | undefined;
  scope?: string | undefined;
  action?: string | undefined;
  /** `type:owner/name`; `*` stands for anything. */
  repo?: string | undefined;
  since?: Date | string | undefined;
  until?: Date | string | undefined;
}

export interface ActivityAttempt {
  at: string;
  /** null: no answer. */
  status: number | null;
  ms: number | null;
  error?: string;
  /** The answer's body, as far as it is kept. */
  response?: string;
  /** The Job that was started. */
  job?: string;
}

export interface ActivityDelivery {
  /** What `replay` takes. */
  id: string;
  /** `Webhook-Id`, the same over replays. */
  webhookId: string;
  state: string;
  event: { scope: string; action: string };
  repo: string;
  createdAt: string;
  finishedAt?: string;
  nextAttemptAt?: string;
  replayOf?: string;
  attempts: ActivityAttempt[];
  payload: unknown;
}

export interface ActivityPage {
  deliveries: ActivityDelivery[];
  /** `cursor` of the next page; left out: there is none. */
  next?: string;
}
