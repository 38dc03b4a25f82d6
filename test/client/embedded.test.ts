import { describe, expect, it } from "@jest/globals";
import { type HubError, WebhooksClient } from "../../src/client/client.ts";
import type { HubSettings } from "../../src/hub/settings.ts";
import { addWebhook, publish, startTestHub } from "../support/hub.ts";
import { startTarget } from "../support/target.ts";

const URL_A = "https://example.com/webhooks/a?key=1";
const watched = ["dataset:me/data", { type: "org", name: "acme" }];

async function startWithClient(settings: Partial<HubSettings> = {}) {
  const test = await startTestHub(settings);
  return { ...test, client: new WebhooksClient({ endpoint: `${test.hub.url}/`, token: "hf_any" }) };
}

const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: HubError) => error,
  );

describe("the client on the embedded hub", () => {
  it("makes, lists, reads and deletes webhooks", async () => {
    const { client } = await startWithClient();
    expect(await client.list()).toEqual([]);
    const made = await client.create({ url: URL_A, watched, domains: ["discussions"], secret: "s3cret" });
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      url: URL_A,
      job: null,
      watched: [
        { type: "dataset", name: "me/data" },
        { type: "org", name: "acme" },
      ],
      domains: ["discussion"],
      disabled: false,
      status: "enabled",
      hasSecret: true,
      failures: 0,
      quota: { limit: 1000, used: 0, over: 0 },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(await client.list()).toEqual([made]);
    expect(await client.get(made.id)).toEqual(made);
    expect(await client.delete(made.id)).toBeUndefined();
    expect(await client.list()).toEqual([]);
  });

  it("takes both domains and no secret where nothing is said", async () => {
    const { client } = await startWithClient();
    expect(await client.create({ url: URL_A, watched })).toMatchObject({
      domains: ["repo", "discussion"],
      hasSecret: false,
    });
  });

  it.each([
    [{ url: "https://example.com/b" }, { url: "https://example.com/b" }],
    [{ watched: ["bucket:me/files"] }, { watched: [{ type: "bucket", name: "me/files" }] }],
    [{ domains: ["repo"] }, { domains: ["repo"] }],
    [{ secret: "other" }, {}],
    [{ secret: null }, { hasSecret: false }],
  ])("changes by %j only what it names", async (changes, changed) => {
    const { client } = await startWithClient();
    const before = await client.create({ url: URL_A, watched, domains: ["discussion"], secret: "s3cret" });
    const after = await client.update(before.id, changes);
    expect(after).toEqual({ ...before, updatedAt: expect.any(String), ...changed });
    expect(await client.get(before.id)).toEqual(after);
  });

  it("moves a webhook from a url to a Job and back", async () => {
    const { client, api } = await startWithClient({ jobs: "process" });
    const spec = { dockerImage: "alpine", command: ["true"], environment: { A: "1" }, flavor: "cpu-basic" };
    const { body: job } = await api.post("/api/jobs/me", spec).expect(200);
    const made = await client.create({ jobId: job.id, watched, jobSecrets: { TOKEN: "hidden-value" } });
    expect(made).toMatchObject({ url: null, job: { ...spec, arguments: [], secrets: ["TOKEN"] } });
    expect(JSON.stringify(made)).not.toContain("hidden-value");
    expect(await client.update(made.id, { domains: ["repo"] })).toMatchObject({ url: null, job: made.job });
    expect(await client.update(made.id, { url: URL_A })).toMatchObject({ url: URL_A, job: null, domains: ["repo"] });
    expect(await client.update(made.id, { jobId: job.id })).toMatchObject({ url: null, job: spec });
  });

  it("disables and enables", async () => {
    const { client } = await startWithClient();
    const { id } = await client.create({ url: URL_A, watched });
    expect(await client.disable(id)).toMatchObject({ disabled: true, status: "disabled" });
    expect(await client.enable(id)).toMatchObject({ disabled: false, status: "enabled" });
  });

  it("tells a suspended one, and enables it", async () => {
    await using target = await startTarget({ status: 500 });
    const { client, hub, api } = await startWithClient({ suspendFailures: 1, suspendAfterMs: 0, scheduleMs: [] });
    const { id } = await client.create({ url: target.url, watched: ["user:me"] });
    await publish(api, "repo:update").expect(202);
    await hub.idle();
    expect(await client.get(id)).toMatchObject({
      disabled: "suspended-after-failure",
      status: "suspended",
      disabledReason: expect.stringContaining("500"),
      disabledAt: expect.any(String),
    });
    expect(await client.enable(id)).toMatchObject({ status: "enabled", disabled: false });
  });

  it("shows the activity page by page, and replays", async () => {
    await using target = await startTarget({ status: 200, body: "thanks" });
    const { client, hub, api } = await startWithClient();
    const { id } = await client.create({ url: target.url, watched: ["user:me"] });
    for (const name of ["one", "two", "three"]) await publish(api, "repo:update", `model:me/${name}`).expect(202);
    await hub.idle();
    const first = await client.activity(id, { limit: 2 });
    expect(first.deliveries.map(({ repo, state }) => [repo, state])).toEqual([
      ["model:me/three", "succeeded"],
      ["model:me/two", "succeeded"],
    ]);
    expect(first.deliveries[0]?.attempts).toEqual([
      { at: expect.any(String), status: 200, ms: expect.any(Number), response: "thanks" },
    ]);
    const second = await client.activity(id, { limit: 2, cursor: first.next });
    expect(second).toMatchObject({ deliveries: [{ repo: "model:me/one" }] });
    expect(second.next).toBeUndefined();
    expect((await client.activity(id, { state: "failed" })).deliveries).toEqual([]);
    expect((await client.activity(id, { since: new Date(0), repo: "model:me/one" })).deliveries).toHaveLength(1);

    const old = second.deliveries[0]?.id ?? "";
    const replayed = await client.replay(id, old);
    expect(replayed).toEqual({ status: 200, id: expect.any(String) });
    expect((await client.activity(id, { limit: 1 })).deliveries[0]).toMatchObject({ id: replayed.id, replayOf: old });
  });

  it("tells of a replay that nobody answered", async () => {
    await using target = await startTarget({ status: 200 }, "reset");
    const { client, hub, api } = await startWithClient({ scheduleMs: [] });
    const { id } = await client.create({ url: target.url, watched: ["user:me"] });
    await publish(api, "repo:update").expect(202);
    await hub.idle();
    const [delivery] = (await client.activity(id)).deliveries;
    expect(await client.replay(id, delivery?.id ?? "")).toMatchObject({ status: 0, error: expect.any(String) });
  });

  it("publishes an event, and says whose token it has", async () => {
    const { client } = await startWithClient();
    await client.create({ url: URL_A, watched: ["dataset:me/data"] });
    const event = { event: { scope: "repo", action: "update" }, repo: { type: "dataset", name: "me/data" } };
    expect(await client.publish(event)).toMatchObject({ deliveries: 1, payload: event });
    expect(await client.whoami()).toEqual({ name: "me" });
  });

  it("tells in the hub's own words what was refused", async () => {
    const { client, api, hub } = await startWithClient({ users: [{ name: "alice", token: "hf_any" }] });
    const gone = await failureOf(client.get("0123456789abcdef01234567"));
    expect(gone).toMatchObject({
      name: "HubError",
      kind: "refused",
      status: 404,
      code: "webhook_unknown",
      reason: "there is no webhook 0123456789abcdef01234567",
      requestId: expect.any(String),
      method: "GET",
      url: `${hub.url}/api/settings/webhooks/0123456789abcdef01234567`,
    });
    expect(gone?.message).toBe(`GET ${gone?.url} was answered 404 Not Found: ${gone?.reason}`);
    const activity = await failureOf(client.activity("0123456789abcdef01234567"));
    expect(activity).toMatchObject({ kind: "refused", status: 404 });

    const stranger = new WebhooksClient({ endpoint: hub.url, token: "hf_stranger" });
    expect(await failureOf(stranger.list())).toMatchObject({ status: 401, reason: expect.stringContaining("token") });
    expect(await failureOf(new WebhooksClient({ endpoint: hub.url }).list())).toMatchObject({ status: 401 });

    const id = await addWebhook(api, { url: URL_A });
    await client.disable(id);
    expect(await failureOf(client.replay(id, "01abcdefghi"))).toMatchObject({ status: 409, code: "webhook_disabled" });
  });

  it("says at once when the rate limit opens again only in minutes", async () => {
    const { client } = await startWithClient({ rateLimit: 1 });
    await client.list();
    const error = await failureOf(client.list());
    expect(error).toMatchObject({ status: 429, retryAfterMs: expect.any(Number) });
    expect(error?.message).toMatch(/too many requests.* \(try again in \d+ s\)$/);
  });
});
