/**
 * Who may see what is not for everyone (`/metrics`, the inspector): whoever proves the secret; without a secret only
 * who sits at this very machine. "At this machine" means bound to loopback and asked for as localhost: a web page
 * elsewhere can make a browser talk to 127.0.0.1 under its own name (DNS rebinding), but not say `Host: localhost`.
 */
import express, { type NextFunction, type Request, type Response, Router } from "express";
import { HttpError } from "../errors.ts";
import { FailedTries } from "../http/failed-tries.ts";
import { secretMatcher } from "../http/secret-matcher.ts";
import { isLoopback } from "../http/server.ts";
import { beginSession, endSession, hasSession } from "./session.ts";

interface PrivateSurfaceOptions {
  secrets: readonly string[];
  /** Does the server listen on loopback only, with nothing that leads the world there? */
  local(): boolean;
}

export class PrivateSurface {
  readonly #secrets: readonly string[];
  readonly #local: () => boolean;
  readonly #isSecret: (given: string) => boolean;
  readonly #failures = new FailedTries();

  constructor({ secrets, local }: PrivateSurfaceOptions) {
    this.#secrets = secrets;
    this.#local = local;
    this.#isSecret = secretMatcher(secrets);
  }

  /** Express middleware: lets pass who may, and throws for all others. */
  readonly guard = (request: Request, response: Response, next: NextFunction): void => {
    response.setHeader("Cache-Control", "no-store");
    refuseForeignWrites(request);
    const [secret] = this.#secrets;
    if (secret === undefined) this.#refuseStrangers(request);
    else if (!hasSession(request, secret)) this.#checkBearer(request);
    next();
  };

  /** `POST /api/session {secret}` begins a browser's session, `DELETE` ends it. */
  routes(): Router {
    const routes = Router();
    routes.post("/api/session", express.json({ limit: "10kb" }), (request, response) => {
      refuseForeignWrites(request);
      const [secret] = this.#secrets;
      if (secret === undefined) this.#refuseStrangers(request);
      else {
        const given: unknown = (request.body as { secret?: unknown } | undefined)?.secret;
        if (typeof given !== "string") throw new HttpError(400, 'expected {"secret": "…"}', { code: "secret_missing" });
        this.#try(request, given);
        beginSession(response, secret);
      }
      response.status(204).end();
    });
    routes.delete("/api/session", (request, response) => {
      refuseForeignWrites(request);
      endSession(response);
      response.status(204).end();
    });
    return routes;
  }

  #refuseStrangers(request: Request): void {
    if (this.#local() && asksForLocalhost(request)) return;
    const message =
      "this is shown beyond localhost only to who knows the webhook secret, and none is set: set WEBHOOK_SECRET";
    throw new HttpError(403, message, { code: "secret_not_set" });
  }

  #checkBearer(request: Request): void {
    const given = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
    if (given !== undefined) {
      this.#try(request, given);
      return;
    }
    const headers = { "WWW-Authenticate": 'Bearer realm="hubhook"' };
    const message = "this needs the webhook secret: send it as `Authorization: Bearer <WEBHOOK_SECRET>`";
    throw new HttpError(401, message, { code: "secret_missing", headers });
  }

  #try(request: Request, given: string): void {
    const client = request.ip ?? "unknown";
    const wait = this.#failures.waitSeconds(client);
    if (wait > 0) {
      const message = `too many wrong secrets from this address: try again in ${wait} s`;
      throw new HttpError(429, message, { code: "too_many_tries", headers: { "Retry-After": String(wait) } });
    }
    if (this.#isSecret(given)) return;
    this.#failures.add(client);
    throw new HttpError(403, "invalid webhook secret", { code: "secret_invalid" });
  }
}

/** A browser says from where a request comes; another site's page may not act here in its visitor's name. */
function refuseForeignWrites(request: Request): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  const { origin, host } = request.headers;
  const site = request.headers["sec-fetch-site"];
  const foreign =
    site !== undefined ? site !== "same-origin" && site !== "none" : origin !== undefined && !isOrigin(origin, host);
  if (foreign) throw new HttpError(403, "a page of another site may not do this", { code: "cross_site" });
}

function isOrigin(origin: string, host: string | undefined): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

function asksForLocalhost(request: Request): boolean {
  const host = (request.headers.host ?? "").replace(/:\d+$/, "");
  return isLoopback(host.replace(/^\[(.*)\]$/, "$1"));
}
