/**
 * `POST /webhooks/<name>`: the checks in their order, then the handler, then the answer.
 *
 * The order is a promise: what is cheap and needs no trust comes first, the secret before the body is touched, the
 * body before it is believed. One Express route serves all endpoints, so their number costs a delivery nothing.
 */
import type { Express, NextFunction, Request, Response } from "express";
import type { Accepted } from "../deliveries/delivery.ts";
import { HttpError } from "../errors.ts";
import { requestIdOf, sendJson, sendNothing } from "../http/answers.ts";
import type { Lifecycle } from "../http/lifecycle.ts";
import type { Logger } from "../logger.ts";
import { DELIVERY_ID_HEADER } from "../protocol/headers.ts";
import { repoLabel, type WebhookPayload } from "../protocol/payload.ts";
import { invalidPayload, parsePayload, readBody, refuseLargeContent, refuseOtherContent, textOf } from "./body.ts";
import { CallContext, callInTime, handlerFailed, replyText, type Surroundings } from "./call.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Inbox } from "./inbox.ts";
import type { Registry } from "./registry.ts";
import { checkSecret } from "./secret.ts";
import type { Tally } from "./tally.ts";

export interface EndpointsOptions extends Surroundings {
  registry: Registry;
  lifecycle: Lifecycle;
  tally: Tally;
  secrets: readonly string[];
  /** Bytes. */
  bodyLimit: number;
  replyDeadlineMs: number;
  /** Where background deliveries are stored; null when no handler needs it. */
  inbox: Inbox | null;
  /** Write a line for each delivery? */
  logsDeliveries: boolean;
}

/** What is known of a delivery while it goes through; the log line at its end is made of it. */
interface Passage {
  startedAt: number;
  endpoint: Endpoint;
  payload: WebhookPayload | null;
}

const PASSAGE = Symbol("passage");
type PassingRequest = Request & { [PASSAGE]?: Passage };

// Without a parameter in it: taking one out of the path is half of what Express does for a delivery.
const ENDPOINT_PATH = /^\/webhooks\/[^/]+\/?$/i;

/** Names are plain letters, so one that had to be escaped is none. */
function nameIn(path: string): string {
  return path.slice("/webhooks/".length, path.endsWith("/") ? -1 : undefined);
}

/** Mounted on the app itself: a router in between would cost every delivery a second round of matching. */
export function mountEndpoints(app: Express, options: EndpointsOptions): void {
  const { registry, lifecycle, bodyLimit, inbox } = options;

  const refuseWhileDraining = () => {
    if (!lifecycle.draining) return;
    const headers = { "Retry-After": "5", Connection: "close" };
    throw new HttpError(503, "the receiver is shutting down: send it again", { code: "draining", headers });
  };

  const findEndpoint = (request: PassingRequest, _response: Response, next: NextFunction) => {
    refuseWhileDraining();
    const endpoint = registry.get(nameIn(request.path));
    if (!endpoint) throw unknownEndpoint(request.path);
    request[PASSAGE] = { startedAt: performance.now(), endpoint, payload: null };
    refuseOtherMethods(request);
    next();
  };

  // Callbacks up to the handler, not promises: this is the way of every delivery.
  const takeDelivery = (request: PassingRequest, response: Response, next: NextFunction) => {
    refuseOtherContent(request);
    refuseLargeContent(request, bodyLimit);
    if (passageOf(request).endpoint.mode === "background") inbox?.assertRoom();
    readBody(request, response, bodyLimit, (error, body) => {
      if (error) return next(error);
      try {
        takeBody(passageOf(request), body, request, response, next);
      } catch (thrown) {
        next(thrown);
      }
    });
  };

  const takeBody = (passage: Passage, body: Buffer, request: Request, response: Response, next: NextFunction) => {
    const text = textOf(body);
    const payload = parsePayload(text);
    passage.payload = payload;
    const { endpoint } = passage;
    const answer = (result: unknown) => conclude(passage, request, send(request, response, result), options);
    if (!endpoint.takes(payload)) return answer(IGNORED);
    const lacking = endpoint.lacks(payload);
    if (lacking.length > 0) throw invalidPayload(lacking);
    if (endpoint.mode === "background" && inbox) {
      inbox
        .accept(endpoint, payload, text, request.headers)
        .then((accepted) => answer(storedAnswer(accepted)))
        .catch(next);
      return;
    }
    const result = run(endpoint, payload, request, options);
    if (result instanceof Promise) result.then(answer).catch(next);
    else answer(result);
  };

  app.all(ENDPOINT_PATH, findEndpoint, checkSecret(options.secrets), takeDelivery);
  app.all("/webhooks{/*path}", (request) => {
    refuseWhileDraining();
    throw unknownEndpoint(request.path);
  });
  app.use((error: unknown, request: PassingRequest, _response: Response, next: NextFunction) => {
    const passage = request[PASSAGE];
    const failure = passage?.payload ? handlerFailed(error) : error;
    if (passage) conclude(passage, request, failure instanceof HttpError ? failure.status : 500, options);
    next(failure);
  });
}

function refuseOtherMethods({ method }: Request): void {
  if (method === "POST") return;
  const message = `${method} is not for an endpoint: the Hub posts to it`;
  throw new HttpError(405, message, { code: "method_not_allowed", headers: { Allow: "POST" } });
}

function unknownEndpoint(path: string): HttpError {
  const message = `there is no endpoint at ${path}: GET /api/endpoints lists them`;
  return new HttpError(404, message, { code: "endpoint_unknown" });
}

function passageOf(request: PassingRequest): Passage {
  const passage = request[PASSAGE];
  if (!passage) throw new Error("findEndpoint comes first");
  return passage;
}

const IGNORED = { ignored: true };

/** An answer with a status of its own, in place of what a handler returned. */
class Answer {
  readonly status: number;
  readonly body: object;

  constructor(status: number, body: object) {
    this.status = status;
    this.body = body;
  }
}

/** What succeeded before is not run again, which the sender may know. */
function storedAnswer({ id, outcome }: Accepted): Answer {
  return outcome === "duplicate"
    ? new Answer(200, { delivery: id, duplicate: true })
    : new Answer(202, { delivery: id });
}

/** Runs the handler inside the request. */
function run(endpoint: Endpoint, payload: WebhookPayload, request: Request, options: EndpointsOptions): unknown {
  const { lifecycle, replyDeadlineMs, log } = options;
  const requestId = requestIdOf(request);
  const id = request.headers[DELIVERY_ID_HEADER];
  const deliveryId = typeof id === "string" && id !== "" ? id : requestId;
  const call = { endpoint, headers: request.headers, deliveryId, attempt: 1, tools: lifecycle };
  lifecycle.enter();
  const stillRunning = () => new Answer(202, { running: true, requestId });
  return callInTime(endpoint, payload, new CallContext(call, options), replyDeadlineMs, stillRunning, (late, error) => {
    lifecycle.leave();
    if (late) logLateEnd(log, endpoint, requestId, error);
  });
}

/** Answers with what the handler returned, and gives the status. */
function send(request: Request, response: Response, result: unknown): number {
  if (result instanceof Answer) {
    sendJson(request, response, result.status, JSON.stringify(result.body));
    return result.status;
  }
  const text = replyText(result);
  if (text === undefined) {
    sendNothing(request, response);
    return 204;
  }
  sendJson(request, response, 200, text);
  return 200;
}

function logLateEnd(log: Logger, endpoint: Endpoint, requestId: string, error: Error | null): void {
  if (error) log.error("a handler failed after its reply deadline", { endpoint: endpoint.name, requestId, error });
  else log.info("a handler ended after its reply deadline", { endpoint: endpoint.name, requestId });
}

/** Words of a payload may be as long as a body: a line of the log is not. */
const short = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** One line and one count for every delivery, refused ones too. */
function conclude(
  { startedAt, endpoint, payload }: Passage,
  request: Request,
  status: number,
  options: EndpointsOptions,
) {
  const ms = performance.now() - startedAt;
  options.tally.count(endpoint.name, status, ms);
  if (!options.logsDeliveries) return;
  options.log.info("delivery", {
    endpoint: endpoint.name,
    scope: payload?.event.scope && short(payload.event.scope),
    action: payload && short(payload.event.action),
    repo: payload && short(repoLabel(payload)),
    status,
    ms: Math.round(ms * 100) / 100,
    requestId: requestIdOf(request),
  });
}
