import { cp, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import request from "supertest";
import type { Catalog } from "../../src/catalog/schema.ts";
import { temporaryFolder } from "../support/deliveries.ts";
import { startProgram } from "../support/program.ts";
import { deliver, startTestReceiver } from "../support/receiver.ts";
import { catalog, catalogFile, manyResources, resource } from "../support/served-catalog.ts";

async function serve(content: Catalog | string = catalog(manyResources(120)), env: Record<string, string> = {}) {
  const file = await catalogFile(content);
  const receiver = await startTestReceiver({ env: { CATALOG: file.path, ...env } });
  return { ...file, receiver, get: (path: string) => request(receiver.url).get(path) };
}

/** Asks until the answer is as it should be: the receiver looks at the file by itself. */
async function until<Answer>(ask: () => Promise<Answer>, fits: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
  }
}

describe("GET /api/catalog", () => {
  it("lists, searches, filters and counts", async () => {
    const { get } = await serve();
    const all = await get("/api/catalog").expect(200);
    expect(all.headers["content-type"]).toMatch(/^application\/json/);
    expect(all.body.catalog).toEqual({
      version: "1.0.0",
      updated_on: "2026-01-31",
      vocabulary: "platform",
      resources: 120,
    });
    expect(all.body).toMatchObject({ total: 120, next: 50 });
    expect(all.body.resources).toEqual(manyResources(50));
    expect(Object.keys(all.body.facets)).toEqual(["category", "source", "status", "tag", "task", "license"]);

    const some = await get(
      "/api/catalog?q=speech&category=dataset&category=model&status=candidate&limit=2&facets=false",
    );
    expect(some.body.facets).toBeUndefined();
    expect(some.body.resources).toHaveLength(2);
    for (const one of some.body.resources)
      expect([one.status, one.title]).toEqual(["candidate", expect.stringMatching(/speech/)]);
    const rest = await get("/api/catalog?offset=100&limit=50");
    expect(rest.body.resources).toHaveLength(20);
    expect(rest.body.next).toBeUndefined();
    // As a form sends it whose fields were left empty.
    expect((await get("/api/catalog?q=&category=&tag=")).body.total).toBe(120);
  });

  it.each<[string, RegExp]>([
    ["category=datset", /category\.0: expected one of dataset, model/],
    ["source=somewhere", /source\.0: expected one of model_hub/],
    ["status=true", /status\.0: expected one of verified, candidate/],
    ["limit=0", /limit: expected a whole number from 1 to 200/],
    ["limit=201", /limit: expected a whole number from 1 to 200/],
    ["limit=ten", /limit: expected a whole number/],
    ["offset=-1", /offset: expected a whole number from 0/],
    ["offset=1e3", /offset: expected a whole number/],
    ["offset=1&offset=2", /offset: expected a whole number/],
    ["facets=maybe", /facets: expected true or false/],
    ["q=a&q=b", /q: expected one text/],
    [`q=${"x".repeat(201)}`, /q: expected 200 characters at most/],
    [`tag=${"x".repeat(201)}`, /tag\.0: expected 200 characters at most/],
    [Array.from({ length: 51 }, () => "tag=x").join("&"), /tag: expected 50 values at most/],
    ["search=x", /unknown: search; there are q, category, source, status, tag, task, license, facets, offset, limit/],
  ])("refuses %.40s and says what is expected", async (query, sentence) => {
    const { get } = await serve();
    const { body } = await get(`/api/catalog?${query}`).expect(400);
    expect(body).toMatchObject({ code: "request_invalid", error: expect.stringMatching(sentence) });
  });

  it("gives one resource by its id", async () => {
    const { get } = await serve(catalog([resource("a.b-c_d")]));
    expect((await get("/api/catalog/a.b-c_d").expect(200)).body.resource).toEqual(resource("a.b-c_d"));
    const { body } = await get("/api/catalog/nothing").expect(404);
    expect(body).toMatchObject({ code: "resource_unknown", error: expect.stringMatching(/no resource "nothing"/) });
    await get("/api/catalog/%ff").expect(400);
  });

  it("answers 304 to whoever has the answer, and anew when the file has changed", async () => {
    const { get, write } = await serve();
    const { headers } = await get("/api/catalog?q=speech").expect(200);
    expect(headers["cache-control"]).toBe("no-cache");
    const again = () => get("/api/catalog?q=speech").set("If-None-Match", headers.etag ?? "");
    await again().expect(304);
    await write(catalog(manyResources(121), "1.0.1"));
    const changed = await until(again, ({ status }) => status !== 304);
    expect(changed.body.catalog.version).toBe("1.0.1");
  });

  it("answers HEAD, and refuses to be written to", async () => {
    const { receiver } = await serve();
    await request(receiver.url).head("/api/catalog").expect(200);
    await request(receiver.url).post("/api/catalog").expect(404);
  });

  it("is not there without a catalog", async () => {
    const { get } = await serve();
    expect((await get("/api/endpoints")).body.catalog).toBe(true);
    const receiver = await startTestReceiver();
    expect((await request(receiver.url).get("/api/endpoints")).body.catalog).toBeUndefined();
    await request(receiver.url).get("/api/catalog").expect(404);
    await request(receiver.url).get("/schemas/catalog.schema.json").expect(404);
    expect((await request(receiver.url).get("/openapi.json")).body.paths["/api/catalog"]).toBeUndefined();
  });
});

describe("a broken file", () => {
  it("leaves the last good version served, and is told of on /ready, in the log and in answers", async () => {
    const { get, write, receiver, path } = await serve();
    const before = await get("/api/catalog");
    await write(JSON.stringify({ ...catalog(), updated_on: "tomorrow" }));
    const ready = await until(
      () => get("/ready"),
      ({ body }) => body.troubles.length > 0,
    );
    // Deliveries are taken all the same.
    expect([ready.status, ready.body.ready]).toEqual([200, true]);
    expect(ready.body.troubles).toEqual([
      expect.stringMatching(/version 1\.0\.0 is served on: 1 error: line 1, .*updated_on/),
    ]);
    expect(receiver.lines.filter(({ level }) => level === "error")).toHaveLength(1);
    const after = await get("/api/catalog")
      .set("If-None-Match", before.headers.etag ?? "")
      .expect(200);
    expect(after.body).toMatchObject({ catalog: { version: "1.0.0" }, total: 120, refused: { errors: 1 } });
    await write(catalog([resource("x")], "1.0.2"));
    await until(
      () => get("/ready"),
      ({ body }) => body.troubles.length === 0,
    );
    expect((await get("/api/catalog")).body).toMatchObject({ catalog: { version: "1.0.2" }, total: 1 });
    expect(path).toContain("catalog.json");
  });

  it("is no reason not to start: its problems are told in place of a catalog", async () => {
    const { get, receiver, folder } = await serve(JSON.stringify({ ...catalog(), version: "1.0" }));
    const { body, headers, text } = await get("/api/catalog").expect(503);
    expect(body).toMatchObject({
      code: "catalog_invalid",
      error: "no catalog can be shown now: its file has 1 error",
      issues: [{ path: "/version", message: expect.stringMatching(/line 1, column \d+/) }],
    });
    expect(headers["retry-after"]).toBe("10");
    // The page is public: where on the machine the file lies is nobody's business.
    expect(text).not.toContain(folder);
    expect((await get("/ready")).body.troubles).toHaveLength(1);
    expect((await deliver(`${receiver.url}/webhooks/echo`)).status).toBe(200);
  });

  it("that is not there is told of without its place", async () => {
    const folder = temporaryFolder();
    const receiver = await startTestReceiver({ env: { CATALOG: join(folder, "none.json") } });
    const { body, text } = await request(receiver.url).get("/api/catalog").expect(503);
    expect(body.code).toBe("catalog_unreadable");
    expect(text).not.toContain(folder);
    const ready = await request(receiver.url).get("/ready");
    expect(ready.body.troubles).toEqual([expect.stringMatching(/: none\.json cannot be read: there is no such file/)]);
    expect(receiver.written()).toContain("there is no such file");
  });

  it("that lies at an address is told of without where that is", async () => {
    const receiver = await startTestReceiver({ env: { CATALOG: "http://127.0.0.1:9/inside/none.json?key=hidden" } });
    await request(receiver.url).get("/api/catalog").expect(503);
    const { text, body } = await request(receiver.url).get("/ready");
    expect(body.troubles).toEqual([expect.stringMatching(/: none\.json\?… cannot be read/)]);
    expect(text).not.toMatch(/inside|hidden/);
  });
});

describe("GET /schemas/catalog.schema.json", () => {
  it.each([
    ["", "github", "code_host_a"],
    ["?sources=neutral", "github", "code_host_a"],
    ["?sources=platform", "code_host_a", "github"],
  ])("%s is a schema that takes one vocabulary", async (query, wrong, right) => {
    const { get, receiver } = await serve();
    const answer = await fetch(`${receiver.url}/schemas/catalog.schema.json${query}`);
    const body = (await answer.json()) as { $id: string };
    expect(answer.headers.get("content-type")).toMatch(/^application\/schema\+json/);
    expect(body.$id.startsWith(`${receiver.url}/schemas/catalog.schema.json`)).toBe(true);
    const ajv = new Ajv2020({ strict: true });
    formats.default(ajv);
    const validate = ajv.compile(body);
    expect(validate(catalog([resource("x", { source: right as never })]))).toBe(true);
    expect(validate(catalog([resource("x", { source: wrong as never })]))).toBe(false);
    await get(`/schemas/catalog.schema.json${query}`)
      .set("If-None-Match", answer.headers.get("etag") ?? "")
      .expect(304);
  });

  it("is named by the public address, and refuses another vocabulary", async () => {
    const { get, receiver } = await serve(catalog(), { PUBLIC_URL: "https://catalog.example/base" });
    const answer = await fetch(`${receiver.url}/schemas/catalog.schema.json?sources=platform`);
    expect(((await answer.json()) as { $id: string }).$id).toBe(
      "https://catalog.example/base/schemas/catalog.schema.json?sources=platform",
    );
    await get("/schemas/catalog.schema.json?sources=other").expect(400);
  });
});

describe("GET /openapi.json", () => {
  it("describes the catalog's routes, and its answers are as described", async () => {
    const { get } = await serve();
    const { body } = await get("/openapi.json").expect(200);
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining(["/api/catalog", "/api/catalog/{id}", "/schemas/catalog.schema.json"]),
    );
    const { schema } = body.paths["/api/catalog"].get.responses[200].content["application/json"];
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    ajv.addSchema(body, "openapi");
    const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')));
    validate((await get("/api/catalog?limit=200")).body);
    expect(validate.errors).toBeNull();
  });
});

describe("without the folder", () => {
  it("a receiver starts and takes deliveries", async () => {
    const root = resolve(import.meta.dirname, "../..");
    const folder = temporaryFolder();
    await cp(join(root, "src"), join(folder, "src"), {
      recursive: true,
      filter: (path) => path !== join(root, "src/catalog"),
    });
    for (const name of ["public", "node_modules", "package.json"]) await symlink(join(root, name), join(folder, name));
    const receiver = startProgram(["--import", "./src/preflight.js", "./src/index.ts"], {
      cwd: folder,
      env: { PORT: "0" },
    });
    const [, url = ""] = await receiver.says(/Look at them: (http\S+)/);
    expect((await deliver(`${url}/webhooks/trigger_training`)).status).toBe(200);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
  });
});
