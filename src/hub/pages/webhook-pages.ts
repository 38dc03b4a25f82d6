/** The routes below `/settings/webhooks`. Each form ends in a redirect, so that going back or anew sends nothing twice. */
import { type Request, type Response, Router } from "express";
import { HttpError } from "../../errors.ts";
import { documentedEventNames } from "../../protocol/events.ts";
import { deliveryStates } from "../../protocol/webhook.ts";
import type { Activity } from "../activity.ts";
import { answer } from "../answer.ts";
import { understandEvents } from "../event-input.ts";
import type { Events } from "../events.ts";
import type { Jobs } from "../jobs.ts";
import type { Webhooks } from "../webhooks.ts";
import { deletePage } from "./delete-page.ts";
import { deliveryPage } from "./delivery-page.ts";
import { EMPTY_FORM, formOf, readForm, understandForm } from "./form-input.ts";
import { formPage } from "./form-page.ts";
import { type Content, html } from "./html.ts";
import { callout, SETTINGS, send } from "./layout.ts";
import { listPage } from "./list-page.ts";
import { type Sessions, sessionOf } from "./session.ts";
import { webhookPage } from "./webhook-page.ts";

export interface WebhookPagesParts {
  webhooks: Webhooks;
  activity: Activity;
  events: Events;
  jobs: Jobs;
  endpoint(): string;
}

const WEBHOOKS_SHOWN = 50;
const DELIVERIES_SHOWN = 20;
const JOBS_OFFERED = 50;
/** The hub takes these at their word: a move is followed, what is deleted is forgotten. Nothing to try out. */
const NOT_TO_TRY = ["repo:move", "repo:delete"];
const TO_TRY = documentedEventNames.filter((name) => !NOT_TO_TRY.includes(name));

export function webhookPages(parts: WebhookPagesParts, { form }: Sessions): Router {
  const { webhooks, activity, events, jobs, endpoint } = parts;
  const routes = Router();

  routes.get("/", async (request, response) => {
    const user = userOf(response);
    const page = Math.max(1, Math.floor(Number(request.query.page)) || 1);
    const { count, webhooks: shown } = webhooks.newest(user, (page - 1) * WEBHOOKS_SHOWN, WEBHOOKS_SHOWN);
    const pages = Math.max(1, Math.ceil(count / WEBHOOKS_SHOWN));
    // The last page has gone with the last webhook on it.
    if (page > pages) return response.redirect(303, `${SETTINGS}?page=${pages}`);
    const rows = shown.map(async (webhook) => {
      const { deliveries } = await activity.list(user, webhook.id, {}, { limit: 1 });
      return { webhook, last: deliveries[0] };
    });
    const session = sessionOf(response);
    const at = { page, pages };
    const parts = { session, count, at, notice: noticeOf(request), endpoint: endpoint() };
    send(response, listPage({ ...parts, webhooks: await Promise.all(rows) }));
  });

  routes.get("/new", (_request, response) => {
    const session = sessionOf(response);
    send(response, formPage({ session, form: EMPTY_FORM, problems: [], before: null, ...jobsFor(userOf(response)) }));
  });
  routes.get("/:id/edit", (request, response) => {
    const session = sessionOf(response);
    const before = webhooks.get(userOf(response), request.params.id);
    send(response, formPage({ session, form: formOf(before), problems: [], before, ...jobsFor(userOf(response)) }));
  });
  /** What is wrong with a form while it is filled in. */
  routes.post("/check", form, (request: Request, response: Response) => {
    const user = userOf(response);
    const { id } = request.body as { id?: unknown };
    const before = typeof id === "string" ? webhooks.get(user, id) : null;
    const { problems } = understandForm(readForm(request.body), { before, isJob: isJobOf(user) });
    answer(request, response, { problems });
  });
  routes.post("/", form, async (request: Request, response: Response) => {
    const user = userOf(response);
    const filled = readForm(request.body);
    const { given, problems } = understandForm(filled, { before: null, isJob: isJobOf(user) });
    if (problems.length > 0) return again(response, { form: filled, problems, before: null });
    const { id } = await webhooks.create(user, given);
    response.redirect(303, `${SETTINGS}/${id}?done=created`);
  });
  routes.post("/:id", form, async (request: Request<{ id: string }>, response: Response) => {
    const user = userOf(response);
    const before = webhooks.get(user, request.params.id);
    const filled = readForm(request.body);
    const { given, problems } = understandForm(filled, { before, isJob: isJobOf(user) });
    if (problems.length > 0) return again(response, { form: filled, problems, before });
    await webhooks.update(user, before.id, given);
    response.redirect(303, `${SETTINGS}/${before.id}?done=saved`);
  });

  routes.get("/:id", async (request, response) => {
    const user = userOf(response);
    const session = sessionOf(response);
    const webhook = webhooks.get(user, request.params.id);
    const { state: wanted, cursor: at } = request.query;
    const state = deliveryStates.find((one) => one === wanted);
    const cursor = typeof at === "string" ? at : undefined;
    const found = await activity.list(user, webhook.id, { state }, { limit: DELIVERIES_SHOWN, cursor });
    const shown = { state, cursor };
    const notice = noticeOf(request);
    send(response, webhookPage({ session, webhook, notice, activity: found, shown, events: TO_TRY }));
  });
  routes.post("/:id/enable", form, async (request: Request<{ id: string }>, response: Response) => {
    const { id } = await webhooks.enable(userOf(response), request.params.id);
    response.redirect(303, `${SETTINGS}/${id}?done=enabled`);
  });
  routes.post("/:id/disable", form, async (request: Request<{ id: string }>, response: Response) => {
    const { id } = await webhooks.disable(userOf(response), request.params.id);
    response.redirect(303, `${SETTINGS}/${id}?done=disabled`);
  });
  routes.get("/:id/delete", (request, response) => {
    send(response, deletePage(sessionOf(response), webhooks.get(userOf(response), request.params.id)));
  });
  routes.post("/:id/delete", form, async (request: Request<{ id: string }>, response: Response) => {
    await webhooks.delete(userOf(response), request.params.id);
    response.redirect(303, `${SETTINGS}?done=deleted`);
  });

  routes.post("/:id/test", form, async (request: Request<{ id: string }>, response: Response) => {
    const user = userOf(response);
    const { id } = webhooks.get(user, request.params.id);
    await events.publish(user, [testEvent(request.body)]);
    response.redirect(303, `${SETTINGS}/${id}?done=tested#activity-title`);
  });
  routes.get("/:id/activity/:delivery", (request, response) => {
    const { webhook, delivery } = deliveryOf(request, response);
    send(response, deliveryPage({ session: sessionOf(response), webhook, delivery, notice: noticeOf(request) }));
  });
  routes.get("/:id/activity/:delivery/payload.json", (request, response) => {
    answer(request, response, deliveryOf(request, response).delivery.payload);
  });
  routes.post(
    "/:id/replay/:delivery",
    form,
    async (request: Request<{ id: string; delivery: string }>, response: Response) => {
      const { webhook, delivery } = deliveryOf(request, response);
      const replayed = await activity.replay(userOf(response), webhook.id, delivery.id);
      response.redirect(303, `${SETTINGS}/${webhook.id}/activity/${replayed.id}?done=replayed`);
    },
  );
  return routes;

  function deliveryOf(request: Request<{ id: string; delivery: string }>, response: Response) {
    const user = userOf(response);
    const webhook = webhooks.get(user, request.params.id);
    return { webhook, delivery: activity.get(user, webhook.id, request.params.delivery) };
  }

  function again(response: Response, filled: Pick<Parameters<typeof formPage>[0], "form" | "problems" | "before">) {
    send(response, formPage({ session: sessionOf(response), ...filled, ...jobsFor(userOf(response)) }), 400);
  }

  function isJobOf(user: string) {
    return (id: string) => jobs.find(user, id) !== undefined;
  }

  function jobsFor(user: string) {
    const own = jobs.list(user, JOBS_OFFERED).filter(({ webhook }) => webhook === null);
    const offered = own.map(({ id, spec }) => ({ id, command: [...spec.command, ...spec.arguments].join(" ") }));
    return { jobs: offered, jobsOff: jobs.off };
  }
}

/** Who has no session gets no further than here, whatever the form says. */
function userOf(response: Response): string {
  const { user } = sessionOf(response);
  if (user === null) throw new HttpError(403, "nobody is logged in: log in and try again", { code: "login_missing" });
  return user;
}

function testEvent(body: Record<string, unknown>) {
  const [scope, action] = String(body.event).split(":");
  const [type = "", name = ""] = String(body.item).split(/:(.*)/);
  const owner = type === "user" || type === "org";
  const repo = owner ? { type: "model", name: `${name}/test` } : { type, name };
  const [event] = understandEvents({ event: { scope, action }, repo }).events;
  if (event && TO_TRY.some((known) => known === `${scope}:${action}`)) return event;
  throw new HttpError(400, `${scope}:${action} is nothing to try out`, { code: "request_invalid" });
}

const NOTICES: Record<string, string> = {
  created: "The webhook is created, and enabled.",
  saved: "The changes are saved. What is sent from now on goes by them.",
  enabled: "The webhook is enabled.",
  disabled: "The webhook is disabled. What waited to be sent is cancelled.",
  deleted: "The webhook is deleted.",
  tested: "The test event has happened. What becomes of it shows below.",
  replayed: "It was sent again: this is the new delivery, with what was answered.",
};

function noticeOf({ query: { done } }: Request): Content {
  if (typeof done !== "string" || !Object.hasOwn(NOTICES, done)) return null;
  return html`<div id="notice">${callout("good", NOTICES[done])}</div>`;
}
