/** Bodies: JSON of a bounded size, and a sentence of ours where one cannot be read. */
import express, { type NextFunction, type Request, type RequestHandler, type Response } from "express";
import { HttpError, toError } from "../errors.ts";

const LIMIT = 5_000_000;

/** Express middleware. */
export function readBody(): (RequestHandler | typeof refuseBody)[] {
  return [askForIt, express.json({ limit: LIMIT }), refuseBody];
}

/** A client that says "Expect: 100-continue" sends its body once it hears that somebody wants it. */
function askForIt(request: Request, response: Response, next: NextFunction): void {
  if (request.headers.expect !== undefined) response.writeContinue();
  next();
}

/** The parser's own words would repeat what it stumbled over, which may be a secret. */
function refuseBody(thrown: unknown, _request: Request, _response: Response, next: NextFunction): void {
  const { status, type, message = "" } = thrown as { status?: unknown; type?: string; message?: string };
  if (type === "entity.parse.failed") {
    const [where = ""] = /at position \d+( \(line \d+ column \d+\))?$/.exec(message) ?? [];
    next(
      new HttpError(400, `the body is not valid JSON, an object {…}${where && `: ${where}`}`, {
        code: "json_malformed",
      }),
    );
  } else if (type === "entity.too.large")
    next(new HttpError(413, `the body is larger than ${LIMIT / 1_000_000} MB`, { code: "body_too_large" }));
  else if (status === 400 && type === undefined)
    next(
      new HttpError(400, "the body cannot be unpacked: is it what content-encoding says?", { code: "body_damaged" }),
    );
  else next(thrown);
}

/** Express middleware, behind the routes: JSON of any depth can be read, and not written again. */
export function refuseDepth(thrown: unknown, _request: Request, _response: Response, next: NextFunction): void {
  const { name, message } = toError(thrown);
  const tooDeep = name === "RangeError" && message.includes("call stack");
  next(tooDeep ? new HttpError(400, "the body is nested too deeply", { code: "json_malformed" }) : thrown);
}
