import { PermanentError, toError } from "../errors.ts";
import type { Clock } from "./clock.ts";
import {
  AttemptFailure,
  type AttemptOutcome,
  type AttemptTools,
  type DeliveryToRun,
  type MakeAttempt,
} from "./delivery.ts";

const LOG_LIMIT = 16_000;
const RESPONSE_LIMIT = 20_000;
const ERROR_LIMIT = 4_000;

/** How an attempt ended, in the words of the file. */
export interface Ending {
  outcome: AttemptOutcome;
  /** Wall clock at its begin, and how long it took. */
  at: number;
  ms: number | null;
  error: string | null;
  log: string | null;
  /** JSON. */
  response: string | null;
  /** No further attempt will help. */
  permanent: boolean;
  /** The gap that the failed attempt asked for, milliseconds. */
  wished: number | undefined;
}

export interface RunningAttempt {
  /** Ends it as interrupted: the process stops. */
  interrupt(): void;
}

/**
 * Makes one attempt and calls `onEnd` exactly once. It has then ended for the engine, whatever the function still does:
 * a late return, throw or log line is ignored. With a `timeoutMs` of Infinity it may take as long as it likes.
 */
export function makeAttempt(
  make: MakeAttempt,
  delivery: DeliveryToRun,
  { clock, timeoutMs }: { clock: Clock; timeoutMs: number },
  onEnd: (ending: Ending) => void,
): RunningAttempt {
  const attempt = new Attempt(clock, timeoutMs, onEnd);
  attempt.make(make, delivery);
  return attempt;
}

/**
 * A class for the sake of `signal`: a getter in an object literal makes a hidden class for each object, and that keeps
 * all that the getter sees, as the delivery, until V8's next full collection.
 */
class Attempt implements AttemptTools, RunningAttempt {
  readonly #clock: Clock;
  readonly #onEnd: (ending: Ending) => void;
  readonly #at: number;
  readonly #begun: number;
  readonly #cancelTimer: (() => void) | undefined;
  #log: BoundedLog | undefined;
  #controller: AbortController | undefined;
  #aborted: Error | undefined;
  #over = false;

  constructor(clock: Clock, timeoutMs: number, onEnd: (ending: Ending) => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
    this.#at = clock.now();
    this.#begun = clock.monotonic();
    if (timeoutMs < Number.POSITIVE_INFINITY)
      this.#cancelTimer = clock.setTimer(() => this.#late(timeoutMs), timeoutMs);
  }

  make(make: MakeAttempt, delivery: DeliveryToRun): void {
    try {
      const result = make(delivery, this);
      if (isThenable(result))
        result.then(
          (value) => this.#succeed(value),
          (error) => this.#fail(error),
        );
      else this.#succeed(result);
    } catch (error) {
      this.#fail(error);
    }
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  readonly log = (line: string): void => {
    if (this.#over) return;
    this.#log ??= new BoundedLog();
    this.#log.add(line);
  };

  interrupt(): void {
    this.#abort("interrupted", STOPPED);
  }

  #late(timeoutMs: number): void {
    // One more turn of the loop: an answer may have come in while somebody else held the processor.
    setImmediate(() => {
      if (!this.#over) this.#abort("timed out", `still running after ${timeoutMs / 1000} s`);
    });
  }

  #abort(outcome: AttemptOutcome, why: string): void {
    this.#aborted = new Error(why);
    this.#end(outcome, { error: why });
    this.#controller?.abort(this.#aborted);
  }

  #succeed(value: unknown): void {
    this.#end("succeeded", toJson(value));
  }

  #fail(thrown: unknown): void {
    try {
      const error = toError(thrown);
      const wished = wishedGap(error, this.#clock.now());
      const failure = error instanceof AttemptFailure ? error : undefined;
      const { response } = toJson(failure?.response);
      const permanent = failure?.permanent ?? error instanceof PermanentError;
      this.#end("failed", { error: explain(error), permanent, wished, response });
    } catch {
      this.#end("failed", { error: "an error was thrown that cannot be read" });
    }
  }

  #end(outcome: AttemptOutcome, { error = null, response = null, permanent = false, wished }: Partial<Ending>): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelTimer?.();
    const ms = Math.max(0, Math.round(this.#clock.monotonic() - this.#begun));
    this.#onEnd({ outcome, at: this.#at, ms, error, log: this.#log?.text() ?? null, response, permanent, wished });
  }
}

const STOPPED = "the process stopped during this attempt";

/** The ending of an attempt that was due to begin when the process stopped. */
export function interrupted(at: number): Ending {
  const nothing = { log: null, response: null, permanent: false, wished: undefined };
  return { outcome: "interrupted", at, ms: 0, error: STOPPED, ...nothing };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** The work was done, so what JSON cannot hold is no failure: it becomes a note on the success. */
function toJson(value: unknown): { response: string | null; error: string | null } {
  if (value === undefined) return { response: null, error: null };
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    return { response: null, error: `what was returned cannot be kept as JSON: ${firstLine(error)}` };
  }
  if (text === undefined)
    return { response: null, error: `what was returned cannot be kept as JSON: a ${typeof value}` };
  if (text.length <= RESPONSE_LIMIT) return { response: text, error: null };
  return {
    response: JSON.stringify(text.slice(0, RESPONSE_LIMIT)),
    error: `what was returned has ${text.length} characters of JSON: the first ${RESPONSE_LIMIT} are kept`,
  };
}

function firstLine(error: unknown): string {
  return String(toError(error).message).split("\n", 1)[0] ?? "";
}

function explain(error: Error): string {
  const sentences = [error.message || error.name];
  for (let cause = error.cause; cause instanceof Error && sentences.length < 5; cause = cause.cause)
    if (cause.message) sentences.push(cause.message);
  return sentences.join(": ").slice(0, ERROR_LIMIT);
}

function wishedGap(error: Error, now: number): number | undefined {
  const wish = "retryAfter" in error ? error.retryAfter : undefined;
  const ms = wish instanceof Date ? wish.getTime() - now : typeof wish === "number" ? wish * 1000 : Number.NaN;
  // "At once" (0, or a time that has passed) is no wish that may shorten the schedule: it would be over in a moment.
  return ms > 0 ? Math.round(ms) : undefined;
}

class BoundedLog {
  readonly #lines: string[] = [];
  #length = 0;

  add(line: string): void {
    if (this.#length >= LOG_LIMIT) return;
    this.#lines.push(String(line).slice(0, LOG_LIMIT - this.#length));
    this.#length += line.length + 1;
    if (this.#length >= LOG_LIMIT) this.#lines.push("(more was logged than is kept)");
  }

  text(): string | null {
    return this.#lines.length > 0 ? this.#lines.join("\n") : null;
  }
}
