/** A receiver as it runs for people, on a free port, its log in an array. It ends with the test that started it. */
import { Writable } from "node:stream";
import { afterEach } from "@jest/globals";
import { type RunningReceiver, startReceiver } from "../../src/app.ts";
import { type Env, loadConfig } from "../../src/config.ts";
import { createLogger, type Logger } from "../../src/logger.ts";
import { makeEndpoint } from "../../src/receiver/endpoint.ts";
import type { Ui } from "../../src/receiver/pages.ts";
import { Registry } from "../../src/receiver/registry.ts";
import { type DefinedWebhook, type Handler, isDefinedWebhook } from "../../src/receiver/webhook.ts";

export const SECRET = "open-sesame";
/** The least that is a payload. */
export const LEAST = { event: { action: "update" }, repo: { type: "dataset" } };

export type LogLine = Record<string, unknown> & { level: string; message: string };

export interface TestReceiver extends RunningReceiver {
  /** What was logged, one object a line. */
  lines: LogLine[];
  /** The same as it was written. */
  written(): string;
}

interface Wanted {
  env?: Env;
  handlers?: Record<string, Handler | DefinedWebhook>;
  ui?: Ui;
  broken?: Registry["broken"];
}

const started = new Set<TestReceiver>();

/** Where a test has no handler to write. */
const echo: Handler = (payload) => ({ got: payload });

export async function startTestReceiver({ env = {}, handlers = { echo }, ui, broken = [] }: Wanted = {}) {
  const config = loadConfig({ PORT: "0", HF_TOKEN_PATH: "/nowhere", SHUTDOWN_GRACE: "5s", ...env });
  const registry = new Registry();
  registry.broken.push(...broken);
  for (const [name, given] of Object.entries(handlers)) registry.add(endpointOf(name, given, env));
  const { log, written } = capturedLog();
  const running = await startReceiver({ config, log, registry, ui: ui ?? config.server.publicDir });
  const receiver: TestReceiver = {
    ...running,
    written,
    get lines() {
      return written()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as LogLine);
    },
  };
  started.add(receiver);
  return receiver;
}

afterEach(async () => {
  const left: string[] = [];
  for (const receiver of started) {
    const { running } = receiver.status.lifecycle;
    if (running > 0) left.push(`${running} handler(s) still running at ${receiver.url}`);
    await receiver.close();
  }
  started.clear();
  if (left.length > 0) throw new Error(`the test left ${left.join(", ")}`);
});

export function capturedLog(
  format: "pretty" | "json" = "json",
  level: "debug" | "info" | "warn" | "error" = "debug",
): { log: Logger; written(): string } {
  let text = "";
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  return { log: createLogger({ level, format, stream }), written: () => text };
}

function endpointOf(name: string, given: Handler | DefinedWebhook, env: Env) {
  const { options, handler } = isDefinedWebhook(given) ? given : { options: {}, handler: given };
  const made = makeEndpoint({ options: { name, ...options }, handler, fallbackName: "", file: null, env });
  if ("problems" in made) throw new Error(made.problems.join("\n"));
  return made.endpoint;
}

/** Posts a payload as the Hub does. Bodies that are no objects go out as they are. */
export function deliver(url: string, body: unknown = LEAST, headers: Record<string, string> = {}): Promise<Response> {
  const bytes = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  const all = { "content-type": "application/json", ...headers };
  return fetch(url, { method: "POST", body: bytes as string, headers: all });
}

/** A door that a handler waits at until the test opens it. */
export function gate<Value = void>() {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const reached = Promise.withResolvers<void>();
  return {
    open: resolve,
    fail: reject,
    /** Resolves when the handler has come to the gate. */
    reached: reached.promise,
    pass: () => {
      reached.resolve();
      return promise;
    },
  };
}
