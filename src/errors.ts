/**
 * The errors of hubhook. Those that answer a request carry an HTTP status and a code that never changes;
 * those that stop a start carry every problem found, so that one look mends them all.
 */

import { types } from "node:util";

/** One thing that was not understood: where it stands and a sentence about it. */
export interface Issue {
  path: string;
  message: string;
}

interface HttpErrorOptions {
  /** Stable word for programs, as `payload_invalid`. Made from the status when left out. */
  code?: string;
  /** Response headers that belong to the answer, as `Allow` or `Retry-After`. */
  headers?: Record<string, string>;
  issues?: Issue[];
  cause?: unknown;
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** Anything but control characters and what has no place in one byte. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** These say where the body ends and what it is, and it is ours to write. */
const FRAMING = new Set(["content-length", "content-type", "transfer-encoding"]);

/**
 * An error that is an answer: its message is sent to the caller as it stands, so keep secrets out of it.
 *
 * @example throw new HttpError(409, "this dataset is being trained on already");
 */
export class HttpError extends Error {
  override readonly name: string = "HttpError";
  readonly status: number;
  readonly code: string;
  readonly headers: Record<string, string>;
  readonly issues: Issue[] | undefined;

  constructor(status: number, message: string, options: HttpErrorOptions = {}) {
    super(message, { cause: options.cause });
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw new RangeError(`an HttpError takes a status from 400 to 599, not ${status}`);
    for (const [name, value] of Object.entries(options.headers ?? {}))
      if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value) || FRAMING.has(name.toLowerCase()))
        throw new RangeError(`an HttpError cannot send the header ${JSON.stringify(`${name}: ${value}`)}`);
    this.status = status;
    this.code = options.code ?? `http_${status}`;
    this.headers = options.headers ?? {};
    this.issues = options.issues;
  }

  /** The body of the answer, the same in every room of the house. */
  toBody(requestId: string): ErrorBody {
    return { error: this.message, code: this.code, requestId, ...(this.issues && { issues: this.issues }) };
  }
}

export interface ErrorBody {
  error: string;
  code: string;
  requestId: string;
  issues?: Issue[];
}

/** Thrown by a handler: no further attempt will help, so make none. */
export class PermanentError extends Error {
  override readonly name = "PermanentError";
}

/** A start that cannot go on. `problems` are whole sentences, one a line. */
export class StartError extends Error {
  override readonly name: string = "StartError";
  readonly problems: string[];

  constructor(headline: string, problems: string[]) {
    super([headline, ...problems.map((problem) => `  - ${problem}`)].join("\n"));
    this.problems = problems;
  }
}

/** Not by instanceof alone: an error may come from another realm, as Node's own do under a test runner. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}

/** Whatever was thrown, as an Error. */
export function toError(thrown: unknown): Error {
  if (isError(thrown)) return thrown;
  return new Error(typeof thrown === "string" ? thrown : `a value that is no Error was thrown: ${describe(thrown)}`);
}

function describe(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
