/** What can be set of a hub. Durations in milliseconds. */

export interface User {
  name: string;
  token: string;
}

export interface HubSettings {
  host: string;
  port: number;
  /** Where others reach it; null: where it listens. */
  publicUrl: string | null;
  /** Names under which it may be asked, beside its address. */
  allowHosts: readonly string[];
  /** None: whoever reaches it is user `me`. */
  users: readonly User[];
  /** Requests of one user in five minutes. */
  rateLimit: number;
  /** Where webhooks may lead beside public addresses: CIDR ranges, addresses, host names. */
  allowTargets: readonly string[];
  timeoutMs: number;
  connectTimeoutMs: number;
  concurrency: number;
  concurrencyPerTarget: number;
  /** Deliveries of one webhook in 24 hours. */
  quota: number;
  suspendFailures: number;
  suspendAfterMs: number;
  /** The runner of Jobs; null: none. */
  jobs: "process" | null;
  jobsAtOnce: number;
  jobTimeoutMs: number;
  /** As `duplicate=0.1,delay=2s`; null: none. */
  chaos: string | null;
  scheduleMs: readonly number[];
  backlog: { count: number; bytes: number };
  retention: { ageMs: number; count: number };
  shutdownGraceMs: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const DEFAULT_HUB_SETTINGS: HubSettings = {
  host: "127.0.0.1",
  port: 7861,
  publicUrl: null,
  allowHosts: [],
  users: [],
  rateLimit: 10_000,
  allowTargets: [],
  timeoutMs: 30 * SECOND,
  connectTimeoutMs: 10 * SECOND,
  concurrency: 256,
  concurrencyPerTarget: 32,
  quota: 1_000,
  suspendFailures: 100,
  suspendAfterMs: 24 * HOUR,
  jobs: null,
  jobsAtOnce: 2,
  jobTimeoutMs: 30 * MINUTE,
  chaos: null,
  scheduleMs: [5 * SECOND, 30 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR],
  backlog: { count: 1_000_000, bytes: 1_000_000_000 },
  retention: { ageMs: 30 * 24 * HOUR, count: 1_000_000 },
  shutdownGraceMs: 10 * SECOND,
};
