/** A receiver with handlers in background mode and a folder of its own; it ends with the test that started it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningReceiver, startReceiver } from "../../src/app.ts";
import { type Env, loadConfig } from "../../src/config.ts";
import { createSilentLogger } from "../../src/logger.ts";
import { makeEndpoint } from "../../src/receiver/endpoint.ts";
import { BUILT_IN_PUBLIC } from "../../src/receiver/pages.ts";
import { Registry } from "../../src/receiver/registry.ts";
import type { Handler, WebhookOptions } from "../../src/receiver/webhook.ts";
import { onCleanup } from "./cleanup.ts";

export interface BackgroundReceiver extends RunningReceiver {
  /** Posts a payload to an endpoint, as the Hub would. Returns the id of the delivery. */
  send(endpoint: string, payload?: object, headers?: Record<string, string>): Promise<string>;
  /** Sends this many to an endpoint, side by side. */
  sendMany(endpoint: string, count: number, payloadOf: (index: number) => object): Promise<void>;
}

export type BackgroundHandlers = Record<string, Handler | { options: WebhookOptions; handler: Handler }>;

/** The event that most tests send. */
export function pushTo(name: string, more: object = {}): object {
  return { event: { scope: "repo.content", action: "update" }, repo: { type: "dataset", name }, ...more };
}

export async function startBackground(
  handlers: BackgroundHandlers = { train: () => undefined },
  env: Env = {},
): Promise<BackgroundReceiver> {
  const folder = mkdtempSync(join(tmpdir(), "hubhook-test-"));
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  const config = loadConfig({
    PORT: "0",
    DATA_DIR: folder,
    HF_TOKEN_PATH: "/nowhere",
    SHUTDOWN_GRACE: "300ms",
    ...env,
  });
  const registry = new Registry();
  for (const [name, given] of Object.entries(handlers)) {
    const { options, handler } = typeof given === "function" ? { options: {}, handler: given } : given;
    const source = {
      options: { name, mode: "background" as const, ...options },
      handler,
      fallbackName: "",
      file: null,
    };
    const made = makeEndpoint({ ...source, env: {} });
    if ("problems" in made) throw new Error(made.problems.join("\n"));
    registry.add(made.endpoint);
  }
  const running = await startReceiver({ config, log: createSilentLogger(), registry, ui: BUILT_IN_PUBLIC });
  onCleanup(() => running.close());
  const [secret] = config.receiver.secrets;
  const send: BackgroundReceiver["send"] = async (endpoint, payload = pushTo("me/data"), headers = {}) => {
    const response = await fetch(`${running.url}/webhooks/${endpoint}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(secret && { "x-webhook-secret": secret }), ...headers },
      body: JSON.stringify(payload),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return ((await response.json()) as { delivery: string }).delivery;
  };
  return {
    ...running,
    send,
    async sendMany(endpoint, count, payloadOf) {
      let next = 0;
      const sendOn = async () => {
        while (next < count) await send(endpoint, payloadOf(next++));
      };
      await Promise.all(Array.from({ length: Math.min(32, count) }, sendOn));
    },
  };
}
