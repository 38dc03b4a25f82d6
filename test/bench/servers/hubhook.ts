/** Ours, whole: the app with all its routes. `BENCH_LOG=FILE` turns the access log on, into that file. */
import { createWriteStream } from "node:fs";
import { startReceiver } from "../../../src/app.ts";
import { loadConfig } from "../../../src/config.ts";
import { createLogger } from "../../../src/logger.ts";
import { makeEndpoint } from "../../../src/receiver/endpoint.ts";
import { Registry } from "../../../src/receiver/registry.ts";
import { handle, ready, SECRET } from "./work.ts";

const file = process.env.BENCH_LOG;
const config = loadConfig({ PORT: "0", WEBHOOK_SECRET: SECRET, LOG_FORMAT: "json" });
const log = createLogger(file ? { ...config.log, stream: createWriteStream(file) } : { level: "warn", format: "json" });
const registry = new Registry();
const named = makeEndpoint({ options: { name: "bench" }, handler: handle, fallbackName: "", file: null, env: {} });
if (!("endpoint" in named)) throw new Error("the benchmark's handler is no handler");
registry.add(named.endpoint);
const { port } = await startReceiver({ config, log, registry, ui: config.server.publicDir });
ready(port);
