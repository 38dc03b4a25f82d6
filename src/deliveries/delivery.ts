/** The vocabulary of this room: what is taken in, what is kept, what is told. */

export type DeliveryState = "pending" | "running" | "succeeded" | "failed" | "cancelled";
export type AttemptOutcome = "succeeded" | "failed" | "timed out" | "interrupted";

/** One event owed to one receiver, as it is taken in. */
export interface NewDelivery {
  /** Who must get it: an endpoint's name or a webhook's id. */
  receiver: string;
  /** The sender's id of the event. Unique per receiver while the delivery is kept; left out: no dedupe. */
  key?: string | undefined;
  /** Deliveries of one receiver with the same serial key run one at a time, in order of arrival. */
  serial?: string | undefined;
  scope: string;
  action: string;
  /** `type:owner/name`. */
  repo: string;
  payload: string;
  /** Whatever should be remembered of the request. The caller leaves secrets out. */
  headers?: Record<string, string> | undefined;
  /** Run it again although it has succeeded before. */
  rerun?: boolean | undefined;
}

/**
 * `accepted`: it will run (again, under its old id, if it had failed or was cancelled).
 * `known`: it waits or runs already. `duplicate`: it has succeeded before, nothing is done.
 */
export interface Accepted {
  id: string;
  outcome: "accepted" | "known" | "duplicate";
}

/** A delivery as lists show it. */
export interface Delivery {
  id: string;
  receiver: string;
  key?: string | undefined;
  serial?: string | undefined;
  scope: string;
  action: string;
  repo: string;
  state: DeliveryState;
  /** How many attempts were begun. */
  attempts: number;
  /** When the next attempt is due. Absent where none is, and while an earlier delivery of its serial key is unfinished. */
  nextAttemptAt?: Date | undefined;
  createdAt: Date;
  finishedAt?: Date | undefined;
  replayOf?: string | undefined;
  /** Of the last failed attempt, or a note about the one that succeeded. */
  error?: string | undefined;
}

export interface Attempt {
  number: number;
  at: Date;
  /** Absent where the process died meanwhile. */
  ms?: number | undefined;
  outcome: AttemptOutcome;
  error?: string | undefined;
  /** What the attempt logged, a line each, at most 16 kB. */
  log: string[];
  /** What the attempt returned, as JSON gives it back; of more than 20 kB the beginning of the JSON text. */
  response?: unknown;
}

export interface DeliveryRecord extends Delivery {
  payload: string;
  headers: Record<string, string>;
  record: Attempt[];
}

/** What the function that makes an attempt is given. */
export interface DeliveryToRun {
  id: string;
  receiver: string;
  key?: string | undefined;
  scope: string;
  action: string;
  repo: string;
  payload: string;
  headers: Record<string, string>;
  /** 1 for the first. */
  attempt: number;
  createdAt: Date;
  replayOf?: string | undefined;
}

export interface AttemptTools {
  /** Aborted when the attempt has taken too long or the process stops. */
  readonly signal: AbortSignal;
  /** Keeps a line with the attempt. */
  log(line: string): void;
}

/**
 * Makes one attempt. What it returns is kept as JSON. A throw is a failed attempt: a `PermanentError` ends the schedule,
 * an error with `retryAfter` (seconds, or a Date) sets the next gap, at most the schedule's last.
 */
export type MakeAttempt = (delivery: DeliveryToRun, tools: AttemptTools) => unknown;

/** A failed attempt that has something to keep, as what the other side answered. */
export class AttemptFailure extends Error {
  override readonly name = "AttemptFailure";
  /** Kept with the attempt like what a success returns. */
  readonly response: unknown;
  readonly retryAfter: number | Date | undefined;
  /** No further attempt will help, so none is made. */
  readonly permanent: boolean;

  constructor(message: string, { response, retryAfter, permanent = false, cause }: AttemptFailureOptions = {}) {
    super(message, { cause });
    this.response = response;
    this.retryAfter = retryAfter;
    this.permanent = permanent;
  }
}

interface AttemptFailureOptions {
  response?: unknown;
  retryAfter?: number | Date | undefined;
  permanent?: boolean | undefined;
  cause?: unknown;
}

/**
 * Lets receivers that share something, as a host, run only so much together, or hold on altogether. Asked inside the
 * transaction, so it answers at once; every `enter` that let a delivery in is followed by one `leave`.
 */
export interface Gate {
  /** May one more delivery of this receiver begin? 0: yes; else the milliseconds after which to ask again. */
  enter(receiver: string): number;
  /** An attempt has ended. @returns a receiver that was refused and may be asked again now */
  leave(receiver: string): string | undefined;
}

export interface DeliveryFilter {
  /** The id, or how it begins. */
  id?: string | undefined;
  receiver?: string | undefined;
  state?: DeliveryState | undefined;
  /** Arrived at this moment or later. */
  since?: Date | undefined;
  /** Arrived before this moment. */
  until?: Date | undefined;
  scope?: string | undefined;
  action?: string | undefined;
  /** `type:owner/name`; with a `*`, which stands for anything, in either case of its letters. */
  repo?: string | undefined;
}

/** A change of state, as it is told to subscribers. */
export interface DeliveryChange {
  id: string;
  receiver: string;
  state: DeliveryState;
  attempts: number;
  at: Date;
}

export interface DeliveryStats {
  pending: number;
  running: number;
  /** Kept in the file; retention lowers these three. */
  succeeded: number;
  failed: number;
  cancelled: number;
  /** The moment by which the delivery that is most behind should have run. Absent where none is behind. */
  behindSince?: Date | undefined;
  /** Payload bytes of what is not finished. */
  backlogBytes: number;
  bytesOnDisk: number;
  /** Since the file was opened. */
  totals: {
    accepted: number;
    known: number;
    duplicate: number;
    refused: number;
    attempts: Record<AttemptOutcome, number>;
  };
}

export type DeliveriesHealth = { ok: true } | { ok: false; problem: string; since: Date };
