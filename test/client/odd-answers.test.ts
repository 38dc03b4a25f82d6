/** What hubs, proxies and networks answer when it is not what the embedded hub would: recorded shapes, scripted. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { inspect } from "node:util";
import { describe, expect, it } from "@jest/globals";
import { type HubError, type Webhook, WebhooksClient, type WebhooksClientOptions } from "../../src/client/client.ts";
import { type Behaviour, startTarget } from "../support/target.ts";

const ID = "654bbbc16f2ec14d77f109cc";
const TOKEN = "hf_very-secret-token";

const old = {
  id: ID,
  url: "https://webhook.site/a2176e82?key=1",
  watched: [
    { type: "user", name: "julien-c" },
    { type: "org", name: "HuggingFaceH4" },
  ],
  domains: ["repo", "discussions"],
  secret: "my-secret",
  disabled: false,
};
const recent = { ...old, secret: undefined, hasSecret: true, publicAlias: "x", signingSecret: "never-shown" };
const withJob = {
  id: ID,
  job: {
    dockerImage: "ubuntu",
    spaceId: null,
    command: ["bash", "-c", "echo $WEBHOOK_PAYLOAD"],
    arguments: [],
    environment: {},
    secrets: { TOKEN: "never-shown" },
    flavor: "cpu-basic",
    timeout: null,
    tags: null,
  },
  watched: old.watched,
  domains: ["repo"],
  disabled: "suspended-after-failure",
};
const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Behaviour => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});
const page = { "content-type": "text/html; charset=utf-8" };

/** A client of a server that does this; `waits` tells how long it wanted to wait between its tries. */
async function startScripted(script: [Behaviour, ...Behaviour[]], options: WebhooksClientOptions = {}) {
  const target = await startTarget(...script);
  const waits: number[] = [];
  const client = new WebhooksClient({
    endpoint: target.url,
    token: TOKEN,
    sleep: async (ms) => void waits.push(ms),
    random: () => 0,
    ...options,
  });
  return { target, client, waits, [Symbol.asyncDispose]: () => target[Symbol.asyncDispose]() };
}

async function failureOf(call: Promise<unknown>): Promise<HubError> {
  const error = await call.then(
    () => null,
    (thrown: HubError) => thrown,
  );
  if (!error) throw new Error("it did not fail");
  expect(error.message + JSON.stringify(error)).not.toContain(TOKEN);
  return error;
}

describe("answers of every age", () => {
  it.each<[string, object, Partial<Webhook>]>([
    ["an old one, with the secret", old, { hasSecret: true, status: "enabled" }],
    ["an old one without", { ...old, secret: undefined }, { hasSecret: false }],
    ["a new one, with hasSecret and unknown fields", recent, { hasSecret: true }],
    ["one with a Job", withJob, { url: null, status: "suspended", disabled: "suspended-after-failure" }],
    ["disabled as a text", { ...old, disabled: "true" }, { disabled: true, status: "disabled" }],
    ["a suspension by a name of the future", { ...old, disabled: "suspended-by-staff" }, { status: "suspended" }],
    [
      "a type of the future",
      { ...old, watched: [{ type: "paper", name: "x" }] },
      { watched: [{ type: "paper", name: "x" }] },
    ],
    ["no domains", { ...old, domains: null }, { domains: [] }],
  ])("%s", async (_, answer, expected) => {
    await using scripted = await startScripted([json([answer]), json({ webhook: answer, notice: "new" })]);
    const [listed] = await scripted.client.list();
    expect(listed).toMatchObject({ id: ID, ...expected });
    expect(await scripted.client.get(ID)).toEqual(listed);
    expect(JSON.stringify(listed)).not.toMatch(/my-secret|never-shown/);
  });

  it("keeps the names of a Job's secrets and not their values", async () => {
    await using scripted = await startScripted([json({ webhook: withJob })]);
    expect((await scripted.client.get(ID)).job).toEqual({
      dockerImage: "ubuntu",
      command: ["bash", "-c", "echo $WEBHOOK_PAYLOAD"],
      arguments: [],
      environment: {},
      secrets: ["TOKEN"],
      flavor: "cpu-basic",
    });
  });
});

describe("what is sent", () => {
  const sent = async (answer: unknown, call: (client: WebhooksClient) => Promise<unknown>) => {
    await using scripted = await startScripted([json(answer)]);
    await call(scripted.client);
    return scripted.target.requests.map(({ method, url, headers, body }) => ({
      line: `${method} ${url}`,
      token: headers.authorization,
      agent: headers["user-agent"],
      body: body && JSON.parse(body),
    }));
  };

  it("carries the token and a name", async () => {
    const [request] = await sent([], (client) => client.list());
    expect(request).toEqual({
      line: "GET /api/settings/webhooks",
      token: `Bearer ${TOKEN}`,
      agent: "hubhook",
      body: "",
    });
  });

  it("writes a new webhook in the hub's words", async () => {
    const given = { jobId: "687f911eaea852de79c4a50a", watched: ["user:me"], domains: ["discussions", "discussion"] };
    const [request] = await sent({ webhook: old }, (client) => client.create({ ...given, jobSecrets: { A: "1" } }));
    expect(request).toMatchObject({
      line: "POST /api/settings/webhooks",
      body: {
        jobSourceId: "687f911eaea852de79c4a50a",
        watched: [{ type: "user", name: "me" }],
        domains: ["discussion"],
        secrets: { A: "1" },
      },
    });
  });

  it.each([
    ["a webhook with a url", old, { secret: "new" }, { url: old.url, domains: old.domains, secret: "new" }],
    ["its url", old, { url: "https://example.com/x" }, { url: "https://example.com/x", domains: old.domains }],
    ["a url to a Job", old, { jobId: "687f" }, { jobSourceId: "687f", domains: old.domains }],
    ["a webhook with a Job", withJob, { domains: ["discussions"] }, { domains: ["discussion"] }],
    ["a Job to a url", withJob, { url: old.url }, { url: old.url, domains: ["repo"] }],
    ["a secret away", old, { secret: null }, { url: old.url, domains: old.domains, secret: "" }],
  ])("an update of %s sends what was there along", async (_, before, changes, body) => {
    const requests = await sent({ webhook: before }, (client) => client.update(ID, changes));
    expect(requests.map(({ line }) => line)).toEqual([
      `GET /api/settings/webhooks/${ID}`,
      `POST /api/settings/webhooks/${ID}`,
    ]);
    expect(requests[1]?.body).toEqual({ watched: old.watched, ...body });
  });

  it("an update names no domains where the hub told of none", async () => {
    const before = { ...old, domains: undefined };
    const requests = await sent({ webhook: before }, (client) => client.update(ID, { url: old.url }));
    expect(requests[1]?.body).toEqual({ watched: old.watched, url: old.url });
  });

  it("never updates over a webhook that it did not understand", async () => {
    await using scripted = await startScripted([json({ webhook: { ...old, watched: [{ type: "user" }] } })]);
    const error = await failureOf(scripted.client.update(ID, { secret: "x" }));
    expect(error).toMatchObject({ kind: "not-understood", message: expect.stringContaining("is not a webhook") });
    expect(scripted.target.requests).toHaveLength(1);
  });

  it("needs no answer to a delete", async () => {
    for (const answer of [{ status: 204 }, { status: 200, body: "OK" }, json({ id: ID })]) {
      await using scripted = await startScripted([answer]);
      expect(await scripted.client.delete(ID)).toBeUndefined();
    }
  });
});

describe("errors", () => {
  it.each<[string, Behaviour, object, string]>([
    [
      "the hub's JSON",
      json({ error: "Invalid username or password." }, 401, { "x-request-id": "Root=1-abc" }),
      { status: 401, requestId: "Root=1-abc", reason: "Invalid username or password." },
      "was answered 401 Unauthorized: Invalid username or password.",
    ],
    [
      "a header's sentence, and its code",
      { status: 403, headers: { "x-error-message": "Write access needed", "x-error-code": "Forbidden" } },
      { status: 403, code: "Forbidden", reason: "Write access needed" },
      "was answered 403 Forbidden: Write access needed",
    ],
    ["a status alone", { status: 404 }, { status: 404, reason: null, code: null }, "was answered 404 Not Found"],
    [
      "a web page",
      { status: 418, headers: page, body: "<!doctype html><h1>Error</h1>" },
      { reason: null },
      "418 I'm a Teapot: a web page, and no reason",
    ],
    ["an array", json(["no"], 400), { status: 400, reason: null }, "was answered 400 Bad Request"],
    ["what would steer a terminal", json({ error: "a\u001b[2Jb\nc\u202e" }, 400), { reason: "a [2Jb c" }, "a [2Jb c"],
    [
      "the token itself",
      json({ error: `unknown token ${TOKEN}` }, 401),
      { reason: "unknown token ***" },
      "unknown token ***",
    ],
    [
      "the secret that was sent",
      json({ error: "bad secret s3cret-x" }, 400),
      { reason: "bad secret ***" },
      "bad secret ***",
    ],
    [
      "an address with a secret in it",
      json({ error: "https://me:pw@e.com/?secret=in-it&x=1 is taken" }, 409),
      { reason: "https://***@e.com/?secret=***&x=1 is taken" },
      "?secret=***&x=1 is taken",
    ],
  ])("tell %s", async (_, answer, details, sentence) => {
    await using scripted = await startScripted([answer]);
    const error = await failureOf(scripted.client.create({ url: old.url, watched: ["user:me"], secret: "s3cret-x" }));
    expect(JSON.stringify(error)).not.toContain("s3cret-x");
    expect(error).toMatchObject({ name: "HubError", kind: "refused", method: "POST", ...details });
    expect(error.url).toBe(`${scripted.target.url}/api/settings/webhooks`);
    expect(error.message).toContain(sentence);
    expect(error.message).not.toContain("s3cret-x");
  });

  it("keep their words where the token is one of them", async () => {
    await using target = await startTarget(json({ error: "any value will do, too many requests" }, 400));
    const error = await failureOf(new WebhooksClient({ endpoint: target.url, token: "any" }).list());
    expect(error.reason).toBe("any value will do, too many requests");
  });

  it.each<[string, Behaviour, string]>([
    [
      "a web page",
      { status: 200, headers: page, body: "<html>Log in</html>" },
      "was answered 200 with a web page: is http",
    ],
    ["nothing", { status: 200 }, "with nothing: is http"],
    ["half of it", { status: 200, body: '[{"id":' }, "with something that is no JSON"],
    ["without end", "huge", "with more than is read of an answer"],
    ["another shape", json({ webhooks: [] }), "something that is not a list of webhooks"],
    ["no webhooks", json([{ id: 1 }]), "something that is not a list of webhooks"],
  ])("tell success with %s", async (_, answer, sentence) => {
    await using scripted = await startScripted([answer]);
    const error = await failureOf(scripted.client.list());
    expect(error).toMatchObject({ kind: "not-understood" });
    expect(error.message).toContain(sentence);
    expect(scripted.target.requests).toHaveLength(1);
  });

  it("tell a hub that is not there, and an answer that was cut", async () => {
    await using scripted = await startScripted(["reset", "cut"]);
    const { client, target } = scripted;
    const reset = await failureOf(client.disable(ID));
    expect(reset).toMatchObject({ kind: "unreachable", status: null });
    expect(reset.message).toBe(`${target.url} cannot be reached: the connection was cut`);
    const cut = await failureOf(client.disable(ID));
    expect(cut).toMatchObject({ kind: "cut", message: expect.stringContaining("was cut before its end") });
    const gone = new WebhooksClient({ endpoint: "http://127.0.0.1:1", sleep: async () => {} });
    expect((await failureOf(gone.list())).message).toMatch(/^http:\/\/127\.0\.0\.1:1 cannot be reached: /);
  });

  it("tell what is no HTTP, and keep nothing of what it repeats", async () => {
    const server = createServer((socket) => {
      socket.once("data", (bytes) => socket.end(`HTTP/1.1 200 OK\r\n${bytes}`)).on("error", () => {});
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const error = await failureOf(new WebhooksClient({ endpoint, token: TOKEN, sleep: async () => {} }).list());
    server.close();
    expect(error.message).toBe(`${endpoint} cannot be reached: what answers there is no HTTP`);
    expect(inspect(error, { depth: null })).not.toContain(TOKEN);
  });

  it("tell what took too long, and try it once", async () => {
    await using scripted = await startScripted(["hang"], { timeoutMs: 50 });
    const error = await failureOf(scripted.client.list());
    expect(error).toMatchObject({
      kind: "timeout",
      message: expect.stringContaining("was not answered within 0.05 s"),
    });
    expect(scripted.target.requests).toHaveLength(1);
  });

  it("tell activity and events that a hub has not, and where to look", async () => {
    await using scripted = await startScripted([
      { status: 404, headers: page, body: "<html>" },
      json({ webhook: old }),
    ]);
    const { client, target } = scripted;
    const activity = await failureOf(client.activity(ID));
    expect(activity.kind).toBe("unsupported");
    expect(activity.message).toContain(`on its page only: ${target.url}/settings/webhooks/${ID}`);
    await using other = await startScripted([{ status: 404 }]);
    expect(await failureOf(other.client.publish({}))).toMatchObject({ kind: "unsupported" });
    await using none = await startScripted([{ status: 404 }]);
    expect(await failureOf(none.client.activity(ID))).toMatchObject({ kind: "refused", status: 404 });
  });
});

describe("cancelling", () => {
  it("ends a call that runs, one that waits, and one that has not begun", async () => {
    await using hanging = await startScripted(["hang"]);
    const running = new AbortController();
    const call = failureOf(hanging.client.list({ signal: running.signal }));
    await hanging.target.received(1);
    running.abort();
    expect(await call).toMatchObject({
      name: "AbortError",
      kind: "aborted",
      message: expect.stringContaining("cancelled"),
    });

    const waiting = new AbortController();
    await using busy = await startScripted([json({}, 503)], { sleep: undefined });
    const retried = failureOf(busy.client.list({ signal: waiting.signal }));
    await busy.target.received(1);
    waiting.abort();
    expect(await retried).toMatchObject({ name: "AbortError", kind: "aborted" });

    const asked = busy.target.requests.length;
    expect(await failureOf(busy.client.list({ signal: AbortSignal.abort() }))).toMatchObject({ kind: "aborted" });
    expect(busy.target.requests).toHaveLength(asked);
  });
});

describe("trying again", () => {
  const soon = { "retry-after": "3" };
  it.each<[string, [Behaviour, ...Behaviour[]], number[]]>([
    ["a server's error", [json({}, 500), json({}, 502), json([])], [125, 375]],
    ["a cut connection", ["reset", "cut", json([])], [125, 375]],
    ["a busy hub, when it says", [json({}, 503, soon), json([])], [3000]],
    ["a rate limit, when its header says", [json({}, 429, { ratelimit: '"api";r=0;t=7' }), json([])], [7000]],
    ["a rate limit that says nothing", [json({}, 429), json([])], [125]],
  ])("reads again after %s", async (_, script, waits) => {
    await using scripted = await startScripted(script);
    expect(await scripted.client.list()).toEqual([]);
    expect(scripted.waits).toEqual(waits);
  });

  it("waits until the time of a Retry-After that is one", async () => {
    const at = new Date(Date.now() + 10_000).toUTCString();
    await using scripted = await startScripted([json({}, 503, { "retry-after": at }), json([])]);
    await scripted.client.list();
    expect(scripted.waits).toHaveLength(1);
    expect(scripted.waits[0]).toBeGreaterThan(1_000);
    expect(scripted.waits[0]).toBeLessThanOrEqual(10_000);
  });

  it.each<[string, Behaviour, number]>([
    ["so often", json({}, 500), 3],
    ["nothing that a hub asks minutes for", json({}, 429, { "retry-after": "300" }), 1],
    ["nothing that is the caller's mistake", json({}, 400), 1],
  ])("gives up: %s", async (_, answer, tries) => {
    await using scripted = await startScripted([answer]);
    await failureOf(scripted.client.list());
    expect(scripted.target.requests).toHaveLength(tries);
  });

  it.each<[string, Behaviour, number]>([
    ["a server's error", json({}, 500), 1],
    ["a cut connection", "reset", 1],
    ["a busy hub that says nothing", json({}, 503), 1],
    ["a busy hub that says when", json({}, 503, soon), 3],
    ["a rate limit that says when", json({}, 429, { ratelimit: '"api";r=0;t=1' }), 3],
  ])("writes again only where nothing can have been written: %s", async (_, answer, tries) => {
    await using scripted = await startScripted([answer]);
    await failureOf(scripted.client.create({ url: old.url, watched: ["user:me"] }));
    expect(scripted.target.requests).toHaveLength(tries);
  });
});

describe("redirects", () => {
  it("are followed within the hub, for what only reads", async () => {
    await using scripted = await startScripted([{ status: 307, headers: { location: "/moved?x=1" } }, json([])]);
    expect(await scripted.client.list()).toEqual([]);
    expect(scripted.target.requests[1]).toMatchObject({
      url: "/moved?x=1",
      headers: { authorization: `Bearer ${TOKEN}` },
    });
  });

  it("never lead elsewhere, nor a write, nor for ever", async () => {
    await using elsewhere = await startTarget(json([]));
    await using scripted = await startScripted([{ status: 302, headers: { location: `${elsewhere.url}/x?secret=1` } }]);
    const error = await failureOf(scripted.client.list());
    expect(error).toMatchObject({ kind: "redirected", status: 302 });
    expect(error.message).toMatch(/is redirected to http:\/\/127\.0\.0\.1:\d+\/x, where the token must not go$/);
    expect(elsewhere.requests).toEqual([]);
    await using round = await startScripted([{ status: 308, headers: { location: "/again" } }]);
    expect((await failureOf(round.client.enable(ID))).message).toContain("/again, which is not followed");
    expect(round.target.requests).toHaveLength(1);
    await failureOf(round.client.list());
    expect(round.target.requests).toHaveLength(5);
  });
});
