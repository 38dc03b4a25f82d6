/** A webhook's deliveries, as the embedded hub tells of them. */
import { deliveryStates } from "../protocol/webhook.ts";
import type { ActivityDelivery, ActivityPage, ActivityQuery } from "../protocol/webhooks-api.ts";
import { ArgumentError } from "./hub-error.ts";
import { isRecord } from "./webhook.ts";

/** @throws ArgumentError */
export function activitySearch(query: ActivityQuery): URLSearchParams {
  const { limit, state, since, until } = query;
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= 200))
    throw new ArgumentError("limit: write a whole number from 1 to 200");
  if (state !== undefined && !deliveryStates.includes(state))
    throw new ArgumentError(`state: write one of ${deliveryStates.join(", ")}`);
  const given = { ...query, since: timeOf(since, "since"), until: timeOf(until, "until") };
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) search.set(name, `${value}`);
  return search;
}

function timeOf(given: Date | string | undefined, name: string): string | undefined {
  if (given === undefined) return undefined;
  const date = new Date(given);
  if (Number.isNaN(date.getTime())) throw new ArgumentError(`${name}: write a time, as 2026-11-21T10:00:00Z`);
  return date.toISOString();
}

/** null where it is no such list. */
export function readActivity(answer: unknown): ActivityPage | null {
  if (!isRecord(answer) || !Array.isArray(answer.deliveries) || !answer.deliveries.every(isDelivery)) return null;
  const { deliveries, next } = answer;
  return { deliveries, ...(typeof next === "string" && { next }) };
}

function isDelivery(value: unknown): value is ActivityDelivery {
  if (!isRecord(value) || !isRecord(value.event) || !Array.isArray(value.attempts)) return false;
  const { id, state, repo, createdAt, attempts } = value;
  return [id, state, repo, createdAt].every((one) => typeof one === "string") && attempts.every(isRecord);
}
