/** A session cookie: proves that the browser once knew the secret, without holding it. Nothing is stored here. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Request, Response } from "express";

const NAME = "hubhook_session";
const LIFETIME_MS = 12 * 3_600_000;

/** The key is derived, so a cookie that leaks helps nobody to find the secret; a new secret ends all sessions. */
function sign(secret: string, until: string): string {
  const key = createHmac("sha256", secret).update("hubhook session").digest();
  return createHmac("sha256", key).update(until).digest("base64url");
}

export function beginSession(response: Response, secret: string): void {
  const until = String(Date.now() + LIFETIME_MS);
  response.cookie(NAME, `${until}.${sign(secret, until)}`, { ...attributes(response), maxAge: LIFETIME_MS });
}

export function endSession(response: Response): void {
  response.clearCookie(NAME, attributes(response));
}

export function hasSession(request: Request, secret: string): boolean {
  for (const [, until = "", signature = ""] of (request.headers.cookie ?? "").matchAll(COOKIE)) {
    const expected = Buffer.from(sign(secret, until));
    const given = Buffer.from(signature);
    if (given.length === expected.length && timingSafeEqual(given, expected) && Number(until) > Date.now()) return true;
  }
  return false;
}

const COOKIE = new RegExp(`(?:^|; ?)${NAME}=(\\d{1,15})\\.([\\w-]+)`, "g");

function attributes(response: Response) {
  return { httpOnly: true, sameSite: "strict", secure: response.req.secure, path: "/" } as const;
}
