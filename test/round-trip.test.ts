/**
 * The whole story on one machine: a handler in a folder, a receiver and a hub as processes of their own, a webhook
 * from one to the other, an event, and what became of it. They meet over HTTP only, as with the real Hub.
 */
import { describe, expect, it } from "@jest/globals";
import { folderWith, hubhook, serve, serveHub } from "./support/cli.ts";
import { activityOf, addWebhook, type Caller, callerAt, WEBHOOKS } from "./support/hub.ts";

const HANDLERS = {
  "handlers/train.ts": `
    let calls = 0;
    export function trigger_training(payload) {
      calls += 1;
      return { training: payload.repo.name, head: payload.repo.headSha, calls };
    }
    export async function flaky() {
      if (calls++ === 0) throw new Error("out of memory");
    }`,
};
const SECRET = "s3cret";

/** Looks until the newest delivery has ended. */
async function ended(api: Caller, webhook: string) {
  for (let looks = 0; looks < 500; looks++) {
    const [delivery] = await activityOf(api, webhook);
    if (delivery && delivery.attempts.length > 0) return delivery;
  }
  throw new Error("no delivery has ended");
}

describe("from an event on the hub to a handler and back", () => {
  it("delivers, is answered by the handler, shows the answer, and sends it again by hand", async () => {
    await using folder = await folderWith(HANDLERS);
    const cwd = folder.path;
    await using receiver = await serve(["--handlers", "handlers"], { cwd, env: { WEBHOOK_SECRET: SECRET } });
    await using hub = await serveHub([], { cwd });
    const api = callerAt(`http://127.0.0.1:${hub.port}`);
    const watched = [{ type: "dataset", name: "me/texts" }];
    const url = `http://127.0.0.1:${receiver.port}/webhooks/trigger_training`;
    const webhook = await addWebhook(api, { watched, url, secret: SECRET });

    const emit = ["hub", "emit", "repo.content:update", "--repo", "dataset:me/texts"];
    const emitted = await hubhook([...emit, "--hub", `http://127.0.0.1:${hub.port}`], { cwd });
    expect(emitted).toMatchObject({ code: 0, stdout: expect.stringContaining("goes to 1 webhook") });

    const delivery = await ended(api, webhook);
    const head = delivery.payload.repo.headSha;
    expect(delivery).toMatchObject({ state: "succeeded", attempts: [{ status: 200 }] });
    expect(JSON.parse(delivery.attempts[0]?.response ?? "")).toEqual({ training: "me/texts", head, calls: 1 });

    const { body } = await api.post(`${WEBHOOKS}/${webhook}/replay/${delivery.id}`).expect(200);
    expect(body.status).toBe(200);
    const [again] = await activityOf(api, webhook);
    expect(JSON.parse(again?.attempts[0]?.response ?? "")).toMatchObject({ head, calls: 2 });
  });

  it("shows a handler that failed, and a secret that does not fit", async () => {
    await using folder = await folderWith(HANDLERS);
    const cwd = folder.path;
    await using receiver = await serve(["--handlers", "handlers"], { cwd, env: { WEBHOOK_SECRET: SECRET } });
    await using hub = await serveHub([], { cwd });
    const api = callerAt(`http://127.0.0.1:${hub.port}`);
    const url = `http://127.0.0.1:${receiver.port}/webhooks/flaky`;
    const event = { event: { scope: "discussion", action: "create" }, repo: { type: "model", name: "me/m" } };

    const webhook = await addWebhook(api, { url, secret: "wrong" });
    await api.post("/api/hub/events", event).expect(202);
    expect(await ended(api, webhook)).toMatchObject({ state: "pending", attempts: [{ status: 403 }] });

    await api.post(`${WEBHOOKS}/${webhook}`, { secret: SECRET }).expect(200);
    await api.post("/api/hub/events", event).expect(202);
    expect(await ended(api, webhook)).toMatchObject({ state: "pending", attempts: [{ status: 500 }] });
    const [failed] = await activityOf(api, webhook);
    const { body } = await api.post(`${WEBHOOKS}/${webhook}/replay/${failed?.id}`).expect(200);
    expect(body.status).toBe(204);
  });
});
