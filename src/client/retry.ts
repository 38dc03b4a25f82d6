/** When a call is made again, and how long to wait before that. */

/** Calls after the first. More: an outage is met with a flood; fewer: a hub that starts anew is an error. */
export const RETRIES = 2;
const FIRST_GAP_MS = 250;
/** A hub that asks for more patience than this gets an error that says so: nobody waits before a blank screen. */
const LONGEST_WAIT_MS = 20_000;

export interface Failed {
  method: string;
  /** HTTP status; null when no whole answer came. */
  status: number | null;
  /** What the hub asked for. */
  retryAfterMs: number | null;
}

/**
 * Milliseconds to wait before the next try, or null for none. What only reads is repeated after anything that may
 * pass. What changes something is repeated only when the hub said that it had not taken it, and when to come back.
 * @param tries how many were made
 */
export function waitBeforeRetry(failed: Failed, tries: number, random: () => number): number | null {
  const { method, status, retryAfterMs } = failed;
  if (tries > RETRIES) return null;
  const refusedForNow = status === 429 || status === 503;
  const mayPass = status === null || status >= 500 || refusedForNow;
  const safe = method === "GET" ? mayPass : refusedForNow && retryAfterMs !== null;
  if (!safe || (retryAfterMs ?? 0) > LONGEST_WAIT_MS) return null;
  const gap = FIRST_GAP_MS * 3 ** (tries - 1);
  // Never sooner than asked for, and not all callers at once.
  return Math.max(retryAfterMs ?? 0, gap / 2) + (gap / 2) * random();
}

/** What `Retry-After` or the rate limit's headers ask for, in milliseconds. */
export function retryAfterOf(status: number, headers: Headers, now: number): number | null {
  const asked = afterMs(headers.get("retry-after"), now);
  if (asked !== null || status !== 429) return asked;
  // `ratelimit: "api";r=0;t=55`: requests left, seconds until there are more.
  const [, seconds] = /(?:^|[;,\s])t=(\d{1,9})\b/.exec(headers.get("ratelimit") ?? "") ?? [];
  return seconds === undefined ? null : Number(seconds) * 1000;
}

function afterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
