import { once } from "node:events";
import { describe, expect, it } from "@jest/globals";
import express from "express";
import { Lifecycle } from "../../src/http/lifecycle.ts";
import { listen } from "../../src/http/server.ts";
import { gate, LEAST, SECRET, startTestReceiver, type TestReceiver } from "../support/receiver.ts";
import { head, openWire, type Wire } from "../support/wire.ts";

const BODY = JSON.stringify(LEAST);
const TYPED = { "Content-Type": "application/json", "X-Webhook-Secret": SECRET };
const LENGTH = { "Content-Length": Buffer.byteLength(BODY) };
const env = { WEBHOOK_SECRET: SECRET, BODY_LIMIT: "1mb" };
const ECHO = "POST /webhooks/echo";

const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** Sends a whole body, and tells how far it came before the receiver ended the connection. */
async function pour(wire: Wire, megabytes: number): Promise<"sent" | "end" | "reset"> {
  const block = "x".repeat(1_000_000);
  const over = wire.ended.then((how) => how);
  for (let sent = 0; sent < megabytes; sent++) {
    if (wire.socket.destroyed) return over;
    if (!wire.socket.write(block)) {
      const how = await Promise.race([once(wire.socket, "drain"), over]);
      if (typeof how === "string") return how;
    }
  }
  await wire.send("");
  return "sent";
}

async function stillServes(receiver: TestReceiver): Promise<void> {
  await using wire = await openWire(receiver.port);
  await wire.send(head(ECHO, { ...TYPED, ...LENGTH }) + BODY);
  expect(await wire.answer()).toMatchObject({ status: 200 });
}

describe("Expect: 100-continue", () => {
  const expects = { Expect: "100-continue" };

  it("is answered 100 when the body is wanted, and the delivery goes on", async () => {
    const receiver = await startTestReceiver({ env });
    await using wire = await openWire(receiver.port);
    await wire.send(head(ECHO, { ...TYPED, ...LENGTH, ...expects }));
    expect((await wire.answer()).status).toBe(100);
    await wire.send(BODY);
    expect(await wire.answer()).toMatchObject({ status: 200, body: JSON.stringify({ got: LEAST }) });
  });

  it.each([
    [401, ECHO, { "Content-Type": "application/json", "Content-Length": 9_000_000 }],
    [403, ECHO, { ...TYPED, "X-Webhook-Secret": "no", "Content-Length": 9_000_000 }],
    [404, "POST /webhooks/none", { ...TYPED, "Content-Length": 9_000_000 }],
    [405, "PUT /webhooks/echo", { ...TYPED, "Content-Length": 9_000_000 }],
    [413, ECHO, { ...TYPED, "Content-Length": 9_000_000 }],
    [415, ECHO, { ...TYPED, "Content-Type": "text/plain", "Content-Length": 9_000_000 }],
  ])(
    "is answered %d at once when the body is not wanted, and the connection ends in good order",
    async (status, line, headers) => {
      const receiver = await startTestReceiver({ env });
      await using wire = await openWire(receiver.port);
      await wire.send(head(line, { ...headers, ...expects }));
      expect(await wire.answer()).toMatchObject({ status, headers: { connection: "close" } });
      wire.socket.end();
      expect(await wire.ended).toBe("end");
    },
  );

  it("is refused without a reset, too, when the sender did not wait", async () => {
    const receiver = await startTestReceiver({ env });
    await using wire = await openWire(receiver.port);
    await wire.send(head(ECHO, { "Content-Type": "application/json", "Content-Length": 9_000_000, ...expects }));
    expect(await pour(wire, 9)).toBe("sent");
    expect((await wire.answer()).status).toBe(401);
  });

  it("is refused without a reset when the body proves too large after the 100", async () => {
    const receiver = await startTestReceiver({ env });
    await using wire = await openWire(receiver.port);
    await wire.send(head(ECHO, { ...TYPED, "Transfer-Encoding": "chunked", ...expects }));
    expect((await wire.answer()).status).toBe(100);
    await wire.send(`${(8_000_000).toString(16)}\r\n`);
    expect(await pour(wire, 8)).toBe("sent");
    expect((await wire.answer()).status).toBe(413);
  });

  it("for anything else is refused with 417", async () => {
    const receiver = await startTestReceiver({ env });
    await using wire = await openWire(receiver.port);
    await wire.send(head(ECHO, { ...TYPED, ...LENGTH, Expect: "wonders" }));
    expect((await wire.answer()).status).toBe(417);
  });
});

describe("an early refusal", () => {
  it.each([
    [401, ECHO, { "Content-Type": "application/json" }],
    [404, "POST /webhooks/none", TYPED],
    [413, ECHO, TYPED],
    [415, ECHO, { ...TYPED, "Content-Type": "text/plain" }],
  ])(
    "%d is seen by a sender that is still sending, without a reset, and the connection can go on",
    async (status, line, headers) => {
      const receiver = await startTestReceiver({ env });
      await using wire = await openWire(receiver.port);
      await wire.send(head(line, { ...headers, "Content-Length": 8_000_000 }));
      expect(await pour(wire, 8)).toBe("sent");
      expect((await wire.answer()).status).toBe(status);
      await wire.send(head(ECHO, { ...TYPED, ...LENGTH }) + BODY);
      expect((await wire.answer()).status).toBe(200);
    },
  );

  it("while draining is seen by a sender that is still sending", async () => {
    const door = gate();
    const receiver = await startTestReceiver({ env, handlers: { echo: door.pass } });
    await using slow = await openWire(receiver.port);
    await slow.send(head(ECHO, { ...TYPED, ...LENGTH }) + BODY);
    await door.reached;
    const closed = receiver.close();
    await using wire = await openWire(receiver.port);
    await wire.send(head(ECHO, { ...TYPED, "Content-Length": 8_000_000 }));
    expect(await pour(wire, 8)).toBe("sent");
    expect(await wire.answer()).toMatchObject({ status: 503, headers: { "retry-after": expect.any(String) } });
    door.open();
    expect((await slow.answer()).status).toBe(204);
    await closed;
  });

  it("does not read for ever: a sender without end is cut off", async () => {
    const receiver = await startTestReceiver({ env });
    await using wire = await openWire(receiver.port);
    await wire.send(head(ECHO, { "Content-Type": "application/json", "Content-Length": 1e12 }));
    const endless = pour(wire, 1e6);
    expect((await wire.answer()).status).toBe(401);
    expect(["end", "reset"]).toContain(await endless);
    await stillServes(receiver);
  });
});

describe("a body", () => {
  it("may come in chunks, byte by byte", async () => {
    const receiver = await startTestReceiver({ env });
    await using wire = await openWire(receiver.port);
    await wire.send(head(ECHO, { ...TYPED, "Transfer-Encoding": "chunked" }));
    for (const sign of BODY) await wire.send(chunk(sign));
    await wire.send("0\r\n\r\n");
    expect(await wire.answer()).toMatchObject({ status: 200, body: JSON.stringify({ got: LEAST }) });
  });

  it("in chunks over the limit is refused as soon as it is over", async () => {
    const receiver = await startTestReceiver({ env: { ...env, BODY_LIMIT: "1kb" } });
    await using wire = await openWire(receiver.port);
    await wire.send(head(ECHO, { ...TYPED, "Transfer-Encoding": "chunked" }) + chunk("x".repeat(1001)));
    expect((await wire.answer()).status).toBe(413);
    await wire.send(`0\r\n\r\n${head(ECHO, { ...TYPED, ...LENGTH })}${BODY}`);
    expect((await wire.answer()).status).toBe(200);
  });

  it("that is shorter than it says is no delivery when its sender goes away", async () => {
    let calls = 0;
    const receiver = await startTestReceiver({ env, handlers: { echo: () => void calls++ } });
    for (const end of ["end", "resetAndDestroy"] as const) {
      await using wire = await openWire(receiver.port);
      await wire.send(head(ECHO, { ...TYPED, "Content-Length": BODY.length + 5 }) + BODY);
      wire.socket[end]();
      if (end === "end") await wire.ended;
    }
    expect(calls).toBe(0);
    expect(receiver.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("that is longer than it says leaves rubbish behind, which ends the connection and nothing else", async () => {
    const receiver = await startTestReceiver({ env });
    await using wire = await openWire(receiver.port);
    await wire.send(`${head(ECHO, { ...TYPED, ...LENGTH })}${BODY}rubbish and more rubbish\r\n\r\n`);
    expect([200, 400]).toContain((await wire.answer()).status);
    expect(["end", "reset"]).toContain(await wire.ended);
    await stillServes(receiver);
  });

  it.each([
    ["two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n"],
    ["a length that is no number", "Content-Length: 5x\r\n"],
    ["a negative length", "Content-Length: -1\r\n"],
    ["a length beside chunks", `Content-Length: ${BODY.length}\r\nTransfer-Encoding: chunked\r\n`],
    ["an unknown coding", "Transfer-Encoding: gzip, wonders\r\n"],
  ])("with %s is refused, and the handler is not called", async (_name, lines) => {
    let calls = 0;
    const receiver = await startTestReceiver({ env, handlers: { echo: () => void calls++ } });
    await using wire = await openWire(receiver.port);
    await wire.send(head(ECHO, TYPED).replace("\r\n\r\n", `\r\n${lines}\r\n`) + BODY);
    expect((await wire.answer()).status).toBe(400);
    expect(calls).toBe(0);
    await stillServes2(receiver, () => calls);
  });

  async function stillServes2(receiver: TestReceiver, calls: () => number): Promise<void> {
    await using wire = await openWire(receiver.port);
    await wire.send(head(ECHO, { ...TYPED, ...LENGTH }) + BODY);
    expect([(await wire.answer()).status, calls()]).toEqual([204, 1]);
  }
});

describe("a connection", () => {
  it("may bring many deliveries at once: they are answered in order", async () => {
    const doors = [gate<string>(), gate<string>(), gate<string>()];
    let calls = 0;
    const receiver = await startTestReceiver({ env, handlers: { echo: () => doors[calls++]?.pass() } });
    await using wire = await openWire(receiver.port);
    await wire.send((head(ECHO, { ...TYPED, ...LENGTH }) + BODY).repeat(3));
    for (const index of [2, 1, 0]) {
      await doors[index]?.reached;
      doors[index]?.open(`answer ${index}`);
    }
    const bodies = [await wire.answer(), await wire.answer(), await wire.answer()].map(({ body }) => body);
    expect(bodies).toEqual(['"answer 0"', '"answer 1"', '"answer 2"']);
  });

  it("goes on after HEAD and OPTIONS, whose answers have the right bodies", async () => {
    const receiver = await startTestReceiver({ env });
    await using wire = await openWire(receiver.port);
    for (const path of ["/webhooks/echo", "/api/endpoints", "/health", "/nothing", "/"]) {
      await wire.send(head(`HEAD ${path}`));
      const answer = await wire.answer({ head: true });
      expect([path, answer.status]).toEqual([path, { "/webhooks/echo": 405, "/nothing": 404 }[path] ?? 200]);
    }
    await wire.send(head("OPTIONS /webhooks/echo"));
    expect(await wire.answer()).toMatchObject({ status: 405, headers: { allow: "POST" } });
    await wire.send(head("OPTIONS *"));
    expect((await wire.answer()).status).toBe(404);
    await wire.send(head(ECHO, { ...TYPED, ...LENGTH }) + BODY);
    expect((await wire.answer()).status).toBe(200);
  });

  it.each([
    ["a URL that cannot be decoded", "POST /webhooks/%E0%A4%A", 404],
    ["a URL with a sign that may not be there", "POST /webhooks/a|b", 404],
    ["a whole URL", "POST http://elsewhere.example/webhooks/echo", 200],
    ["a whole URL with the secret", `POST http://elsewhere.example/webhooks/echo?secret=${SECRET}`, 200],
    ["a URL that begins with two slashes", "POST //webhooks/echo", 404],
    ["a URL with a null", "POST /webhooks/%00", 404],
    ["steps up the path", "POST /webhooks/../webhooks/echo", 404],
    ["a star", "POST *", 404],
  ])("that asks for %s gets an answer", async (_name, line, status) => {
    const receiver = await startTestReceiver({ env });
    await using wire = await openWire(receiver.port);
    await wire.send(head(line, { ...TYPED, ...LENGTH }) + BODY);
    const answer = await wire.answer();
    expect(answer.status).toBe(status);
    expect(() => JSON.parse(answer.body)).not.toThrow();
    await stillServes(receiver);
  });

  it.each([
    ["headers over the limit", head(ECHO, { ...TYPED, "X-Long": "x".repeat(20_000) }), 431],
    ["a URL over the limit", head(`POST /webhooks/${"x".repeat(20_000)}`), 431],
    ["a host that is missing", "POST /webhooks/echo HTTP/1.1\r\n\r\n", 400],
    ["no HTTP", "hello\r\n\r\n", 400],
    ["TLS where there is none", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
    ["another version of HTTP", "POST / HTTP/9.9\r\n\r\n", 400],
    ["a line break in a header", `${ECHO} HTTP/1.1\r\nHost: a\r\nX: a\nb\r\n\r\n`, 400],
  ])("that sends %s is answered and ended", async (_name, bytes, status) => {
    const receiver = await startTestReceiver({ env });
    await using wire = await openWire(receiver.port);
    await wire.send(Buffer.from(bytes, "latin1"));
    expect((await wire.answer()).status).toBe(status);
    expect(["end", "reset"]).toContain(await wire.ended);
    await stillServes(receiver);
  });

  it.each([
    ["Upgrade", head("GET /health", { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Key": "x" })],
    ["HTTP/2", head("GET /health", { Connection: "Upgrade, HTTP2-Settings", Upgrade: "h2c", "HTTP2-Settings": "x" })],
    ["HTTP/1.0", "GET /health HTTP/1.0\r\n\r\n"],
    [
      "very many headers",
      head("GET /health", Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`X-${n}`, n]))),
    ],
  ])("by %s is served as any other", async (_name, bytes) => {
    const receiver = await startTestReceiver({ env });
    await using wire = await openWire(receiver.port);
    await wire.send(bytes);
    expect(await wire.answer()).toMatchObject({ status: 200, body: '{"status":"ok"}' });
  });

  it("that asks for a tunnel through is ended", async () => {
    const receiver = await startTestReceiver({ env });
    await using wire = await openWire(receiver.port);
    await wire.send("CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n");
    expect(["end", "reset"]).toContain(await wire.ended);
    await stillServes(receiver);
  });

  it("that never finishes its headers, or its body, is ended with 408", async () => {
    const limits = { headersMs: 100, requestMs: 200, checkEveryMs: 50 };
    const app = express();
    app.use((request, response) => void request.resume().on("end", () => response.end()));
    const address = { host: "127.0.0.1", port: 0, who: "The test", variables: { host: "HOST", port: "PORT" } };
    const listening = await listen(app, new Lifecycle(), address, limits);
    await using slowHead = await openWire(listening.port);
    await using slowBody = await openWire(listening.port);
    await slowHead.send("POST / HTTP/1.1\r\nHost: a\r\nX-Slow: ");
    await slowBody.send(head("POST /", { "Content-Length": 100 }));
    expect([(await slowHead.answer()).status, (await slowBody.answer()).status]).toEqual([408, 408]);
    await Promise.all([slowHead.ended, slowBody.ended]);
    await listening.close(1000);
  });
});
