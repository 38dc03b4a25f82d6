import type { RunningAttempt } from "./attempt.ts";
import type { Lane } from "./lanes.ts";
import type { Candidate } from "./runs.ts";

/** An attempt, from the commit that marks it as running to the one that tells how it ended. */
export class Run {
  readonly candidate: Candidate;
  readonly lane: Lane;
  attempt: RunningAttempt | undefined;
  /** No further attempt after this one. */
  cancelled = false;
  /** Its end is not written yet. */
  ended = false;
  place = -1;

  constructor(candidate: Candidate, lane: Lane) {
    this.candidate = candidate;
    this.lane = lane;
  }
}

/** No Map: where things come and go, V8 keeps those that have gone, payloads and all, until its next full collection. */
export class OpenRuns {
  readonly #runs: Run[] = [];
  #running = 0;

  /** Those that have not ended. */
  get running(): number {
    return this.#running;
  }

  add(run: Run): void {
    run.place = this.#runs.push(run) - 1;
    this.#running++;
  }

  ended(run: Run): void {
    run.ended = true;
    this.#running--;
  }

  remove(run: Run): void {
    const last = this.#runs.pop();
    if (!last || last === run) return;
    this.#runs[run.place] = last;
    last.place = run.place;
  }

  all(): Run[] {
    return [...this.#runs];
  }
}
