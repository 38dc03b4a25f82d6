/** The secret check: who sends must know the secret. In constant time, before any of the body is read. */
import { hash, timingSafeEqual } from "node:crypto";
import type { NextFunction, Request, Response } from "express";
import { HttpError } from "../errors.ts";
import { SECRET_HEADER } from "../protocol/headers.ts";

// Digests have one length, so comparing them tells neither the secret's length nor where it first differs.
const digest = (text: string) => hash("sha256", text, "buffer");

/** Is the text one of the secrets? Every secret is compared, whichever fits. */
export function secretMatcher(secrets: readonly string[]): (given: string) => boolean {
  const digests = secrets.map(digest);
  return (given) => {
    const one = digest(given);
    let fits = false;
    for (const other of digests) fits = timingSafeEqual(one, other) || fits;
    return fits;
  };
}

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
