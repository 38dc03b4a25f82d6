import { describe, expect, it } from "@jest/globals";
import { type Handler, HttpError, webhook } from "../../src/receiver/webhook.ts";
import { deliver, gate, LEAST, SECRET, startTestReceiver, type TestReceiver } from "../support/receiver.ts";

const post = (receiver: TestReceiver, headers?: Record<string, string>) =>
  deliver(`${receiver.url}/webhooks/act`, LEAST, headers);

const acting = (act: Handler, env = {}) => startTestReceiver({ env, handlers: { act } });

describe("what a handler returns", () => {
  const values: [string, unknown, number, string][] = [
    ["nothing", undefined, 204, ""],
    ["null", null, 200, "null"],
    ["a string", "héllo \u2028", 200, '"héllo \u2028"'],
    ["an empty string", "", 200, '""'],
    ["false", false, 200, "false"],
    ["zero", 0, 200, "0"],
    ["not a number", Number.NaN, 200, "null"],
    ["an object", { a: [1, { b: null }], c: undefined }, 200, '{"a":[1,{"b":null}]}'],
    ["a date", new Date(0), 200, '"1970-01-01T00:00:00.000Z"'],
    ["what knows its own JSON", { toJSON: () => ["own"] }, 200, '["own"]'],
  ];

  it.each(values)(
    "%s is the reply, from a plain function, a promise and a thenable",
    async (_name, value, status, text) => {
      const then = (resolve: (value: unknown) => void) => resolve(value);
      for (const act of [() => value, async () => value, () => ({ then })]) {
        const receiver = await acting(act);
        const answer = await post(receiver);
        expect([answer.status, await answer.text()]).toEqual([status, text]);
        expect(answer.headers.get("content-type")).toBe(status === 204 ? null : "application/json");
      }
    },
  );

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const unwritable: [string, unknown, RegExp][] = [
    ["a BigInt", 1n, /BigInt/i],
    ["a BigInt deep inside", { a: [1n] }, /BigInt/i],
    ["a cycle", cycle, /circular/i],
    ["a function", () => 1, /function/],
    ["a symbol", Symbol("x"), /symbol/],
    [
      "what fails to become JSON",
      {
        toJSON() {
          throw new Error("no JSON of me");
        },
      },
      /no JSON of me/,
    ],
  ];
  it.each(unwritable)("%s cannot be a reply: 500, and the log says why", async (_name, value, why) => {
    for (const act of [() => value, async () => value]) {
      const receiver = await acting(act);
      const answer = await post(receiver, { "x-request-id": "ask-me" });
      expect([answer.status, await answer.json()]).toEqual([
        500,
        expect.objectContaining({ code: "handler_failed", requestId: "ask-me" }),
      ]);
      const errors = receiver.lines.filter(({ level }) => level === "error");
      expect(errors).toEqual([
        expect.objectContaining({
          requestId: "ask-me",
          error: expect.objectContaining({ message: expect.stringMatching(why) }),
        }),
      ]);
    }
  });
});

describe("what a handler throws", () => {
  it("is an answer when it is an HttpError", async () => {
    const receiver = await acting(() => {
      throw new HttpError(429, "too many trainings", { code: "busy", headers: { "Retry-After": "7" } });
    });
    const answer = await post(receiver, { "x-request-id": "r1" });
    expect([answer.status, answer.headers.get("retry-after"), await answer.json()]).toEqual([
      429,
      "7",
      { error: "too many trainings", code: "busy", requestId: "r1" },
    ]);
  });

  it("is told to nobody but the log when it is anything else", async () => {
    const receiver = await acting(async () => {
      throw new TypeError("the password of the database is 1234", { cause: new Error("connection refused") });
    });
    const answer = await post(receiver, { "x-request-id": "r2" });
    const text = await answer.text();
    expect([answer.status, text]).toEqual([500, expect.stringContaining("r2")]);
    expect(text).not.toMatch(/1234|password|TypeError/);
    expect(receiver.lines).toContainEqual(
      expect.objectContaining({
        level: "error",
        requestId: "r2",
        path: "/webhooks/act",
        error: expect.objectContaining({
          message: "the password of the database is 1234",
          stack: expect.stringContaining("reply.test.ts"),
          cause: expect.objectContaining({ message: "connection refused" }),
        }),
      }),
    );
  });

  const odd: [string, unknown][] = [
    ["nothing", undefined],
    ["null", null],
    ["false", false],
    ["zero", 0],
    ["an empty string", ""],
    ["a string", "a sentence"],
    ["the word route", "route"],
    ["the word router", "router"],
    ["a number", 404],
    ["an object that says it is a 404", { status: 404, message: "gone" }],
    ["an error that says it is a 401", Object.assign(new Error("let me in"), { status: 401 })],
    ["a symbol", Symbol("s")],
    ["an object without prototype", Object.create(null)],
  ];
  it.each(odd)("%s is a failure too: 500 and one log line", async (_name, value) => {
    for (const act of [
      () => {
        throw value;
      },
      () => Promise.reject(value),
      async () => {
        await null;
        throw value;
      },
    ]) {
      const receiver = await acting(act);
      const answer = await post(receiver);
      expect([answer.status, await answer.json()]).toEqual([500, expect.objectContaining({ code: "handler_failed" })]);
      expect(receiver.lines.filter(({ level }) => level === "error")).toHaveLength(1);
      expect(receiver.status.lifecycle.running).toBe(0);
    }
  });

  it.each<Record<string, string>>([
    { "X-Bad": "a\r\nSet-Cookie: b=c" },
    { "X Bad": "a" },
    { "X-Bad": "\u20ac" },
    { "content-length": "2" },
    { "Transfer-Encoding": "chunked" },
  ])("cannot carry headers that break the answer, as %j: 500, and the log names them", async (headers) => {
    const receiver = await acting(() => {
      throw new HttpError(409, "no", { headers });
    });
    const answer = await post(receiver);
    expect([answer.status, await answer.json()]).toEqual([500, expect.objectContaining({ code: "handler_failed" })]);
    expect(receiver.written()).toContain("an HttpError cannot send the header");
  });

  it("by a thenable that breaks its promise counts once", async () => {
    const receiver = await acting(() => ({
      // biome-ignore lint/suspicious/noThenProperty: a bad thenable is what is tested
      then(resolve: (value: unknown) => void, reject: (error: unknown) => void) {
        resolve("first");
        reject(new Error("second"));
        resolve("third");
      },
    }));
    expect(await (await post(receiver)).json()).toBe("first");
    expect(receiver.status.lifecycle.running).toBe(0);
  });

  it("by a thenable whose `then` cannot be looked at is a failure as any other", async () => {
    const receiver = await acting(() => ({
      // biome-ignore lint/suspicious/noThenProperty: a bad thenable is what is tested
      get then() {
        throw new Error("do not look");
      },
    }));
    expect((await post(receiver)).status).toBe(500);
    expect(receiver.status.lifecycle.running).toBe(0);
  });
});

describe("the reply deadline", () => {
  const env = { REPLY_DEADLINE: "20ms" };

  it("answers 202 while the handler goes on, and its end is logged", async () => {
    const door = gate<string>();
    const receiver = await acting(door.pass, env);
    const answer = await post(receiver, { "x-request-id": "slow" });
    expect([answer.status, await answer.json()]).toEqual([202, { running: true, requestId: "slow" }]);
    expect(receiver.status.lifecycle.running).toBe(1);
    door.open("too late to be heard");
    await receiver.idle();
    expect(receiver.lines).toContainEqual(
      expect.objectContaining({
        level: "info",
        endpoint: "act",
        requestId: "slow",
        message: expect.stringContaining("ended"),
      }),
    );
    expect(receiver.lines.filter(({ message }) => message === "delivery")).toEqual([
      expect.objectContaining({ status: 202, requestId: "slow" }),
    ]);
  });

  it("does not hide that the handler failed later", async () => {
    const door = gate();
    const receiver = await acting(door.pass, env);
    expect((await post(receiver, { "x-request-id": "slow" })).status).toBe(202);
    door.fail(new Error("failed at last"));
    await receiver.idle();
    expect(receiver.lines).toContainEqual(
      expect.objectContaining({
        level: "error",
        requestId: "slow",
        error: expect.objectContaining({ message: "failed at last" }),
      }),
    );
  });

  it("does not hide that a failure was no error", async () => {
    const door = gate();
    const receiver = await acting(door.pass, env);
    await post(receiver);
    door.fail(undefined as unknown as Error);
    await receiver.idle();
    expect(receiver.lines.filter(({ level }) => level === "error")).toHaveLength(1);
  });

  it("says nothing to a handler that is in time", async () => {
    const receiver = await acting(async () => "in time", { REPLY_DEADLINE: "20s" });
    expect((await post(receiver)).status).toBe(200);
    expect(receiver.lines.map(({ message }) => message)).toEqual(["delivery"]);
  });
});

describe("a handler's context", () => {
  it("brings all that the contract names", async () => {
    const seen: unknown[] = [];
    const look = webhook({}, (_payload, { log, deliveryId, attempt, signal, headers, hub, settings }) => {
      log.info("a word of mine", { more: 1 });
      seen.push({ deliveryId, attempt, aborted: signal.aborted, agent: headers["user-agent"], hub, settings });
    });
    const env = { HF_TOKEN: " hf_abc ", HF_ENDPOINT: "http://127.0.0.1:7861/" };
    const receiver = await startTestReceiver({ env, handlers: { act: look } });
    await post(receiver, { "webhook-id": "d1", "x-request-id": "r1", "user-agent": "hub" });
    expect(seen).toEqual([
      {
        deliveryId: "d1",
        attempt: 1,
        aborted: false,
        agent: "hub",
        hub: { hubUrl: "http://127.0.0.1:7861", accessToken: "hf_abc" },
        settings: undefined,
      },
    ]);
    expect(receiver.lines).toContainEqual(
      expect.objectContaining({ message: "a word of mine", endpoint: "act", delivery: "d1", more: 1 }),
    );
  });

  it("has no token where none is known, and the request's id where the sender names no delivery", async () => {
    const seen: unknown[] = [];
    const look = webhook({}, (_payload, { deliveryId, hub }) => void seen.push(deliveryId, hub));
    const receiver = await startTestReceiver({ handlers: { act: look } });
    await post(receiver, { "x-request-id": "r1" });
    expect(seen).toEqual(["r1", { hubUrl: "https://huggingface.co" }]);
  });
});

describe("the request's id", () => {
  it("is the caller's when it is a sane one", async () => {
    const receiver = await startTestReceiver();
    const answer = await deliver(`${receiver.url}/webhooks/echo`, LEAST, { "x-request-id": "A-b_c.1:2" });
    expect(answer.headers.get("x-request-id")).toBe("A-b_c.1:2");
    expect(receiver.lines).toEqual([expect.objectContaining({ requestId: "A-b_c.1:2" })]);
  });

  it.each(["", "with space", "x".repeat(129), '"quoted"', "<script>", "é"])(
    "is our own in place of %j",
    async (given) => {
      const receiver = await startTestReceiver();
      const answer = await deliver(`${receiver.url}/webhooks/echo`, LEAST, { "x-request-id": given });
      expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/);
    },
  );

  it("is in every answer, whoever gives it", async () => {
    const receiver = await startTestReceiver({ env: { WEBHOOK_SECRET: SECRET } });
    for (const path of [
      "/health",
      "/ready",
      "/metrics",
      "/api/endpoints",
      "/openapi.json",
      "/none",
      "/webhooks/none",
      "/%ff",
    ]) {
      const answer = await fetch(receiver.url + path, { headers: { "x-request-id": "mine" } });
      expect([path, answer.headers.get("x-request-id")]).toEqual([path, "mine"]);
    }
  });
});

describe("the log", () => {
  it("has one line for each delivery, refused ones too", async () => {
    const receiver = await startTestReceiver({ env: { WEBHOOK_SECRET: SECRET } });
    const url = `${receiver.url}/webhooks/echo`;
    const headers = { "x-webhook-secret": SECRET };
    const payload = { event: { scope: "repo", action: "update" }, repo: { type: "dataset", name: "me/data" } };
    await deliver(url, payload, headers);
    await deliver(url, LEAST, headers);
    await deliver(url, "{", headers);
    await deliver(url, LEAST);
    const common = {
      level: "info",
      message: "delivery",
      endpoint: "echo",
      ms: expect.any(Number),
      requestId: expect.any(String),
    };
    expect(receiver.lines).toEqual([
      expect.objectContaining({ ...common, status: 200, scope: "repo", action: "update", repo: "dataset:me/data" }),
      expect.objectContaining({ ...common, status: 200, action: "update", repo: "dataset" }),
      expect.objectContaining({ ...common, status: 400 }),
      expect.objectContaining({ ...common, status: 401 }),
    ]);
  });

  it("is not made long by a payload with long words", async () => {
    const receiver = await startTestReceiver();
    const word = "x".repeat(100_000);
    await deliver(`${receiver.url}/webhooks/echo`, {
      event: { scope: word, action: word },
      repo: { type: word, name: word },
    });
    expect(receiver.written().length).toBeLessThan(2000);
  });

  it("is silent about deliveries when it is told to be", async () => {
    const receiver = await startTestReceiver();
    // The level of the log is the receiver's; a quiet one makes no lines at all.
    await fetch(`${receiver.url}/health`);
    expect(receiver.lines).toEqual([]);
  });
});
