/** Calls a handler inside a request: its context, its deadline, its answer. */
import type { IncomingHttpHeaders } from "node:http";
import { inspect } from "node:util";
import { HttpError, toError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { SECRET_HEADER } from "../protocol/headers.ts";
import type { WebhookPayload } from "../protocol/payload.ts";
import type { WebhooksApi } from "../protocol/webhooks-api.ts";
import type { Endpoint } from "./endpoint.ts";
import type { HandlerContext, HandlerLog } from "./webhook.ts";

/** What every handler's context shares. */
export interface Surroundings {
  log: Logger;
  hub: { endpoint: string; token: string | null };
  /** Given from outside: the receiver knows no client. */
  webhooks: WebhooksApi;
}

interface Call {
  endpoint: Endpoint;
  headers: IncomingHttpHeaders;
  deliveryId: string;
  attempt: number;
  tools: {
    /** Read when the handler asks for it: most never do. */
    readonly signal: AbortSignal;
    /** Keeps a line of the handler's log with its attempt. */
    log?(line: string): void;
  };
}

/** Made for every call, so what few handlers ask for is made only when it is asked for. */
export class CallContext implements HandlerContext {
  readonly deliveryId: string;
  readonly attempt: number;
  readonly settings: unknown;
  readonly #call: Call;
  readonly #surroundings: Surroundings;
  #log: HandlerLog | undefined;

  constructor(call: Call, surroundings: Surroundings) {
    this.deliveryId = call.deliveryId;
    this.attempt = call.attempt;
    this.settings = call.endpoint.settings;
    this.#call = call;
    this.#surroundings = surroundings;
  }

  get signal(): AbortSignal {
    return this.#call.tools.signal;
  }

  get log(): HandlerLog {
    const { endpoint, deliveryId, tools } = this.#call;
    this.#log ??= handlerLog(this.#surroundings.log, { endpoint: endpoint.name, delivery: deliveryId }, tools);
    return this.#log;
  }

  get headers(): Record<string, string> {
    return headersToShow(this.#call.headers);
  }

  get hub() {
    const { endpoint, token } = this.#surroundings.hub;
    return { hubUrl: endpoint, ...(token !== null && { accessToken: token }) };
  }

  get webhooks(): WebhooksApi {
    return this.#surroundings.webhooks;
  }
}

function handlerLog(log: Logger, names: object, tools: Call["tools"]): HandlerLog {
  const write = (level: keyof HandlerLog) => (message: string, fields?: object) => {
    log.log(level, String(message), { ...fields, ...names });
    tools.log?.(`${level} ${message}${fields ? ` ${inspect(fields, { breakLength: Number.POSITIVE_INFINITY })}` : ""}`);
  };
  return { error: write("error"), warn: write("warn"), info: write("info"), debug: write("debug") };
}

const PRIVATE_HEADERS = [SECRET_HEADER, "authorization", "cookie", "proxy-authorization"];
/** They tell of the way the bytes came and not of the event, and would be stored with every delivery. */
const CONNECTION_HEADERS = ["connection", "keep-alive", "host", "content-length", "transfer-encoding", "te", "expect"];
const LEFT_OUT = new Set([...PRIVATE_HEADERS, ...CONNECTION_HEADERS]);

/** What a handler may see, and what is kept of a delivery. */
export function headersToShow(headers: IncomingHttpHeaders): Record<string, string> {
  const rest: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (!LEFT_OUT.has(name) && value !== undefined) rest[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return rest;
}

/**
 * The handler's result, or what `stillRunning` makes once the deadline has passed. `ended` hears of the true end, once,
 * also after the deadline, with what was thrown. What is thrown on is always an Error: to Express a thrown nothing, or
 * a word like "route", would be no failure but the wish to try the next route.
 */
export function callInTime(
  endpoint: Endpoint,
  payload: WebhookPayload,
  context: HandlerContext,
  deadlineMs: number,
  stillRunning: () => unknown,
  ended: (late: boolean, thrown: Error | null) => void,
): unknown {
  let promise: Promise<unknown>;
  try {
    const result = endpoint.handler(payload, context);
    if (!isPromise(result)) {
      ended(false, null);
      return result;
    }
    // Somebody else's thenable may answer twice; a promise of ours never does.
    promise = Promise.resolve(result);
  } catch (thrown) {
    const error = toError(thrown);
    ended(false, error);
    throw error;
  }
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      resolve(stillRunning());
    }, deadlineMs);
    promise.then(
      (value) => {
        clearTimeout(timer);
        ended(late, null);
        resolve(value);
      },
      (thrown: unknown) => {
        clearTimeout(timer);
        const error = toError(thrown);
        ended(late, error);
        reject(error);
      },
    );
  });
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** What the handler returned as JSON text; undefined when there is nothing to say. */
export function replyText(result: unknown): string | undefined {
  if (result === undefined) return undefined;
  let text: string | undefined;
  try {
    text = JSON.stringify(result);
  } catch (error) {
    throw handlerFailed(new Error(`the handler returned what JSON cannot hold: ${toError(error).message}`));
  }
  if (text === undefined)
    throw handlerFailed(new Error(`the handler returned a ${typeof result}, which JSON cannot hold`));
  return text;
}

/** What the caller is told when a handler throws: its own HttpError, else nothing but that it failed. */
export function handlerFailed(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown;
  const message = "the handler failed; the receiver's log tells why, under this request id";
  return new HttpError(500, message, { code: "handler_failed", cause: thrown });
}
