/** `POST /api/hub/events`: one event, or many in `{events: […]}`. Ours: the real Hub has no such call. */
import { Router } from "express";
import { answer } from "./answer.ts";
import { callerOf } from "./callers.ts";
import { understandEvents } from "./event-input.ts";
import type { Events } from "./events.ts";
import { invalid } from "./understand.ts";

const KEY = /^[\x21-\x7e]{1,255}$/;

export function eventRoutes(events: Events): Router {
  const routes = Router();
  routes.post("/api/hub/events", async (request, response) => {
    const key = request.headers["idempotency-key"];
    if (key !== undefined && (typeof key !== "string" || !KEY.test(key)))
      throw invalid("Idempotency-Key: write 1 to 255 visible ASCII characters");
    const given = understandEvents(request.body);
    const published = await events.publish(callerOf(response), given.events, key);
    if (!given.batch) return answer(request, response, published[0], 202);
    const inShort = published.map(({ id, deliveries, overQuota }) => ({ id, deliveries, overQuota }));
    answer(request, response, { events: inShort }, 202);
  });
  return routes;
}
