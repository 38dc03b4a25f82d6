/**
 * The pages of the hub, as a person knows them from the real one: `/settings/webhooks`, behind a login where tokens are
 * set. The server makes them; without scripts they do the same. Scripts and styles lie beside this file and not in
 * `public/`, which is the receiver's: so this folder is deleted whole, with its two lines in `app.ts`.
 */
import { fileURLToPath } from "node:url";
import express, { type NextFunction, type Request, type Response, Router } from "express";
import helmet from "helmet";
import type { Clock } from "../../deliveries/clock.ts";
import { HttpError, toError } from "../../errors.ts";
import { requestIdOf, toHttpError } from "../../http/answers.ts";
import type { Logger } from "../../logger.ts";
import type { Callers } from "../callers.ts";
import type { HubSettings } from "../settings.ts";
import { comeAgainPage, errorPage, homePage, loginPage } from "./entry-pages.ts";
import { ASSETS, SETTINGS, send } from "./layout.ts";
import { isForeign, Sessions, sessionOf } from "./session.ts";
import { type WebhookPagesParts, webhookPages } from "./webhook-pages.ts";

interface PagesParts extends WebhookPagesParts {
  callers: Callers;
  settings: HubSettings;
  clock: Clock;
  log: Logger;
  /** Where the hub is reached. */
  endpoint(): string;
}

const ASSETS_FOLDER = fileURLToPath(new URL("./assets", import.meta.url));
const OURS = ["/settings", "/login", "/logout"];

export function pages(parts: PagesParts): Router {
  const { callers, settings, clock, log, endpoint } = parts;
  const sessions = new Sessions(callers, settings, clock);
  const routes = Router();

  routes.use(ASSETS, headers, express.static(ASSETS_FOLDER, { index: false, redirect: false }));
  const before = [headers, notKept, sessions.find, comeAgain];
  routes.get("/", before, (_request: Request, response: Response) => {
    send(response, homePage(sessionOf(response), endpoint(), callers.open));
  });
  routes.use(OURS, before);

  routes.get("/login", (request, response) => {
    const session = sessionOf(response);
    const to = destinationOf(request.query.to);
    if (session.user !== null) return response.redirect(303, to);
    send(response, loginPage(session, to));
  });
  routes.post("/login", sessions.form, (request: Request, response: Response) => {
    const { token, to } = request.body as { token?: unknown; to?: unknown };
    const whither = destinationOf(to);
    if (callers.open) return response.redirect(303, whither);
    const tried = callers.tryToken(typeof token === "string" ? token.trim() : "", request);
    if (tried === null) {
      const problem = "This hub knows no such token.";
      return send(response, loginPage(sessionOf(response), whither, problem), 403);
    }
    if ("waitSeconds" in tried) {
      const seconds = String(tried.waitSeconds);
      response.setHeader("Retry-After", seconds);
      const problem = `Too many wrong tokens from this address: try again in ${seconds} s.`;
      return send(response, loginPage(sessionOf(response), whither, problem), 429);
    }
    sessions.logIn(request, response, tried.user);
    response.redirect(303, whither);
  });
  routes.post("/logout", sessions.form, (request: Request, response: Response) => {
    sessions.logOut(request, response);
    response.redirect(303, callers.open ? "/" : "/login");
  });

  routes.get("/settings", (_request, response) => response.redirect(303, SETTINGS));
  routes.use(SETTINGS, onlyUsers, webhookPages(parts, sessions));
  routes.use(OURS, (request) => {
    throw new HttpError(404, `there is no page ${request.originalUrl.slice(0, 200)}`, { code: "not_found" });
  });
  routes.use(OURS, (thrown: unknown, request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) return next(thrown);
    const error = toHttpError(thrown);
    const requestId = requestIdOf(request);
    if (error.status >= 500 && error.status !== 503)
      log.error(toError(thrown).message, { path: request.path, requestId, error: toError(error.cause ?? thrown) });
    response.set(error.headers).set("X-Request-Id", requestId);
    send(response, errorPage(sessionOf(response), error), error.status);
  });
  return routes;
}

/** Scripts and styles come from files of ours alone, and nobody shows these pages inside their own. */
const headers = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", "data:"],
      fontSrc: ["'self'"],
      connectSrc: ["'self'"],
      manifestSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
    },
  },
  xFrameOptions: { action: "deny" },
  // With less, browsers would call the origin of our own forms `null`.
  referrerPolicy: { policy: "same-origin" },
});

function notKept(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader("Cache-Control", "no-store");
  next();
}

function comeAgain(request: Request, response: Response, next: NextFunction): void {
  if (request.method === "GET" && isForeign(request)) send(response, comeAgainPage(request.originalUrl));
  else next();
}

function onlyUsers(request: Request, response: Response, next: NextFunction): void {
  // What a form does is answered where the form is checked.
  if (sessionOf(response).user !== null || request.method !== "GET") next();
  else response.redirect(303, `/login?${new URLSearchParams({ to: request.originalUrl }).toString()}`);
}

/** A path of ours, whatever the address says. */
function destinationOf(given: unknown): string {
  const here = "http://here";
  const url = typeof given === "string" ? URL.parse(given, here) : null;
  return url?.origin === here && url.pathname.startsWith(`${SETTINGS}`) ? url.pathname + url.search : SETTINGS;
}
