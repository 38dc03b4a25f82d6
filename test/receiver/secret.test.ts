import { describe, expect, it } from "@jest/globals";
import { HttpError } from "../../src/errors.ts";
import { secretMatcher } from "../../src/http/secret-matcher.ts";
import { webhook } from "../../src/receiver/webhook.ts";
import { deliver, LEAST, SECRET, startTestReceiver } from "../support/receiver.ts";
import { head, openWire } from "../support/wire.ts";

const PREVIOUS = "older-sesame";
const env = { WEBHOOK_SECRET: SECRET };

describe("the secret", () => {
  it("opens the endpoint as the header that the Hub sends", async () => {
    const receiver = await startTestReceiver({ env });
    const answer = await deliver(`${receiver.url}/webhooks/echo`, LEAST, { "X-Webhook-Secret": SECRET });
    expect([answer.status, await answer.json()]).toEqual([200, { got: LEAST }]);
  });

  it("is asked for by name when it is not sent: 401", async () => {
    const receiver = await startTestReceiver({ env });
    const answer = await deliver(`${receiver.url}/webhooks/echo`);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ error: expect.stringContaining("x-webhook-secret header not set") });
  });

  it.each([
    ["the wrong one", "open-sesam"],
    ["a longer one", `${SECRET}!`],
    ["another case", SECRET.toUpperCase()],
    ["a very long one", "x".repeat(10_000)],
    ["a word of JavaScript's", "__proto__"],
  ])("is refused with 403 as %s", async (_name, given) => {
    const receiver = await startTestReceiver({ env });
    const answer = await deliver(`${receiver.url}/webhooks/echo`, LEAST, { "x-webhook-secret": given });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: "invalid webhook secret", code: "secret_invalid" });
  });

  it("counts as not sent when it is sent empty", async () => {
    const receiver = await startTestReceiver({ env });
    expect((await deliver(`${receiver.url}/webhooks/echo?secret=`, LEAST, { "x-webhook-secret": "" })).status).toBe(
      401,
    );
  });

  it("is refused when it is sent twice, even if both are right", async () => {
    const receiver = await startTestReceiver({ env });
    await using wire = await openWire(receiver.port);
    const body = JSON.stringify(LEAST);
    const lines = `X-Webhook-Secret: ${SECRET}\r\nX-Webhook-Secret: ${SECRET}\r\n`;
    const headers = { "Content-Type": "application/json", "Content-Length": body.length };
    await wire.send(head("POST /webhooks/echo", headers).replace("\r\n\r\n", `\r\n${lines}\r\n`) + body);
    expect((await wire.answer()).status).toBe(403);
  });

  it("may stand in the URL", async () => {
    const receiver = await startTestReceiver({ env: { WEBHOOK_SECRET: "with&odd=signs%" } });
    const post = async (query: string) => (await deliver(`${receiver.url}/webhooks/echo?${query}`)).status;
    expect(await post(`secret=${encodeURIComponent("with&odd=signs%")}`)).toBe(200);
    expect(await post(`a=b&secret=${encodeURIComponent("with&odd=signs%")}`)).toBe(200);
    expect(await post("secret=wrong")).toBe(403);
    expect(await post("SECRET=x")).toBe(401);
    expect(await post("secret[]=x")).toBe(401);
  });

  it("in the header wins over the one in the URL", async () => {
    const receiver = await startTestReceiver({ env });
    const url = `${receiver.url}/webhooks/echo?secret=${SECRET}`;
    expect((await deliver(url, LEAST, { "x-webhook-secret": "wrong" })).status).toBe(403);
  });

  it("may be the previous one while it is being changed", async () => {
    const receiver = await startTestReceiver({ env: { ...env, WEBHOOK_SECRET_PREVIOUS: PREVIOUS } });
    for (const [given, status] of [
      [SECRET, 200],
      [PREVIOUS, 200],
      ["neither", 403],
    ] as const)
      expect((await deliver(`${receiver.url}/webhooks/echo`, LEAST, { "x-webhook-secret": given })).status).toBe(
        status,
      );
  });

  it("is not asked for where none is set", async () => {
    const receiver = await startTestReceiver();
    expect((await deliver(`${receiver.url}/webhooks/echo`)).status).toBe(200);
    expect((await deliver(`${receiver.url}/webhooks/echo`, LEAST, { "x-webhook-secret": "any" })).status).toBe(200);
  });
});

describe("secretMatcher", () => {
  it("takes each of its secrets, and nothing that is merely like one", () => {
    const isSecret = secretMatcher(["one", "two"]);
    expect(["one", "two", "on", "onee", "", "ONE", "one,two", "one\0"].map(isSecret)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  it("takes nothing when it has none", () => {
    expect(secretMatcher([])("")).toBe(false);
  });
});

describe("nothing secret", () => {
  const TOKEN = "hf_tokenOfTheOwner";
  const secrets = { WEBHOOK_SECRET: SECRET, WEBHOOK_SECRET_PREVIOUS: PREVIOUS, HF_TOKEN: TOKEN };

  it("stands in a log line or in an answer, whatever goes wrong", async () => {
    const thrower = () => {
      throw new Error("it broke");
    };
    const refuser = () => {
      throw new HttpError(409, "not now");
    };
    const receiver = await startTestReceiver({ env: secrets, handlers: { echo: () => 1n, thrower, refuser } });
    const answers: string[] = [];
    const ask = async (path: string, init?: RequestInit) => {
      const answer = await fetch(receiver.url + path, { redirect: "manual", ...init });
      answers.push(JSON.stringify([...answer.headers]), await answer.text());
    };
    const headers = { "x-webhook-secret": SECRET, authorization: `Bearer ${SECRET}`, cookie: `a=${SECRET}` };
    const typed = { ...headers, "content-type": "application/json" };
    const body = JSON.stringify(LEAST);
    for (const name of ["echo", "thrower", "refuser", "nope", "%E0%A4%A"])
      for (const init of [
        { method: "POST", headers: typed, body },
        { method: "POST", headers, body },
        { method: "POST", headers: typed, body: "{" },
        { method: "POST", headers: { ...typed, "x-webhook-secret": `${PREVIOUS}x` }, body },
        { method: "GET", headers },
      ])
        await ask(`/webhooks/${name}?secret=${SECRET}`, init);
    for (const path of ["/", "/api/endpoints", "/metrics", "/openapi.json", "/ready", "/nothing", "/%ff", "//x"])
      for (const init of [{ headers }, { headers: { authorization: "Bearer wrong" } }])
        await ask(`${path}?secret=${SECRET}`, init);
    const everything = [receiver.written(), ...answers].join("\n");
    for (const secret of [SECRET, PREVIOUS, TOKEN]) expect(everything).not.toContain(secret);
    expect(receiver.lines.length).toBeGreaterThan(10);
  });

  it("is in the headers that a handler sees", async () => {
    const seen: Record<string, string>[] = [];
    const look = webhook((_payload, context) => void seen.push(context.headers));
    const receiver = await startTestReceiver({ env: secrets, handlers: { look } });
    await deliver(`${receiver.url}/webhooks/look`, LEAST, {
      "x-webhook-secret": SECRET,
      authorization: "Bearer abc",
      cookie: "a=b",
      "x-other": "stays",
    });
    expect(seen).toEqual([expect.objectContaining({ "x-other": "stays", "content-type": "application/json" })]);
    expect(Object.keys(seen[0] ?? {})).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/secret|authorization|cookie/)]),
    );
    expect(JSON.stringify(seen)).not.toContain(SECRET);
  });
});
