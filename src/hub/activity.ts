/** A webhook's deliveries as people see them, and how to send old ones again. */
import type { Deliveries } from "../deliveries/deliveries.ts";
import type { Attempt, DeliveryChange, DeliveryFilter, DeliveryRecord } from "../deliveries/delivery.ts";
import { HttpError } from "../errors.ts";
import { idOfDelivery, type Kept, withWebhook } from "./outbox.ts";
import type { Webhook } from "./webhook.ts";

/** A replay is waited for so much longer than an attempt may take. */
const PATIENCE_MS = 2_000;

/** Of payloads and answers on one page: our own client reads 32 MB. */
const MAX_PAGE_BYTES = 16_000_000;

interface ActivityParts {
  deliveries: Deliveries;
  /** The webhook of this user, deleted ones too; 404 where there is none. */
  owned(user: string, id: string): Webhook;
  /** Lets the next attempt be made although the target is thought dead. */
  endPause(webhook: Webhook): void;
  timeoutMs: number;
  setTimer(run: () => void, ms: number): () => void;
}

export interface Replayed {
  id: string;
  /** The target's answer; 0 when none came. Of a Job: 200 when it completed, 202 while it still runs, else 0. */
  status: number;
  job?: string | undefined;
  error?: string | undefined;
}

export class Activity {
  readonly #parts: ActivityParts;

  constructor(parts: ActivityParts) {
    this.#parts = parts;
  }

  /** The newest first: `limit` at most, and fewer where they are large. */
  async list(
    user: string,
    webhook: string,
    filter: DeliveryFilter,
    page: { limit: number; cursor?: string | undefined },
  ) {
    const { deliveries } = this.#parts;
    this.#parts.owned(user, webhook);
    const found = await deliveries.list({ ...filter, receiver: webhook }, page);
    const shown: ShownDelivery[] = [];
    let bytes = 0;
    for (const { id } of found.deliveries) {
      const record = deliveries.get(id);
      if (!record) continue;
      bytes += sizeOf(record);
      const last = shown.at(-1);
      // The rest is the next page: a cursor is the id of the delivery that it goes on from.
      if (bytes > MAX_PAGE_BYTES && last) return { deliveries: shown, next: last.id };
      shown.push(shownDelivery(record));
    }
    return { deliveries: shown, ...(found.next && { next: found.next }) };
  }

  /** One delivery of a webhook. @throws HttpError 404 */
  get(user: string, webhook: string, id: string): ShownDelivery {
    this.#parts.owned(user, webhook);
    return shownDelivery(this.#recordOf(webhook, id));
  }

  /** Sends an old delivery again, to the present url, and waits for the answer. */
  async replay(user: string, id: string, log: string): Promise<Replayed> {
    const { deliveries, endPause } = this.#parts;
    const webhook = this.#replayable(user, id);
    this.#recordOf(id, log);
    endPause(webhook);
    const ended = this.#firstEnd();
    try {
      const replay = await deliveries.replay(log);
      await ended.of(replay.id);
      return { id: replay.id, ...outcomeOf(deliveries.get(replay.id), webhook.job !== null) };
    } finally {
      ended.stop();
    }
  }

  /** Sends all again that match; with `dryRun` only counts them. */
  replayMany(user: string, id: string, filter: DeliveryFilter, dryRun: boolean) {
    const webhook = this.#replayable(user, id);
    if (!dryRun) this.#parts.endPause(webhook);
    return this.#parts.deliveries.replayMany({ ...filter, receiver: id }, { dryRun });
  }

  #recordOf(webhook: string, id: string): DeliveryRecord {
    const record = this.#parts.deliveries.get(id);
    if (record?.receiver === webhook) return record;
    throw new HttpError(404, `webhook ${webhook} has no delivery ${id} in its activity`, { code: "delivery_unknown" });
  }

  #replayable(user: string, id: string): Webhook {
    const webhook = this.#parts.owned(user, id);
    if (webhook.deleted !== null) throw new HttpError(404, `webhook ${id} is deleted`, { code: "webhook_unknown" });
    if (!webhook.disabled) return webhook;
    throw new HttpError(409, `webhook ${id} is disabled: enable it to send old deliveries again`, {
      code: "webhook_disabled",
    });
  }

  /** Hears every change from now on, so that none is missed between the replay and the question. */
  #firstEnd() {
    const { deliveries, timeoutMs, setTimer } = this.#parts;
    const ended = new Set<string>();
    let wanted: string | undefined;
    const over = Promise.withResolvers<void>();
    const unsubscribe = deliveries.subscribe((change) => {
      if (!isEnd(change)) return;
      ended.add(change.id);
      if (change.id === wanted) over.resolve();
    });
    const cancelTimer = setTimer(over.resolve, timeoutMs + PATIENCE_MS);
    return {
      of(id: string): Promise<void> {
        wanted = id;
        if (ended.has(id)) over.resolve();
        return over.promise;
      },
      stop() {
        unsubscribe();
        cancelTimer();
      },
    };
  }
}

/** What became of a delivery's first attempt. */
function outcomeOf(delivery: DeliveryRecord | undefined, isJob: boolean): Omit<Replayed, "id"> {
  const attempt = delivery?.record[0];
  if (!attempt && isJob && delivery?.state === "running") return { status: 202 };
  if (!attempt) return { status: 0, error: "there is no answer yet: the activity will show it" };
  const { status, job } = keptOf(attempt);
  const { error, outcome } = attempt;
  return {
    status: status ?? (outcome === "succeeded" ? 200 : 0),
    ...(job !== undefined && { job }),
    ...(error !== undefined && { error }),
  };
}

function isEnd({ state, attempts }: DeliveryChange): boolean {
  return state !== "running" && (state !== "pending" || attempts > 0);
}

function sizeOf({ payload, record }: DeliveryRecord): number {
  const texts = [payload, ...record.map((attempt) => keptOf(attempt).body ?? "")];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function keptOf(attempt: Attempt | undefined): Kept {
  const kept = attempt?.response;
  return typeof kept === "object" && kept !== null ? (kept as Kept) : { status: null };
}

export type ShownDelivery = ReturnType<typeof shownDelivery>;

function shownDelivery(delivery: DeliveryRecord) {
  const { id, state, scope, action, repo, createdAt, finishedAt, nextAttemptAt, replayOf, record, payload } = delivery;
  return {
    id,
    webhookId: idOfDelivery(delivery),
    state,
    event: { scope, action },
    repo,
    createdAt,
    ...(finishedAt && { finishedAt }),
    ...(nextAttemptAt && { nextAttemptAt }),
    ...(replayOf !== undefined && { replayOf }),
    attempts: record.map(shownAttempt),
    payload: JSON.parse(withWebhook(payload, delivery.receiver)) as unknown,
  };
}

function shownAttempt(attempt: Attempt) {
  const { status, body, job } = keptOf(attempt);
  const { at, ms, error } = attempt;
  return {
    at,
    status,
    ms: ms ?? null,
    ...(error !== undefined && { error }),
    ...(body !== undefined && { response: body }),
    ...(job !== undefined && { job }),
  };
}
