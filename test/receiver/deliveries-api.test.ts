import { request as httpRequest } from "node:http";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import request from "supertest";
import { PermanentError } from "../../src/errors.ts";
import { type BackgroundReceiver, pushTo, startBackground } from "../support/background.ts";
import { onCleanup } from "../support/cleanup.ts";
import { gate } from "../support/deliveries.ts";

const SECRET = "open-sesame";
const BEARER = { Authorization: `Bearer ${SECRET}` };

interface Listed {
  id: string;
  endpoint: string;
  state: string;
  scope: string;
  action: string;
  repo: string;
  attemptsMade: number;
  createdAt: string;
  finishedAt?: string;
  replayOf?: string;
  webhookId?: string;
  error?: string;
}

interface Page {
  deliveries: Listed[];
  counts: Record<string, number> | null;
  next?: string;
}

async function list(receiver: BackgroundReceiver, query: Record<string, string | number> = {}): Promise<Page> {
  const response = await request(receiver.url).get("/api/deliveries").query(query).expect(200);
  return response.body as Page;
}

const repos = ({ deliveries }: Page) => deliveries.map(({ repo }) => repo);

/** Two endpoints, one of which fails for good where the repo says so. */
function twoEndpoints() {
  return startBackground({
    train: (payload, { log }) => {
      log.info("looking", { repo: payload.repo.name });
      if (payload.repo.name?.includes("bad")) throw new PermanentError("no such dataset");
      return { trained: payload.repo.name };
    },
    greet: () => undefined,
  });
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe("GET /api/deliveries", () => {
  it("lists the newest first, with counts by state", async () => {
    const receiver = await twoEndpoints();
    await receiver.send("train", pushTo("me/one"), { "webhook-id": "of-the-hub" });
    await receiver.send("train", pushTo("me/bad"));
    await receiver.send("greet", { event: { action: "create", scope: "discussion" }, repo: { type: "model" } });
    await receiver.idle();

    const page = await list(receiver);
    expect(repos(page)).toEqual(["model", "dataset:me/bad", "dataset:me/one"]);
    expect(page.counts).toEqual({ pending: 0, running: 0, succeeded: 2, failed: 1, cancelled: 0 });
    expect(page.next).toBeUndefined();
    expect(page.deliveries[1]).toEqual({
      id: expect.stringMatching(/^[0-9a-v]{11}$/),
      endpoint: "train",
      scope: "repo.content",
      action: "update",
      repo: "dataset:me/bad",
      state: "failed",
      attemptsMade: 1,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      finishedAt: expect.any(String),
      error: "no such dataset",
    });
    expect(page.deliveries[2]).toMatchObject({ webhookId: "of-the-hub" });
  });

  it("filters by endpoint, state, scope, action, time, repo and the begin of an id", async () => {
    const receiver = await twoEndpoints();
    const first = await receiver.send("train", pushTo("me/one"));
    await receiver.send("train", pushTo("me/bad_one"));
    await receiver.send("greet", { event: { action: "create", scope: "discussion" }, repo: { type: "model" } });
    await receiver.idle();
    const { deliveries } = await list(receiver);
    const times = deliveries.map(({ createdAt }) => createdAt);

    expect(repos(await list(receiver, { endpoint: "greet" }))).toEqual(["model"]);
    expect(repos(await list(receiver, { endpoint: "nobody" }))).toEqual([]);
    expect(repos(await list(receiver, { state: "failed" }))).toEqual(["dataset:me/bad_one"]);
    expect(repos(await list(receiver, { state: "succeeded", endpoint: "train" }))).toEqual(["dataset:me/one"]);
    expect(repos(await list(receiver, { scope: "discussion", action: "create" }))).toEqual(["model"]);
    expect(repos(await list(receiver, { repo: "dataset:me/one" }))).toEqual(["dataset:me/one"]);
    expect(repos(await list(receiver, { repo: "one" }))).toEqual([]);
    expect(repos(await list(receiver, { repo: "*ONE" }))).toEqual(["dataset:me/bad_one", "dataset:me/one"]);
    expect(repos(await list(receiver, { repo: "*:me/bad*" }))).toEqual(["dataset:me/bad_one"]);
    // What is a wildcard to the database is a letter here.
    expect(repos(await list(receiver, { repo: "*bad%one*" }))).toEqual([]);
    expect(repos(await list(receiver, { repo: "*d_one*" }))).toEqual(["dataset:me/bad_one"]);
    expect(repos(await list(receiver, { repo: "*me_one*" }))).toEqual([]);
    expect(repos(await list(receiver, { since: times[0] ?? "" }))[0]).toBe("model");
    expect(repos(await list(receiver, { until: times[2] ?? "" }))).toEqual([]);
    expect(repos(await list(receiver, { id: first }))).toEqual(["dataset:me/one"]);
    expect((await list(receiver, { id: first.slice(0, 4) })).deliveries).toHaveLength(3);
    expect((await list(receiver, { id: "vv" })).deliveries).toEqual([]);
  });

  it("goes through many page by page, each once, while others arrive", async () => {
    const receiver = await startBackground();
    await receiver.sendMany("train", 1203, (index) => pushTo(`me/${index}`));
    await receiver.idle();
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(receiver, { limit: 100, ...(cursor !== undefined && { cursor }) });
      seen.push(...page.deliveries.map(({ id }) => id));
      cursor = page.next;
      await receiver.send("train", pushTo("me/late"));
    } while (cursor !== undefined);
    expect(seen).toHaveLength(1203);
    expect(new Set(seen).size).toBe(1203);
    expect(seen).toEqual(seen.toSorted().reverse());
  });

  it.each([
    ["state=broken", "state: expected one of pending, running, succeeded, failed, cancelled"],
    ["since=yesterday", "since: expected a time as 2026-11-21T10:00:00Z"],
    ["limit=0", "limit: expected a number from 1 to 500"],
    ["limit=501", "limit: expected a number from 1 to 500"],
    ["limit=many", "limit: expected a number from 1 to 500"],
    ["cursor=what", "this cursor was given by no list"],
    ["id=UPPER", "id: expected an id or how it begins"],
    ["repo=*a*b*c*", "repo: expected three `*` at most"],
    ["stat=failed", 'Unrecognized key: "stat"'],
    ["state=failed&state=pending", "state: expected one of"],
  ])("answers ?%s with a sentence", async (query, sentence) => {
    const receiver = await startBackground();
    const { body, status } = await request(receiver.url).get(`/api/deliveries?${query}`);
    expect([status, body.error]).toEqual([400, expect.stringContaining(sentence)]);
    expect(body.requestId).toEqual(expect.any(String));
  });

  it("says that nothing is stored where no handler runs in the background", async () => {
    const receiver = await startBackground({ reply: { options: { mode: "reply" }, handler: () => undefined } });
    expect(await list(receiver)).toEqual({ deliveries: [], counts: null });
    await request(receiver.url).get("/api/deliveries/stream").expect(204);
    await request(receiver.url).get("/api/deliveries/01abcdefghi").expect(404);
    await request(receiver.url).post("/api/deliveries/01abcdefghi/replay").expect(404);
    const { body } = await request(receiver.url).post("/api/deliveries/replay").send({ filter: {} }).expect(200);
    expect(body).toEqual({ count: 0, replayed: 0 });
  });

  it("stays small, whatever megabytes a sender puts into a name", async () => {
    const receiver = await startBackground();
    const huge = "x".repeat(1_000_000);
    await receiver.send("train", { event: { scope: huge, action: huge }, repo: { type: "model", name: huge } });
    const { text } = await request(receiver.url).get("/api/deliveries").expect(200);
    expect(text.length).toBeLessThan(2_000);
  });
});

describe("GET /api/deliveries/{id}", () => {
  it("shows payload, headers without the secret, and each attempt with what it logged and returned", async () => {
    const receiver = await startBackground(
      {
        train: (_payload, { attempt, log }) => {
          log.warn("trying", { attempt });
          if (attempt === 1) throw Object.assign(new Error("busy"), { retryAfter: 0 });
          return { done: true };
        },
      },
      { WEBHOOK_SECRET: SECRET },
    );
    const payload = pushTo("me/data", { extra: { deep: [1, 2.5, null] } });
    const id = await receiver.send("train", payload, { "webhook-id": "one" });
    await until(async () => (await read(receiver, id)).state === "succeeded");
    const shown = await read(receiver, id);
    expect(shown.payload).toEqual(payload);
    expect(shown.headers).toMatchObject({ "webhook-id": "one", "content-type": "application/json" });
    expect(JSON.stringify(shown)).not.toContain(SECRET);
    expect(shown.attempts).toEqual([
      {
        number: 1,
        at: expect.any(String),
        ms: expect.any(Number),
        outcome: "failed",
        error: "busy",
        log: ["warn trying { attempt: 1 }"],
      },
      {
        number: 2,
        at: expect.any(String),
        ms: expect.any(Number),
        outcome: "succeeded",
        log: ["warn trying { attempt: 2 }"],
        response: { done: true },
      },
    ]);
  });

  it("gives the payload to the letter when asked for text", async () => {
    const receiver = await startBackground();
    const letter = ' { "event":{"action":"update"}, "repo":{"type":"model"}, "n":12345678901234567890.10 }';
    const id = await post(receiver, letter);
    const asText = await request(receiver.url).get(`/api/deliveries/${id}?payload=text`).expect(200);
    expect(asText.body.payload).toBe(letter);
    const asJson = await request(receiver.url).get(`/api/deliveries/${id}`).expect(200);
    expect(asJson.text).toContain("12345678901234567890.10");
    await request(receiver.url).get(`/api/deliveries/${id}?payload=xml`).expect(400);
  });

  it("shows what is nested deeply, or begins with a byte order mark", async () => {
    const receiver = await startBackground();
    const least = '{"event":{"action":"update"},"repo":{"type":"model"}';
    const deep = `${least},"deep":${"[".repeat(3000)}${"]".repeat(3000)}}`;
    for (const [body, shown] of [
      [deep, deep],
      [`\ufeff${least}}`, `${least}}`],
    ] as const) {
      const response = await fetch(`${receiver.url}/api/deliveries/${await post(receiver, body)}`);
      expect((await response.text()).endsWith(`,"payload":${shown}}`)).toBe(true);
    }
  });

  it.each(["01abcdefghi", "nothing", "..%2f..", "%00"])("answers 404 for %s", async (id) => {
    const receiver = await startBackground();
    const { body } = await request(receiver.url).get(`/api/deliveries/${id}`).expect(404);
    expect(body).toMatchObject({ code: "delivery_unknown", error: expect.stringContaining("there is no delivery") });
  });
});

describe("replaying", () => {
  it("runs one again as a new delivery that names the old one", async () => {
    const receiver = await twoEndpoints();
    const id = await receiver.send("train", pushTo("me/one"));
    await receiver.idle();
    const { body } = await request(receiver.url).post(`/api/deliveries/${id}/replay`).expect(202);
    expect(body).toEqual({ id: expect.any(String), replayOf: id });
    await receiver.idle();
    expect(await read(receiver, body.id)).toMatchObject({
      replayOf: id,
      state: "succeeded",
      payload: pushTo("me/one"),
    });
    await request(receiver.url).post("/api/deliveries/01abcdefghi/replay").expect(404);
  });

  it("counts first with dryRun, then replays what the filter takes", async () => {
    const receiver = await twoEndpoints();
    for (const name of ["bad-1", "good", "bad-2"]) await receiver.send("train", pushTo(`me/${name}`));
    await receiver.idle();
    const filter = { state: "failed", endpoint: "train", repo: "*bad*" };
    const replay = (body: object) => request(receiver.url).post("/api/deliveries/replay").send(body).expect(200);
    expect((await replay({ filter, dryRun: true })).body).toEqual({ count: 2, replayed: 0 });
    expect((await list(receiver)).deliveries).toHaveLength(3);
    expect((await replay({ filter })).body).toEqual({ count: 2, replayed: 2 });
    await receiver.idle();
    expect((await list(receiver)).counts).toMatchObject({ failed: 4, succeeded: 1 });
  });

  it.each([
    ["nothing", undefined, undefined],
    ["a body of another type", "state=failed", "application/x-www-form-urlencoded"],
    ["no filter", "{}", "application/json"],
    ["a list", "[]", "application/json"],
    ["a filter with a slip", '{"filter":{"sate":"failed"}}', "application/json"],
    ["a dryRun that is no boolean", '{"filter":{},"dryRun":"true"}', "application/json"],
    ["half a JSON", '{"filter":', "application/json"],
  ])("replays nothing when %s is sent", async (_what, body, type) => {
    const receiver = await startBackground();
    await receiver.send("train");
    await receiver.idle();
    const response = await fetch(`${receiver.url}/api/deliveries/replay`, {
      method: "POST",
      ...(body !== undefined && { body, headers: { "content-type": type ?? "" } }),
    });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: string }).error.length).toBeGreaterThan(20);
    expect((await list(receiver)).deliveries).toHaveLength(1);
  });
});

describe("who may look", () => {
  it("is everyone at this machine while no secret is set, but nobody under another name", async () => {
    const receiver = await startBackground();
    await request(receiver.url).get("/api/deliveries").expect(200);
    for (const Host of [`localhost:${receiver.port}`, `[::1]:${receiver.port}`])
      await request(receiver.url).get("/api/deliveries").set({ Host }).expect(200);
    for (const Host of ["rebound.example", `127.0.0.1.example:${receiver.port}`, "192.168.1.7"]) {
      const { body } = await request(receiver.url).get("/api/deliveries").set({ Host }).expect(403);
      expect(body).toMatchObject({ code: "secret_not_set", error: expect.stringContaining("set WEBHOOK_SECRET") });
      await request(receiver.url).post("/api/session").set({ Host }).send({ secret: "x" }).expect(403);
    }
  });

  it("is nobody without a secret on a receiver that is bound beyond this machine", async () => {
    const receiver = await startBackground({ train: () => undefined }, { HOST: "0.0.0.0" });
    for (const path of ["/api/deliveries", "/api/deliveries/stream", "/api/deliveries/01abcdefghi", "/metrics"]) {
      const { body } = await request(receiver.url).get(path).expect(403);
      expect(body.code).toBe("secret_not_set");
    }
    await request(receiver.url).post("/api/deliveries/replay").send({ filter: {} }).expect(403);
  });

  it("is who sends the secret, where one is set", async () => {
    const receiver = await startBackground({ train: () => undefined }, { WEBHOOK_SECRET: SECRET });
    for (const path of ["/api/deliveries", "/api/deliveries/stream", "/api/deliveries/01abcdefghi"]) {
      const refused = await request(receiver.url).get(path).expect(401);
      expect(refused.headers["www-authenticate"]).toBe('Bearer realm="hubhook"');
      expect(refused.body.code).toBe("secret_missing");
      const wrong = await request(receiver.url).get(path).set({ Authorization: "Bearer guess" }).expect(403);
      expect(wrong.body.code).toBe("secret_invalid");
    }
    // Never in the address, which is logged on its way.
    await request(receiver.url).get(`/api/deliveries?secret=${SECRET}`).expect(401);
    const { headers } = await request(receiver.url).get("/api/deliveries").set(BEARER).expect(200);
    expect(headers["cache-control"]).toBe("no-store");
  });

  it("is also who sends the secret that is being replaced", async () => {
    const env = { WEBHOOK_SECRET: "new-one", WEBHOOK_SECRET_PREVIOUS: SECRET };
    const receiver = await startBackground({ train: () => undefined }, env);
    await request(receiver.url).get("/api/deliveries").set(BEARER).expect(200);
  });
});

describe("a browser's session", () => {
  async function logIn(receiver: BackgroundReceiver, secret = SECRET) {
    return request(receiver.url).post("/api/session").send({ secret });
  }

  function cookieOf(response: request.Response): string {
    const [cookie = ""] = (response.headers["set-cookie"] ?? []) as unknown as string[];
    return cookie;
  }

  const withSecret = (env = {}) => startBackground({ train: () => undefined }, { WEBHOOK_SECRET: SECRET, ...env });

  it("begins with the secret, in a cookie that no script reads and no other site sends", async () => {
    const receiver = await withSecret();
    const response = await logIn(receiver);
    expect(response.status).toBe(204);
    const cookie = cookieOf(response);
    expect(cookie).toMatch(
      /^hubhook_session=\d+\.[\w-]{43}; Max-Age=43200; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
    expect(cookie).not.toContain(SECRET);
    const [pair = ""] = cookie.split(";");
    await request(receiver.url).get("/api/deliveries").set("Cookie", `other=1; ${pair}`).expect(200);
    await request(receiver.url).get("/metrics").set("Cookie", pair).expect(200);
  });

  it("is for https only where the page came by https", async () => {
    const receiver = await withSecret({ SPACE_HOST: "me-hubhook.hf.space" });
    const headers = { "X-Forwarded-Proto": "https" };
    const response = await request(receiver.url).post("/api/session").set(headers).send({ secret: SECRET });
    expect(cookieOf(response)).toContain("; Secure");
  });

  it("ends by DELETE, which takes the cookie away", async () => {
    const receiver = await withSecret();
    const response = await request(receiver.url).delete("/api/session").expect(204);
    expect(cookieOf(response)).toMatch(
      /^hubhook_session=; Path=\/; Expires=Thu, 01 Jan 1970 .*HttpOnly; SameSite=Strict/,
    );
  });

  it("is over after twelve hours", async () => {
    const receiver = await withSecret();
    const [pair = ""] = cookieOf(await logIn(receiver)).split(";");
    await request(receiver.url).get("/api/deliveries").set("Cookie", pair).expect(200);
    const now = Date.now();
    jest.spyOn(Date, "now").mockImplementation(() => now + 12 * 3_600_000 + 1);
    await request(receiver.url).get("/api/deliveries").set("Cookie", pair).expect(401);
  });

  it("is no session when a letter of it was changed, or it was signed with another secret", async () => {
    const receiver = await withSecret();
    const other = await startBackground({ train: () => undefined }, { WEBHOOK_SECRET: "another" });
    const [pair = ""] = cookieOf(await logIn(receiver)).split(";");
    const [, until = "", signature = ""] = /=(\d+)\.(.*)$/.exec(pair) ?? [];
    const [foreign = ""] = cookieOf(await logIn(other, "another")).split(";");
    for (const cookie of [
      `hubhook_session=${Number(until) + 1}.${signature}`,
      `hubhook_session=${until}.${signature.slice(1)}A`,
      `hubhook_session=${until}.`,
      `hubhook_session=${until}`,
      "hubhook_session=",
      `xhubhook_session=${until}.${signature}`,
      foreign,
    ])
      await request(receiver.url).get("/api/deliveries").set("Cookie", cookie).expect(401);
  });

  it("needs a secret in the body", async () => {
    const receiver = await withSecret();
    for (const body of [{}, { secret: 1 }, []]) {
      const response = await request(receiver.url).post("/api/session").send(body).expect(400);
      expect(response.body).toMatchObject({ code: "secret_missing", error: 'expected {"secret": "…"}' });
    }
    await request(receiver.url).post("/api/session").send("secret=x").expect(400);
  });

  it("is refused for a while after ten wrong secrets, the right one too", async () => {
    const receiver = await withSecret();
    for (let tries = 0; tries < 5; tries++) {
      expect((await logIn(receiver, "guess")).status).toBe(403);
      await request(receiver.url).get("/api/deliveries").set({ Authorization: "Bearer guess" }).expect(403);
    }
    const response = await logIn(receiver);
    expect([response.status, response.body.code]).toEqual([429, "too_many_tries"]);
    const wait = Number(response.headers["retry-after"]);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    await request(receiver.url).get("/api/deliveries").set(BEARER).expect(429);
    const now = Date.now();
    jest.spyOn(Date, "now").mockImplementation(() => now + wait * 1000);
    expect((await logIn(receiver)).status).toBe(204);
  });

  it("counts wrong secrets by the client's address, which only a Space's own proxy may name", async () => {
    const guess = async (receiver: BackgroundReceiver, address: string) => {
      const headers = { Authorization: "Bearer guess", "X-Forwarded-For": address };
      return (await request(receiver.url).get("/api/deliveries").set(headers)).status;
    };
    const space = await withSecret({ SPACE_HOST: "me-hubhook.hf.space" });
    for (let tries = 0; tries < 10; tries++) await guess(space, "203.0.113.1");
    expect([await guess(space, "203.0.113.1"), await guess(space, "203.0.113.2")]).toEqual([429, 403]);
    const own = await withSecret();
    for (let tries = 0; tries < 10; tries++) await guess(own, `203.0.113.${tries}`);
    expect(await guess(own, "203.0.113.99")).toBe(429);
  });
});

describe("a page of another site", () => {
  it.each([
    ["replay", { "Sec-Fetch-Site": "cross-site" }],
    ["replay", { "Sec-Fetch-Site": "same-site" }],
    ["replay", { Origin: "https://evil.example" }],
    ["replay", { Origin: "null" }],
    ["session", { Origin: "https://evil.example" }],
  ])("may not write: %s with %p", async (what, headers) => {
    const receiver = await startBackground();
    const id = await receiver.send("train");
    const path = what === "session" ? "/api/session" : `/api/deliveries/${id}/replay`;
    const { body } = await request(receiver.url).post(path).set(headers).expect(403);
    expect(body.code).toBe("cross_site");
    if (what === "replay") await request(receiver.url).post("/api/deliveries/replay").set(headers).expect(403);
    else await request(receiver.url).delete(path).set(headers).expect(403);
    expect((await list(receiver)).deliveries).toHaveLength(1);
  });

  it("is not our own page", async () => {
    const receiver = await startBackground();
    const id = await receiver.send("train");
    for (const headers of [{ "Sec-Fetch-Site": "same-origin" }, { Origin: receiver.url }, {}])
      await request(receiver.url).post(`/api/deliveries/${id}/replay`).set(headers).expect(202);
  });

  it("is not given leave to read, and may not show the inspector in a frame", async () => {
    const receiver = await startBackground();
    const { headers } = await request(receiver.url).get("/api/deliveries").set({ Origin: "https://evil.example" });
    expect(headers).not.toHaveProperty("access-control-allow-origin");
    for (const path of ["/inspect", "/inspect.html", "/%69nspect", "/INSPECT", "//inspect"]) {
      const response = await rawGet(receiver, path);
      if (response.status === 200) expect(response.policy).toContain("frame-ancestors 'none'");
    }
    expect((await rawGet(receiver, "/inspect")).status).toBe(200);
    expect((await rawGet(receiver, "/")).policy).toContain("frame-ancestors 'self' https://huggingface.co");
  });
});

describe("GET /api/deliveries/stream", () => {
  it("tells what becomes of each delivery as the list would show it, and counts", async () => {
    const held = gate();
    const receiver = await startBackground({ train: () => held.promise });
    const stream = await watch(receiver);
    const id = await receiver.send("train", pushTo("me/data"));
    const begun = await stream.until(({ event, data }) => event === "change" && data.state === "running");
    const { deliveries } = await list(receiver);
    expect(begun.data).toEqual(deliveries[0]);
    held.open();
    const ended = await stream.until(({ event, data }) => event === "change" && data.state === "succeeded");
    expect(ended.data).toMatchObject({ id, repo: "dataset:me/data", attemptsMade: 1, finishedAt: expect.any(String) });
    const counts = await stream.until(({ event, data }) => event === "counts" && data.succeeded === 1);
    expect(counts.data).toEqual({ pending: 0, running: 0, succeeded: 1, failed: 0, cancelled: 0 });
  });

  it("tells of a storm only that there was one, beside a thousand deliveries at once", async () => {
    const receiver = await startBackground();
    await receiver.sendMany("train", 1500, (index) => pushTo(`me/${index}`));
    await receiver.idle();
    const stream = await watch(receiver);
    // A replay tells of 500 at a time, all within one moment.
    const { body } = await request(receiver.url).post("/api/deliveries/replay").send({ filter: {} }).expect(200);
    expect(body.replayed).toBe(1500);
    await receiver.idle();
    await stream.until(({ event, data }) => event === "counts" && data.succeeded === 3000);
    const told = new Set(stream.events.filter(({ event }) => event === "change").map(({ data }) => data.id));
    const missed = stream.events.some(({ event }) => event === "missed");
    expect(missed || told.size === 1500).toBe(true);
  });

  it("ends when the receiver shuts down", async () => {
    const receiver = await startBackground();
    const stream = await watch(receiver);
    await receiver.close();
    await stream.ended;
  });

  it("is given to a hundred at once, and to others when one has left", async () => {
    const receiver = await startBackground();
    const streams = await Promise.all(Array.from({ length: 100 }, () => watch(receiver)));
    const refused = await request(receiver.url).get("/api/deliveries/stream").expect(503);
    expect(refused.headers["retry-after"]).toBe("30");
    expect(refused.body.code).toBe("too_many_streams");
    streams[0]?.close();
    await until(async () => (await rawGet(receiver, "/api/deliveries/stream", true)).status === 200);
  });
});

interface StreamEvent {
  event: string;
  data: Record<string, unknown>;
}

/** Listens to the stream; what came is kept. */
async function watch(receiver: BackgroundReceiver) {
  const controller = new AbortController();
  onCleanup(() => controller.abort());
  const response = await fetch(`${receiver.url}/api/deliveries/stream`, { signal: controller.signal });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const events: StreamEvent[] = [];
  let wake = () => {};
  let over = false;
  const read = async () => {
    let text = "";
    try {
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk as Uint8Array).toString("utf8");
        const parts = text.split("\n\n");
        text = parts.pop() ?? "";
        for (const part of parts) {
          const [, event = "", data = ""] = /^event: (.*)\ndata: (.*)$/.exec(part) ?? [];
          if (event !== "") events.push({ event, data: JSON.parse(data) as Record<string, unknown> });
        }
        wake();
      }
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    }
    over = true;
    wake();
  };
  const ended = read();
  return {
    events,
    ended,
    close: () => controller.abort(),
    /** The first event, of those that came or will come, that is wanted. */
    async until(wanted: (event: StreamEvent) => boolean): Promise<StreamEvent> {
      for (let next = 0; ; ) {
        const event = events[next++];
        if (event && wanted(event)) return event;
        if (event) continue;
        if (over) throw new Error(`the stream ended before: ${JSON.stringify(events)}`);
        next--;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

async function read(receiver: BackgroundReceiver, id: string) {
  const { body } = await request(receiver.url).get(`/api/deliveries/${id}`).set(BEARER).expect(200);
  return body as Listed & { payload: unknown; headers: object; attempts: unknown[] };
}

async function post(receiver: BackgroundReceiver, body: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${receiver.url}/webhooks/train`, { method: "POST", headers, body });
  return ((await response.json()) as { delivery: string }).delivery;
}

/** Asks again until it is so; a test that waits for ever is ended by its own time limit. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(setImmediate);
}

/** The path as it stands; what fetch or supertest would tidy up goes over the wire. */
function rawGet({ port }: BackgroundReceiver, path: string, cut = false) {
  return new Promise<{ status: number; policy: string }>((resolve, reject) => {
    const sent = httpRequest({ host: "127.0.0.1", port, path }, (response) => {
      const policy = String(response.headers["content-security-policy"] ?? "");
      resolve({ status: response.statusCode ?? 0, policy });
      if (cut) sent.destroy();
      else response.resume();
    });
    sent.on("error", reject).end();
  });
}
