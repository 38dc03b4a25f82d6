import type { Ending } from "./attempt.ts";
import type { DeliveryToRun } from "./delivery.ts";
import { idToText } from "./ids.ts";
import { CANCELLED, FAILED, FRESH, type Ledger, RUNNING, SUCCEEDED, WAITING } from "./ledger.ts";
import { type DeliveriesSettings, nextGap } from "./settings.ts";

/** A delivery that may run now. */
export interface Candidate {
  id: number;
  receiver: number;
  key: string | null;
  serial: string | null;
  scope: string;
  action: string;
  repo: string;
  state: number;
  attempts: number;
  tries: number;
  created: number;
  replayOf: number | null;
  bytes: number;
  headers: Record<string, string>;
  payload: string;
}

/** A delivery whose attempt was running when the process died. */
type Died = Pick<Candidate, "id" | "receiver" | "serial" | "attempts" | "tries" | "bytes"> & { started: number };

/** A delivery that has no attempt running. */
export interface Pending {
  id: number;
  receiver: number;
  serial: string | null;
  state: number;
  due: number | null;
  bytes: number;
}

/** What a delivery became, and the delivery of its serial key whose turn it is now. */
export interface Aftermath {
  state: number;
  due: number | undefined;
  next: { due: number } | undefined;
}

const CANDIDATE = `
  SELECT d.id, d.receiver, d.key, d.serial, d.scope, d.action, d.repo, d.state, d.attempts, d.tries, d.created,
         d.replay_of replayOf, d.bytes, c.headers, c.payload
  FROM deliveries d`;
// Where an index is partial, its condition comes before any `?`: else SQLite prepares the statement anew for every value.
const CONTENT = "JOIN deliveries_content c ON c.id = d.content";
/** What a list shows of an error; the attempt keeps all of it. */
const LAST_ERROR_LIMIT = 500;

/** Attempts in the file: which may begin, that one began, how it ended. Every call is made inside a transaction. */
export class Runs {
  readonly #ledger: Ledger;
  readonly #settings: DeliveriesSettings;
  readonly #random: () => number;
  readonly #fresh;
  readonly #oldestFresh;
  readonly #pending;
  readonly #due;
  readonly #nextDue;
  readonly #start;
  readonly #park;
  readonly #finish;
  readonly #attempt;
  readonly #nextOfSerial;
  readonly #cancel;

  constructor(ledger: Ledger, settings: DeliveriesSettings, random: () => number) {
    const { database } = ledger;
    this.#ledger = ledger;
    this.#settings = settings;
    this.#random = random;
    this.#fresh = database.prepare(
      `${CANDIDATE} NOT INDEXED ${CONTENT} WHERE d.id > ? AND d.state = 0 ORDER BY d.id LIMIT ?`,
    );
    this.#oldestFresh = database.prepare(
      "SELECT id, created FROM deliveries NOT INDEXED WHERE id > ? AND state = 0 ORDER BY id LIMIT 1",
    );
    this.#pending = database.prepare(
      "SELECT id, receiver, serial, state, due, bytes FROM deliveries WHERE id = ? AND state IN (0, 2)",
    );
    this.#due = database.prepare(
      `${CANDIDATE} INDEXED BY deliveries_due ${CONTENT}
       WHERE d.due IS NOT NULL AND d.receiver = ? AND d.due <= ? ORDER BY d.due, d.id LIMIT ?`,
    );
    this.#nextDue = database.prepare(
      "SELECT due FROM deliveries INDEXED BY deliveries_due WHERE due IS NOT NULL AND receiver = ? ORDER BY due LIMIT 1",
    );
    this.#start = database.prepare(
      "UPDATE deliveries SET state = 3, due = NULL, attempts = attempts + 1, tries = tries + 1, started = ? WHERE id = ?",
    );
    this.#park = database.prepare("UPDATE deliveries SET state = 2, due = ? WHERE id = ?");
    this.#finish = database.prepare(
      `UPDATE deliveries SET state = ?, due = ?, attempts = ?, tries = ?, started = NULL, finished = ?, error = ?
       WHERE id = ?`,
    );
    this.#attempt = database.prepare("INSERT INTO deliveries_attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    this.#nextOfSerial = database.prepare(
      `UPDATE deliveries SET due = ? WHERE id = (
         SELECT id FROM deliveries INDEXED BY deliveries_serial
         WHERE serial IS NOT NULL AND state IN (0, 2, 3) AND receiver = ? AND serial = ? ORDER BY id LIMIT 1)`,
    );
    this.#cancel = database.prepare("UPDATE deliveries SET state = 5, due = NULL, finished = ? WHERE id = ?");
  }

  /** Deliveries that nobody has looked at yet, in order of arrival from the one after `id` on. */
  fresh(id: number, limit: number): Candidate[] {
    return this.#fresh.all<CandidateRow>(id, limit).map(toCandidate);
  }

  /** Deliveries of one receiver that are due, the longest due first. */
  due(receiver: number, now: number, limit: number): Candidate[] {
    return this.#due.all<CandidateRow>(receiver, now, limit).map(toCandidate);
  }

  nextDue(receiver: number): number {
    return this.#nextDue.get<{ due: number }>(receiver)?.due ?? Number.POSITIVE_INFINITY;
  }

  /** When the first fresh delivery after `id` arrived, by the wall clock. */
  oldestFresh(id: number): number | undefined {
    let row = this.#oldestFresh.get<{ id: number; created: number }>(id);
    while (row && this.#ledger.marks.has(row.id)) row = this.#oldestFresh.get(row.id);
    return row?.created;
  }

  /** Every receiver that has a delivery with a due time. Costs by the number of receivers, not of deliveries. */
  receiversDue(): { receiver: number; due: number }[] {
    return this.#ledger.database
      .prepare(
        `WITH RECURSIVE r (receiver) AS (
           SELECT min(receiver) FROM deliveries INDEXED BY deliveries_due WHERE due IS NOT NULL
           UNION ALL
           SELECT (SELECT min(receiver) FROM deliveries INDEXED BY deliveries_due
                   WHERE due IS NOT NULL AND receiver > r.receiver) FROM r WHERE receiver IS NOT NULL)
         SELECT receiver, (SELECT min(due) FROM deliveries INDEXED BY deliveries_due
                           WHERE due IS NOT NULL AND receiver = r.receiver) due
         FROM r WHERE receiver IS NOT NULL`,
      )
      .all<{ receiver: number; due: number }>();
  }

  /** From here on the attempt counts, whatever happens to the process. */
  start(candidate: Candidate): void {
    const { marks, wall } = this.#ledger;
    if (candidate.state === FRESH) marks.add(candidate.id, wall.now());
    else this.#start.run(wall.now(), candidate.id);
    this.#ledger.move(candidate.state, RUNNING, candidate.bytes);
  }

  /** Lets a fresh delivery wait for its receiver among those that are due. */
  park(candidate: Candidate, due: number): void {
    this.#park.run(due, candidate.id);
    this.#ledger.move(FRESH, WAITING, candidate.bytes);
  }

  /** @param cancelled it was cancelled while it ran: no further attempt */
  finish(run: Candidate, ending: Ending, cancelled: boolean): Aftermath {
    const { outcome, at, ms, error, log, response } = ending;
    this.#attempt.run(run.id, run.attempts + 1, at, ms, outcome, error, log, response);
    this.#ledger.marks.remove(run.id);
    return this.#settle(run, run.attempts + 1, run.tries + 1, ending, cancelled);
  }

  /** Ends what ran when the process died: each such attempt counts, so that what kills the process does so only so often. */
  recover(): void {
    const { database, marks } = this.#ledger;
    const columns = "id, receiver, serial, attempts, tries, started, bytes";
    const later = database
      .prepare(`SELECT ${columns} FROM deliveries INDEXED BY deliveries_by_state WHERE state = 3 AND state >= 2`)
      .all<Died>();
    for (const run of later) this.#died(run);
    const first = database.prepare(`SELECT ${columns} FROM deliveries WHERE id = ?`);
    for (const [id, started] of marks.all()) {
      const run = first.get<Died>(id);
      if (run) this.#died({ ...run, attempts: 1, tries: 1, started });
      marks.remove(id);
    }
  }

  #died(run: Died): void {
    const error = "the process died during this attempt";
    const ending = { outcome: "failed", error, permanent: false, wished: undefined } as const;
    this.#attempt.run(run.id, run.attempts, run.started, null, "interrupted", error, null, null);
    this.#settle(run, run.attempts, run.tries, ending, false);
  }

  pending(id: number): Pending | undefined {
    return this.#ledger.marks.has(id) ? undefined : this.#pending.get<Pending>(id);
  }

  /** Returns when the next of its serial key is due, if it was its turn. */
  cancel(delivery: Pending): { due: number } | undefined {
    this.#cancel.run(this.#ledger.wall.now(), delivery.id);
    this.#ledger.move(delivery.state, CANCELLED, delivery.bytes);
    const hadTheTurn = delivery.state === FRESH || delivery.due !== null;
    return hadTheTurn ? this.#passTurn(delivery.receiver, delivery.serial) : undefined;
  }

  #settle(
    run: { id: number; receiver: number; serial: string | null; bytes: number },
    attempts: number,
    tries: number,
    ending: Pick<Ending, "outcome" | "error" | "permanent" | "wished">,
    cancelled: boolean,
  ): Aftermath {
    const ledger = this.#ledger;
    const [state, due, counted] = this.#verdict(tries, ending, cancelled);
    const finished = state === WAITING ? null : ledger.wall.now();
    const error = ending.error?.slice(0, LAST_ERROR_LIMIT) ?? null;
    this.#finish.run(state, due ?? null, attempts, counted, finished, error, run.id);
    ledger.move(RUNNING, state, run.bytes);
    return { state, due, next: state === WAITING ? undefined : this.#passTurn(run.receiver, run.serial) };
  }

  #verdict(
    tries: number,
    { outcome, permanent, wished }: Pick<Ending, "outcome" | "permanent" | "wished">,
    cancelled: boolean,
  ): [state: number, due: number | undefined, tries: number] {
    if (outcome === "succeeded") return [SUCCEEDED, undefined, tries];
    if (cancelled) return [CANCELLED, undefined, tries];
    const now = this.#ledger.schedule.now();
    // A stop in good order is nobody's failure: the next start goes on at once.
    if (outcome === "interrupted") return [WAITING, now, tries - 1];
    const gap = permanent ? undefined : nextGap(this.#settings, tries, wished, this.#random);
    return gap === undefined ? [FAILED, undefined, tries] : [WAITING, now + gap, tries];
  }

  #passTurn(receiver: number, serial: string | null): { due: number } | undefined {
    if (serial === null) return undefined;
    const due = this.#ledger.schedule.now();
    return this.#nextOfSerial.run(due, receiver, serial) > 0 ? { due } : undefined;
  }

  toRun(candidate: Candidate): DeliveryToRun {
    return {
      id: idToText(candidate.id),
      receiver: this.#ledger.receivers.nameOf(candidate.receiver),
      key: candidate.key ?? undefined,
      scope: candidate.scope,
      action: candidate.action,
      repo: candidate.repo,
      payload: candidate.payload,
      headers: { ...candidate.headers },
      attempt: candidate.attempts + 1,
      createdAt: new Date(candidate.created),
      replayOf: candidate.replayOf === null ? undefined : idToText(candidate.replayOf),
    };
  }
}

interface CandidateRow extends Omit<Candidate, "headers"> {
  /** JSON. */
  headers: string | null;
}

function toCandidate(row: CandidateRow): Candidate {
  return { ...row, headers: row.headers === null ? {} : JSON.parse(row.headers) };
}
