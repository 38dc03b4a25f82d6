/** From bytes on a socket to a payload: read within a limit, decoded, parsed and checked, in that order. */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { HttpError, type Issue } from "../errors.ts";
import { checkable, isPlainPayload, payloadSchema, type WebhookPayload } from "../protocol/payload.ts";
import { issuesOf, kindOf } from "./endpoint.ts";

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const OTHER_CHARSET = /charset\s*=\s*"?(?!utf-?8\b)[\w-]/i;

/** 415 for what is not JSON by its headers. */
export function refuseOtherContent(request: IncomingMessage): void {
  const type = request.headers["content-type"] ?? "";
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (type === "application/json" && encoding === "identity") return;
  if (!JSON_TYPE.test(type)) refuse(`expected content-type application/json, found ${type || "none"}`);
  if (OTHER_CHARSET.test(type)) refuse(`expected UTF-8, found ${type}`);
  if (encoding !== "identity") refuse(`expected a body that is not compressed, found content-encoding ${encoding}`);
}

function refuse(message: string): never {
  throw new HttpError(415, message, { code: "content_type_unsupported" });
}

function tooLarge(limit: number): HttpError {
  const message = `the body is larger than ${limit} bytes: BODY_LIMIT sets how much the receiver takes`;
  return new HttpError(413, message, { code: "body_too_large" });
}

/** 413 for what says itself that it is too large, before any of it is read. */
export function refuseLargeContent(request: IncomingMessage, limit: number): void {
  if (Number(request.headers["content-length"] ?? 0) > limit) throw tooLarge(limit);
}

const NO_BYTES = Buffer.alloc(0);

/** Reads at most `limit` bytes. Says nothing when the sender goes away: there is nobody left to answer. */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  done: (error: HttpError | null, body: Buffer) => void,
): void {
  let first: Buffer | null = null;
  let more: Buffer[] | null = null;
  let size = 0;
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) {
      request.off("data", onData);
      request.off("end", onEnd);
      done(tooLarge(limit), NO_BYTES);
    } else if (first === null) first = chunk;
    else if (more === null) more = [first, chunk];
    else more.push(chunk);
  };
  const onEnd = () => done(null, more ? Buffer.concat(more, size) : (first ?? NO_BYTES));
  request.on("data", onData);
  request.on("end", onEnd);
  if (request.headers.expect !== undefined) response.writeContinue();
}

/**
 * The payload as it was sent: nothing dropped, nothing coerced, but for keys called `__proto__`, which could change
 * the prototype of whatever a handler copies them into.
 */
export function parsePayload(text: string): WebhookPayload {
  const value = parseJson(text);
  if (isPlainPayload(value)) return value;
  const checked = payloadSchema.safeParse(checkable(value));
  if (checked.success) return value as WebhookPayload;
  const object = typeof value === "object" && value !== null && !Array.isArray(value);
  const found = object
    ? issuesOf(checked.error)
    : [{ path: "", message: `expected an object, found ${kindOf(value)}` }];
  throw invalidPayload(found);
}

/** Past so many the reader knows enough, and a small body full of mistakes must not become a huge answer. */
const MAX_ISSUES = 20;

export function invalidPayload(found: Issue[]): HttpError {
  const issues = found.slice(0, MAX_ISSUES);
  const list = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).slice(0, 3);
  const message = `the JSON is no payload of the Hub: ${list.join("; ")}${issues.length > 3 ? "; …" : ""}`;
  return new HttpError(422, message, { code: "payload_invalid", issues });
}

/** Any escape may spell the key, so a text with `\u` takes the slow way too. */
const mayNameProto = (text: string) => text.includes("__proto__") || text.includes("\\u");

/** 400 for bytes that are no text. */
export function textOf(body: Buffer): string {
  const text = body[0] === 0xef ? body.toString("utf8").replace(/^\uFEFF/, "") : body.toString("utf8");
  // Bytes that are no UTF-8 became replacement characters; only then is it worth to look at the bytes again.
  if (text.includes("\ufffd") && !isUtf8(body)) throw malformed("the bytes are not UTF-8");
  return text;
}

function parseJson(text: string): unknown {
  try {
    return mayNameProto(text) ? JSON.parse(text, withoutProto) : JSON.parse(text);
  } catch (error) {
    if (text.trim() === "") throw malformed("the body is empty");
    throw malformed(error instanceof SyntaxError ? error.message : "it is nested too deeply");
  }
}

function withoutProto(key: string, value: unknown): unknown {
  return key === "__proto__" ? undefined : value;
}

function malformed(why: string): HttpError {
  return new HttpError(400, `malformed JSON: ${why}`, { code: "json_malformed" });
}
