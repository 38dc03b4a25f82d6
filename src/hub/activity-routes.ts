/** The activity of a webhook over HTTP. `replay/{logId}` is the Hub's own; the list and the bulk replay are ours. */
import { Router } from "express";
import { z } from "zod";
import { deliveryStates } from "../protocol/webhook.ts";
import type { Activity } from "./activity.ts";
import { answer } from "./answer.ts";
import { callerOf } from "./callers.ts";
import { time, understand } from "./understand.ts";

const PATH = "/api/settings/webhooks/:id";

const filter = z.strictObject({
  state: z.enum(deliveryStates, { error: `expected one of ${deliveryStates.join(", ")}` }).optional(),
  since: time.optional(),
  until: time.optional(),
  scope: z.string().optional(),
  action: z.string().optional(),
  repo: z.string().optional(),
});

const page = filter.extend({
  limit: z.coerce
    .number({ error: "expected a number" })
    .int("expected a whole number")
    .min(1, "expected at least 1")
    .max(200, "expected at most 200")
    .default(20),
  cursor: z.string().optional(),
});

const bulk = z.strictObject({ filter: filter.default({}), dryRun: z.boolean().default(false) });

export function activityRoutes(activity: Activity): Router {
  const routes = Router();
  routes.get(`${PATH}/activity`, async (request, response) => {
    const { limit, cursor, ...wanted } = understand(page, request.query);
    answer(request, response, await activity.list(callerOf(response), request.params.id, wanted, { limit, cursor }));
  });
  routes.post(`${PATH}/replay/:log`, async (request, response) => {
    const { id, log } = request.params;
    answer(request, response, await activity.replay(callerOf(response), id, log));
  });
  routes.post(`${PATH}/replay`, async (request, response) => {
    const { filter, dryRun } = understand(bulk, request.body ?? {});
    answer(request, response, await activity.replayMany(callerOf(response), request.params.id, filter, dryRun));
  });
  return routes;
}
