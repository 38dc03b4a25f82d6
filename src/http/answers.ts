/** How every answer leaves: one way to write JSON, one place where errors become HTTP. */
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { NextFunction, Request, Response } from "express";
import { HttpError, toError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { REQUEST_ID_HEADER } from "../protocol/headers.ts";

const REQUEST_ID = Symbol("request id");
const SAFE_ID = /^[\w.:-]{1,128}$/;

// Random once a process, then counted: an id must be unique, not secret, and this is the cheapest that is.
const PROCESS = randomBytes(6).toString("hex");
let requests = 0;

/** The caller's `X-Request-Id` when it is a sane one, else our own; the same for the whole request. */
export function requestIdOf(request: IncomingMessage & { [REQUEST_ID]?: string }): string {
  const known = request[REQUEST_ID];
  if (known !== undefined) return known;
  const given = request.headers[REQUEST_ID_HEADER];
  const id = typeof given === "string" && SAFE_ID.test(given) ? given : `${PROCESS}-${(++requests).toString(36)}`;
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
  response.writeHead(status, headOf(request, json, headers));
  response.end(request.method === "HEAD" ? undefined : json);
}

/** A flat list is the form that Node writes out with the least work. */
function headOf(request: IncomingMessage, json: string, headers?: Record<string, string>): string[] {
  const head = ["Content-Type", "application/json", "Content-Length", String(Buffer.byteLength(json))];
  head.push("X-Request-Id", requestIdOf(request));
  if (headers) head.push(...Object.entries(headers).flat());
  return head;
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
    const json = JSON.stringify(error.toBody(requestId));
    const headers = { ...headersOf(error), ...error.headers };
    if (request.complete) sendJson(request, response, error.status, json, headers);
    else refuseUnread(request, response, error.status, headers, json);
  };
}

/** Errors of Express and of body parsers carry a status too; what is below 500 is the caller's and may be told. */
export function toHttpError(thrown: unknown): HttpError {
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
 * Answers a caller whose body has not been read. The whole answer goes out at once; what the caller is still sending
 * is read away, for a moment, before the response ends. Ended earlier, an answer with `Connection: close` would reset
 * the connection, and the caller would see that in place of the answer.
 */
function refuseUnread(
  request: Request,
  response: Response,
  status: number,
  headers: Record<string, string>,
  json: string,
): void {
  // A client that waits for "100 Continue" may never send its body, so the connection cannot be used again.
  const waits = request.headers.expect !== undefined;
  response.writeHead(status, headOf(request, json, waits ? { ...headers, Connection: "close" } : headers));
  if (request.method === "HEAD") response.flushHeaders();
  else response.write(json);
  const giveUp = () => {
    response.end();
    request.destroy();
  };
  const timer = setTimeout(giveUp, DRAIN_MS);
  timer.unref();
  request.on("error", () => {});
  request.once("end", () => response.end());
  request.once("close", () => {
    clearTimeout(timer);
    response.end();
  });
  request.resume();
}
