import { PermanentError, toError } from "../errors.ts";
import type { Clock } from "./clock.ts";
import { AttemptFailure, type AttemptOutcome, type DeliveryToRun, type MakeAttempt } from "./delivery.ts";

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
 * a late return, throw or log line is ignored.
 */
export function makeAttempt(
  make: MakeAttempt,
  delivery: DeliveryToRun,
  { clock, timeoutMs }: { clock: Clock; timeoutMs: number },
  onEnd: (ending: Ending) => void,
): RunningAttempt {
  const at = clock.now();
  const begun = clock.monotonic();
  const log = new BoundedLog();
  let controller: AbortController | undefined;
  let aborted: Error | undefined;
  let over = false;

  const end = (outcome: AttemptOutcome, more: Partial<Ending>) => {
    if (over) return;
    over = true;
    cancelTimer();
    onEnd({
      outcome,
      at,
      ms: Math.max(0, Math.round(clock.monotonic() - begun)),
      error: null,
      response: null,
      permanent: false,
      wished: undefined,
      ...more,
      log: log.text(),
    });
  };
  const abort = (outcome: AttemptOutcome, why: string) => {
    aborted = new Error(why);
    end(outcome, { error: why });
    controller?.abort(aborted);
  };
  const fail = (thrown: unknown) => {
    try {
      const error = toError(thrown);
      const wished = wishedGap(error, clock.now());
      const { response } = toJson(error instanceof AttemptFailure ? error.response : undefined);
      end("failed", { error: explain(error), permanent: error instanceof PermanentError, wished, response });
    } catch {
      end("failed", { error: "an error was thrown that cannot be read" });
    }
  };

  const cancelTimer = clock.setTimer(() => {
    // One more turn of the loop: an answer may have come in while somebody else held the processor.
    setImmediate(() => {
      if (!over) abort("timed out", `still running after ${timeoutMs / 1000} s`);
    });
  }, timeoutMs);

  const tools = {
    get signal() {
      if (!controller) {
        controller = new AbortController();
        if (aborted) controller.abort(aborted);
      }
      return controller.signal;
    },
    log(line: string) {
      if (!over) log.add(line);
    },
  };
  try {
    const result = make(delivery, tools);
    if (isThenable(result)) result.then((value) => end("succeeded", toJson(value)), fail);
    else end("succeeded", toJson(result));
  } catch (error) {
    fail(error);
  }
  return { interrupt: () => abort("interrupted", STOPPED) };
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
