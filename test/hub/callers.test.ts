import { describe, expect, it } from "@jest/globals";
import { startHub } from "../../src/hub/hub.ts";
import { createSilentLogger } from "../../src/logger.ts";
import { temporaryFolder } from "../support/deliveries.ts";
import { startTestHub, WEBHOOKS } from "../support/hub.ts";

const WEBHOOK = { watched: [{ type: "user", name: "me" }], url: "https://example.com/hook" };
const USERS = [
  { name: "alice", token: "hf_alice" },
  { name: "bob", token: "hf_bob" },
];

describe("who may ask, without a token set", () => {
  it("is anybody on this machine, as user me, with any token in a write", async () => {
    const { api, as, hub } = await startTestHub();
    expect((await api.get("/api/whoami-v2").expect(200)).body).toMatchObject({ name: "me", type: "user" });
    await as(null).get(WEBHOOKS).expect(200);
    await api.post(WEBHOOKS, WEBHOOK).expect(200);
    expect(hub.notices.join()).toContain("HUB_TOKEN");
  });

  it("is not bound beyond this machine", async () => {
    const options = { dataDir: temporaryFolder(), settings: { host: "0.0.0.0", port: 0 }, log: createSilentLogger() };
    await expect(startHub({ ...options, version: "0" })).rejects.toThrow(/HUB_TOKEN/);
    const { hub } = await startTestHub({ host: "0.0.0.0", users: USERS });
    expect(hub.notices).toEqual([expect.stringContaining("HUB_PUBLIC_URL")]);
  });
});

describe("who may ask, with tokens set", () => {
  it("is who has one, and sees only what is theirs", async () => {
    const { as } = await startTestHub({ users: USERS });
    const [alice, bob] = [as("hf_alice"), as("hf_bob")];
    expect((await alice.get("/api/whoami-v2")).body.name).toBe("alice");
    const { id } = (await alice.post(WEBHOOKS, WEBHOOK).expect(200)).body.webhook;
    for (const refused of [
      bob.get(`${WEBHOOKS}/${id}`),
      bob.post(`${WEBHOOKS}/${id}`, { url: "https://evil.example" }),
      bob.post(`${WEBHOOKS}/${id}/disable`),
      bob.post(`${WEBHOOKS}/${id}/replay`, {}),
      bob.get(`${WEBHOOKS}/${id}/activity`),
      bob.delete(`${WEBHOOKS}/${id}`),
    ])
      await refused.expect(404);
    expect((await bob.get(WEBHOOKS)).body).toEqual([]);
    expect((await alice.get(`${WEBHOOKS}/${id}`).expect(200)).body.webhook.disabled).toBe(false);
  });

  it.each([
    ["no token", null],
    ["a wrong one", "hf_nobody"],
  ])("is refused with %s, whatever is asked", async (_, token) => {
    const { as } = await startTestHub({ users: USERS });
    const caller = as(token);
    for (const path of ["/api/whoami-v2", WEBHOOKS, "/api/jobs/alice", "/api/hub/csrf-token"]) {
      const { body, headers } = await caller.get(path).expect(401);
      expect(typeof body.error).toBe("string");
      expect(headers["x-error-message"]).toBe(body.error);
      expect(JSON.stringify(body)).not.toContain("hf_");
    }
    await caller.post(WEBHOOKS, WEBHOOK).expect(401);
    await caller.post("/api/hub/events", {}).expect(401);
    await caller.get("/api/agent-harnesses").expect(200);
  });
});

describe("guessing tokens", () => {
  it("is stopped, and keeps nobody out who was let in before", async () => {
    const { as } = await startTestHub({ users: USERS });
    await as("hf_alice").get("/api/whoami-v2").expect(200);
    for (let tries = 0; tries < 10; tries++) await as(`guess-${tries}`).get(WEBHOOKS).expect(401);
    const { body, headers } = await as("guess").get(WEBHOOKS).expect(429);
    expect(body).toMatchObject({ code: "too_many_tries", error: expect.stringMatching(/try again in \d+ s/) });
    expect(headers["x-error-message"]).toBe(body.error);
    expect(Number(headers["retry-after"])).toBeGreaterThan(0);
    await as("hf_bob").get(WEBHOOKS).expect(429);
    await as("hf_alice").get(WEBHOOKS).expect(200);
    await as(null).get(WEBHOOKS).expect(401);
  });

  it("is not what a program does that goes on with an old token, or with none", async () => {
    const { as } = await startTestHub({ users: USERS });
    for (let tries = 0; tries < 20; tries++) {
      await as("hf_old").get(WEBHOOKS).expect(401);
      await as(null).get(WEBHOOKS).expect(401);
    }
    await as("hf_bob").get(WEBHOOKS).expect(200);
  });
});

describe("a hostile page in the user's browser", () => {
  const FORM = { event: { scope: "repo", action: "delete" }, repo: { type: "model", name: "me/m" } };

  it("cannot write by a form or a simple request", async () => {
    const { as, hub } = await startTestHub();
    const page = as(null);
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
      await page
        .post("/api/hub/events")
        .set({ "content-type": type, origin: "https://evil.example" })
        .send("{}")
        .expect(401);
    // Even with a token that the page should not have, forms are not understood.
    await as("hf_x").post("/api/hub/events").set("content-type", "text/plain").send(JSON.stringify(FORM)).expect(415);
    await page.post(WEBHOOKS, WEBHOOK).set("origin", "https://evil.example").expect(401);
    const opaque = { method: "POST", headers: { origin: "null" } };
    expect((await fetch(`${hub.url}${WEBHOOKS}/x/disable`, opaque)).status).toBe(401);
  });

  it("is granted no preflight, so it cannot send an Authorization header", async () => {
    const { hub } = await startTestHub();
    const response = await fetch(`${hub.url}${WEBHOOKS}`, {
      method: "OPTIONS",
      headers: {
        origin: "https://evil.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    });
    expect(response.ok).toBe(false);
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it("cannot read answers: none allows another origin", async () => {
    const { as } = await startTestHub();
    const { headers } = await as(null).get(WEBHOOKS).set("origin", "https://evil.example");
    expect(headers["access-control-allow-origin"]).toBeUndefined();
    expect(headers["cross-origin-resource-policy"]).toBe("same-origin");
    expect(headers["x-content-type-options"]).toBe("nosniff");
  });

  it.each(["evil.example", "evil.example:7861", "localhost.evil.example", "192.168.0.7", "", "127.0.0.1.evil.example"])(
    "cannot reach it under a name of its own (%s)",
    async (host) => {
      const { api } = await startTestHub();
      await api
        .get(WEBHOOKS)
        .set("Host", host)
        .expect((response) => {
          // Node itself refuses a request without a host.
          if (response.status !== 403 && response.status !== 400) throw new Error(`${response.status}`);
        });
    },
  );

  it.each(["localhost", "localhost:1234", "127.0.0.1:7861", "[::1]:7861"])("is none under %s", async (host) => {
    const { api } = await startTestHub();
    await api.get(WEBHOOKS).set("Host", host).expect(200);
  });

  it("does not know the token of our own pages, and cannot use it from elsewhere", async () => {
    const { as } = await startTestHub();
    const page = as(null);
    const { token } = (await page.get("/api/hub/csrf-token").expect(200)).body;
    await page.post(WEBHOOKS, WEBHOOK).set("X-CSRF-Token", token).expect(200);
    await page.post(WEBHOOKS, WEBHOOK).set("X-CSRF-Token", `${token}x`).expect(401);
    for (const site of ["cross-site", "same-site"])
      await page.post(WEBHOOKS, WEBHOOK).set({ "X-CSRF-Token": token, "Sec-Fetch-Site": site }).expect(401);
    await page.post(WEBHOOKS, WEBHOOK).set({ "X-CSRF-Token": token, Origin: "https://evil.example" }).expect(401);
  });
});

describe("the rate limit", () => {
  it("is told in the Hub's headers, ends in 429, and leaves other users alone", async () => {
    const { as } = await startTestHub({ users: USERS, rateLimit: 2 });
    const alice = as("hf_alice");
    const first = await alice.get(WEBHOOKS).expect(200);
    expect(first.headers.ratelimit).toMatch(/^"api";r=1;t=\d+$/);
    expect(first.headers["ratelimit-policy"]).toBe('"fixed window";"api";q=2;w=300');
    await alice.get(WEBHOOKS).expect(200);
    const over = await alice.get(WEBHOOKS).expect(429);
    expect(over.headers.ratelimit).toMatch(/^"api";r=0;t=\d+$/);
    expect(Number(over.headers["retry-after"])).toBeGreaterThan(0);
    await as("hf_bob").get(WEBHOOKS).expect(200);
  });
});
