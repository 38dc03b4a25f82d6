import { type Ending, interrupted, makeAttempt } from "./attempt.ts";
import type { AttemptOutcome, DeliveryChange, MakeAttempt } from "./delivery.ts";
import { Holding } from "./holding.ts";
import { idToText } from "./ids.ts";
import { type Lane, Lanes } from "./lanes.ts";
import { type Ledger, RUNNING, stateName } from "./ledger.ts";
import { OpenRuns, Run } from "./open-runs.ts";
import type { Aftermath, Candidate, Runs } from "./runs.ts";
import type { DeliveriesSettings } from "./settings.ts";
import type { Operation } from "./writer.ts";

/**
 * The longest sleep. The process's timers do not see a machine that slept or a wall clock set forward,
 * so it looks at the clock this often, which touches no file.
 */
const LONGEST_SLEEP_MS = 60_000;
/** Fresh deliveries looked at in one transaction: those of busy receivers are passed over, each once. */
const LOOK_LIMIT = 256;
/** Due deliveries read at once where a gate may refuse them: those were read for nothing. */
const GATED_LOOK = 16;

export interface DispatcherParts {
  ledger: Ledger;
  runs: Runs;
  settings: DeliveriesSettings;
  make: MakeAttempt;
  /** Writes with this turn's transaction. */
  write(operation: Operation): void;
  wake(): void;
  tell(change: () => DeliveryChange): void;
}

/**
 * Decides what runs when. Each turn's transaction ends with `claim`, which marks what may begin now as running;
 * after the commit `claimed` begins those attempts. An attempt's end is handed to the writer and frees its place at once.
 */
export class Dispatcher {
  readonly attempts: Record<AttemptOutcome, number> = { succeeded: 0, failed: 0, "timed out": 0, interrupted: 0 };
  readonly #parts: DispatcherParts;
  readonly #lanes: Lanes;
  readonly #holding = new Holding();
  /** Fresh deliveries up to this id were looked at; and how many. */
  #lookedTo: number;
  #looked = 0;
  readonly #open = new OpenRuns();
  #claims: Run[] = [];
  /** Those that something due was looked for in this transaction. */
  #asked = new Set<number>();
  #dispatching = false;
  #freshFirst = false;
  #cancelTimer: (() => void) | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    const { settings, ledger, runs } = parts;
    this.#lanes = new Lanes((receiver) => {
      const name = ledger.receivers.nameOf(receiver);
      const limit = settings.perReceiver(name) ?? settings.concurrency;
      return { name, limit: Math.max(1, Math.min(limit, settings.concurrency)) };
    });
    this.#lookedTo = ledger.counts.seenTo;
    for (const { receiver, due } of runs.receiversDue()) this.#lanes.expect(receiver, due);
  }

  /** Nothing runs and nothing could begin now. */
  get quiet(): boolean {
    if (this.#open.running > 0 || this.#claims.length > 0) return false;
    if (!this.#dispatching) return true;
    return this.#parts.ledger.counts.fresh === 0 && this.#lanes.earliest() > this.#parts.ledger.schedule.now();
  }

  start(): void {
    this.#dispatching = true;
    this.#parts.wake();
  }

  hold(): void {
    this.#dispatching = false;
    this.#sleepUntil(Number.POSITIVE_INFINITY);
  }

  /** A waiting delivery of this receiver is due at that time. */
  expect(receiver: number, due: number): void {
    this.#lanes.expect(receiver, due);
  }

  /**
   * Inside the transaction: fresh deliveries that came in just now. While all fresh ones are in memory, these need not
   * be read back from the file.
   */
  offer(fresh: Candidate[]): void {
    if (!this.#dispatching || this.#parts.ledger.counts.fresh !== this.#holding.size + fresh.length) return;
    for (const candidate of fresh) {
      if (!this.#holding.add(candidate, this.#looked)) break;
      this.#looked++;
      this.#lookedTo = candidate.id;
    }
  }

  /** The earliest due time of anything that waits; Infinity for none. */
  earliestDue(): number {
    return this.#lanes.earliest();
  }

  /** When the oldest fresh delivery arrived, by the wall clock. */
  oldestFresh(): number | undefined {
    return this.#holding.oldest?.created ?? this.#parts.runs.oldestFresh(this.#lookedTo);
  }

  /** Inside the transaction: a fresh delivery is none any more, so what is held of them is read again. */
  forgetHeld(): void {
    this.#holding.clear();
    this.#lookedTo = this.#parts.ledger.counts.seenTo;
  }

  /** These make no further attempt after the one that runs. */
  giveUp(ids: number[]): void {
    const given = new Set(ids);
    for (const run of this.#open.all()) if (given.has(run.candidate.id)) run.cancelled = true;
  }

  /** Ends every running attempt as interrupted. */
  interrupt(): void {
    for (const run of this.#open.all()) {
      if (run.ended) continue;
      if (run.attempt) run.attempt.interrupt();
      else this.#ended(run, interrupted(this.#parts.ledger.wall.now()));
    }
  }

  /** Inside the transaction: marks as running what may begin now. */
  claim(): void {
    if (!this.#dispatching) return;
    const { ledger } = this.#parts;
    const now = ledger.schedule.now();
    // In turns, so that neither what was retried nor what is new can keep the other waiting.
    this.#freshFirst = !this.#freshFirst;
    if (this.#freshFirst) this.#claimFresh(now);
    this.#claimDue(now);
    if (!this.#freshFirst) this.#claimFresh(now);
  }

  /** After the commit. What is returned begins the attempts. */
  claimed(): () => void {
    const claims = this.#claims;
    this.#claims = [];
    this.#asked.clear();
    for (const run of claims) this.#open.add(run);
    this.#sleep();
    return () => this.#begin(claims);
  }

  /** After a rollback. */
  unclaimed(): void {
    const claims = this.#claims;
    this.#claims = [];
    this.forgetHeld();
    const { schedule, receivers } = this.#parts.ledger;
    const now = schedule.now();
    for (const { lane } of claims) {
      this.#leave(lane, now);
      this.#lanes.freed(lane, now);
    }
    this.#lanes.keepOnly((receiver) => receivers.has(receiver));
    // What was found of them is no longer so.
    for (const receiver of this.#asked) if (receivers.has(receiver)) this.#lanes.expect(receiver, now);
    this.#asked.clear();
  }

  get #free(): number {
    return this.#parts.settings.concurrency - this.#open.running - this.#claims.length;
  }

  #claimDue(now: number): void {
    const { runs } = this.#parts;
    // Looked at anew in each round: whoever leaves the gate may have made room for a lane that was not ready before.
    for (let ready = this.#lanes.ready(now); ready.size > 0 && this.#free > 0; ready = this.#lanes.ready(now)) {
      const share = Math.ceil(this.#free / ready.size);
      for (const lane of ready) {
        this.#asked.add(lane.receiver);
        const want = Math.min(share, this.#free, lane.limit - lane.running);
        if (this.#free <= 0) break;
        if (want <= 0) {
          // Its places went to what was held for it.
          this.#lanes.served(lane);
          continue;
        }
        const { wait, all } = this.#takeDue(lane, now, want);
        if (wait > 0) this.#lanes.reschedule(lane, now + wait);
        else if (all) this.#lanes.reschedule(lane, runs.nextDue(lane.receiver));
        else this.#lanes.served(lane);
      }
    }
  }

  #claimFresh(now: number): void {
    const { runs, ledger } = this.#parts;
    this.#claimHeld(now);
    let looked = 0;
    while (this.#free > 0 && ledger.counts.fresh > this.#holding.size && looked < LOOK_LIMIT) {
      const candidates = runs.fresh(this.#lookedTo, this.#free);
      const last = candidates.at(-1);
      if (!last) break;
      looked += candidates.length;
      this.#lookedTo = last.id;
      for (const candidate of candidates) if (!ledger.marks.has(candidate.id)) this.#look(candidate, now);
    }
    this.#looked += looked;
    for (let late = this.#overdue(); late; late = this.#overdue()) this.#park(late, now, 0);
    ledger.counts.seenTo = (this.#holding.oldest?.id ?? this.#lookedTo + 1) - 1;
    if (looked >= LOOK_LIMIT) this.#parts.wake();
  }

  #look(candidate: Candidate, now: number): void {
    const lane = this.#lanes.get(candidate.receiver);
    const mayRun = lane.nextDue > now && !this.#holding.has(lane.receiver);
    const wait = mayRun && lane.running < lane.limit ? this.#enter(lane) : undefined;
    if (wait === 0) this.#take(candidate, lane);
    else if (wait !== undefined || lane.nextDue <= now || !this.#holding.add(candidate, this.#looked))
      this.#park(candidate, now, wait ?? 0);
  }

  /** In rounds of one for each receiver. */
  #claimHeld(now: number): void {
    let receivers = this.#holding.receivers();
    while (receivers.length > 0 && this.#free > 0)
      receivers = receivers.filter((receiver) => this.#free > 0 && this.#claimOneHeld(receiver, now));
  }

  /** May there be another one for this receiver? */
  #claimOneHeld(receiver: number, now: number): boolean {
    const lane = this.#lanes.get(receiver);
    if (lane.running >= lane.limit) return false;
    const wait = this.#enter(lane);
    const candidate = wait === 0 ? this.#holding.take(receiver) : undefined;
    if (candidate) this.#take(candidate, lane);
    // A closed gate may stay so for long: whatever waits at it waits in the schedule.
    for (let held = wait > 0 && this.#holding.take(receiver); held; held = this.#holding.take(receiver))
      this.#park(held, now, wait);
    return this.#holding.has(receiver);
  }

  #overdue(): Candidate | undefined {
    return this.#holding.takeOverdue(this.#looked);
  }

  /** Puts a fresh delivery among those that wait in the schedule: due now, but not looked at before `wait` is over. */
  #park(candidate: Candidate, now: number, wait: number): void {
    this.#parts.runs.park(candidate, now);
    this.#lanes.expect(candidate.receiver, now + wait);
  }

  /** Takes what the gate lets in, up to `want`. `wait`: it let no more in; `all`: there is no more that is due. */
  #takeDue(lane: Lane, now: number, want: number): { wait: number; all: boolean } {
    const { runs, settings } = this.#parts;
    // Asked before the file is read: a gate may be closed for long.
    let wait = this.#enter(lane);
    if (wait > 0) return { wait, all: false };
    const most = settings.gate ? Math.min(want, GATED_LOOK) : want;
    const candidates = runs.due(lane.receiver, now, most);
    if (candidates.length === 0) this.#leave(lane, now);
    for (const [at, candidate] of candidates.entries()) {
      // Only for one that is there: who is refused is asked again when another leaves, and must have a use for it.
      if (at > 0) wait = this.#enter(lane);
      if (wait > 0) return { wait, all: false };
      this.#take(candidate, lane);
    }
    return { wait: 0, all: candidates.length < most };
  }

  #enter(lane: Lane): number {
    return this.#parts.settings.gate?.enter(lane.name) ?? 0;
  }

  #leave(lane: Lane, now: number): void {
    const { settings, ledger } = this.#parts;
    const next = settings.gate?.leave(lane.name);
    const receiver = next === undefined ? undefined : ledger.receivers.find(next);
    if (receiver !== undefined) this.#lanes.expect(receiver, now);
  }

  #take(candidate: Candidate, lane: Lane): void {
    this.#parts.runs.start(candidate);
    lane.running++;
    this.#claims.push(new Run(candidate, lane));
  }

  #begin(claims: Run[]): void {
    const { ledger, runs, settings, make, tell } = this.#parts;
    for (const run of claims) {
      if (run.ended) continue;
      const { candidate } = run;
      tell(() => this.#change(candidate, RUNNING));
      run.attempt = makeAttempt(
        make,
        runs.toRun(candidate),
        { clock: ledger.wall, timeoutMs: settings.attemptTimeoutMs },
        (ending) => this.#ended(run, ending),
      );
    }
  }

  #ended(run: Run, ending: Ending): void {
    const { ledger, runs, write, tell } = this.#parts;
    const { candidate, lane } = run;
    this.#open.ended(run);
    this.#leave(lane, ledger.schedule.now());
    this.#lanes.freed(lane, ledger.schedule.now());
    this.attempts[ending.outcome]++;
    let after: Aftermath;
    write({
      keep: true,
      work: () => {
        after = runs.finish(candidate, ending, run.cancelled);
        if (after.due !== undefined) this.#lanes.expect(candidate.receiver, after.due);
        if (after.next) this.#lanes.expect(candidate.receiver, after.next.due);
      },
      done: () => {
        this.#open.remove(run);
        tell(() => this.#change(candidate, after.state));
      },
      failed() {},
    });
  }

  #change(candidate: Candidate, state: number): DeliveryChange {
    const { ledger } = this.#parts;
    return {
      id: idToText(candidate.id),
      receiver: ledger.receivers.nameOf(candidate.receiver),
      state: stateName(state),
      attempts: candidate.attempts + 1,
      at: new Date(ledger.wall.now()),
    };
  }

  #sleep(): void {
    const canBegin = this.#dispatching && this.#free > 0;
    this.#sleepUntil(canBegin ? this.#lanes.nextDue() : Number.POSITIVE_INFINITY);
  }

  #sleepUntil(due: number): void {
    if (due === this.#timerAt) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerAt = due;
    if (due === Number.POSITIVE_INFINITY) return;
    const { ledger } = this.#parts;
    const wait = Math.max(0, due - ledger.schedule.now());
    this.#cancelTimer = ledger.wall.setTimer(() => this.#awake(due), Math.min(wait, LONGEST_SLEEP_MS));
  }

  #awake(due: number): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    if (due <= this.#parts.ledger.schedule.now()) this.#parts.wake();
    else this.#sleepUntil(due);
  }
}
