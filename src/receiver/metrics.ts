/** `GET /metrics` in Prometheus text: our own counts, then the process's. */
import { type RequestHandler, Router } from "express";
import { requestIdOf } from "./answers.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { DURATION_BOUNDS, type Tally } from "./tally.ts";

interface MetricsOptions {
  tally: Tally;
  lifecycle: Lifecycle;
  guard: RequestHandler;
  /** Lines of other rooms, as the inbox. */
  more?: () => string[];
}

export function metricsRoutes({ tally, lifecycle, guard, more }: MetricsOptions): Router {
  let process: Promise<{ metrics(): Promise<string> }> | null = null;
  const routes = Router();
  routes.get("/metrics", guard, async (request, response) => {
    process ??= processMetrics();
    const lines = [...tallyLines(tally), ...runningLines(lifecycle), ...(more?.() ?? [])];
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

/** The head of one metric. */
export function head(name: string, type: "counter" | "gauge" | "histogram", help: string): string[] {
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
