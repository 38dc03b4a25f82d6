/** `GET /metrics` in Prometheus text: our own counts, then the process's. */
import { type RequestHandler, Router } from "express";
import type { Deliveries } from "../deliveries/deliveries.ts";
import type { DeliveryStats } from "../deliveries/delivery.ts";
import { requestIdOf } from "../http/answers.ts";
import type { Lifecycle } from "../http/lifecycle.ts";
import { DURATION_BOUNDS, type Tally } from "./tally.ts";

interface MetricsOptions {
  tally: Tally;
  lifecycle: Lifecycle;
  /** null: no handler is in background mode. */
  deliveries: Deliveries | null;
  guard: RequestHandler;
}

export function metricsRoutes({ tally, lifecycle, deliveries, guard }: MetricsOptions): Router {
  let process: Promise<{ metrics(): Promise<string> }> | null = null;
  const routes = Router();
  routes.get("/metrics", guard, async (request, response) => {
    process ??= processMetrics();
    const lines = [
      ...tallyLines(tally),
      ...runningLines(lifecycle),
      ...(deliveries ? inboxLines(deliveries.stats()) : []),
    ];
    response.setHeader("X-Request-Id", requestIdOf(request));
    response.type("text/plain; version=0.0.4; charset=utf-8");
    response.send(`${lines.join("\n")}\n\n${await (await process).metrics()}`);
  });
  return routes;
}

/** Loaded by the first who asks: most receivers are never scraped. */
async function processMetrics() {
  const { collectDefaultMetrics, Registry } = await import("prom-client");
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

function head(name: string, type: "counter" | "gauge" | "histogram", help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function tallyLines(tally: Tally): string[] {
  const answers = "hubhook_deliveries_total";
  const lines = head(answers, "counter", "Deliveries that reached an endpoint, by the status they were answered with.");
  for (const [endpoint, statuses] of tally.answers)
    for (const [status, count] of statuses)
      lines.push(`${answers}{endpoint="${endpoint}",status="${status}"} ${count}`);

  const duration = "hubhook_delivery_duration_seconds";
  lines.push(...head(duration, "histogram", "Time from a delivery's headers to its answer."));
  for (const [endpoint, { buckets, sum, count }] of tally.durations) {
    let below = 0;
    for (const [index, bound] of DURATION_BOUNDS.entries()) {
      below += buckets[index] ?? 0;
      lines.push(`${duration}_bucket{endpoint="${endpoint}",le="${bound}"} ${below}`);
    }
    lines.push(`${duration}_bucket{endpoint="${endpoint}",le="+Inf"} ${count}`);
    lines.push(`${duration}_sum{endpoint="${endpoint}"} ${sum}`, `${duration}_count{endpoint="${endpoint}"} ${count}`);
  }
  return lines;
}

function runningLines(lifecycle: Lifecycle): string[] {
  const name = "hubhook_handlers_running";
  return [...head(name, "gauge", "Handlers that run right now."), `${name} ${lifecycle.running}`];
}

function inboxLines(stats: DeliveryStats): string[] {
  const { pending, running, succeeded, failed, cancelled } = stats;
  const kept = "hubhook_inbox_deliveries";
  const lines = head(kept, "gauge", "Background deliveries that are kept, by state.");
  for (const [state, count] of Object.entries({ pending, running, succeeded, failed, cancelled }))
    lines.push(`${kept}{state="${state}"} ${count}`);
  const attempts = "hubhook_inbox_attempts_total";
  lines.push(...head(attempts, "counter", "Attempts of background deliveries, by outcome, since the start."));
  for (const [outcome, count] of Object.entries(stats.totals.attempts))
    lines.push(`${attempts}{outcome="${outcome}"} ${count}`);
  const gauges: [name: string, help: string, value: number][] = [
    ["hubhook_inbox_backlog_bytes", "Payload bytes of deliveries that are not finished.", stats.backlogBytes],
    ["hubhook_inbox_disk_bytes", "Size of the inbox on disk.", stats.bytesOnDisk],
    ["hubhook_inbox_behind_seconds", "How late the delivery is that is most behind.", secondsSince(stats.behindSince)],
  ];
  for (const [name, help, value] of gauges) lines.push(...head(name, "gauge", help), `${name} ${value}`);
  return lines;
}

function secondsSince(time: Date | undefined): number {
  return time ? Math.max(0, (Date.now() - time.getTime()) / 1000) : 0;
}
