import { describe, expect, it } from "@jest/globals";
import { parseChaos } from "../../src/hub/chaos.ts";
import { testClock } from "../support/clock.ts";
import { activityOf, addWebhook, startTestHub } from "../support/hub.ts";
import { startTarget } from "../support/target.ts";

const ONE = { event: { scope: "repo", action: "update" }, repo: { type: "model", name: "me/m" } };

async function send(chaos: string, count: number, settings: { scheduleMs?: number[]; concurrency?: number } = {}) {
  await using target = await startTarget({ status: 200 });
  const clock = testClock();
  const { api, hub } = await startTestHub({ chaos, ...settings }, { clock });
  const id = await addWebhook(api, { url: target.url });
  await api.post("/api/hub/events", { events: Array(count).fill(ONE) }).expect(202);
  await hub.idle();
  for (const gap of settings.scheduleMs ?? []) {
    clock.advance(gap);
    await hub.idle();
  }
  const deliveries = await activityOf(api, id, "?limit=200");
  return { deliveries, ids: target.requests.map(({ headers }) => headers["webhook-id"]), notices: hub.notices };
}

describe("chaos", () => {
  it("sends some twice with the same id", async () => {
    const { ids, deliveries } = await send("duplicate=0.5,seed=7", 40);
    expect(new Set(ids).size).toBe(40);
    expect(ids.length).toBeGreaterThan(45);
    expect(ids.length).toBeLessThan(75);
    expect(deliveries.every(({ attempts }) => attempts.length === 1)).toBe(true);
  });

  it("drops and cuts attempts, which are failures that the schedule makes good", async () => {
    const { ids, deliveries } = await send("drop=0.2,cut=0.2,seed=7", 60, { scheduleMs: Array(10).fill(1_000) });
    expect(deliveries.every(({ state }) => state === "succeeded")).toBe(true);
    const problems = deliveries.flatMap(({ attempts }) => attempts.flatMap(({ error }) => error ?? []));
    expect(new Set(problems)).toEqual(
      new Set(["chaos: this attempt was dropped", "chaos: the connection was cut in the middle of the body"]),
    );
    expect(new Set(ids).size).toBe(60);
  });

  it("makes the same choices with the same seed", async () => {
    const failed = async (seed: number) => {
      const { deliveries } = await send(`drop=0.3,seed=${seed}`, 30, { scheduleMs: [], concurrency: 1 });
      return deliveries.map(({ state }) => state === "failed");
    };
    const [first, second, other] = [await failed(1), await failed(1), await failed(2)];
    expect(second).toEqual(first);
    expect(other).not.toEqual(first);
  });

  it("delays each delivery, and lets later ones overtake", async () => {
    await using target = await startTarget({ status: 200 });
    const clock = testClock();
    const { api, hub } = await startTestHub({ chaos: "delay=2s,reorder=0.5" }, { clock });
    await addWebhook(api, { url: target.url });
    const events = Array.from({ length: 20 }, (_, n) => ({ ...ONE, repo: { type: "model", name: `me/m${n}` } }));
    await api.post("/api/hub/events", { events });
    // Each has one timer, for the delay.
    for (let turns = 0; turns < 1_000 && clock.timers < 20; turns++) await new Promise(setImmediate);
    clock.advance(1_999);
    expect(target.requests).toHaveLength(0);
    clock.advance(1);
    await target.received(1);
    for (let n = 0; n < 100; n++) clock.advance(10);
    await hub.idle();
    const order = target.requests.map(({ body }) => JSON.parse(body).repo.name);
    expect(order).toHaveLength(20);
    expect(order).not.toEqual(events.map(({ repo }) => repo.name));
  });

  it("is announced", async () => {
    const { hub } = await startTestHub({ chaos: "drop=0.1" });
    expect(hub.notices.join()).toContain("drop=0.1");
  });

  it.each([
    ["explode=1", /explode/],
    ["drop=2", /drop=2/],
    ["delay=2", /500ms or 2s/],
    ["seed=x", /whole number/],
  ])("is not understood as %s", async (text, problem) => {
    expect(() => parseChaos(text)).toThrow(problem);
    await expect(startTestHub({ chaos: text })).rejects.toThrow(problem);
  });
});
