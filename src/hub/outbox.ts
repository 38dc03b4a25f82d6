/** One attempt of a delivery: to the webhook's present url with its present secret, or by starting its Job. */
import { AttemptFailure, type AttemptTools, type DeliveryToRun } from "../deliveries/delivery.ts";
import { DELIVERY_ID_HEADER, SECRET_HEADER } from "../protocol/headers.ts";
import { withoutSecrets } from "../protocol/webhook.ts";
import { addressOf } from "./address.ts";
import { EVENT_ID } from "./events.ts";
import { webhookIdOf } from "./ids.ts";
import type { Message, Outcome } from "./sender.ts";
import type { Targets } from "./targets.ts";
import type { Webhook } from "./webhook.ts";

interface OutboxParts {
  webhook(id: string): Webhook | undefined;
  send(message: Message & { body: string }, tools: AttemptTools): Promise<Outcome>;
  /** Runs a webhook's Job to its end. */
  runJob(webhook: Webhook, delivery: JobDelivery, signal: AbortSignal): Promise<JobOutcome>;
  targets: Targets;
  health: Health;
  /** Cancels what waits for a webhook. */
  cancelWaiting(webhook: string): Promise<unknown>;
  userAgent: string;
}

export interface JobDelivery {
  id: string;
  webhookId: string;
  payload: string;
  repo: string;
}

export interface JobOutcome {
  /** Left out where none could be started. */
  job?: string;
  /** null: it completed. */
  problem: string | null;
  /** Its user wanted no more of it. */
  canceled?: boolean;
}

/** Hears how the attempts of a webhook went. */
export interface Health {
  /** One succeeded after others had failed. */
  recovered(webhook: Webhook): Promise<void>;
  failed(webhook: Webhook, problem: string): Promise<void>;
}

/** What is kept of an attempt beside its error. */
export interface Kept {
  status: number | null;
  body?: string;
  job?: string;
}

export class Outbox {
  readonly #parts: OutboxParts;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** The function that the engine of deliveries calls. */
  readonly attempt = async (delivery: DeliveryToRun, tools: AttemptTools): Promise<Kept> => {
    const { webhook: find, send, health, cancelWaiting } = this.#parts;
    const webhook = find(delivery.receiver);
    if (!webhook || webhook.disabled) {
      // It was taken up in the moment of the change; back among those that wait it is cancelled like them.
      setImmediate(() => cancelWaiting(delivery.receiver).catch(() => {}));
      throw new Error(
        webhook ? "the webhook is disabled: nothing was sent" : "the webhook is deleted: nothing was sent",
      );
    }
    const { kept, problem, retryAfter, canceled } =
      webhook.url === null
        ? await this.#run(webhook, delivery, tools)
        : this.#judge(webhook, webhook.url, tools, await send(this.#message(webhook, webhook.url, delivery), tools));
    if (problem === null) {
      // As it is by now: others may have failed while this one ran.
      if ((find(webhook.id)?.failures ?? 0) > 0) await health.recovered(webhook);
      return kept;
    }
    // A stop of this process is nobody's failure, and neither is what the user ended.
    if (!tools.signal.aborted && !canceled) await health.failed(webhook, problem);
    throw new AttemptFailure(problem, { response: kept, retryAfter, permanent: canceled });
  };

  #message(webhook: Webhook, url: string, delivery: DeliveryToRun) {
    const id = idOfDelivery(delivery);
    const agent = this.#parts.userAgent;
    const headers = ["content-type", "application/json", "user-agent", agent, DELIVERY_ID_HEADER, id];
    if (webhook.secret !== null) headers.push(SECRET_HEADER, webhook.secret);
    return { url, headers, body: withWebhook(delivery.payload, webhook.id) };
  }

  #judge({ secret }: Webhook, url: string, tools: AttemptTools, outcome: Outcome) {
    const { targets } = this.#parts;
    const { status, body, problem, retryAfter, planned } = outcome;
    const { host, secrets } = addressOf(url);
    if (status !== null) targets.answered(host);
    else if (!tools.signal.aborted && !planned) targets.unanswered(host);
    // Many a receiver answers with all that it was sent, or redirects to the same query.
    const hidden = (text: string) => withoutSecrets(text, secret === null ? secrets : [secret, ...secrets]);
    const kept: Kept = body === "" ? { status } : { status, body: hidden(body) };
    return { kept, problem: problem === null ? null : hidden(problem), retryAfter, canceled: false };
  }

  async #run(webhook: Webhook, delivery: DeliveryToRun, { signal }: AttemptTools) {
    const { id, payload, repo } = delivery;
    const forJob = { id, webhookId: idOfDelivery(delivery), payload: withWebhook(payload, webhook.id), repo };
    const { job, problem, canceled } = await this.#parts.runJob(webhook, forJob, signal);
    const kept: Kept = job === undefined ? { status: null } : { status: null, job };
    return { kept, problem, retryAfter: undefined, canceled };
  }
}

/** `Webhook-Id`: the same over attempts and replays. */
export function idOfDelivery({ headers, receiver }: { headers: Record<string, string>; receiver: string }): string {
  return webhookIdOf(headers[EVENT_ID] ?? "", receiver);
}

/** The payload as it is sent: an event's stored one, which its webhooks share, and whose turn it is. */
export function withWebhook(payload: string, id: string): string {
  return `${payload.slice(0, -1)},"webhook":{"id":"${id}","version":3}}`;
}
