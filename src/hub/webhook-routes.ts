/** The settings API of webhooks, as the Hub's own clients call it. */
import { Router } from "express";
import { HttpError } from "../errors.ts";
import { answer } from "./answer.ts";
import { callerOf } from "./callers.ts";
import { understand } from "./understand.ts";
import { newWebhook, webhookChange } from "./webhook-input.ts";
import type { Webhooks } from "./webhooks.ts";

const PATH = "/api/settings/webhooks";

export function webhookRoutes(webhooks: Webhooks): Router {
  const routes = Router();
  routes.get(PATH, (request, response) => answer(request, response, webhooks.list(callerOf(response))));
  routes.post(PATH, async (request, response) => {
    const given = understand(newWebhook, request.body);
    answer(request, response, { webhook: await webhooks.create(callerOf(response), given) });
  });
  routes.get(`${PATH}/:id`, (request, response) => {
    answer(request, response, { webhook: webhooks.get(callerOf(response), request.params.id) });
  });
  routes.post(`${PATH}/:id`, async (request, response) => {
    const given = understand(webhookChange, request.body);
    answer(request, response, { webhook: await webhooks.update(callerOf(response), request.params.id, given) });
  });
  routes.post(`${PATH}/:id/enable`, async (request, response) => {
    answer(request, response, { webhook: await webhooks.enable(callerOf(response), request.params.id) });
  });
  routes.post(`${PATH}/:id/disable`, async (request, response) => {
    answer(request, response, { webhook: await webhooks.disable(callerOf(response), request.params.id) });
  });
  routes.delete(`${PATH}/:id`, async (request, response) => {
    await webhooks.delete(callerOf(response), request.params.id);
    answer(request, response, { id: request.params.id });
  });
  routes.all(`${PATH}/:id`, (request) => {
    throw new HttpError(405, `${request.method} is not taken here: a webhook is changed by POST`, {
      code: "method_not_allowed",
      headers: { Allow: "GET, HEAD, POST, DELETE" },
    });
  });
  return routes;
}
