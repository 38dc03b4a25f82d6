import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import type { DocumentedEvent } from "../../src/protocol/payload.ts";
import { samplePayload } from "../../src/protocol/sample.ts";
import { webhook } from "../../src/receiver/webhook.ts";
import { deliver, LEAST, SECRET, startTestReceiver } from "../support/receiver.ts";
import { head, openWire } from "../support/wire.ts";

const known = { "x-webhook-secret": SECRET };
const env = { WEBHOOK_SECRET: SECRET };

async function guarded() {
  const got: unknown[] = [];
  const receiver = await startTestReceiver({ env, handlers: { echo: (payload) => void got.push(payload) } });
  return { receiver, got, url: `${receiver.url}/webhooks/echo` };
}

const looksLikePayload = fc.record(
  {
    event: fc.oneof(fc.jsonValue(), fc.record({ action: fc.jsonValue(), scope: fc.jsonValue() }, { requiredKeys: [] })),
    repo: fc.oneof(fc.jsonValue(), fc.record({ type: fc.jsonValue(), name: fc.jsonValue() }, { requiredKeys: [] })),
    webhook: fc.jsonValue(),
    discussion: fc.jsonValue(),
    comment: fc.jsonValue(),
    updatedRefs: fc.jsonValue(),
    updatedFiles: fc.jsonValue(),
    updatedConfig: fc.jsonValue(),
    movedTo: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

const body = fc.oneof(
  { arbitrary: fc.uint8Array({ maxLength: 2000 }), weight: 3 },
  { arbitrary: fc.string({ unit: "binary", maxLength: 500 }), weight: 2 },
  { arbitrary: fc.json({ maxDepth: 6 }), weight: 2 },
  { arbitrary: looksLikePayload.map((value) => JSON.stringify(value)), weight: 3 },
  // A good payload, spoiled in one place.
  {
    arbitrary: fc
      .tuple(fc.nat(JSON.stringify(LEAST).length), fc.string({ maxLength: 3, unit: "binary" }))
      .map(([at, text]) => JSON.stringify(LEAST).slice(0, at) + text + JSON.stringify(LEAST).slice(at)),
    weight: 3,
  },
);

describe("garbage", () => {
  it("with the secret is answered below 500, and the handler gets what was sent or nothing", async () => {
    const { receiver, got, url } = await guarded();
    await fc.assert(
      fc.asyncProperty(body, async (bytes) => {
        got.length = 0;
        const { status } = await deliver(url, bytes, known);
        expect([204, 400, 422]).toContain(status);
        expect(got.length).toBe(status === 204 ? 1 : 0);
        if (status !== 204) return;
        const text = Buffer.from(bytes as string).toString();
        expect(JSON.stringify(got[0])).toBe(JSON.stringify(JSON.parse(text.replace(/^\uFEFF/, ""), withoutProto)));
      }),
      { numRuns: 400 },
    );
    expect(receiver.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("without the secret never reaches the handler, whatever the headers say", async () => {
    const { got, url } = await guarded();
    const name = fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,30}$/),
      fc.constantFrom(
        "X-Webhook-Secret",
        "Authorization",
        "Cookie",
        "X-Hub-Signature",
        "X-Forwarded-For",
        "Webhook-Id",
      ),
    );
    const value = fc.stringMatching(/^[\x21-\x7e]{0,40}$/).filter((text) => text !== SECRET);
    const reserved = /^(host|connection|content-length|transfer-encoding|expect|upgrade|keep-alive|te|trailer)$/i;
    const headers = fc.dictionary(
      name.filter((one) => !reserved.test(one)),
      value,
      { maxKeys: 8 },
    );
    await fc.assert(
      fc.asyncProperty(body, headers, async (bytes, given) => {
        const { status } = await deliver(url, bytes, { ...given, "content-type": "application/json" });
        expect([401, 403]).toContain(status);
      }),
      { numRuns: 300 },
    );
    expect(got).toEqual([]);
  });

  it("as a path or a query never reaches the handler without the secret, and is never a 5xx", async () => {
    const { receiver, got } = await guarded();
    const piece = fc.oneof(
      fc.stringMatching(/^[\x21-\x7e]{0,20}$/),
      fc.constantFrom(
        "webhooks",
        "echo",
        "..",
        ".",
        "%2e%2e",
        "%00",
        "%",
        "?",
        "#",
        "?secret=",
        "&secret",
        ";",
        "\\",
        "api",
        "__proto__",
      ),
    );
    const path = fc.array(piece, { maxLength: 6 }).map((pieces) => `/${pieces.join("/")}`.replaceAll("#", "%23"));
    await fc.assert(
      fc.asyncProperty(path, async (asked) => {
        await using wire = await openWire(receiver.port);
        const text = JSON.stringify(LEAST);
        await wire.send(
          head(`POST ${asked}`, { "Content-Type": "application/json", "Content-Length": text.length }) + text,
        );
        expect((await wire.answer()).status).toBeLessThan(500);
      }),
      { numRuns: 200 },
    );
    expect(got).toEqual([]);
  });

  it("on the bare socket never takes the receiver down", async () => {
    const { receiver, got, url } = await guarded();
    const line = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .tuple(
          fc.constantFrom("POST", "GET", "PUT", "PRI", "post", ""),
          fc.string({ maxLength: 20 }),
          fc.constantFrom("HTTP/1.1", "HTTP/1.0", "HTTP/2.0", ""),
          fc.array(fc.tuple(fc.string({ maxLength: 10 }), fc.string({ maxLength: 20 })), { maxLength: 5 }),
        )
        .map(([method, path, version, headers]) =>
          Buffer.from(
            `${method} /webhooks/${path} ${version}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`,
          ),
        ),
    );
    await fc.assert(
      fc.asyncProperty(line, async (bytes) => {
        await using wire = await openWire(receiver.port);
        await wire.send(bytes);
      }),
      { numRuns: 200 },
    );
    expect(got).toEqual([]);
    expect((await deliver(url, LEAST, known)).status).toBe(204);
    expect(receiver.lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});

const withoutProto = (key: string, value: unknown) => (key === "__proto__" ? undefined : value);

describe("a body made to hurt", () => {
  const deep = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);
  const inside = (text: string) => `{"event":{"action":"a"},"repo":{"type":"t"},"x":${text}}`;

  it.each([
    ["arrays in arrays", deep(100_000, "[", "]")],
    ["objects in objects", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`],
    ["arrays that never close", "[".repeat(200_000)],
    ["__proto__ in __proto__", `${'{"__proto__":'.repeat(100_000)}1${"}".repeat(100_000)}`],
    ["__proto__ spelled with escapes", `${'{"\\u005f_proto__":'.repeat(100_000)}1${"}".repeat(100_000)}`],
  ])("of %s is answered below 500, alone and inside a payload", async (_name, text) => {
    const { receiver, url } = await guarded();
    expect([400, 422]).toContain((await deliver(url, text, known)).status);
    expect([204, 400]).toContain((await deliver(url, inside(text), known)).status);
    expect((await deliver(url, LEAST, known)).status).toBe(204);
    expect(receiver.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  it.each([
    ["a huge key", inside(`{"${"k".repeat(4_000_000)}":1}`)],
    ["a huge string", inside(`"${"s".repeat(4_000_000)}"`)],
    ["a huge number", inside("9".repeat(4_000_000))],
    ["very many keys", inside(`{${Array.from({ length: 200_000 }, (_, n) => `"k${n}":1`).join(",")}}`)],
    ["one key very often", inside(`{${'"k":1,'.repeat(500_000)}"k":2}`)],
    ["very many refs", JSON.stringify({ ...LEAST, updatedRefs: new Array(200_000).fill({}) })],
    ["the largest body of all", JSON.stringify(LEAST).padEnd(5_000_000)],
  ])("of %s is taken as it is", async (_name, text) => {
    const { got, url } = await guarded();
    expect((await deliver(url, text, known)).status).toBe(204);
    expect(got).toHaveLength(1);
  });

  it.each<[string, string, unknown]>([
    ["refs that are none", "", { ...LEAST, updatedRefs: new Array(2_400_000).fill(1) }],
    [
      "refs without their keys",
      "repo.content:update",
      { ...samplePayload("repo.content:update"), updatedRefs: new Array(1_600_000).fill({}) },
    ],
    [
      "tags that are none",
      "repo:update",
      {
        ...samplePayload("repo:update"),
        repo: { ...samplePayload("repo:update").repo, tags: new Array(2_000_000).fill(1) },
      },
    ],
  ])("of millions of %s does not take gigabytes to refuse", async (_name, on, payload) => {
    const handler = webhook(on ? { on: on as DocumentedEvent } : {}, () => {});
    const receiver = await startTestReceiver({ handlers: { echo: handler } });
    const body = JSON.stringify(payload);
    const before = process.memoryUsage().rss;
    expect((await deliver(`${receiver.url}/webhooks/echo`, body)).status).toBe(422);
    expect(process.memoryUsage().rss - before).toBeLessThan(1_000_000_000);
  });

  it("of keys that every object has by nature changes nothing of anybody's", async () => {
    const { got, url } = await guarded();
    const keys = [
      "constructor",
      "prototype",
      "toString",
      "hasOwnProperty",
      "__defineGetter__",
      "valueOf",
      "then",
      "toJSON",
    ];
    const value = Object.fromEntries(keys.map((key) => [key, { polluted: true }]));
    const payload = { ...LEAST, ...value, event: { ...LEAST.event, ...value }, repo: { ...LEAST.repo, ...value } };
    expect((await deliver(url, payload, known)).status).toBe(204);
    expect(got).toEqual([payload]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each(["utf16le", "latin1", "utf-8 with a lone surrogate"])(
    "in %s is refused or taken, never misread",
    async (encoding) => {
      const { got, url } = await guarded();
      const text = inside('"ünïcödé"');
      const bytes =
        encoding === "utf-8 with a lone surrogate"
          ? Buffer.concat([Buffer.from(inside('"')), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')])
          : Buffer.from(text, encoding as BufferEncoding);
      expect((await deliver(url, bytes, known)).status).toBe(400);
      expect(got).toEqual([]);
    },
  );
});
