import { describe, expect, it } from "@jest/globals";
import request from "supertest";
import { webhook } from "../../src/receiver/webhook.ts";
import { deliver, LEAST, SECRET, startTestReceiver } from "../support/receiver.ts";
import { head, openWire } from "../support/wire.ts";

describe("GET /api/endpoints", () => {
  it("says what a page needs of each endpoint, in the order in which they were added", async () => {
    const two = webhook(
      { name: "two", description: "Second", on: "discussion.comment:create", repos: ["model:me/*"], refs: "refs/pr/*" },
      () => {},
    );
    const receiver = await startTestReceiver({ env: { WEBHOOK_SECRET: SECRET }, handlers: { one: () => {}, two } });
    const { body, headers } = await request(receiver.url).get("/api/endpoints").expect(200);
    expect(headers["cache-control"]).toBe("no-store");
    const common = { mode: "reply", file: null };
    expect(body).toEqual({
      url: receiver.url,
      secret: true,
      endpoints: [
        {
          ...common,
          name: "one",
          path: "/webhooks/one",
          url: `${receiver.url}/webhooks/one`,
          on: null,
          repos: null,
          refs: null,
          description: null,
        },
        {
          ...common,
          name: "two",
          path: "/webhooks/two",
          url: `${receiver.url}/webhooks/two`,
          on: ["discussion.comment:create"],
          repos: ["model:me/*"],
          refs: ["refs/pr/*"],
          description: "Second",
        },
      ],
      broken: [],
      notices: [],
    });
  });

  it("names broken files, but not where on the machine they lie", async () => {
    const broken = [
      { file: "/home/me/secret-project/bad.ts", problem: "threw: at file:///home/me/secret-project/bad.ts:1:7" },
      { file: "/home/me/secret-project/dup.ts", problem: "/home/me/secret-project/one.ts has it already" },
      { file: "/home/me/secret-project", problem: "this folder does not exist" },
    ];
    const receiver = await startTestReceiver({ handlers: {}, broken });
    const { body, text } = await request(receiver.url).get("/api/endpoints");
    expect(body).toMatchObject({ secret: false, endpoints: [] });
    expect(body.broken.map(({ file }: { file: string }) => file)).toEqual(["bad.ts", "dup.ts", "secret-project"]);
    expect(text).not.toContain("/home/me");
  });

  it.each([
    ["where it is bound", {}, null],
    ["PUBLIC_URL", { PUBLIC_URL: "https://hooks.example/base/" }, "https://hooks.example/base"],
    ["SPACE_HOST", { SPACE_HOST: "me-hooks.hf.space", SPACE_ID: "me/hooks" }, "https://me-hooks.hf.space"],
    [
      "PUBLIC_URL before SPACE_HOST",
      { PUBLIC_URL: "https://a.example", SPACE_HOST: "b.hf.space" },
      "https://a.example",
    ],
  ])("takes the public address from %s, never from a request", async (_name, env, expected) => {
    const receiver = await startTestReceiver({ env });
    await using wire = await openWire(receiver.port);
    await wire.send(
      head("GET /api/endpoints", {
        Host: "evil.example",
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "gopher",
        Forwarded: "host=evil.example",
      }),
    );
    const { body } = await wire.answer();
    expect(body).not.toContain("evil");
    const { url, endpoints } = JSON.parse(body);
    expect([url, endpoints[0].url]).toEqual([expected ?? receiver.url, `${expected ?? receiver.url}/webhooks/echo`]);
  });
});

describe("GET /health and /ready", () => {
  it("are open to everyone and never kept", async () => {
    const receiver = await startTestReceiver({ env: { WEBHOOK_SECRET: SECRET } });
    const health = await request(receiver.url).get("/health");
    expect([health.status, health.body, health.headers["cache-control"]]).toEqual([200, { status: "ok" }, "no-store"]);
    const ready = await request(receiver.url).get("/ready");
    expect([ready.status, ready.body, ready.headers["cache-control"]]).toEqual([
      200,
      { ready: true, endpoints: 1, running: 0, troubles: [] },
      "no-store",
    ]);
  });
});

/** Prometheus' text format, as strictly as its parser reads it: metric name → its type and samples. */
function parseMetrics(text: string) {
  const families = new Map<string, { type: string; samples: Map<string, number> }>();
  expect(text.endsWith("\n")).toBe(true);
  let current: { type: string; samples: Map<string, number> } | undefined;
  let name = "";
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line);
    if (comment) {
      const [, kind, metric = "", rest = ""] = comment;
      if (kind !== "TYPE") continue;
      expect(["counter", "gauge", "histogram", "summary", "untyped"]).toContain(rest);
      if (families.has(metric)) throw new Error(`${metric} is declared twice`);
      current = { type: rest, samples: new Map() };
      name = metric;
      families.set(metric, current);
      continue;
    }
    const label = '[a-zA-Z_]\\w*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
    const sample = new RegExp(`^([a-zA-Z_:][\\w:]*)(\\{${label}(?:,${label})*,?\\})? (\\S+)$`).exec(line);
    if (!sample || !current) throw new Error(`no line of the format: ${line}`);
    const [, metric = "", labels = "", value = ""] = sample;
    const allowed = ["", ...(current.type === "histogram" ? ["_bucket", "_sum", "_count"] : ["_sum", "_count"])];
    if (!allowed.some((suffix) => metric === name + suffix)) throw new Error(`${metric} stands below ${name}`);
    // As Go's ParseFloat, which does not mind the case.
    expect(Number.isFinite(Number(value)) || /^(nan|[+-]?inf)$/i.test(value)).toBe(true);
    if (current.samples.has(metric + labels)) throw new Error(`twice: ${metric}${labels}`);
    current.samples.set(metric + labels, Number(value));
  }
  return families;
}

describe("GET /metrics", () => {
  it("is valid Prometheus text that counts deliveries by endpoint and status", async () => {
    const receiver = await startTestReceiver({ handlers: { "a.b-c": () => ({}), other: () => {} } });
    const post = (name: string, body?: unknown) => deliver(`${receiver.url}/webhooks/${name}`, body);
    await Promise.all([post("a.b-c"), post("a.b-c"), post("a.b-c", "{"), post("other"), post("unknown")]);
    const { text, headers } = await request(receiver.url).get("/metrics").expect(200);
    expect(headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
    const families = parseMetrics(text);
    expect(Object.fromEntries(families.get("hubhook_deliveries_total")?.samples ?? [])).toEqual({
      'hubhook_deliveries_total{endpoint="a.b-c",status="200"}': 2,
      'hubhook_deliveries_total{endpoint="a.b-c",status="400"}': 1,
      'hubhook_deliveries_total{endpoint="other",status="204"}': 1,
    });
    const durations = families.get("hubhook_delivery_duration_seconds")?.samples ?? new Map<string, number>();
    const buckets = [...durations].filter(([key]) => key.includes("_bucket") && key.includes("a.b-c"));
    expect(buckets.map(([, value]) => value)).toEqual(buckets.map(([, value]) => value).sort((a, b) => a - b));
    expect(durations.get('hubhook_delivery_duration_seconds_bucket{endpoint="a.b-c",le="+Inf"}')).toBe(3);
    expect(durations.get('hubhook_delivery_duration_seconds_count{endpoint="a.b-c"}')).toBe(3);
    expect(families.get("hubhook_handlers_running")?.samples.get("hubhook_handlers_running")).toBe(0);
    expect(families.has("process_cpu_seconds_total")).toBe(true);
  });

  it("is valid before anything has come, and asked for by many at once", async () => {
    const receiver = await startTestReceiver();
    const answers = await Promise.all([1, 2, 3].map(() => request(receiver.url).get("/metrics")));
    for (const { text } of answers) expect(parseMetrics(text).size).toBeGreaterThan(5);
  });
});

describe("GET /openapi.json", () => {
  const on = webhook({ on: "discussion", description: "Of discussions" }, () => {});

  it("is OpenAPI 3.1: every reference resolves, every operation has an id of its own", async () => {
    const receiver = await startTestReceiver({ env: { WEBHOOK_SECRET: SECRET }, handlers: { on, echo: () => {} } });
    const { body } = await request(receiver.url).get("/openapi.json").expect(200);
    expect(body.openapi).toMatch(/^3\.1\.\d+$/);
    expect(body.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    expect(body.servers).toEqual([{ url: receiver.url }]);
    const refs: string[] = [];
    const collect = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        if (key === "$ref") refs.push(inner);
        else collect(inner);
      }
    };
    collect(body);
    for (const ref of refs) {
      expect(ref).toMatch(/^#\//);
      const target = ref
        .slice(2)
        .split("/")
        .reduce<unknown>((node, part) => (node as Record<string, unknown>)?.[part.replaceAll("~1", "/")], body);
      expect([ref, typeof target]).toEqual([ref, "object"]);
    }
    const ids: string[] = [];
    for (const [path, item] of Object.entries<Record<string, { responses: object; operationId?: string }>>(
      body.paths,
    )) {
      expect(path).toMatch(/^\//);
      for (const [method, operation] of Object.entries(item)) {
        expect(["get", "post", "put", "delete"]).toContain(method);
        if (operation.operationId) ids.push(operation.operationId);
        for (const [status, answer] of Object.entries(operation.responses)) {
          expect(status).toMatch(/^[1-5]\d\d$/);
          expect(answer).toMatchObject({ description: expect.any(String) });
        }
      }
    }
    expect(new Set(ids).size).toBe(ids.length);
    const schemes = Object.keys(body.components.securitySchemes);
    for (const need of body.security) for (const scheme of Object.keys(need)) expect(schemes).toContain(scheme);
  });

  it("describes each endpoint and what is true of it", async () => {
    const receiver = await startTestReceiver({ handlers: { on, echo: () => {} } });
    const { body } = await request(receiver.url).get("/openapi.json");
    expect(body.paths["/webhooks/on"].post).toMatchObject({ summary: "Of discussions", operationId: "on" });
    expect(body.paths["/webhooks/echo"].post.requestBody.content["application/json"].schema.required).toEqual([
      "event",
      "repo",
    ]);
    expect(body.security).toBeUndefined();
  });

  it("tells of answers what they are", async () => {
    const receiver = await startTestReceiver({ env: { WEBHOOK_SECRET: SECRET } });
    const { body } = await request(receiver.url).get("/openapi.json");
    const { responses } = body.paths["/webhooks/echo"].post;
    for (const [asked, headers] of [
      ["{", { "x-webhook-secret": SECRET }],
      [LEAST, {}],
      ["{}", { "x-webhook-secret": SECRET }],
    ] as const) {
      const answer = await deliver(`${receiver.url}/webhooks/echo`, asked, headers);
      const { schema } = responses[answer.status].content["application/json"];
      const required = (schema.$ref ? body.components.schemas[schema.$ref.split("/").at(-1)] : schema).required;
      expect(Object.keys((await answer.json()) as object)).toEqual(expect.arrayContaining(required));
    }
  });
});
