import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { testClock } from "../support/clock.ts";
import { activityOf, addWebhook, publish, startTestHub, WEBHOOKS } from "../support/hub.ts";
import { type Behaviour, startTarget } from "../support/target.ts";

/** No second attempt: each test looks at one. */
const ONCE = { scheduleMs: [] };

describe("a delivery", () => {
  it("is the complete payload with the webhook's id, its secret, an id of its own and a user agent", async () => {
    await using target = await startTarget({ status: 200, body: "thanks" });
    const { api, hub } = await startTestHub();
    const id = await addWebhook(api, { url: `${target.url}/webhooks/train?key=1`, secret: "s3cret" });
    await publish(api, "repo.content:update", "dataset:me/texts").expect(202);
    await hub.idle();
    const [request] = target.requests;
    expect(request).toMatchObject({ method: "POST", url: "/webhooks/train?key=1" });
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "x-webhook-secret": "s3cret",
      "user-agent": "hubhook-hub/0.0.0",
      "webhook-id": expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    });
    const payload = JSON.parse(request?.body ?? "");
    expect(payload).toMatchObject({ webhook: { id, version: 3 }, repo: { type: "dataset", name: "me/texts" } });

    const [delivery] = await activityOf(api, id);
    expect(delivery).toMatchObject({
      state: "succeeded",
      webhookId: request?.headers["webhook-id"],
      attempts: [{ status: 200, response: "thanks", ms: expect.any(Number) }],
      payload,
    });
    expect(JSON.stringify(delivery)).not.toContain("s3cret");
  });

  it("keeps no secret that the receiver's answer repeats", async () => {
    const said = 'x-webhook-secret: s3cret, {"args":{"secret":"se cret"},"url":"/x?secret=se%20cret&y=1"}';
    const elsewhere = { location: "https://elsewhere/x?secret=se%20cret&y=1" };
    await using target = await startTarget({ status: 200, body: said }, { status: 301, headers: elsewhere });
    const { api, hub } = await startTestHub({ scheduleMs: [] });
    const id = await addWebhook(api, { url: `${target.url}/x?secret=se%20cret&y=1`, secret: "s3cret" });
    for (const _ of [1, 2]) {
      await publish(api, "repo:update");
      await hub.idle();
    }
    const [redirected, answered] = await activityOf(api, id);
    expect(answered?.attempts[0]?.response).toBe(
      'x-webhook-secret: ***, {"args":{"secret":"***"},"url":"/x?secret=***&y=1"}',
    );
    expect(redirected?.attempts[0]?.error).toContain("a redirect to https://elsewhere/x?secret=***&y=1");
    expect(target.requests[0]?.url).toBe("/x?secret=se%20cret&y=1");
  });

  it("carries no secret header where there is no secret", async () => {
    await using target = await startTarget({ status: 204 });
    const { api, hub } = await startTestHub();
    await addWebhook(api, { url: target.url });
    await publish(api, "repo:update");
    await hub.idle();
    expect(target.requests[0]?.headers).not.toHaveProperty("x-webhook-secret");
  });

  const answers: [string, Behaviour, object][] = [
    ["200", { status: 200 }, { status: 200 }],
    ["204", { status: 204 }, { status: 204 }],
    ["299", { status: 299 }, { status: 299 }],
    ["an answer without end", "huge", { status: 200, response: expect.stringMatching(/^x{10000,20000}$/) }],
  ];
  it.each(answers)("succeeds with %s", async (_, behaviour, attempt) => {
    await using target = await startTarget(behaviour);
    const { api, hub } = await startTestHub(ONCE);
    const id = await addWebhook(api, { url: target.url });
    await publish(api, "repo:update");
    await hub.idle();
    expect(await activityOf(api, id)).toMatchObject([{ state: "succeeded", attempts: [attempt] }]);
  });

  const failures: [string, Behaviour, object][] = [
    [
      "a redirect, which is not followed",
      { status: 301, headers: { location: "http://127.0.0.1:9/x" } },
      { status: 301, error: expect.stringContaining("not followed") },
    ],
    ["410", { status: 410 }, { status: 410, error: "answered 410" }],
    ["500 with a reason", { status: 500, body: "out of memory" }, { status: 500, response: "out of memory" }],
    ["a cut connection", "reset", { status: null, error: expect.stringContaining("cut") }],
    ["half an answer", "cut", { status: 200, error: expect.stringContaining("cut") }],
  ];
  it.each(failures)("fails with %s", async (_, behaviour, attempt) => {
    await using target = await startTarget(behaviour);
    const { api, hub } = await startTestHub(ONCE);
    const id = await addWebhook(api, { url: target.url });
    await publish(api, "repo:update");
    await hub.idle();
    const [delivery] = await activityOf(api, id);
    expect(delivery).toMatchObject({ state: "failed", attempts: [attempt] });
    expect(target.requests).toHaveLength(1);
  });

  it("fails where nothing listens, where the certificate is bad, and after the time limit", async () => {
    await using silent = await startTarget("hang");
    const plain = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => plain.once("listening", resolve));
    const { port } = plain.address() as AddressInfo;
    const clock = testClock();
    const { api, hub } = await startTestHub(ONCE, { clock });
    const cases = [
      ["http://127.0.0.1:9/", /nothing listens/],
      [`https://127.0.0.1:${port}/`, /SSL|TLS|wrong version|packet length/i],
      [silent.url, /no answer within 30 s/],
    ] as const;
    const ids: string[] = [];
    for (const [url] of cases) {
      const owner = `owner-${ids.length}`;
      ids.push(await addWebhook(api, { url, watched: [{ type: "user", name: owner }] }));
      await publish(api, "repo:update", `model:${owner}/m`);
      if (url !== silent.url) await hub.idle();
    }
    await silent.received(1);
    clock.advance(30_000);
    await hub.idle();
    for (const [index, id] of ids.entries()) {
      const [delivery] = await activityOf(api, id);
      expect(delivery).toMatchObject({ state: "failed", attempts: [{ status: null }] });
      expect(delivery?.attempts[0]?.error).toMatch(cases[index]?.[1] ?? "");
    }
    plain.closeAllConnections();
    plain.close();
  });

  it("is tried again on the schedule until it succeeds, with the same id", async () => {
    await using target = await startTarget({ status: 500 }, { status: 503 }, { status: 200 });
    const clock = testClock();
    const { api, hub } = await startTestHub({}, { clock });
    const id = await addWebhook(api, { url: target.url });
    await publish(api, "repo:update");
    await hub.idle();
    for (const gap of [5_000, 30_000]) {
      clock.advance(gap);
      await hub.idle();
    }
    const [delivery] = await activityOf(api, id);
    expect(delivery).toMatchObject({
      state: "succeeded",
      attempts: [{ status: 500 }, { status: 503 }, { status: 200 }],
    });
    expect(new Set(target.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  it("waits as long as Retry-After says", async () => {
    await using target = await startTarget({ status: 429, headers: { "retry-after": "120" } }, { status: 200 });
    const clock = testClock();
    const { api, hub } = await startTestHub({}, { clock });
    const id = await addWebhook(api, { url: target.url });
    await publish(api, "repo:update");
    await hub.idle();
    clock.advance(119_999);
    await hub.idle();
    expect(target.requests).toHaveLength(1);
    clock.advance(1);
    await hub.idle();
    expect((await activityOf(api, id))[0]?.state).toBe("succeeded");
  });

  it("goes to the present url with the present secret", async () => {
    await using first = await startTarget({ status: 500 });
    await using second = await startTarget({ status: 200 });
    const clock = testClock();
    const { api, hub } = await startTestHub({}, { clock });
    const id = await addWebhook(api, { url: first.url, secret: "old" });
    await publish(api, "repo:update");
    await hub.idle();
    await api.post(`${WEBHOOKS}/${id}`, { url: second.url, secret: "new" }).expect(200);
    clock.advance(5_000);
    await hub.idle();
    expect(second.requests[0]?.headers["x-webhook-secret"]).toBe("new");
  });
});

describe("one target", () => {
  it("that is dead or slow does not delay another", async () => {
    await using slow = await startTarget("hang");
    await using good = await startTarget({ status: 200 });
    const clock = testClock();
    const { api } = await startTestHub({ concurrency: 8, concurrencyPerTarget: 4 }, { clock });
    for (let n = 0; n < 10; n++) await addWebhook(api, { url: slow.url });
    const id = await addWebhook(api, { url: good.url });
    for (let n = 0; n < 5; n++) await publish(api, "repo:update");
    await good.received(5);
    // The slow one's attempts go on meanwhile, so there is no quiet to wait for.
    let states = ["pending"];
    for (let looks = 0; looks < 1_000 && !states.every((state) => state === "succeeded"); looks++)
      states = (await activityOf(api, id)).map(({ state }) => state);
    expect(states).toEqual(Array(5).fill("succeeded"));
    expect(slow.requests.length).toBeLessThanOrEqual(4);
  });

  it("that gives no answer is left alone for a while, which uses up no attempts", async () => {
    await using target = await startTarget("reset", "reset", "reset", "reset", "reset", { status: 200 });
    const clock = testClock();
    const { api, hub } = await startTestHub({ concurrencyPerTarget: 1 }, { clock });
    const id = await addWebhook(api, { url: target.url });
    for (let n = 0; n < 20; n++) await publish(api, "repo:update");
    await hub.idle();
    expect(target.requests).toHaveLength(5);
    const waiting = await activityOf(api, id);
    expect(waiting.filter(({ attempts }) => attempts.length === 0)).toHaveLength(15);
    clock.advance(5_000);
    await hub.idle();
    clock.advance(1_000);
    await hub.idle();
    const after = await activityOf(api, id);
    expect(after.filter(({ state }) => state === "succeeded").length).toBeGreaterThanOrEqual(15);
  });

  it("gets all of an event's deliveries, however many webhooks lead to it", async () => {
    await using target = await startTarget({ status: 200 });
    const { api, hub } = await startTestHub({ concurrencyPerTarget: 3 });
    for (let n = 0; n < 40; n++) await addWebhook(api, { url: target.url });
    for (let n = 0; n < 3; n++) await publish(api, "repo:update");
    await hub.idle();
    expect(target.requests).toHaveLength(120);
    expect(new Set(target.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(120);
  });
});
