/**
 * Whose browser it is, without storing anything: a cookie that scripts cannot read and other sites cannot send.
 * - No token is set: the cookie is a random word, and whoever has the page is the only user.
 * - With tokens: it also names the user, signed with a key made from that user's tokens. Who changes a token ends the
 *   sessions that it began, and a cookie that leaks does not tell the token.
 *
 * Each form carries a token that fits this cookie alone, and is taken only when the browser says that it comes from a
 * page of ours.
 */
import { createHmac, randomBytes } from "node:crypto";
import express, { type NextFunction, type Request, type Response } from "express";
import type { Clock } from "../../deliveries/clock.ts";
import { HttpError } from "../../errors.ts";
import { secretMatcher } from "../../http/secret-matcher.ts";
import { type Callers, ONLY_USER } from "../callers.ts";
import type { HubSettings } from "../settings.ts";

export interface Session {
  /** null: nobody has logged in. */
  user: string | null;
  /** Goes into each form. */
  csrf: string;
  /** Is there somebody to log out? */
  loggedIn: boolean;
}

const LIFETIME_MS = 12 * 3_600_000;
/** A thousand watched items, each as long as it may be, written as a form writes them. */
const FORM_LIMIT = 500_000;
const FORM = "application/x-www-form-urlencoded";

export class Sessions {
  readonly #callers: Callers;
  readonly #publicOrigin: string | null;
  readonly #now: () => number;
  readonly #keys: Map<string, Buffer>;
  readonly #csrfKey = randomBytes(32);

  constructor(callers: Callers, { users, publicUrl }: HubSettings, clock: Clock) {
    this.#callers = callers;
    this.#publicOrigin = publicUrl === null ? null : new URL(publicUrl).origin;
    this.#now = () => clock.now();
    const tokensOf = Map.groupBy(users, ({ name }) => name);
    this.#keys = new Map(
      [...tokensOf].map(([name, own]) => {
        const tokens = JSON.stringify(own.map(({ token }) => token));
        return [name, createHmac("sha256", tokens).update("hubhook hub session").digest()];
      }),
    );
  }

  /** Express middleware: finds out the session, or begins one that belongs to nobody yet. */
  readonly find = (request: Request, response: Response, next: NextFunction): void => {
    const cookies = this.#cookiesOf(request);
    const cookie = cookies.find((one) => this.#userOf(one) !== null) ?? cookies[0];
    if (cookie !== undefined) this.#remember(response, cookie);
    // Nor may another site's page make the browser drop the cookie that it keeps back.
    else if (isForeign(request) || request.method !== "GET") this.#remember(response, randomWord());
    else this.#give(request, response, randomWord());
    next();
  };

  /** Begins the session of a user, under a name that nobody has seen before. */
  logIn(request: Request, response: Response, user: string): void {
    const until = this.#now() + LIFETIME_MS;
    const claim = `${randomWord()}.${until}.${Buffer.from(user).toString("base64url")}`;
    this.#give(request, response, `${claim}.${this.#sign(user, claim)}`, LIFETIME_MS);
  }

  logOut(request: Request, response: Response): void {
    this.#give(request, response, randomWord());
  }

  /** Express middleware, before whatever a form does: it comes from a page of ours, which was shown to this session. */
  readonly form = [
    (request: Request, _response: Response, next: NextFunction): void => {
      this.#refuseForeign(request);
      if (!request.is(FORM))
        throw new HttpError(415, `expected content-type ${FORM}, found ${request.headers["content-type"] ?? "none"}`, {
          code: "content_type_unsupported",
        });
      next();
    },
    express.urlencoded({ extended: false, limit: FORM_LIMIT, parameterLimit: 100 }),
    (request: Request, response: Response, next: NextFunction): void => {
      const given = (request.body as Record<string, unknown> | undefined)?.csrf;
      if (typeof given === "string" && secretMatcher([sessionOf(response).csrf])(given)) {
        next();
        return;
      }
      const message =
        "this form is older than the hub's last start, or than your login: open its page anew and try again";
      throw new HttpError(403, message, { code: "csrf_token_invalid" });
    },
  ];

  #refuseForeign(request: Request): void {
    const site = request.headers["sec-fetch-site"];
    const { origin, host } = request.headers;
    // Older browsers, and all of them on plain http, say only the origin.
    const ours =
      site === undefined
        ? origin === undefined || origin === `http://${host}` || origin === this.#publicOrigin
        : site === "same-origin";
    if (!ours) throw new HttpError(403, "a page of another site may not do this", { code: "cross_site" });
  }

  #userOf(cookie: string): string | null {
    if (this.#callers.open) return ONLY_USER;
    const [, claim = "", until = "", name = "", signature = ""] = SIGNED.exec(cookie) ?? [];
    const user = Buffer.from(name, "base64url").toString();
    if (!this.#keys.has(user) || !secretMatcher([this.#sign(user, claim)])(signature)) return null;
    return Number(until) > this.#now() ? user : null;
  }

  #sign(user: string, claim: string): string {
    const key = this.#keys.get(user);
    if (!key) throw new TypeError("only users have sessions");
    return createHmac("sha256", key).update(claim).digest("base64url");
  }

  #remember(response: Response, cookie: string): void {
    const csrf = createHmac("sha256", this.#csrfKey).update(cookie).digest("base64url");
    const user = this.#userOf(cookie);
    response.locals.session = { user, csrf, loggedIn: user !== null && !this.#callers.open } satisfies Session;
  }

  #give(request: Request, response: Response, cookie: string, maxAge?: number): void {
    const { host, origin } = request.headers;
    const overTls = this.#publicOrigin?.startsWith("https:") === true;
    const secure = overTls && (origin === this.#publicOrigin || new URL(this.#publicOrigin ?? "").host === host);
    const attributes = { httpOnly: true, sameSite: "strict", secure, path: "/" } as const;
    response.cookie(nameFor(request), cookie, maxAge === undefined ? attributes : { ...attributes, maxAge });
    this.#remember(response, cookie);
  }

  #cookiesOf(request: Request): string[] {
    const name = nameFor(request);
    const pairs = (request.headers.cookie ?? "").split("; ").map((pair) => pair.split(/=(.*)/));
    return pairs.flatMap(([key, value = ""]) => (key === name && COOKIE.test(value) ? [value] : []));
  }
}

const COOKIE = /^[\w-]{22}(?:\.\d{1,15}\.[\w-]{1,400}\.[\w-]{43})?$/;
const SIGNED = /^([\w-]+\.(\d+)\.([\w-]+))\.([\w-]+)$/;

export function sessionOf(response: Response): Session {
  return response.locals.session as Session;
}

/** Cookies know no ports: two hubs on one machine must not take each other's. */
function nameFor(request: Request): string {
  return `hubhook_hub_${/:(\d+)$/.exec(request.headers.host ?? "")?.[1] ?? "session"}`;
}

/** A link of another site led here: the browser keeps the cookie back, and shows it when it is asked from here. */
export function isForeign(request: Request): boolean {
  return request.headers["sec-fetch-site"] === "cross-site";
}

function randomWord(): string {
  return randomBytes(16).toString("base64url");
}
