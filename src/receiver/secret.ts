/** The secret check: who sends must know the secret. In constant time, before any of the body is read. */
import type { NextFunction, Request, Response } from "express";
import { HttpError } from "../errors.ts";
import { secretMatcher } from "../http/secret-matcher.ts";
import { SECRET_HEADER } from "../protocol/headers.ts";

/** Express middleware. No secrets: everything passes. */
export function checkSecret(secrets: readonly string[]) {
  if (secrets.length === 0) return (_request: Request, _response: Response, next: NextFunction) => next();
  const isSecret = secretMatcher(secrets);
  return (request: Request, _response: Response, next: NextFunction) => {
    const given = givenSecret(request);
    if (given === null) {
      throw new HttpError(401, "x-webhook-secret header not set: send the webhook's secret in it", {
        code: "secret_missing",
      });
    }
    if (!isSecret(given)) throw new HttpError(403, "invalid webhook secret", { code: "secret_invalid" });
    next();
  };
}

/** The header, else `?secret=` in the URL, which the Hub's documentation allows. */
function givenSecret(request: Request): string | null {
  const header = request.headers[SECRET_HEADER];
  if (typeof header === "string" && header !== "") return header;
  const query = request.url.indexOf("?");
  if (query < 0) return null;
  return new URLSearchParams(request.url.slice(query)).get("secret") || null;
}
