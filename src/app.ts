/** The receiver: its mount order, which reads as a table of contents, and how it is started. */
import express, { type Express } from "express";
import type { ServedCatalog } from "./catalog/serve.ts";
import { lazyWebhooks } from "./client/lazy.ts";
import type { Config } from "./config.ts";
import { answerErrors, answerUnknownPath } from "./http/answers.ts";
import { Lifecycle } from "./http/lifecycle.ts";
import { isLoopback, type Listening, listen } from "./http/server.ts";
import type { Logger } from "./logger.ts";
import { deliveriesRoutes } from "./receiver/deliveries-api.ts";
import { mountEndpoints } from "./receiver/endpoints.ts";
import type { Inbox } from "./receiver/inbox.ts";
import { metricsRoutes } from "./receiver/metrics.ts";
import { openApiRoutes } from "./receiver/openapi.ts";
import { pageRoutes, type Ui } from "./receiver/pages.ts";
import { PrivateSurface } from "./receiver/private-surface.ts";
import type { Registry } from "./receiver/registry.ts";
import { type Status, statusRoutes } from "./receiver/status.ts";
import { Tally } from "./receiver/tally.ts";

export interface AppOptions {
  config: Config;
  log: Logger;
  registry: Registry;
  ui: Ui;
  /** Where background deliveries are stored; null when no handler needs it. */
  inbox: Inbox | null;
  /** null: no catalog is served. */
  catalog: ServedCatalog | null;
  lifecycle: Lifecycle;
  /** Where the server is bound, once it is: known to no request before that. */
  address(): { url: string; host: string };
}

export interface App {
  express: Express;
  status: Status;
}

export function createApp({ config, log, registry, ui, inbox, catalog, lifecycle, address }: AppOptions): App {
  const { secrets, bodyLimit, replyDeadlineMs, publicUrl } = config.receiver;
  const tally = new Tally();
  const status: Status = {
    registry,
    lifecycle,
    secret: secrets.length > 0,
    catalog: catalog !== null,
    notices: inbox?.notice ? [inbox.notice] : [],
    publicUrl: () => publicUrl ?? (config.space ? `https://${config.space.host}` : address().url),
    troubles: () => inbox?.troubles() ?? [],
    concerns: () => catalog?.concerns() ?? [],
  };
  const privately = new PrivateSurface({ secrets, local: () => isLoopback(address().host) });
  const { guard } = privately;
  const deliveries = inbox?.deliveries ?? null;

  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  // Should an error ever pass by our own last middleware, Express's shows no stack to the caller.
  app.set("env", "production");
  // On a Space the client's address stands in X-Forwarded-For; elsewhere anybody could write it there.
  app.set("trust proxy", config.space ? 1 : false);

  const logsDeliveries = log.isInfoEnabled();
  const endpoints = { registry, lifecycle, tally, log, logsDeliveries, secrets, bodyLimit, replyDeadlineMs, inbox };
  mountEndpoints(app, { ...endpoints, hub: config.hub, webhooks: lazyWebhooks(config.hub) });
  app.use(statusRoutes(status));
  app.use(privately.routes());
  app.use(metricsRoutes({ tally, lifecycle, deliveries, guard }));
  app.use(deliveriesRoutes({ deliveries, guard, ending: lifecycle.closing }));
  if (catalog) app.use(catalog.routes(status.publicUrl));
  app.use(openApiRoutes(status, catalog?.paths));
  app.use(pageRoutes(ui));
  app.use(answerUnknownPath("GET /api/endpoints lists the endpoints"));
  app.use(answerErrors(log));
  return { express: app, status };
}

type StartOptions = Omit<AppOptions, "address" | "inbox" | "catalog" | "lifecycle">;

export interface RunningReceiver {
  /** Where it listens, as `http://127.0.0.1:7860`. */
  url: string;
  port: number;
  status: Status;
  /** Can background deliveries be stored? */
  storesDeliveries: boolean;
  /** Resolves when no handler runs and none could begin now. */
  idle(): Promise<void>;
  /** Takes nothing new, lets handlers end for as long as `SHUTDOWN_GRACE` says, then ends every connection. */
  close(): Promise<void>;
}

/**
 * Starts a receiver: what was left of its inbox goes on, then it listens.
 * @throws StartError when the address or the inbox cannot be had
 */
export async function startReceiver(options: StartOptions): Promise<RunningReceiver> {
  const { config } = options;
  const { host, port, shutdownGraceMs } = config.server;
  const lifecycle = new Lifecycle();
  const inbox = await openInboxIfNeeded(options);
  const catalog = await openCatalogIfAsked(options);
  let bound = { url: `http://${host}:${port}`, host };
  const { express, status } = createApp({ ...options, inbox, catalog, lifecycle, address: () => bound });
  let listening: Listening;
  try {
    listening = await listen(express, lifecycle, {
      host,
      port,
      who: "The receiver",
      variables: { host: "HOST", port: "PORT" },
    });
  } catch (error) {
    await catalog?.live.close();
    await inbox?.deliveries.close();
    throw error;
  }
  bound = listening;
  inbox?.deliveries.start();
  return {
    url: listening.url,
    port: listening.port,
    status,
    storesDeliveries: inbox !== null,
    idle: async () => {
      await lifecycle.idle();
      await inbox?.deliveries.idle();
      await catalog?.live.idle();
    },
    close: async () => {
      const until = performance.now() + shutdownGraceMs;
      inbox?.deliveries.hold();
      await catalog?.live.close();
      await listening.close(shutdownGraceMs);
      await inbox?.deliveries.close(Math.max(0, until - performance.now()));
    },
  };
}

/** Read only when a handler asks for background mode: the others need neither the file nor the time to open it. */
async function openInboxIfNeeded({ config, log, registry }: StartOptions): Promise<Inbox | null> {
  if (!registry.list().some(({ mode }) => mode === "background")) return null;
  const { openInbox } = await import("./receiver/inbox.ts");
  return openInbox({ config, registry, surroundings: { log, hub: config.hub, webhooks: lazyWebhooks(config.hub) } });
}

async function openCatalogIfAsked({ config, log }: StartOptions): Promise<ServedCatalog | null> {
  const { source } = config.catalog;
  if (source === null) return null;
  const { serveCatalog } = await import("./catalog/serve.ts");
  return serveCatalog({ ...config.catalog, ...config.hub, source, log });
}
