import { describe, expect, it } from "@jest/globals";
import { deliver, LEAST, SECRET, startTestReceiver, type TestReceiver } from "../support/receiver.ts";
import { head, openWire } from "../support/wire.ts";

const withSecret = { WEBHOOK_SECRET: SECRET };
const PRIVATE = ["/metrics", "/api/deliveries"];

/** Asks by hand, so that `Host` can be anything. */
async function ask(receiver: TestReceiver, line: string, headers: Record<string, string> = {}) {
  await using wire = await openWire(receiver.port);
  await wire.send(head(line, headers));
  return await wire.answer();
}

const bearer = (secret: string) => ({ Authorization: `Bearer ${secret}` });

describe("a private surface without a secret", () => {
  it.each(["localhost", "localhost:7860", "127.0.0.1", "127.0.0.1:80", "[::1]:7860", "127.8.9.1"])(
    "is open on loopback to who asks for it as %s",
    async (host) => {
      const receiver = await startTestReceiver();
      for (const path of PRIVATE)
        expect([path, (await ask(receiver, `GET ${path}`, { Host: host })).status]).toEqual([path, 200]);
    },
  );

  it.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "me-hooks.hf.space",
    "",
    "192.168.1.2",
    "localhost:7860.evil",
    "0.0.0.0",
  ])("is closed to who asks for it as %j: a page elsewhere can give its own name to this address", async (host) => {
    const receiver = await startTestReceiver();
    for (const path of PRIVATE) {
      const { status, body } = await ask(receiver, `GET ${path}`, { Host: host });
      expect([path, status]).toEqual([path, 403]);
      expect(body).toContain("WEBHOOK_SECRET");
    }
  });

  it("is closed to everyone when the receiver listens beyond loopback", async () => {
    const receiver = await startTestReceiver({ env: { HOST: "0.0.0.0" } });
    for (const path of PRIVATE) expect((await ask(receiver, `GET ${path}`)).status).toBe(403);
  });
});

describe("a private surface with a secret", () => {
  it("wants it from everybody, also on this machine", async () => {
    const receiver = await startTestReceiver({ env: withSecret });
    for (const path of PRIVATE) {
      const { status, headers } = await ask(receiver, `GET ${path}`);
      expect([path, status, headers["www-authenticate"]]).toEqual([path, 401, expect.stringMatching(/^Bearer/)]);
    }
  });

  it("takes it as a bearer, the previous one too, and wherever the receiver listens", async () => {
    for (const HOST of ["127.0.0.1", "0.0.0.0"]) {
      const receiver = await startTestReceiver({ env: { ...withSecret, WEBHOOK_SECRET_PREVIOUS: "older", HOST } });
      for (const path of PRIVATE)
        for (const [secret, expected] of [
          [SECRET, 200],
          ["older", 200],
          ["wrong", 403],
        ] as const) {
          const { status, headers } = await ask(receiver, `GET ${path}`, { Host: "any.example", ...bearer(secret) });
          expect([path, secret, status, headers["cache-control"]]).toEqual([path, secret, expected, "no-store"]);
        }
    }
  });

  it("takes it nowhere else: not in the URL, not as the webhook's header, not by another scheme", async () => {
    const receiver = await startTestReceiver({ env: withSecret });
    const basic = Buffer.from(`x:${SECRET}`).toString("base64");
    const ways: Record<string, string>[] = [
      { "X-Webhook-Secret": SECRET },
      { Authorization: `Basic ${basic}` },
      { Authorization: SECRET },
      { Authorization: "Bearer" },
      { Cookie: `secret=${SECRET}` },
    ];
    for (const path of PRIVATE) {
      expect((await ask(receiver, `GET ${path}?secret=${SECRET}&token=${SECRET}`)).status).toBe(401);
      for (const headers of ways) expect((await ask(receiver, `GET ${path}`, headers)).status).toBe(401);
    }
  });
});

describe("wrong secrets", () => {
  const metrics = (receiver: TestReceiver, headers: Record<string, string>) => ask(receiver, "GET /metrics", headers);

  it("from one address are slowed down after some tries, and so is the right one then", async () => {
    const receiver = await startTestReceiver({ env: withSecret });
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++) statuses.push((await metrics(receiver, bearer(`guess${n}`))).status);
    expect(statuses).toEqual([...new Array(10).fill(403), 429, 429]);
    const { status, headers } = await metrics(receiver, bearer(SECRET));
    expect(status).toBe(429);
    expect(Number(headers["retry-after"])).toBeGreaterThan(0);
    expect(Number(headers["retry-after"])).toBeLessThanOrEqual(60);
    expect((await deliver(`${receiver.url}/webhooks/echo`, LEAST, { "x-webhook-secret": SECRET })).status).toBe(200);
  });

  it("are not counted where none was sent, or a right one", async () => {
    const receiver = await startTestReceiver({ env: withSecret });
    for (let n = 0; n < 15; n++) {
      expect((await metrics(receiver, {})).status).toBe(401);
      expect((await metrics(receiver, bearer(SECRET))).status).toBe(200);
    }
  });

  it("are counted by the socket's address, whatever a header says of it", async () => {
    const receiver = await startTestReceiver({ env: withSecret });
    const statuses = new Set<number>();
    for (let n = 0; n < 12; n++)
      statuses.add((await metrics(receiver, { ...bearer("guess"), "X-Forwarded-For": `10.0.0.${n}` })).status);
    expect(statuses).toEqual(new Set([403, 429]));
  });

  it("are counted by the last forwarded address on a Space, which its proxy writes", async () => {
    const receiver = await startTestReceiver({ env: { ...withSecret, SPACE_HOST: "me-hooks.hf.space" } });
    const from = (chain: string) => metrics(receiver, { ...bearer("guess"), "X-Forwarded-For": chain });
    for (let n = 0; n < 10; n++) expect((await from(`1.2.3.${n}, 10.0.0.1`)).status).toBe(403);
    expect((await from("9.9.9.9, 10.0.0.1")).status).toBe(429);
    expect((await from("10.0.0.1, 10.0.0.2")).status).toBe(403);
  });
});

describe("a browser's session", () => {
  const typed = { "content-type": "application/json" };
  const login = (receiver: TestReceiver, secret: unknown, headers: Record<string, string> = {}) =>
    fetch(`${receiver.url}/api/session`, {
      method: "POST",
      headers: { ...typed, ...headers },
      body: JSON.stringify({ secret }),
    });

  it("begins with the secret, opens the private surfaces, and ends", async () => {
    const receiver = await startTestReceiver({ env: withSecret });
    const answer = await login(receiver, SECRET);
    const [cookie = ""] = answer.headers.getSetCookie();
    expect(answer.status).toBe(204);
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; SameSite=Strict/);
    expect(cookie).not.toContain(SECRET);
    const [pair = ""] = cookie.split(";");
    for (const path of PRIVATE)
      expect((await fetch(receiver.url + path, { headers: { cookie: pair } })).status).toBe(200);
    const end = await fetch(`${receiver.url}/api/session`, { method: "DELETE", headers: { cookie: pair } });
    expect([end.status, end.headers.getSetCookie()[0]]).toEqual([
      204,
      expect.stringMatching(/=;.*Expires=Thu, 01 Jan 1970/),
    ]);
  });

  it("does not begin with anything else", async () => {
    const receiver = await startTestReceiver({ env: withSecret });
    expect((await login(receiver, "wrong")).status).toBe(403);
    for (const odd of [undefined, null, 7, [SECRET], { $ne: "" }, ""])
      expect([400, 403]).toContain((await login(receiver, odd)).status);
    expect((await fetch(`${receiver.url}/api/session`, { method: "POST", headers: typed, body: "{" })).status).toBe(
      400,
    );
  });

  it("is a cookie that cannot be forged, prolonged or taken to a receiver with another secret", async () => {
    const receiver = await startTestReceiver({ env: withSecret });
    const other = await startTestReceiver({ env: { WEBHOOK_SECRET: "another" } });
    const [pair = ""] = ((await login(receiver, SECRET)).headers.getSetCookie()[0] ?? "").split(";");
    const [name, value = ""] = pair.split("=");
    const [until, signature = ""] = value.split(".");
    const tries = [
      `${name}=${Number(until) + 1}.${signature}`,
      `${name}=${until}.${signature.slice(0, -1)}`,
      `${name}=${until}.${signature}x`,
      `${name}=${until}.`,
      `${name}=`,
      `${name}=9999999999999.${"A".repeat(43)}`,
    ];
    for (const cookie of tries) {
      expect([cookie, (await fetch(`${receiver.url}/metrics`, { headers: { cookie } })).status]).toEqual([cookie, 401]);
    }
    expect((await fetch(`${other.url}/metrics`, { headers: { cookie: pair } })).status).toBe(401);
    expect((await fetch(`${receiver.url}/metrics`, { headers: { cookie: `${tries[0]}; ${pair}` } })).status).toBe(200);
  });

  it("is guessed no faster than a bearer: both count together", async () => {
    const receiver = await startTestReceiver({ env: withSecret });
    for (let n = 0; n < 5; n++) {
      await login(receiver, "wrong");
      await ask(receiver, "GET /metrics", bearer("wrong"));
    }
    expect((await login(receiver, SECRET)).status).toBe(429);
  });

  it("cannot be begun or used for writing by a page of another site", async () => {
    const receiver = await startTestReceiver({ env: withSecret });
    expect((await login(receiver, SECRET, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await login(receiver, SECRET, { origin: "https://evil.example" })).status).toBe(403);
    const [pair = ""] = ((await login(receiver, SECRET)).headers.getSetCookie()[0] ?? "").split(";");
    const replay = (headers: Record<string, string>) =>
      fetch(`${receiver.url}/api/deliveries/replay`, {
        method: "POST",
        headers: { ...typed, cookie: pair, ...headers },
        body: '{"filter":{"state":"failed"},"dryRun":true}',
      });
    expect((await replay({ origin: "https://evil.example" })).status).toBe(403);
    expect((await replay({ origin: receiver.url })).status).toBe(200);
    expect((await replay({})).status).toBe(200);
  });

  it("is sent over https only where the world comes by https", async () => {
    const receiver = await startTestReceiver({ env: { ...withSecret, SPACE_HOST: "me-hooks.hf.space" } });
    const spoken = await login(receiver, SECRET, { "x-forwarded-proto": "https" });
    expect(spoken.headers.getSetCookie()[0]).toMatch(/; Secure/);
  });
});
