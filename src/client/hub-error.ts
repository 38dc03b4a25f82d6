/** What can go wrong between us and a hub. */

/**
 * - `refused`: the hub answered with an error; `status`, `code`, `reason` say which
 * - `redirected`: it sent us elsewhere, where the token must not go or the request cannot follow
 * - `not-understood`: it answered with success, and with something else than was asked for
 * - `unreachable`: no connection; `cut`: the answer ended before its end; `timeout`: it took too long
 * - `aborted`: the caller's signal; the error's name is then `AbortError`
 * - `unsupported`: only the embedded hub can do this
 */
export type HubErrorKind =
  | "refused"
  | "redirected"
  | "not-understood"
  | "unreachable"
  | "cut"
  | "timeout"
  | "aborted"
  | "unsupported";

export interface HubErrorDetails {
  kind: HubErrorKind;
  method: string;
  /** Origin and path: what stands behind `?` stays out. */
  url: string;
  status?: number;
  code?: string | undefined;
  requestId?: string | undefined;
  reason?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** A call that did not succeed. The message is a whole sentence and holds no token, no secret and no query. */
export class HubError extends Error {
  override readonly name: "HubError" | "AbortError";
  readonly kind: HubErrorKind;
  readonly method: string;
  readonly url: string;
  /** HTTP status of the answer; null when there was none. */
  readonly status: number | null;
  /** The hub's stable word, from `X-Error-Code` or the body: `RepoNotFound`, `webhook_unknown`. */
  readonly code: string | null;
  /** What a hub's people ask for when one writes to them: `X-Request-Id`. */
  readonly requestId: string | null;
  /** The hub's own sentence. */
  readonly reason: string | null;
  /** After this many milliseconds the hub is ready to be asked again; null: it did not say. */
  readonly retryAfterMs: number | null;

  constructor(message: string, details: HubErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = details.kind === "aborted" ? "AbortError" : "HubError";
    this.kind = details.kind;
    this.method = details.method;
    this.url = details.url;
    this.status = details.status ?? null;
    this.code = details.code ?? null;
    this.requestId = details.requestId ?? null;
    this.reason = details.reason ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
  }
}

/** A call that was not made: something that was given for it cannot be right. */
export class ArgumentError extends TypeError {
  override readonly name = "ArgumentError";
}
