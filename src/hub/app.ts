/** The hub's mount order, which reads as a table of contents. */
import express, { type Express } from "express";
import helmet from "helmet";
import type { Clock } from "../deliveries/clock.ts";
import { HttpError } from "../errors.ts";
import { answerErrors, answerUnknownPath } from "../http/answers.ts";
import type { Lifecycle } from "../http/lifecycle.ts";
import type { Logger } from "../logger.ts";
import { accountRoutes, publicRoutes } from "./account-routes.ts";
import type { Activity } from "./activity.ts";
import { activityRoutes } from "./activity-routes.ts";
import { errorHeaders } from "./answer.ts";
import { readBody, refuseDepth } from "./body.ts";
import type { Callers } from "./callers.ts";
import { eventRoutes } from "./event-routes.ts";
import type { Events } from "./events.ts";
import { jobRoutes } from "./job-routes.ts";
import type { Jobs } from "./jobs.ts";
import { pages } from "./pages/pages.ts";
import { limitRate } from "./rate-limit.ts";
import type { HubSettings } from "./settings.ts";
import { webhookRoutes } from "./webhook-routes.ts";
import type { Webhooks } from "./webhooks.ts";

interface HubApp {
  webhooks: Webhooks;
  events: Events;
  activity: Activity;
  jobs: Jobs;
  callers: Callers;
  settings: HubSettings;
  clock: Clock;
  log: Logger;
  lifecycle: Lifecycle;
  /** Where the hub is reached. */
  endpoint(): string;
  /** Why it cannot do its work now; empty when it can. */
  troubles(): string[];
}

export function createHubApp(hub: HubApp): Express {
  const { webhooks, events, activity, jobs, callers, settings, clock, log, lifecycle } = hub;
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use(helmet());
  app.use(callers.checkHost);
  app.use((_request, _response, next) => {
    if (!lifecycle.draining) return next();
    throw new HttpError(503, "the hub is shutting down: try again later", {
      code: "draining",
      headers: { "Retry-After": "5", Connection: "close" },
    });
  });
  app.use(publicRoutes(hub.troubles));
  app.use(pages(hub));
  app.use(callers.authenticate);
  app.use(readBody());
  app.use(eventRoutes(events));
  // Behind our own calls: whoever floods a test with events must not wait for the real Hub's limits.
  app.use("/api", limitRate(settings.rateLimit, clock));
  app.use(accountRoutes(callers));
  app.use(webhookRoutes(webhooks));
  app.use(activityRoutes(activity));
  app.use(jobRoutes(jobs, callers, lifecycle.closing));
  app.use(answerUnknownPath("this hub knows webhook settings, events and Jobs"));
  app.use(refuseDepth);
  app.use(answerErrors(log, errorHeaders));
  return app;
}
