/** A webhook as the hub keeps it, and as callers see it. */
import type { Domain, SUSPENDED, WatchedItem } from "../protocol/webhook.ts";
import type { JobSpec } from "./job.ts";

export {
  type Domain,
  domains,
  SUSPENDED,
  type WatchedItem,
  type WatchedType,
  watchedTypes,
} from "../protocol/webhook.ts";

export interface Webhook {
  id: string;
  user: string;
  /** Or `job`. */
  url: string | null;
  job: JobSpec | null;
  jobSecrets: Record<string, string>;
  watched: WatchedItem[];
  domains: Domain[];
  secret: string | null;
  disabled: boolean | typeof SUSPENDED;
  /** Why and since when it is disabled. */
  reason: string | null;
  disabledAt: number | null;
  /** Attempts that failed in a row, and since when. */
  failures: number;
  failingSince: number | null;
  created: number;
  updated: number;
  deleted: number | null;
}

export interface QuotaUse {
  limit: number;
  used: number;
  /** Events of the last 24 hours that were not delivered to it. */
  over: number;
}

export type ShownWebhook = ReturnType<typeof shown>;

/** The answer of the settings API. Secrets never leave: only whether there is one, and their names. */
export function shown(webhook: Webhook, quota: QuotaUse) {
  const { id, url, job, jobSecrets, watched, domains, disabled, reason, disabledAt } = webhook;
  return {
    id,
    ...(job ? { job: { ...job, secrets: Object.keys(jobSecrets) } } : { url }),
    watched,
    domains,
    hasSecret: webhook.secret !== null,
    disabled,
    ...(reason !== null && { disabledReason: reason }),
    ...(disabledAt !== null && { disabledAt: new Date(disabledAt).toISOString() }),
    failures: webhook.failures,
    quota,
    createdAt: new Date(webhook.created).toISOString(),
    updatedAt: new Date(webhook.updated).toISOString(),
  };
}
