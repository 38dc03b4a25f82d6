/** How every answer leaves: one way to write JSON, one place where errors become HTTP. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { NextFunction, Request, Response } from "express";
import { HttpError, toError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { REQUEST_ID_HEADER } from "../protocol/headers.ts";

const REQUEST_ID = Symbol("request id");
const SAFE_ID = /^[\w.:-]{1,128}$/;

/** The caller's `X-Request-Id` when it is a sane one, else our own; the same for the whole request. */
export function requestIdOf(request: IncomingMessage & { [REQUEST_ID]?: string }): string {
  const known = request[REQUEST_ID];
  if (known !== undefined) return known;
  const given = request.headers[REQUEST_ID_HEADER];
  const id = typeof given === "string" && SAFE_ID.test(given) ? given : randomUUID();
  request[REQUEST_ID] = id;
  return id;
}

/** Writes a JSON text. Lean on purpose: this is the end of every delivery. */
export function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  json: string,
  headers?: Record<string, string>,
): void {
  // A flat list is the form that Node writes out with the least work.
  const head = ["Content-Type", "application/json", "Content-Length", String(Buffer.byteLength(json))];
  head.push("X-Request-Id", requestIdOf(request));
  if (headers) head.push(...Object.entries(headers).flat());
  response.writeHead(status, head);
  response.end(request.method === "HEAD" ? undefined : json);
}

export function sendNothing(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(204, ["X-Request-Id", requestIdOf(request)]);
  response.end();
}

/** The last route: nothing else answered. `next` is a sentence on where to look, as "GET /api/endpoints lists …". */
export function answerUnknownPath(next: string) {
  return (request: Request): never => {
    throw new HttpError(404, `there is nothing at ${request.path}: ${next}`, { code: "not_found" });
  };
}

/**
 * The last middleware: the only place where an error becomes an answer. What is not an HttpError tells no details.
 * @param headersOf further headers of an error's answer, where a room's callers read some
 */
export function answerErrors(log: Logger, headersOf: (error: HttpError) => Record<string, string> = () => ({})) {
  return (thrown: unknown, request: Request, response: Response, _next: NextFunction) => {
    const requestId = requestIdOf(request);
    const error = toHttpError(thrown);
    if (error.status >= 500 && error.status !== 503)
      log.error(toError(thrown).message, { path: request.path, requestId, error: toError(error.cause ?? thrown) });
    if (response.headersSent) return void response.destroy();
    const unread = !request.complete;
    // A client that waits for "100 Continue" has sent no body and, after this answer, must not: end the connection.
    const waits = unread && request.headers.expect !== undefined;
    const headers = { ...headersOf(error), ...error.headers, ...(waits && { Connection: "close" }) };
    sendJson(request, response, error.status, JSON.stringify(error.toBody(requestId)), headers);
    if (unread && !waits) drain(request);
  };
}

/** Errors of Express and of body parsers carry a status too; what is below 500 is the caller's and may be told. */
function toHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown;
  const { status, message, type } = thrown as { status?: unknown; message?: string; type?: string };
  if (typeof status === "number" && status >= 400 && status < 500)
    return new HttpError(status, message ?? "the request was not understood", { code: type?.replaceAll(".", "_") });
  return new HttpError(500, "the request failed here; the log tells why, under this request id", {
    code: "internal_error",
    cause: thrown,
  });
}

const DRAIN_MS = 2000;

/**
 * Reads away, for a moment, what a refused caller is still sending: closing at once would reset the connection, and
 * the caller would see that in place of its answer.
 */
function drain(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), DRAIN_MS);
  timer.unref();
  request.once("close", () => clearTimeout(timer));
  request.on("error", () => {});
  request.resume();
}
