import { describe, expect, it } from "@jest/globals";
import type { Response } from "supertest";
import { testClock } from "../../support/clock.ts";
import { addWebhook, startTestHub, WEBHOOKS } from "../../support/hub.ts";
import { FROM_OUR_PAGE, visitorOf } from "../../support/hub-page-visitor.ts";

const SETTINGS = "/settings/webhooks";
const USERS = [
  { name: "alice", token: "hf_alice" },
  { name: "bob", token: "hf_bob" },
];
const FORM = { target: "url", url: "https://example.com/hook", watched: "user:me", domains: ["repo"] };
const HOUR = 3_600_000;

const cookieOf = (response: Response) => String(response.headers["set-cookie"]);

describe("a hostile page in the user's browser", () => {
  it.each([
    ["another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["another port of this machine", { "sec-fetch-site": "same-site", origin: "http://127.0.0.1:1" }],
    ["another site, in an old browser", { origin: "https://evil.example" }],
    ["a sandbox, in an old browser", { origin: "null" }],
  ])("cannot send a form from %s, even with the right token and cookie", async (_, headers) => {
    const { hub, api } = await startTestHub();
    const id = await addWebhook(api, { url: "https://example.com" });
    const visitor = visitorOf(hub.url);
    const csrf = await visitor.csrf();
    for (const path of ["", "/check", `/${id}`, `/${id}/disable`, `/${id}/enable`, `/${id}/delete`, `/${id}/test`])
      expect((await visitor.post(SETTINGS + path, { csrf, ...FORM }, headers)).status).toBe(403);
    expect((await api.get(WEBHOOKS)).body).toMatchObject([{ id, disabled: false, url: "https://example.com" }]);
  });

  it("cannot send a form without the token of this very session", async () => {
    const { hub, api } = await startTestHub();
    const visitor = visitorOf(hub.url);
    const strangers = await visitorOf(hub.url).csrf();
    await visitor.csrf();
    for (const csrf of [undefined, "", "x", strangers]) {
      const { status, text } = await visitor.post(SETTINGS, { ...(csrf !== undefined && { csrf }), ...FORM });
      expect([status, text]).toEqual([403, expect.stringContaining("open its page anew")]);
    }
    // Twice the field is no way around.
    expect((await visitor.post(SETTINGS, { csrf: [strangers, strangers], ...FORM })).status).toBe(403);
    expect((await api.get(WEBHOOKS)).body).toEqual([]);
  });

  it("cannot send a form whose cookie the browser holds back, nor make it drop that cookie", async () => {
    const { hub } = await startTestHub();
    const visitor = visitorOf(hub.url);
    const csrf = await visitor.csrf();
    visitor.jar.clear();
    const foreign = { "sec-fetch-site": "cross-site" };
    const refused = await visitor.post(SETTINGS, { csrf, ...FORM }, foreign);
    expect([refused.status, refused.headers["set-cookie"]]).toEqual([403, undefined]);
    const shown = await visitor.get(SETTINGS, foreign);
    expect([shown.status, shown.headers["set-cookie"]]).toEqual([200, undefined]);
    expect(shown.text).toContain(`http-equiv="refresh" content="0; url=${SETTINGS}"`);
    expect(shown.text).not.toContain("csrf");
  });

  it.each(["text/plain", "multipart/form-data; boundary=x", "application/json"])(
    "cannot send the form as %s",
    async (type) => {
      const { hub } = await startTestHub();
      const visitor = visitorOf(hub.url);
      const csrf = await visitor.csrf();
      const headers = { ...FROM_OUR_PAGE, "content-type": type };
      expect((await visitor.post(SETTINGS, { csrf, ...FORM }, headers)).status).toBe(415);
    },
  );

  it("cannot show the pages inside its own, nor have them run scripts", async () => {
    const { hub } = await startTestHub();
    const visitor = visitorOf(hub.url);
    for (const path of ["/", "/login", SETTINGS, `${SETTINGS}/new`, `${SETTINGS}/none`, "/settings/assets/page.js"]) {
      const { headers } = await visitor.get(path);
      expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
      expect(headers["content-security-policy"]).toContain("default-src 'none';script-src 'self';style-src 'self'");
      expect(headers["content-security-policy"]).not.toContain("unsafe");
      expect(headers["x-frame-options"]).toBe("DENY");
    }
    for (const path of ["/", SETTINGS, `${SETTINGS}/none`])
      expect((await visitor.get(path)).headers["cache-control"]).toBe("no-store");
  });

  it.each(["evil.example", "evil.example:7861", "localhost.evil.example"])(
    "cannot reach them under a name of its own (%s)",
    async (host) => {
      const { hub } = await startTestHub();
      for (const path of ["/", SETTINGS, "/login", "/settings/assets/page.js"])
        expect((await visitorOf(hub.url).get(path, { host })).status).toBe(403);
    },
  );

  it("cannot use a form's token with the API, nor the API's token with a form", async () => {
    const { hub, as } = await startTestHub();
    const visitor = visitorOf(hub.url);
    const csrf = await visitor.csrf();
    await as(null).post(WEBHOOKS, {}).set("X-CSRF-Token", csrf).expect(401);
    const { token } = (await as(null).get("/api/hub/csrf-token")).body;
    expect((await visitor.post(SETTINGS, { csrf: token, ...FORM })).status).toBe(403);
  });

  it("cannot log the visitor in as somebody else", async () => {
    const { hub } = await startTestHub({ users: USERS });
    const visitor = visitorOf(hub.url);
    const attacker = await visitorOf(hub.url).csrf();
    const csrf = await visitor.csrf();
    const token = "hf_bob";
    expect((await visitor.post("/login", { csrf: attacker, token })).status).toBe(403);
    expect((await visitor.post("/login", { csrf, token }, { origin: "https://evil.example" })).status).toBe(403);
    expect((await visitor.post("/logout", { csrf }, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await visitor.get(SETTINGS)).status).toBe(303);
  });
});

describe("without a token set", () => {
  it("whoever reaches the hub is user me, and has nobody to log out", async () => {
    const { hub } = await startTestHub();
    const visitor = visitorOf(hub.url);
    const page = await visitor.get(SETTINGS);
    expect(page.text).not.toContain("Log out");
    expect(cookieOf(page)).toMatch(/HttpOnly; SameSite=Strict$/);
    expect((await visitor.get("/login")).headers.location).toBe(SETTINGS);
    expect((await visitor.get("/settings")).headers.location).toBe(SETTINGS);
  });

  it("forms outlive neither the hub nor the cookie, and say so", async () => {
    const test = await startTestHub();
    const visitor = visitorOf(test.hub.url);
    const csrf = await visitor.csrf();
    await test.restart({ settings: { port: test.hub.port } });
    expect((await visitor.post(SETTINGS, { csrf, ...FORM })).status).toBe(403);
    expect((await visitor.submit(SETTINGS, FORM)).status).toBe(303);
  });
});

describe("with tokens set", () => {
  it("asks for one, and goes on where one wanted to be", async () => {
    const { hub } = await startTestHub({ users: USERS });
    const visitor = visitorOf(hub.url);
    const asked = await visitor.get(`${SETTINGS}/new?x=1`);
    expect([asked.status, asked.headers.location]).toEqual([303, "/login?to=%2Fsettings%2Fwebhooks%2Fnew%3Fx%3D1"]);
    expect((await visitor.get("/")).status).toBe(200);
    const wrong = await visitor.submit("/login", { token: "hf_nobody", to: `${SETTINGS}/new` });
    expect([wrong.status, wrong.text]).toEqual([403, expect.stringContaining("knows no such token")]);
    expect(wrong.text).not.toContain("hf_nobody");
    const right = await visitor.submit("/login", { token: " hf_alice ", to: `${SETTINGS}/new` });
    expect([right.status, right.headers.location]).toEqual([303, `${SETTINGS}/new`]);
    expect((await visitor.get(SETTINGS)).text).toContain("alice");
    expect((await visitor.get("/login")).headers.location).toBe(SETTINGS);
  });

  it.each([
    "//evil.example/settings/webhooks",
    "https://evil.example/settings/webhooks",
    "/\\evil.example",
    "/api/x",
    "",
  ])("goes on to no other place than the settings (%s)", async (to) => {
    const { hub } = await startTestHub({ users: USERS });
    const visitor = visitorOf(hub.url);
    const { location } = (await visitor.submit("/login", { token: "hf_alice", to })).headers;
    expect(location).toBe(SETTINGS);
  });

  it("shows each user only their own webhooks", async () => {
    const { hub, as } = await startTestHub({ users: USERS });
    const id = await addWebhook(as("hf_alice"), { url: "https://example.com/of-alice" });
    const [alice, bob] = [visitorOf(hub.url), visitorOf(hub.url)];
    await alice.logIn("hf_alice");
    await bob.logIn("hf_bob");
    expect((await alice.get(SETTINGS)).text).toContain("of-alice");
    expect((await bob.get(SETTINGS)).text).not.toContain("of-alice");
    for (const path of ["", "/edit", "/delete", "/activity/1", "/activity/1/payload.json"])
      expect((await bob.get(`${SETTINGS}/${id}${path}`)).status).toBe(404);
    for (const path of ["", "/enable", "/disable", "/delete", "/test", "/replay/1"])
      expect((await bob.submit(`${SETTINGS}/${id}${path}`, FORM)).status).toBe(404);
    expect((await bob.submit(`${SETTINGS}/check`, { ...FORM, id })).status).toBe(404);
    expect((await alice.get(`${SETTINGS}/${id}`)).status).toBe(200);
  });

  it("ends a session by logging out, by its time, and by a changed token, but not by another user's", async () => {
    const clock = testClock();
    const test = await startTestHub({ users: USERS }, { clock });
    const { port } = test.hub;
    const alice = visitorOf(test.hub.url);
    const status = async () => (await alice.get(SETTINGS)).status;
    await alice.logIn("hf_alice");
    await test.restart({ settings: { port, users: [USERS[0] as (typeof USERS)[0], { name: "bob", token: "new" }] } });
    expect(await status()).toBe(200);
    await test.restart({ settings: { port, users: [{ name: "alice", token: "hf_new" }] } });
    expect(await status()).toBe(303);
    await alice.logIn("hf_new");
    expect(await status()).toBe(200);
    clock.advance(12 * HOUR);
    expect(await status()).toBe(303);
    await alice.logIn("hf_new");
    expect((await alice.submit("/logout")).headers.location).toBe("/login");
    expect(await status()).toBe(303);
  });

  it("takes no cookie that it did not sign, and begins every session under a new name", async () => {
    const { hub } = await startTestHub({ users: USERS });
    const visitor = visitorOf(hub.url);
    await visitor.csrf();
    const [[name = "", before = ""] = []] = visitor.jar;
    await visitor.logIn("hf_alice");
    const signed = visitor.jar.get(name) ?? "";
    expect(signed.startsWith(before)).toBe(false);
    const [id, until, , signature] = signed.split(".");
    const bob = Buffer.from("bob").toString("base64url");
    const later = Number(until) + HOUR;
    const forged = [
      `${id}.${until}.${bob}.${signature}`,
      `${id}.${later}.${signed.split(".")[2]}.${signature}`,
      `${signed}x`,
    ];
    for (const cookie of forged) {
      const { status } = await visitorOf(hub.url).get(SETTINGS, { cookie: `${name}=${cookie}` });
      expect(status).toBe(303);
    }
    expect((await visitorOf(hub.url).get(SETTINGS, { cookie: `${name}=${signed}` })).status).toBe(200);
  });

  it("keeps the cookie to https where that is how the hub is reached", async () => {
    const { hub } = await startTestHub({ users: USERS, publicUrl: "https://hub.example" });
    const visitor = visitorOf(hub.url);
    expect(cookieOf(await visitor.get("/login", { host: "hub.example" }))).toContain("Secure");
    expect(cookieOf(await visitor.get("/login"))).not.toContain("Secure");
    const csrf = await visitor.csrf();
    const login = await visitor.post("/login", { csrf, token: "hf_alice" }, { origin: "https://hub.example" });
    expect([login.status, cookieOf(login)]).toEqual([303, expect.stringContaining("Secure")]);
  });

  it("lets nobody guess for long", async () => {
    const { hub } = await startTestHub({ users: USERS });
    const visitor = visitorOf(hub.url);
    for (let tries = 0; tries < 10; tries++) expect((await visitor.logIn(`guess-${tries}`)).status).toBe(403);
    const refused = await visitor.logIn("hf_alice");
    expect([refused.status, refused.text]).toEqual([429, expect.stringMatching(/try again in \d+ s/)]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  });
});
