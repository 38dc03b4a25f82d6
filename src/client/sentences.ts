/** What a hub or the network said, in words that may be shown. */
import { withoutSecret, withoutSecrets } from "../protocol/webhook.ts";
import type { HubErrorDetails } from "./hub-error.ts";
import type { Answer } from "./read-answer.ts";
import { retryAfterOf } from "./retry.ts";
import { isRecord } from "./webhook.ts";

/** Origin and path; what stands behind `?` may be secret. */
export function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

type Refused = Pick<HubErrorDetails, "status" | "code" | "requestId" | "reason" | "retryAfterMs">;

/**
 * What an answer with an error's status tells. The reason is the JSON body's, else that of `X-Error-Message`.
 * @param secrets never to be repeated, should the hub do so
 */
export function refusalOf(response: Response, { json }: Answer, secrets: readonly string[]): Refused {
  const { status, headers } = response;
  const body = isRecord(json) ? json : {};
  const clean = (text: unknown) =>
    typeof text === "string" ? oneLine(withoutSecret(withoutSecrets(text, secrets))) : undefined;
  return {
    status,
    reason: clean(body.error) ?? clean(body.message) ?? clean(headers.get("x-error-message")),
    code: clean(headers.get("x-error-code")) ?? clean(body.code),
    requestId: clean(headers.get("x-request-id")),
    retryAfterMs: retryAfterOf(status, headers, Date.now()) ?? undefined,
  };
}

/** `401 Unauthorized: Invalid username or password (try again in 5 s)` */
export function refusalSentence({ status, reason, retryAfterMs }: Refused, statusText: string, html: boolean): string {
  const said = reason ?? (html ? "a web page, and no reason" : undefined);
  const again = retryAfterMs === undefined ? "" : ` (try again in ${Math.ceil(retryAfterMs / 1000)} s)`;
  return `${[status, oneLine(statusText)].filter(Boolean).join(" ")}${said ? `: ${said}` : ""}${again}`;
}

const NETWORK: Record<string, string> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was cut",
  UND_ERR_SOCKET: "the connection was cut",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host's name cannot be looked up now",
  ENETUNREACH: "there is no way into that network",
  EHOSTUNREACH: "there is no way to that host",
  ETIMEDOUT: "no connection came about",
  UND_ERR_CONNECT_TIMEOUT: "no connection came about",
  UND_ERR_HEADERS_TIMEOUT: "it did not answer",
  ERR_SSL_WRONG_VERSION_NUMBER: "what listens there does not speak https",
};

/** Why a request failed on its way. `fetch` hides the cause behind "fetch failed". */
export function networkSentence(error: unknown): string {
  const { code, message, name } = ((error as { cause?: object }).cause ?? error) as Record<string, unknown>;
  if (name === "HTTPParserError") return "what answers there is no HTTP";
  if (typeof code === "string" && NETWORK[code] !== undefined) return NETWORK[code];
  return oneLine(`${message ?? code ?? ""}`) ?? "the connection failed";
}

/** The same error without the bytes that the parser stumbled over: they may repeat what was sent, and the token with it. */
export function withoutBytes(error: unknown): unknown {
  const { cause } = error as { cause?: unknown };
  if (isRecord(cause)) delete cause.data;
  return error;
}

/** A line of bounded length, without what could steer a terminal. */
function oneLine(text: string): string | undefined {
  const clean = text.replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu, " ").trim();
  return clean.slice(0, 500) || undefined;
}
