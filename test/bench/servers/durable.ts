/** Ours in background mode. `BENCH_HOLD=1`: deliveries are stored and wait. */

import { createApp } from "../../../src/app.ts";
import { lazyWebhooks } from "../../../src/client/lazy.ts";
import { loadConfig } from "../../../src/config.ts";
import { Lifecycle } from "../../../src/http/lifecycle.ts";
import { listen } from "../../../src/http/server.ts";
import { createLogger } from "../../../src/logger.ts";
import { makeEndpoint } from "../../../src/receiver/endpoint.ts";
import { openInbox } from "../../../src/receiver/inbox.ts";
import { Registry } from "../../../src/receiver/registry.ts";
import { ready, SECRET } from "./work.ts";

const config = loadConfig({ PORT: "0", WEBHOOK_SECRET: SECRET, DATA_DIR: process.env.BENCH_FOLDER });
const log = createLogger({ level: "error", format: "json" });
const options = { name: "bench", mode: "background" } as const;
const made = makeEndpoint({ options, handler: async () => {}, fallbackName: "", file: null, env: {} });
if ("problems" in made) throw new Error(made.problems.join());
const registry = new Registry();
registry.add(made.endpoint);
const lifecycle = new Lifecycle();
const inbox = openInbox({
  config,
  registry,
  surroundings: { log, hub: config.hub, webhooks: lazyWebhooks(config.hub) },
});
const address = () => ({ url: "http://127.0.0.1", host: "127.0.0.1" });
const app = createApp({ config, log, registry, ui: config.server.publicDir, inbox, catalog: null, lifecycle, address });
const { port } = await listen(app.express, lifecycle, {
  ...config.server,
  who: "The benchmark",
  variables: { host: "HOST", port: "PORT" },
});
if (!process.env.BENCH_HOLD) inbox.deliveries.start();
ready(port);
