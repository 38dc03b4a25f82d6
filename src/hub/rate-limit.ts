/** So many requests of one user in one window, told in the headers that the Hub's clients read. */
import type { NextFunction, Request, Response } from "express";
import type { Clock } from "../deliveries/clock.ts";
import { HttpError } from "../errors.ts";
import { callerOf } from "./callers.ts";

const WINDOW_MS = 300_000;

/** Express middleware. */
export function limitRate(limit: number, clock: Clock) {
  let counts = new Map<string, number>();
  let until = 0;
  return (_request: Request, response: Response, next: NextFunction): void => {
    const now = clock.monotonic();
    if (now >= until) {
      counts = new Map();
      until = now + WINDOW_MS;
    }
    const user = callerOf(response);
    const count = (counts.get(user) ?? 0) + 1;
    counts.set(user, count);
    const seconds = Math.max(1, Math.ceil((until - now) / 1000));
    const headers = {
      RateLimit: `"api";r=${Math.max(0, limit - count)};t=${seconds}`,
      "RateLimit-Policy": `"fixed window";"api";q=${limit};w=${WINDOW_MS / 1000}`,
    };
    if (count > limit)
      throw new HttpError(429, `too many requests: ${limit} in five minutes (HUB_RATE_LIMIT), again in ${seconds} s`, {
        code: "rate_limited",
        headers: { ...headers, "Retry-After": String(seconds) },
      });
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    next();
  };
}
