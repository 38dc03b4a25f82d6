/** The inspector's API: what became of background deliveries, live, and how to run one again. */
import express, { type Request, type RequestHandler, type Response, Router } from "express";
import { z } from "zod";
import type { Deliveries } from "../deliveries/deliveries.ts";
import type { Delivery, DeliveryFilter, DeliveryRecord } from "../deliveries/delivery.ts";
import { HttpError } from "../errors.ts";
import { sendJson, sendNothing } from "../http/answers.ts";
import { DeliveriesStream } from "./deliveries-stream.ts";
import { issuesOf } from "./endpoint.ts";

interface DeliveriesApiOptions {
  /** null: no handler is in background mode, so there is nothing to show. */
  deliveries: Deliveries | null;
  guard: RequestHandler;
  /** Aborted when the server must end: the streams end with it. */
  ending: AbortSignal;
}

const states = ["pending", "running", "succeeded", "failed", "cancelled"] as const;
const time = z.iso
  .datetime({ offset: true, error: "expected a time as 2026-11-21T10:00:00Z" })
  .transform((text) => new Date(text));

const word = (schema = z.string()) => schema.min(1).max(300).optional();

const filterSchema = z.strictObject({
  /** How the id begins. */
  id: word(
    z.string().regex(/^[0-9a-v]{1,11}$/, "expected an id or how it begins: up to 11 of the characters 0-9 and a-v"),
  ),
  endpoint: word(),
  state: z.enum(states, { error: `expected one of ${states.join(", ")}` }).optional(),
  since: time.optional(),
  until: time.optional(),
  scope: word(),
  action: word(),
  /** With `*` for anything. */
  repo: word(z.string().refine((glob) => glob.split("*").length <= 4, "expected three `*` at most")),
});

const LIMITS = "expected a number from 1 to 500";

const pageSchema = filterSchema.extend({
  limit: z.coerce.number({ error: LIMITS }).int(LIMITS).min(1, LIMITS).max(500, LIMITS).default(50),
  cursor: z.string().optional(),
});

/** `text`: the payload as it arrived, to the letter, in place of what JSON makes of it. */
const detailSchema = z.strictObject({ payload: z.enum(["json", "text"]).default("json") });

/** The filter must be there, be it empty: a request whose body got lost must not replay everything. */
const replaySchema = z.strictObject(
  { filter: filterSchema, dryRun: z.boolean().default(false) },
  { error: (issue) => (issue.code === "invalid_type" ? REPLAY_BODY : undefined) },
);
const REPLAY_BODY = 'expected JSON by content type and body, as {"filter": {"state": "failed"}, "dryRun": true}';

export function deliveriesRoutes({ deliveries, guard, ending }: DeliveriesApiOptions): Router {
  const routes = Router();
  const counts = () => {
    if (!deliveries) return null;
    const { pending, running, succeeded, failed, cancelled } = deliveries.stats();
    return { pending, running, succeeded, failed, cancelled };
  };
  const live =
    deliveries && new DeliveriesStream({ deliveries, toJson: summary, counts: () => counts() ?? {}, ending });
  const send = (request: Request, response: Response, body: unknown, status = 200) =>
    sendJson(request, response, status, JSON.stringify(body), NO_STORE);

  routes.use("/api/deliveries", guard);
  routes.get("/api/deliveries", async (request, response) => {
    const { limit, cursor, ...filter } = understand(pageSchema, request.query);
    if (!deliveries) return send(request, response, { deliveries: [], counts: null });
    const page = await deliveries.list(toFilter(filter), { limit, cursor });
    send(request, response, {
      deliveries: page.deliveries.map(summary),
      counts: counts(),
      ...(page.next && { next: page.next }),
    });
  });
  // 204 tells a browser not to ask again.
  routes.get("/api/deliveries/stream", (request, response) =>
    live ? live.serve(request, response) : sendNothing(request, response),
  );
  routes.get("/api/deliveries/:id", (request, response) => {
    const { payload: form } = understand(detailSchema, request.query);
    const delivery = deliveries?.get(request.params.id);
    if (!delivery) throw unknownDelivery(request.params.id);
    sendJson(request, response, 200, detail(delivery, form), NO_STORE);
  });
  routes.post("/api/deliveries/replay", express.json({ limit: "100kb" }), async (request, response) => {
    const { filter, dryRun } = understand(replaySchema, request.body);
    if (!deliveries) return send(request, response, { count: 0, replayed: 0 });
    send(request, response, await deliveries.replayMany(toFilter(filter), { dryRun }));
  });
  routes.post("/api/deliveries/:id/replay", async (request, response) => {
    if (!deliveries) throw unknownDelivery(request.params.id);
    send(request, response, await deliveries.replay(request.params.id), 202);
  });
  return routes;
}

function understand<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = issuesOf(result.error);
  const list = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; ");
  throw new HttpError(400, `the request was not understood: ${list}`, { code: "request_invalid", issues });
}

function toFilter({ endpoint, ...rest }: z.output<typeof filterSchema>): DeliveryFilter {
  return { receiver: endpoint, ...rest };
}

function unknownDelivery(id: string): HttpError {
  return new HttpError(404, `there is no delivery ${id}: it was never stored, or it is past its retention`, {
    code: "delivery_unknown",
  });
}

function summary({ receiver, attempts, key, serial, ...rest }: Delivery) {
  return { ...rest, endpoint: receiver, attemptsMade: attempts, ...(key !== undefined && { webhookId: key }) };
}

/** One delivery as JSON text. Its payload is JSON already, and may be nested deeper than could be read and written anew. */
function detail({ payload, headers, record, ...delivery }: DeliveryRecord, form: "json" | "text"): string {
  const known = JSON.stringify({ ...summary(delivery), attempts: record, headers });
  const text = payload.replace(/^\uFEFF/, "");
  return `${known.slice(0, -1)},"payload":${form === "text" ? JSON.stringify(text) : text}}`;
}

const NO_STORE = { "Cache-Control": "no-store" };
