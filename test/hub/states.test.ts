import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { createSilentLogger } from "../../src/logger.ts";
import { onCleanup } from "../support/cleanup.ts";
import { type TestClock, testClock } from "../support/clock.ts";
import { activityOf, addWebhook, publish, startTestHub, type TestHub, WEBHOOKS } from "../support/hub.ts";
import { type Behaviour, startTarget } from "../support/target.ts";

const HOUR = 3_600_000;

async function pass({ hub }: TestHub, clock: TestClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= HOUR / 2) {
    clock.advance(Math.min(left, HOUR / 2));
    await hub.idle();
  }
}

describe("a webhook that is disabled or deleted", () => {
  it.each(["disable", "delete"])("has what waits for it cancelled and shown so (%s)", async (how) => {
    await using target = await startTarget({ status: 500 });
    const clock = testClock();
    const test = await startTestHub({}, { clock });
    const { api, hub } = test;
    const id = await addWebhook(api, { url: target.url, secret: "s" });
    await publish(api, "repo:update");
    await publish(api, "repo:create");
    await hub.idle();
    if (how === "delete") await api.delete(`${WEBHOOKS}/${id}`).expect(200);
    else await api.post(`${WEBHOOKS}/${id}/disable`).expect(200);
    const before = target.requests.length;
    expect(await activityOf(api, id)).toMatchObject([{ state: "cancelled" }, { state: "cancelled" }]);
    expect((await publish(api, "repo:update")).body.deliveries).toBe(0);
    await pass(test, clock, 20 * HOUR);
    expect(target.requests).toHaveLength(before);
  });

  it("gets events again once it is enabled, and may then be sent the cancelled ones", async () => {
    await using target = await startTarget({ status: 500 }, { status: 200 });
    const clock = testClock();
    const { api, hub } = await startTestHub({}, { clock });
    const id = await addWebhook(api, { url: target.url });
    await publish(api, "repo:update");
    await hub.idle();
    await api.post(`${WEBHOOKS}/${id}/disable`);
    const [cancelled] = await activityOf(api, id);
    await api.post(`${WEBHOOKS}/${id}/replay/${cancelled?.id}`).expect(409);
    await api.post(`${WEBHOOKS}/${id}/enable`).expect(200);
    const { body } = await api.post(`${WEBHOOKS}/${id}/replay/${cancelled?.id}`).expect(200);
    expect(body.status).toBe(200);
  });
});

describe("a page of the activity", () => {
  it("ends early where payloads are large, and the next one goes on from there", async () => {
    const { api } = await startTestHub();
    const id = await addWebhook(api, { url: "http://127.0.0.1:9/" });
    const filler = "x".repeat(4_500_000);
    for (let n = 0; n < 8; n++) await publish(api, "repo:update", `model:me/m${n}`, { filler });
    const repos: unknown[] = [];
    const sizes: number[] = [];
    let next: string | undefined = "";
    while (next !== undefined) {
      const path: string = `${WEBHOOKS}/${id}/activity?limit=200${next && `&cursor=${next}`}`;
      const { body } = await api.get(path).expect(200);
      repos.push(...body.deliveries.map(({ repo }: { repo: string }) => repo));
      sizes.push(body.deliveries.length);
      next = body.next;
    }
    expect(sizes).toEqual([3, 3, 2]);
    expect(repos).toEqual([7, 6, 5, 4, 3, 2, 1, 0].map((n) => `model:me/m${n}`));
  });
});

describe("suspension", () => {
  it("leaves nothing pending, also not of the attempts that fail at that very moment", async () => {
    await using target = await startTarget({ status: 500 });
    const { api, hub } = await startTestHub({ suspendFailures: 4, suspendAfterMs: 0, concurrencyPerTarget: 3 });
    for (let round = 0; round < 3; round++) {
      const id = await addWebhook(api, { url: target.url, watched: [{ type: "model", name: `me/m${round}` }] });
      for (let n = 0; n < 12; n++) await publish(api, "repo:update", `model:me/m${round}`);
      await hub.idle();
      const states = (await activityOf(api, id)).map(({ state }) => state);
      expect(states).not.toContain("pending");
      expect(states).toContain("cancelled");
    }
  });

  it("comes after so many failures in a row over so long, says why, and ends by enabling", async () => {
    await using target = await startTarget({ status: 500 }, ...Array<Behaviour>(11).fill({ status: 500 }), {
      status: 200,
    });
    const clock = testClock();
    const warned: string[] = [];
    const log = { ...createSilentLogger(), warn: (sentence: string) => void warned.push(sentence) };
    const settings = { suspendFailures: 10, suspendAfterMs: 24 * HOUR, scheduleMs: [HOUR] };
    const test = await startTestHub(settings, { clock, log });
    const { api, hub } = test;
    const id = await addWebhook(api, { url: target.url });
    const shown = async () => (await api.get(`${WEBHOOKS}/${id}`)).body.webhook;
    for (let n = 0; n < 5; n++) await publish(api, "repo:update");
    await hub.idle();
    await pass(test, clock, 2 * HOUR);
    // Ten have failed, but not for a day yet.
    expect(await shown()).toMatchObject({ disabled: false, failures: 10 });
    await pass(test, clock, 23 * HOUR);
    await publish(api, "repo:update");
    await hub.idle();
    expect(await shown()).toMatchObject({
      disabled: "suspended-after-failure",
      disabledReason: expect.stringMatching(/^11 attempts in a row failed since 2026.*answered 500$/),
      disabledAt: expect.any(String),
    });
    expect(warned).toEqual([expect.stringMatching(`webhook ${id} is suspended .* answered 500$`)]);
    expect((await activityOf(api, id))[0]?.state).toBe("cancelled");
    expect((await publish(api, "repo:update")).body.deliveries).toBe(0);
    await test.restart();
    expect((await shown()).disabled).toBe("suspended-after-failure");

    const enabled = (await api.post(`${WEBHOOKS}/${id}/enable`).expect(200)).body.webhook;
    expect(enabled).toMatchObject({ disabled: false, failures: 0 });
    expect(enabled).not.toHaveProperty("disabledReason");
    await publish(api, "repo:update");
    await test.hub.idle();
    await pass(test, clock, 2 * HOUR);
    expect((await activityOf(api, id))[0]?.state).toBe("succeeded");
    expect(await shown()).toMatchObject({ disabled: false, failures: 0 });
  });

  it("counts no failures that came before a success, whichever attempt began first", async () => {
    const held: ServerResponse[] = [];
    const target = createServer((request, response) => {
      request.resume();
      held.push(response);
      target.emit("taken");
    }).listen(0, "127.0.0.1");
    await once(target, "listening");
    onCleanup(() => void target.close());
    const { api, hub } = await startTestHub({ scheduleMs: [] });
    const id = await addWebhook(api, { url: `http://127.0.0.1:${(target.address() as AddressInfo).port}/` });
    const failures = async () => (await api.get(`${WEBHOOKS}/${id}`)).body.webhook.failures;
    for (let n = 0; n < 2; n++) {
      const taken = once(target, "taken");
      await publish(api, "repo:update");
      await taken;
    }
    held[1]?.writeHead(500).end();
    while ((await activityOf(api, id, "?state=failed")).length === 0);
    expect(await failures()).toBe(1);
    held[0]?.end();
    await hub.idle();
    expect(await failures()).toBe(0);
  });

  it("starts counting anew with every success and every new url", async () => {
    await using target = await startTarget({ status: 500 }, { status: 200 }, { status: 500 });
    const { api, hub } = await startTestHub({ scheduleMs: [] });
    const id = await addWebhook(api, { url: target.url });
    const failures = async () => (await api.get(`${WEBHOOKS}/${id}`)).body.webhook.failures;
    const counts: number[] = [];
    for (let n = 0; n < 3; n++) {
      await publish(api, "repo:update");
      await hub.idle();
      counts.push(await failures());
    }
    await api.post(`${WEBHOOKS}/${id}`, { url: `${target.url}/elsewhere` });
    expect([...counts, await failures()]).toEqual([1, 0, 1, 0]);
  });
});

describe("a replay", () => {
  it("sends the stored payload with the same id to the present url, and tells the status", async () => {
    await using old = await startTarget({ status: 200 });
    await using now = await startTarget({ status: 418 });
    const { api, hub } = await startTestHub({ scheduleMs: [] });
    const id = await addWebhook(api, { url: old.url });
    await publish(api, "repo:update");
    await hub.idle();
    await api.post(`${WEBHOOKS}/${id}`, { url: now.url, secret: "new" });
    const [first] = await activityOf(api, id);
    const { body } = await api.post(`${WEBHOOKS}/${id}/replay/${first?.id}`).expect(200);
    expect(body).toMatchObject({ status: 418, error: "answered 418" });
    expect(now.requests[0]?.body).toBe(old.requests[0]?.body);
    expect(now.requests[0]?.headers).toMatchObject({
      "webhook-id": old.requests[0]?.headers["webhook-id"],
      "x-webhook-secret": "new",
    });
    expect((await activityOf(api, id))[0]).toMatchObject({
      id: body.id,
      replayOf: first?.id,
      webhookId: first?.webhookId,
    });
    // And of a replay again the same id.
    await api.post(`${WEBHOOKS}/${id}/replay/${body.id}`).expect(200);
    expect(new Set(now.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  it("says why no answer came, and knows only the webhook's own deliveries", async () => {
    const { api, hub } = await startTestHub({ scheduleMs: [] });
    const id = await addWebhook(api, { url: "http://127.0.0.1:9/" });
    const other = await addWebhook(api, { url: "http://127.0.0.1:9/" });
    await publish(api, "repo:update");
    await hub.idle();
    const [delivery] = await activityOf(api, id);
    const { body } = await api.post(`${WEBHOOKS}/${id}/replay/${delivery?.id}`).expect(200);
    expect(body).toMatchObject({ status: 0, error: "nothing listens there" });
    await api.post(`${WEBHOOKS}/${other}/replay/${delivery?.id}`).expect(404);
    await api.post(`${WEBHOOKS}/${id}/replay/nonsense`).expect(404);
  });

  it("takes many at once by filter, and only counts them when asked to", async () => {
    await using target = await startTarget({ status: 500 }, { status: 500 }, { status: 200 });
    const { api, hub } = await startTestHub({ scheduleMs: [] });
    const id = await addWebhook(api, { url: target.url });
    for (const event of ["repo:update", "repo:create", "repo:update"]) {
      await publish(api, event);
      await hub.idle();
    }
    const bulk = `${WEBHOOKS}/${id}/replay`;
    const failed = { filter: { state: "failed" } };
    expect((await api.post(bulk, { ...failed, dryRun: true }).expect(200)).body).toEqual({ count: 2, replayed: 0 });
    expect(target.requests).toHaveLength(3);
    expect((await api.post(bulk, failed).expect(200)).body).toEqual({ count: 2, replayed: 2 });
    await hub.idle();
    expect(target.requests).toHaveLength(5);
    const { body } = await api.post(bulk, { filter: { state: "late" } }).expect(400);
    expect(body.error).toContain("filter.state");
  });
});

describe("the activity", () => {
  it("comes in pages, the newest first, by filter", async () => {
    await using target = await startTarget({ status: 200 });
    const { api, hub } = await startTestHub();
    const id = await addWebhook(api, { url: target.url });
    for (const name of ["a", "b", "c", "d", "e"]) await publish(api, "repo:update", `model:me/${name}`);
    await hub.idle();
    const names: unknown[] = [];
    let query = "?limit=2";
    for (let pages = 0; query !== "" && pages < 5; pages++) {
      const { body } = await api.get(`${WEBHOOKS}/${id}/activity${query}`).expect(200);
      names.push(...body.deliveries.map(({ payload }: { payload: { repo: { name: string } } }) => payload.repo.name));
      query = body.next ? `?limit=2&cursor=${body.next}` : "";
    }
    expect(names).toEqual(["me/e", "me/d", "me/c", "me/b", "me/a"]);
    expect(await activityOf(api, id, "?repo=model:me/c")).toHaveLength(1);
    expect(await activityOf(api, id, "?state=failed")).toHaveLength(0);
    await api.get(`${WEBHOOKS}/${id}/activity?limit=0`).expect(400);
  });
});
