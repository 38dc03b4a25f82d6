/**
 * Who may see what is not for everyone (`/metrics`): whoever proves the secret; without a secret only who sits at this
 * very machine. "At this machine" means bound to loopback and asked for as localhost: a web page elsewhere can make a
 * browser talk to 127.0.0.1 under its own name (DNS rebinding), but cannot make it say `Host: localhost`.
 */
import type { NextFunction, Request, RequestHandler, Response } from "express";
import { HttpError } from "../errors.ts";
import { secretMatcher } from "./secret.ts";
import { isLoopback } from "./server.ts";

interface PrivateSurface {
  secrets: readonly string[];
  /** Does the server listen on loopback only, with nothing that leads the world there? */
  local(): boolean;
}

/** Failed tries per client address and minute. */
const TRIES = 10;
const WINDOW_MS = 60_000;

export function privateSurface({ secrets, local }: PrivateSurface): RequestHandler {
  const isSecret = secretMatcher(secrets);
  const failures = new FailedTries();
  return (request: Request, response: Response, next: NextFunction) => {
    response.setHeader("Cache-Control", "no-store");
    if (secrets.length === 0) {
      if (!local() || !asksForLocalhost(request)) throw noSecretSet();
      return next();
    }
    const client = request.ip ?? "unknown";
    const wait = failures.waitSeconds(client);
    if (wait > 0) {
      const message = `too many wrong secrets from this address: try again in ${wait} s`;
      throw new HttpError(429, message, { code: "too_many_tries", headers: { "Retry-After": String(wait) } });
    }
    const given = bearer(request);
    if (given === null) {
      const headers = { "WWW-Authenticate": 'Bearer realm="hubhook"' };
      const message = "this needs the webhook secret: send it as `Authorization: Bearer <WEBHOOK_SECRET>`";
      throw new HttpError(401, message, { code: "secret_missing", headers });
    }
    if (!isSecret(given)) {
      failures.add(client);
      throw new HttpError(403, "invalid webhook secret", { code: "secret_invalid" });
    }
    next();
  };
}

function noSecretSet(): HttpError {
  const message =
    "this is shown beyond localhost only to who knows the webhook secret, and none is set: set WEBHOOK_SECRET";
  return new HttpError(403, message, { code: "secret_not_set" });
}

function asksForLocalhost(request: Request): boolean {
  const host = (request.headers.host ?? "").replace(/:\d+$/, "");
  return isLoopback(host.replace(/^\[(.*)\]$/, "$1"));
}

function bearer(request: Request): string | null {
  return /^Bearer (\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? null;
}

/** Past so many addresses in one window, the rest share one count. */
const MAX_ADDRESSES = 10_000;

/** Counts per address, in one window after the other. */
class FailedTries {
  #counts = new Map<string, number>();
  #until = 0;

  add(client: string): void {
    const key = this.#key(client);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  waitSeconds(client: string): number {
    return (this.#counts.get(this.#key(client)) ?? 0) < TRIES
      ? 0
      : Math.max(1, Math.ceil((this.#until - Date.now()) / 1000));
  }

  #key(client: string): string {
    if (Date.now() >= this.#until) {
      this.#counts = new Map();
      this.#until = Date.now() + WINDOW_MS;
    }
    return this.#counts.has(client) || this.#counts.size < MAX_ADDRESSES ? client : "others";
  }
}
