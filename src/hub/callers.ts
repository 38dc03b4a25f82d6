/**
 * Who asks, and may it be a web page in the user's browser? A page elsewhere can make a browser send requests here, but
 * - it cannot say `Authorization` without a preflight, which this hub never grants;
 * - it cannot name a host of its own (DNS rebinding): only known names are answered;
 * - it cannot read an answer, so it never learns a CSRF token, which only our own pages may use in its place.
 */
import { createHmac, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { NextFunction, Request, Response } from "express";
import ipaddr from "ipaddr.js";
import { HttpError } from "../errors.ts";
import { secretMatcher } from "../http/secret-matcher.ts";
import { isLoopback } from "../http/server.ts";
import type { HubSettings } from "./settings.ts";
import { TokenTries, type Tried } from "./token-tries.ts";

/** The user where nobody is named. */
export const ONLY_USER = "me";
export const CSRF_HEADER = "x-csrf-token";

const KNOWN_TYPES = /^application\/(?:json|x-ndjson)\s*(?:;|$)/i;

export class Callers {
  readonly #settings: HubSettings;
  readonly #users: { name: string; isToken: (given: string) => boolean }[];
  readonly #names: Set<string>;
  readonly #tries = new TokenTries((token) => this.#userWith(token));
  readonly #csrf = createHmac("sha256", randomBytes(32)).update("csrf").digest("hex");
  readonly #isCsrf = secretMatcher([this.#csrf]);

  constructor(settings: HubSettings) {
    this.#settings = settings;
    this.#users = settings.users.map(({ name, token }) => ({ name, isToken: secretMatcher([token]) }));
    const { publicUrl, host, allowHosts } = settings;
    const own = isLoopback(host) ? [] : [hostname().toLowerCase()];
    const named = publicUrl === null ? [] : [new URL(publicUrl).hostname];
    this.#names = new Set([...own, ...named, ...allowHosts].map((name) => name.toLowerCase()));
  }

  /** No token is set: whoever reaches it is the only user. */
  get open(): boolean {
    return this.#users.length === 0;
  }

  /** Is this the name of somebody who has a token here? */
  isUser(name: string): boolean {
    const known = this.open ? [ONLY_USER] : this.#users.map((user) => user.name);
    return known.some((one) => isSameName(one, name));
  }

  /**
   * May the user see and do what is under this name? Under the own one, and under an organisation's: whose members are
   * not known here, so everybody is one.
   */
  mayActFor(user: string, name: string): boolean {
    return isSameName(user, name) || !this.isUser(name);
  }

  /** Whose token it is, unless too many wrong ones came from this address. */
  tryToken(token: string, request: Request): Tried {
    return this.#tries.try(token, request.ip ?? "unknown");
  }

  /** Express middleware, before everything else. */
  readonly checkHost = (request: Request, _response: Response, next: NextFunction): void => {
    const host = hostOf(request.headers.host ?? "");
    if (!this.#isOurs(host)) {
      const message = `this hub does not answer under the name "${host}": HUB_ALLOW_HOSTS can name it`;
      throw new HttpError(403, message, { code: "host_unknown" });
    }
    next();
  };

  /** Express middleware: finds out the user, and refuses what may come from a stranger's page. */
  readonly authenticate = (request: Request, response: Response, next: NextFunction): void => {
    const reads = request.method === "GET" || request.method === "HEAD";
    if (!reads && request.method !== "POST" && request.method !== "PUT" && request.method !== "DELETE")
      throw new HttpError(405, `${request.method} is not taken here`, {
        code: "method_not_allowed",
        headers: { Allow: "GET, HEAD, POST, PUT, DELETE" },
      });
    const { authorization } = request.headers;
    response.locals.user = this.open ? ONLY_USER : this.#userOf(request);
    if (!reads && authorization === undefined) this.#checkCsrf(request);
    if (!reads) refuseOtherTypes(request);
    next();
  };

  /** What our own pages send in place of a token, while no token is set. */
  get csrfToken(): string {
    return this.#csrf;
  }

  #userOf(request: Request): string {
    const given = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
    if (given === undefined)
      throw refused("this hub needs a token: send it as `Authorization: Bearer <token>` (HF_TOKEN for its clients)");
    const tried = this.tryToken(given, request);
    if (tried === null)
      throw refused("invalid token: this hub knows those of HUB_TOKEN and HUB_TOKENS", "token_invalid");
    if ("user" in tried) return tried.user;
    const { waitSeconds } = tried;
    throw new HttpError(429, `too many wrong tokens from this address: try again in ${waitSeconds} s`, {
      code: "too_many_tries",
      headers: { "Retry-After": String(waitSeconds) },
    });
  }

  /** Every token is compared, whichever fits. */
  #userWith(token: string): string | undefined {
    return this.#users.filter(({ isToken }) => isToken(token))[0]?.name;
  }

  #checkCsrf(request: Request): void {
    const given = request.headers[CSRF_HEADER];
    const site = request.headers["sec-fetch-site"];
    const { origin, host } = request.headers;
    const foreign = site !== undefined ? site !== "same-origin" : origin !== undefined && origin !== `http://${host}`;
    if (this.open && typeof given === "string" && this.#isCsrf(given) && !foreign) return;
    throw refused("a write needs an `Authorization: Bearer …` header; without HUB_TOKEN any value will do");
  }

  #isOurs(host: string): boolean {
    if (host === "localhost" || this.#names.has(host)) return true;
    const literal = host.replace(/^\[(.*)\]$/, "$1");
    // An address cannot be rebound; beyond loopback a hub has tokens besides.
    return isLoopback(literal) || (!isLoopback(this.#settings.host) && ipaddr.isValid(literal));
  }
}

/** As on the Hub: names that differ only in case are one. */
export function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

export function callerOf(response: Response): string {
  return response.locals.user as string;
}

function hostOf(header: string): string {
  return header.replace(/:\d*$/, "").toLowerCase();
}

/** Forms and plain text are what a page may post without asking. */
function refuseOtherTypes(request: Request): void {
  const type = request.headers["content-type"];
  const empty = request.headers["transfer-encoding"] === undefined && !(Number(request.headers["content-length"]) > 0);
  if (type === undefined ? empty : KNOWN_TYPES.test(type)) return;
  if (empty && request.method === "DELETE") return;
  throw new HttpError(415, `expected content-type application/json, found ${type ?? "none"}`, {
    code: "content_type_unsupported",
  });
}

function refused(message: string, code = "token_missing"): HttpError {
  return new HttpError(401, message, {
    code,
    headers: { "WWW-Authenticate": 'Bearer realm="hubhook hub"' },
  });
}
