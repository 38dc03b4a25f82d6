/** A webhook as a hub tells of it, old answers and new ones alike. */
import { SUSPENDED } from "../protocol/webhook.ts";
import type { Watched, Webhook, WebhookJob } from "../protocol/webhooks-api.ts";

/**
 * Reads an answer. Fields that nobody knows here are left out: one might hold a secret, as `secret` did in old answers.
 * null where it is no webhook, which must not be taken for one that watches nothing.
 */
export function readWebhook(answer: unknown): Webhook | null {
  if (!isRecord(answer)) return null;
  const { id, url, job, watched, domains, disabled, secret, hasSecret } = answer;
  if (typeof id !== "string" || !Array.isArray(watched) || !watched.every(isWatched)) return null;
  const off = readDisabled(disabled);
  return {
    id,
    url: typeof url === "string" ? url : null,
    job: isRecord(job) ? readJob(job) : null,
    watched: watched.map(({ type, name }) => ({ type, name })),
    domains: strings(domains),
    disabled: off,
    status: off === SUSPENDED ? "suspended" : off ? "disabled" : "enabled",
    hasSecret: typeof hasSecret === "boolean" ? hasSecret : typeof secret === "string" && secret !== "",
    ...texts(answer, ["disabledReason", "disabledAt"]),
    ...(typeof answer.failures === "number" && { failures: answer.failures }),
    ...(isQuota(answer.quota) && { quota: answer.quota }),
    ...texts(answer, ["createdAt", "updatedAt"]),
  };
}

function readDisabled(value: unknown): Webhook["disabled"] {
  if (typeof value === "string" && value.startsWith("suspended")) return SUSPENDED;
  return value === true || value === "true";
}

function readJob(job: Record<string, unknown>): WebhookJob {
  const { environment, secrets } = job;
  return {
    ...texts(job, ["dockerImage", "spaceId"]),
    command: strings(job.command),
    arguments: strings(job.arguments),
    environment: isRecord(environment) ? Object.fromEntries(Object.entries(environment).map(textEntry)) : {},
    // A list of names, or names with values, of which only the names are kept.
    secrets: isRecord(secrets) ? Object.keys(secrets) : strings(secrets),
    ...texts(job, ["flavor"]),
    ...(typeof job.timeout === "number" && { timeout: job.timeout }),
  };
}

function textEntry([name, value]: [string, unknown]): [string, string] {
  return [name, typeof value === "string" ? value : JSON.stringify(value)];
}

function texts<const Name extends string>(from: Record<string, unknown>, names: readonly Name[]) {
  const found = names.filter((name) => typeof from[name] === "string").map((name) => [name, from[name]]);
  return Object.fromEntries(found) as Partial<Record<Name, string>>;
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function isWatched(value: unknown): value is Watched {
  return isRecord(value) && typeof value.type === "string" && typeof value.name === "string";
}

function isQuota(value: unknown): value is NonNullable<Webhook["quota"]> {
  return isRecord(value) && [value.limit, value.used, value.over].every((one) => typeof one === "number");
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
