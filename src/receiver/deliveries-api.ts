/** The inspector's API: what became of background deliveries, live, and how to run one again. */
import express, { type Request, type RequestHandler, type Response, Router } from "express";
import { z } from "zod";
import type { Deliveries } from "../deliveries/deliveries.ts";
import type { Delivery, DeliveryFilter, DeliveryRecord } from "../deliveries/delivery.ts";
import { HttpError } from "../errors.ts";
import { sendJson } from "../http/answers.ts";
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

const filterSchema = z.strictObject({
  endpoint: z.string().optional(),
  state: z.enum(states, { error: `expected one of ${states.join(", ")}` }).optional(),
  since: time.optional(),
  until: time.optional(),
  scope: z.string().optional(),
  action: z.string().optional(),
  repo: z.string().optional(),
});

const pageSchema = filterSchema.extend({
  limit: z.coerce.number().int().min(1).max(500).default(50),
  cursor: z.string().optional(),
});

const replaySchema = z.strictObject({ filter: filterSchema.default({}), dryRun: z.boolean().default(false) });

export function deliveriesRoutes({ deliveries, guard, ending }: DeliveriesApiOptions): Router {
  const routes = Router();
  const send = (request: Request, response: Response, body: unknown, status = 200) =>
    sendJson(request, response, status, JSON.stringify(body), { "Cache-Control": "no-store" });

  routes.use("/api/deliveries", guard);
  routes.get("/api/deliveries", async (request, response) => {
    const { limit, cursor, ...filter } = understand(pageSchema, request.query);
    if (!deliveries) return send(request, response, { deliveries: [], counts: null });
    const page = await deliveries.list(toFilter(filter), { limit, cursor });
    const { pending, running, succeeded, failed, cancelled } = deliveries.stats();
    const counts = { pending, running, succeeded, failed, cancelled };
    send(request, response, {
      deliveries: page.deliveries.map(summary),
      counts,
      ...(page.next && { next: page.next }),
    });
  });
  routes.get("/api/deliveries/stream", (request, response) => stream(request, response, deliveries, ending));
  routes.get("/api/deliveries/:id", (request, response) => {
    const delivery = deliveries?.get(request.params.id);
    if (!delivery) throw unknownDelivery(request.params.id);
    send(request, response, detail(delivery));
  });
  routes.post("/api/deliveries/replay", express.json({ limit: "100kb" }), async (request, response) => {
    const { filter, dryRun } = understand(replaySchema, request.body ?? {});
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

function detail({ payload, headers, record, ...delivery }: DeliveryRecord) {
  return { ...summary(delivery), attempts: record, headers, payload: JSON.parse(payload) as unknown };
}

/** A stream that nobody reads is dropped rather than kept in memory. */
const MAX_BUFFERED_BYTES = 1_000_000;
const MAX_STREAMS = 100;
const HEARTBEAT_MS = 15_000;
let streams = 0;

/** Server-sent events: `change` with `{id, endpoint, state, attemptsMade, at}`. */
function stream(request: Request, response: Response, deliveries: Deliveries | null, ending: AbortSignal): void {
  if (streams >= MAX_STREAMS) {
    const headers = { "Retry-After": "30" };
    throw new HttpError(503, `there are ${MAX_STREAMS} live streams already: close one`, {
      code: "too_many_streams",
      headers,
    });
  }
  streams++;
  response.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
  });
  response.write(": connected\n\n");
  const write = (text: string) => {
    if (response.writableLength > MAX_BUFFERED_BYTES) response.destroy();
    else response.write(text);
  };
  const heartbeat = setInterval(() => write(": still here\n\n"), HEARTBEAT_MS);
  const unsubscribe = deliveries?.subscribe(({ receiver, attempts, ...change }) => {
    write(`event: change\ndata: ${JSON.stringify({ ...change, endpoint: receiver, attemptsMade: attempts })}\n\n`);
  });
  const end = () => response.end();
  ending.addEventListener("abort", end);
  request.on("close", () => {
    streams--;
    clearInterval(heartbeat);
    unsubscribe?.();
    ending.removeEventListener("abort", end);
  });
}
