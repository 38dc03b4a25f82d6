import type { Gate } from "./delivery.ts";

export interface DeliveriesSettings {
  /** Attempts running at once. */
  concurrency: number;
  /** Of those, at most so many for one receiver; undefined: no limit of its own. Asked when a receiver is first seen. */
  perReceiver: (receiver: string) => number | undefined;
  /** What receivers share; undefined: nothing. */
  gate?: Gate | undefined;
  /** Infinity: no limit. */
  attemptTimeoutMs: number;
  /** The gap before the second attempt, before the third …; after the last gap's attempt a delivery has failed. */
  scheduleMs: readonly number[];
  /** Each gap is made longer or shorter by at most this share, so that what failed together does not return together. */
  jitter: number;
  /** What may wait or run; beyond it nothing is accepted. */
  backlog: { count: number; bytes: number };
  /** The largest payload. */
  payloadBytes: number;
  /** Finished deliveries older than `ageMs`, or beyond the newest `count`, are removed, and their keys with them. */
  retention: { ageMs: number; count: number };
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const DEFAULT_SETTINGS: DeliveriesSettings = {
  concurrency: 16,
  perReceiver: () => undefined,
  attemptTimeoutMs: 5 * MINUTE,
  scheduleMs: [5 * SECOND, 30 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR],
  jitter: 0.2,
  backlog: { count: 1_000_000, bytes: 1_000_000_000 },
  payloadBytes: 5_000_000,
  retention: { ageMs: 30 * 24 * HOUR, count: 1_000_000 },
};

/**
 * How long to wait before the next attempt; undefined when the schedule is over.
 * @param tries attempts of this schedule that have failed, at least 1
 * @param wished what the failed attempt asked for (Retry-After), milliseconds
 */
export function nextGap(
  settings: DeliveriesSettings,
  tries: number,
  wished: number | undefined,
  random: () => number,
): number | undefined {
  const gap = settings.scheduleMs[tries - 1];
  if (gap === undefined) return undefined;
  const longest = settings.scheduleMs.at(-1) ?? gap;
  if (wished !== undefined) return Math.min(wished, longest);
  return Math.round(gap * (1 + settings.jitter * (2 * random() - 1)));
}
