/** The receiver: its mount order, which reads as a table of contents, and how it is started. */
import express, { type Express } from "express";
import type { Config } from "./config.ts";
import type { Logger } from "./logger.ts";
import { answerErrors, answerUnknownPath } from "./receiver/answers.ts";
import { mountEndpoints } from "./receiver/endpoints.ts";
import { Lifecycle } from "./receiver/lifecycle.ts";
import { metricsRoutes } from "./receiver/metrics.ts";
import { openApiRoutes } from "./receiver/openapi.ts";
import { pageRoutes, type Ui } from "./receiver/pages.ts";
import { privateSurface } from "./receiver/private-surface.ts";
import type { Registry } from "./receiver/registry.ts";
import { isLoopback, listen } from "./receiver/server.ts";
import { type Status, statusRoutes } from "./receiver/status.ts";
import { Tally } from "./receiver/tally.ts";

export interface AppOptions {
  config: Config;
  log: Logger;
  registry: Registry;
  ui: Ui;
  /** Where the server is bound, once it is: known to no request before that. */
  address(): { url: string; host: string };
}

export interface App {
  express: Express;
  lifecycle: Lifecycle;
  status: Status;
}

export function createApp({ config, log, registry, ui, address }: AppOptions): App {
  const { secrets, bodyLimit, replyDeadlineMs, publicUrl } = config.receiver;
  const lifecycle = new Lifecycle();
  const tally = new Tally();
  const status: Status = {
    registry,
    lifecycle,
    secret: secrets.length > 0,
    notices: [],
    publicUrl: () => publicUrl ?? (config.space ? `https://${config.space.host}` : address().url),
    troubles: () => [],
  };
  const guard = privateSurface({ secrets, local: () => isLoopback(address().host) });

  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  // On a Space the client's address stands in X-Forwarded-For; elsewhere anybody could write it there.
  app.set("trust proxy", config.space ? 1 : false);

  mountEndpoints(app, { registry, lifecycle, tally, log, secrets, bodyLimit, replyDeadlineMs, hub: config.hub });
  app.use(statusRoutes(status));
  app.use(metricsRoutes({ tally, lifecycle, guard }));
  app.use(openApiRoutes(status));
  app.use(pageRoutes(ui));
  app.use(answerUnknownPath);
  app.use(answerErrors(log));
  return { express: app, lifecycle, status };
}

export interface RunningReceiver {
  /** Where it listens, as `http://127.0.0.1:7860`. */
  url: string;
  port: number;
  status: Status;
  /** Resolves when no handler runs. */
  idle(): Promise<void>;
  /** Takes nothing new, lets handlers end for as long as `SHUTDOWN_GRACE` says, then ends every connection. */
  close(): Promise<void>;
}

/** @throws StartError when the address cannot be had. */
export async function startReceiver(options: Omit<AppOptions, "address">): Promise<RunningReceiver> {
  const { host, port, shutdownGraceMs } = options.config.server;
  let bound = { url: `http://${host}:${port}`, host };
  const app = createApp({ ...options, address: () => bound });
  const listening = await listen(app.express, app.lifecycle, { host, port });
  bound = listening;
  return {
    url: listening.url,
    port: listening.port,
    status: app.status,
    idle: () => app.lifecycle.idle(),
    close: () => listening.close(shutdownGraceMs),
  };
}
