import { describe, expect, it } from "@jest/globals";
import request from "supertest";
import { deliver, gate, LEAST, SECRET, startTestReceiver } from "../support/receiver.ts";

const JSON_TYPE = { "content-type": "application/json" };
const env = { WEBHOOK_SECRET: SECRET, BODY_LIMIT: "1kb" };

interface Asked {
  path: string;
  method: string;
  headers: Record<string, string>;
  body: string;
}

/** What can be wrong with a delivery, in the order in which the receiver looks, and what it says to it. */
const checks: { name: string; status: number; code: string; spoil(asked: Asked): void }[] = [
  {
    name: "an unknown endpoint",
    status: 404,
    code: "endpoint_unknown",
    spoil: (asked) => (asked.path = "/webhooks/no"),
  },
  { name: "another method", status: 405, code: "method_not_allowed", spoil: (asked) => (asked.method = "PUT") },
  {
    name: "no secret",
    status: 401,
    code: "secret_missing",
    spoil: (asked) => delete asked.headers["x-webhook-secret"],
  },
  {
    name: "content that is not JSON by its type",
    status: 415,
    code: "content_type_unsupported",
    spoil: (asked) => (asked.headers["content-type"] = "text/plain"),
  },
  {
    name: "a body over the limit",
    status: 413,
    code: "body_too_large",
    spoil: (asked) => (asked.body += " ".repeat(2000)),
  },
  { name: "malformed JSON", status: 400, code: "json_malformed", spoil: (asked) => (asked.body = `{${asked.body}`) },
];

function wellMade(): Asked {
  const headers = { ...JSON_TYPE, "x-webhook-secret": SECRET };
  return { path: "/webhooks/echo", method: "POST", headers, body: JSON.stringify(LEAST) };
}

async function ask(url: string, { path, ...init }: Asked) {
  const answer = await fetch(url + path, init);
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> };
}

describe("the checks of a delivery", () => {
  const pairs = checks.flatMap((first, index) =>
    checks.slice(index + 1).map((second) => ({ first, second, title: `${first.name} wins over ${second.name}` })),
  );

  it.each(checks)("$name is answered $status, and the handler is not called", async ({ status, code, spoil }) => {
    let calls = 0;
    const receiver = await startTestReceiver({ env, handlers: { echo: () => void calls++ } });
    const asked = wellMade();
    spoil(asked);
    const answer = await ask(receiver.url, asked);
    expect(answer).toMatchObject({ status, body: { code, error: expect.any(String) } });
    expect(answer.body.requestId).toBe(answer.headers.get("x-request-id"));
    expect(calls).toBe(0);
  });

  it("are made in their order: each wins over all that come after it", async () => {
    const receiver = await startTestReceiver({ env });
    const wrong: string[] = [];
    for (const { first, second, title } of pairs) {
      const asked = wellMade();
      // The later one first, so that a spoiled body stays spoiled in both ways.
      second.spoil(asked);
      first.spoil(asked);
      const { status } = await ask(receiver.url, asked);
      if (status !== first.status) wrong.push(`${title}, but the answer is ${status}`);
    }
    expect(wrong).toEqual([]);
  });

  it("begin with the draining of a shutdown, which wins over all others", async () => {
    const door = gate();
    const receiver = await startTestReceiver({ env, handlers: { echo: door.pass } });
    const running = deliver(`${receiver.url}/webhooks/echo`, LEAST, { "x-webhook-secret": SECRET });
    await door.reached;
    const closed = receiver.close();
    const answers = await Promise.all([
      ask(receiver.url, wellMade()),
      ...checks.map(({ spoil }) => {
        const asked = wellMade();
        spoil(asked);
        return ask(receiver.url, asked);
      }),
    ]);
    door.open();
    for (const { status, headers, body } of answers) {
      expect([status, body.code]).toEqual([503, "draining"]);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect((await running).status).toBe(204);
    await closed;
  });

  it("refuse JSON that is no payload last, and say where it is wrong", async () => {
    const receiver = await startTestReceiver({ env });
    const answer = await ask(receiver.url, { ...wellMade(), body: '{"event":{"action":7},"repo":{"type":"dataset"}}' });
    expect(answer).toMatchObject({
      status: 422,
      body: { code: "payload_invalid", issues: [{ path: "event.action", message: expect.any(String) }] },
    });
    expect(answer.body.error).toContain("event.action");
  });
});

describe("an endpoint that is not there", () => {
  it.each([
    "/webhooks/nope",
    "/webhooks",
    "/webhooks/",
    "/webhooks/echo/more",
    "/webhooks/__proto__",
    "/webhooks/..%2f",
  ])("%s is answered 404 and points at the list of endpoints", async (path) => {
    const receiver = await startTestReceiver({ env });
    const answer = await request(receiver.url).post(path).send(LEAST);
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ code: "endpoint_unknown", error: expect.stringContaining("/api/endpoints") });
  });

  it("does not tell more in the log than its path", async () => {
    const receiver = await startTestReceiver({ env });
    await request(receiver.url).post(`/webhooks/nope?secret=${SECRET}`).send(LEAST);
    expect(receiver.written()).not.toContain(SECRET);
  });
});

describe("another method", () => {
  it.each(["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])(
    "%s is answered 405 with what is allowed",
    async (method) => {
      const receiver = await startTestReceiver({ env });
      const answer = await fetch(`${receiver.url}/webhooks/echo`, { method });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
      const text = await answer.text();
      if (method === "HEAD") expect(text).toBe("");
      else expect(JSON.parse(text)).toMatchObject({ code: "method_not_allowed" });
    },
  );
});

describe("the content", () => {
  const ok = [
    "application/json",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    "APPLICATION/JSON",
    "application/cloudevents+json",
  ];
  it.each(ok)("of type %s is taken", async (type) => {
    const receiver = await startTestReceiver();
    expect((await deliver(`${receiver.url}/webhooks/echo`, LEAST, { "content-type": type })).status).toBe(200);
  });

  const refused: [string, Record<string, string>][] = [
    ["text", { "content-type": "text/plain" }],
    ["a form", { "content-type": "application/x-www-form-urlencoded" }],
    ["what only begins like JSON", { "content-type": "application/jsonp" }],
    ["JSON in another charset", { "content-type": "application/json; charset=utf-16" }],
    ["compressed JSON", { "content-encoding": "gzip" }],
    ["no type at all", { "content-type": "" }],
  ];
  it.each(refused)("is refused with 415 as %s", async (_name, headers) => {
    const receiver = await startTestReceiver();
    const answer = await deliver(`${receiver.url}/webhooks/echo`, LEAST, headers);
    expect(answer.status).toBe(415);
    expect(await answer.json()).toMatchObject({ error: expect.stringContaining("expected") });
  });

  it.each([
    ["nothing", "", "empty"],
    ["blanks", "  \n ", "empty"],
    ["half an object", '{"event":', "JSON"],
    ["bytes that are not UTF-8", Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d), "UTF-8"],
    ["UTF-16", Buffer.from(`\uFEFF${JSON.stringify(LEAST)}`, "utf16le"), "UTF-8"],
  ])("is malformed as %s: 400", async (_name, body, word) => {
    const receiver = await startTestReceiver();
    const answer = await deliver(`${receiver.url}/webhooks/echo`, body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "json_malformed", error: expect.stringContaining(word) });
  });

  it("may begin with a byte order mark", async () => {
    const receiver = await startTestReceiver();
    expect((await deliver(`${receiver.url}/webhooks/echo`, `\uFEFF${JSON.stringify(LEAST)}`)).status).toBe(200);
  });

  it.each(["null", "7", '"text"', "[]", "true", "[{}]"])("%s is JSON but no payload: 422", async (body) => {
    const receiver = await startTestReceiver();
    const answer = await deliver(`${receiver.url}/webhooks/echo`, body);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ error: expect.stringContaining("expected an object") });
  });

  it("is taken up to the limit, to the byte", async () => {
    const receiver = await startTestReceiver({ env: { BODY_LIMIT: "1kb" } });
    const padded = (size: number) => JSON.stringify(LEAST).padEnd(size);
    expect((await deliver(`${receiver.url}/webhooks/echo`, padded(1000))).status).toBe(200);
    const answer = await deliver(`${receiver.url}/webhooks/echo`, padded(1001));
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ error: expect.stringContaining("BODY_LIMIT") });
  });

  it("with very many mistakes is answered with some of them only", async () => {
    const receiver = await startTestReceiver();
    const body = JSON.stringify({ ...LEAST, updatedRefs: new Array(200_000).fill(1) });
    const answer = await deliver(`${receiver.url}/webhooks/echo`, body);
    expect(answer.status).toBe(422);
    expect((await answer.text()).length).toBeLessThan(20_000);
  });
});
