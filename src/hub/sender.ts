/** One POST to a webhook's url. Anything but a whole 2xx answer is a failure; redirects are not followed. */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { Agent, type Dispatcher } from "undici";
import type { Clock } from "../deliveries/clock.ts";
import { toError } from "../errors.ts";
import { guardedConnector, type Lookup } from "../http/address-guard.ts";
import { addressOf } from "./address.ts";

/** Of an answer so much is kept; the rest is not read. */
const MAX_RESPONSE_BYTES = 20_000;
/** What is kept of an attempt has room for 20,000 characters of JSON, and the text is not all of it. */
const MAX_JSON_CHARACTERS = 19_900;
const KEEP_ALIVE_MS = 30_000;

export interface Message {
  url: string;
  /** A stream only where the test of a receiver wants it cut. */
  body: string | Readable;
  /** Names and values in turn, the form that undici takes as it is. */
  headers: string[];
}

/** What came back. `status` is null where no answer came. */
export interface Outcome {
  status: number | null;
  body: string;
  /** A sentence; null for a success. */
  problem: string | null;
  /** Went wrong on purpose, which tells nothing of the target. */
  planned?: boolean;
  /** Seconds, or a moment. */
  retryAfter?: number | Date | undefined;
}

interface SenderOptions {
  timeoutMs: number;
  connectTimeoutMs: number;
  loopback: boolean;
  allow: readonly string[];
  clock: Clock;
  lookup?: Lookup | undefined;
}

export class Sender {
  readonly #agent: Agent;
  readonly #limit: TimeLimit;

  constructor({ timeoutMs, connectTimeoutMs, clock, ...guard }: SenderOptions) {
    this.#limit = new TimeLimit(timeoutMs, clock);
    this.#agent = new Agent({
      connect: guardedConnector({ connectTimeoutMs, setting: "HUB_ALLOW_TARGETS", ...guard }),
      // One clock for the whole attempt, below: these two would count on their own.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
    });
  }

  /** Never throws for what the other side does. `close()` ends what still runs. */
  send({ url, body, headers }: Message): Promise<Outcome> {
    const { origin, path } = addressOf(url);
    return new Promise((resolve) => {
      const exchange = new Exchange(this.#limit, resolve);
      try {
        // Not blocking: that keeps others off the connection until the answer begins, which no pipelining does anyway.
        this.#agent.dispatch({ origin, path, method: "POST", headers, body, blocking: false }, exchange);
      } catch (error) {
        exchange.onResponseError(undefined, toError(error));
      }
    });
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** Ends exchanges that take too long. One timer, for the one that is due first, does for all of them. */
class TimeLimit {
  readonly #ms: number;
  readonly #clock: Clock;
  /** No Set: where things come and go, V8 keeps those that have gone until its next full collection. */
  readonly #running: Exchange[] = [];
  #cancelTimer: (() => void) | undefined;

  constructor(ms: number, clock: Clock) {
    this.#ms = ms;
    this.#clock = clock;
  }

  begin(exchange: Exchange): void {
    exchange.deadline = this.#clock.monotonic() + this.#ms;
    exchange.place = this.#running.push(exchange) - 1;
    this.#cancelTimer ??= this.#clock.setTimer(() => this.#look(), this.#ms);
  }

  end({ place }: Exchange): void {
    const last = this.#running.pop();
    if (last && last.place !== place) {
      this.#running[place] = last;
      last.place = place;
    }
    if (this.#running.length > 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #look(): void {
    this.#cancelTimer = undefined;
    const now = this.#clock.monotonic();
    let next = Number.POSITIVE_INFINITY;
    for (const exchange of [...this.#running]) {
      if (exchange.deadline <= now) exchange.giveUp(this.#lateness(exchange.status));
      else next = Math.min(next, exchange.deadline);
    }
    if (next < Number.POSITIVE_INFINITY) this.#cancelTimer = this.#clock.setTimer(() => this.#look(), next - now);
  }

  #lateness(status: number | null): string {
    const seconds = `${this.#ms / 1000} s`;
    return status === null
      ? `no answer within ${seconds}`
      : `the answer (${status}) was not complete within ${seconds}`;
  }
}

/** One request and what comes back of it. Undici's own promise would make a stream of every answer first. */
class Exchange implements Dispatcher.DispatchHandler {
  status: number | null = null;
  /** Of the time limit: when it is over, and where it stands among those that run. */
  deadline = 0;
  place = 0;
  readonly #limit: TimeLimit;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];
  #size = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #resolve: ((outcome: Outcome) => void) | undefined;

  constructor(limit: TimeLimit, resolve: (outcome: Outcome) => void) {
    this.#limit = limit;
    this.#resolve = resolve;
    limit.begin(this);
  }

  /** Also while it still waits for a connection. */
  giveUp(problem: string): void {
    this.#end({ status: this.status, body: "", problem });
    this.#controller?.abort(new Error(problem));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (!this.#resolve) controller.abort(new Error("it is over already"));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // 1xx announces an answer and is none.
    if (status < 200) return;
    this.status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < MAX_RESPONSE_BYTES) return;
    this.#complete();
    controller.abort(new Error("enough was read"));
  }

  onResponseEnd(): void {
    this.#complete();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#end({ status: this.status, body: "", problem: sentence(error, this.status) });
  }

  #complete(): void {
    const { status } = this;
    if (status === null) return;
    const { problem, retryAfter } = verdict(status, this.#headers);
    this.#end({ status, body: textOf(this.#chunks, this.#size), problem, retryAfter });
  }

  #end(outcome: Outcome): void {
    if (!this.#resolve) return;
    this.#limit.end(this);
    this.#resolve(outcome);
    this.#resolve = undefined;
    this.#chunks.length = 0;
  }
}

function textOf(chunks: Buffer[], size: number): string {
  if (size === 0) return "";
  let text = Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES).toString("utf8");
  while (text.length > MAX_JSON_CHARACTERS / 6 && JSON.stringify(text).length > MAX_JSON_CHARACTERS)
    text = text.slice(0, Math.floor(text.length * 0.9));
  return text;
}

function verdict(status: number, headers: IncomingHttpHeaders): Pick<Outcome, "problem" | "retryAfter"> {
  if (status >= 200 && status < 300) return { problem: null };
  if (status >= 300 && status < 400) {
    const { location } = headers;
    const whither = typeof location === "string" ? ` to ${location.slice(0, 500)}` : "";
    return {
      problem: `answered ${status}, a redirect${whither}: it is not followed, name the address where it ends`,
    };
  }
  return { problem: `answered ${status}`, retryAfter: retryAfterOf(headers["retry-after"]) };
}

function retryAfterOf(header: string | string[] | undefined): number | Date | undefined {
  if (typeof header !== "string") return undefined;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header);
  const date = new Date(header);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

const SENTENCES: Record<string, string> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was cut before the answer was complete",
  UND_ERR_SOCKET: "the connection was cut before the answer was complete",
  UND_ERR_CONNECT_TIMEOUT: "the target could not be reached in time",
  EHOSTUNREACH: "no way leads to that address from here",
  ENETUNREACH: "no way leads to that address from here",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host's name cannot be looked up now",
};

function sentence(thrown: unknown, status: number | null): string {
  const error = thrown as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
  const one = error.errors?.[0] ?? error;
  const text = SENTENCES[one.code ?? ""] ?? `${one.message}${one.code ? ` (${one.code})` : ""}`;
  return status === null ? text : `answered ${status}, but ${text}`;
}
