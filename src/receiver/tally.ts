/** Counts of what went through the endpoints. Plain numbers on the hot path; `metrics.ts` writes them out. */

/** Upper bounds in seconds: from what a lean handler takes to the 30 s after which the Hub gives up. */
export const DURATION_BOUNDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30];

export interface DurationCounts {
  /** Per bound, then one for all that took longer. */
  buckets: number[];
  sum: number;
  count: number;
}

export class Tally {
  /** endpoint → status → how many */
  readonly answers = new Map<string, Map<number, number>>();
  readonly durations = new Map<string, DurationCounts>();

  count(endpoint: string, status: number, ms: number): void {
    const statuses = this.answers.get(endpoint) ?? new Map<number, number>();
    if (statuses.size === 0) this.answers.set(endpoint, statuses);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);

    let duration = this.durations.get(endpoint);
    if (!duration) {
      duration = { buckets: new Array<number>(DURATION_BOUNDS.length + 1).fill(0), sum: 0, count: 0 };
      this.durations.set(endpoint, duration);
    }
    const seconds = ms / 1000;
    const bound = DURATION_BOUNDS.findIndex((limit) => seconds <= limit);
    const bucket = bound < 0 ? DURATION_BOUNDS.length : bound;
    duration.buckets[bucket] = (duration.buckets[bucket] ?? 0) + 1;
    duration.sum += seconds;
    duration.count++;
  }
}
