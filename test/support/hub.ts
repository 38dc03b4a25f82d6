/** A hub of its own for a test: on a free port, in a folder of its own, closed after the test. */
import supertest from "supertest";
import { type HubOptions, type RunningHub, startHub } from "../../src/hub/hub.ts";
import type { HubSettings } from "../../src/hub/settings.ts";
import { createSilentLogger } from "../../src/logger.ts";
import { onCleanup } from "./cleanup.ts";
import { temporaryFolder } from "./deliveries.ts";

export interface TestHub {
  hub: RunningHub;
  /** Asks as the owner of this token; null: without one. */
  as(token: string | null): Caller;
  /** Asks as somebody with some token. */
  api: Caller;
  /** Closes it and starts it again on the same folder. */
  restart(changed?: Partial<HubOptions>): Promise<void>;
}

export interface Caller {
  get(path: string): supertest.Test;
  post(path: string, body?: unknown): supertest.Test;
  put(path: string, body?: unknown): supertest.Test;
  delete(path: string): supertest.Test;
}

export async function startTestHub(
  settings: Partial<HubSettings> = {},
  more: Partial<HubOptions> = {},
): Promise<TestHub> {
  const options: HubOptions = {
    dataDir: temporaryFolder(),
    settings: { port: 0, shutdownGraceMs: 1_000, ...settings },
    log: createSilentLogger(),
    version: "0.0.0",
    random: () => 0.5,
    ...more,
  };
  const as = (token: string | null) => caller(() => test.hub.url, token);
  const test: TestHub = {
    hub: await startHub(options),
    as,
    api: as("hf_any"),
    async restart(changed = {}) {
      await test.hub.close();
      test.hub = await startHub({ ...options, ...changed });
    },
  };
  onCleanup(() => test.hub.close());
  return test;
}

/** Asks a hub that runs elsewhere. */
export function callerAt(url: string, token = "hf_any"): Caller {
  return caller(() => url, token);
}

function caller(url: () => string, token: string | null): Caller {
  const ask = (method: "get" | "post" | "put" | "delete") => (path: string, body?: unknown) => {
    const request = supertest(url())[method](path);
    if (token !== null) request.set("Authorization", `Bearer ${token}`);
    return body === undefined ? request : request.send(body as object);
  };
  return { get: ask("get"), post: ask("post"), put: ask("put"), delete: ask("delete") };
}

export const WEBHOOKS = "/api/settings/webhooks";

/** Makes a webhook and gives its id. */
export async function addWebhook(api: Caller, webhook: Record<string, unknown>): Promise<string> {
  const { body } = await api.post(WEBHOOKS, { watched: [{ type: "user", name: "me" }], ...webhook }).expect(200);
  return body.webhook.id;
}

/** Publishes `scope:action` on `type:owner/name`, with further keys. */
export function publish(api: Caller, event: string, repo = "model:me/m", more: Record<string, unknown> = {}) {
  const [scope, action] = event.split(":");
  const [type, name] = repo.split(":");
  return api.post("/api/hub/events", { event: { scope, action }, repo: { type, name }, ...more });
}

/** The activity of a webhook, the newest first. */
export async function activityOf(api: Caller, webhook: string, query = "") {
  const { body } = await api.get(`${WEBHOOKS}/${webhook}/activity${query}`).expect(200);
  return body.deliveries as {
    id: string;
    webhookId: string;
    state: string;
    replayOf?: string;
    nextAttemptAt?: string;
    attempts: { at: string; status: number | null; ms: number; error?: string; response?: string; job?: string }[];
    payload: { event: object; repo: Record<string, unknown>; webhook: object; [key: string]: unknown };
  }[];
}
