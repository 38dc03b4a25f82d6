import { once } from "node:events";
import { rename, rm, utimes, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { LiveCatalog, type LiveOptions } from "../../src/catalog/live.ts";
import { onCleanup } from "../support/cleanup.ts";
import { catalog, catalogFile, resource } from "../support/served-catalog.ts";

const NEVER = 2 ** 31 - 1;

function open(source: string, more: Partial<LiveOptions> = {}) {
  const lines: string[] = [];
  const say = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const live = new LiveCatalog({
    source,
    endpoint: "https://huggingface.co",
    token: null,
    allowTargets: [],
    markers: ["Pashto"],
    everyMs: NEVER,
    log: { info: say("info"), error: say("error") },
    ...more,
  });
  onCleanup(() => live.close());
  live.start();
  const version = () => live.served?.search.catalog.version ?? null;
  return { live, lines, version };
}

const BAD = JSON.stringify({ ...catalog(), version: "1.0" });

describe("a catalog in a file", () => {
  it("is read at the start and again when it has changed", async () => {
    const file = await catalogFile();
    const { live, lines, version } = open(file.path);
    await live.idle();
    expect([version(), live.refusal]).toEqual(["1.0.0", null]);
    const before = live.served;
    await live.reload();
    expect(live.served).toBe(before);

    await file.write(catalog([resource("one"), resource("two")], "1.0.1"));
    await live.reload();
    expect(version()).toBe("1.0.1");
    expect(live.served?.tag).not.toBe(before?.tag);
    expect(lines).toEqual([
      "info the catalog is served at /catalog, version 1.0.0",
      "info the catalog is served at /catalog, version 1.0.1",
    ]);
  });

  it("stays as it was while the newest version is broken, which is told once", async () => {
    const file = await catalogFile();
    const { live, lines, version } = open(file.path);
    await live.idle();
    await file.write(BAD);
    await live.reload();
    await live.reload();
    expect(version()).toBe("1.0.0");
    expect(live.refusal?.problems).toHaveLength(1);
    const told = lines.filter((line) => line.startsWith("error"));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/version 1\.0\.0 is served on: 1 error: line 1, column \d+, version: .*"1\.0"/);
    expect(told[0]).not.toContain("\n");

    await file.write("{");
    await live.reload();
    expect(live.refusal?.sentence).toMatch(/line 1, column 2/);
    await file.write(catalog([resource("two")], "1.0.2"));
    await live.reload();
    expect([version(), live.refusal]).toEqual(["1.0.2", null]);
  });

  it("is mended by taking the change back", async () => {
    const file = await catalogFile();
    const { live, version } = open(file.path);
    await live.idle();
    const before = live.served;
    await file.write(BAD);
    await live.reload();
    await file.write(catalog());
    await live.reload();
    expect([version(), live.refusal]).toEqual(["1.0.0", null]);
    // Nothing had to be made anew.
    expect(live.served).toBe(before);
  });

  it("is told of when it goes away, and back when it comes back", async () => {
    const file = await catalogFile();
    const { live, lines, version } = open(file.path);
    await live.idle();
    await rm(file.path);
    await live.reload();
    await live.reload();
    expect(version()).toBe("1.0.0");
    expect(live.refusal).toMatchObject({ problems: [], sentence: expect.stringMatching(/there is no such file/) });
    await file.write(catalog());
    await live.reload();
    expect(live.refusal).toBeNull();
    expect(lines.map((line) => line.split(" ")[0])).toEqual(["info", "error", "info"]);
  });

  it("says that there is none to serve where the first version is broken", async () => {
    const file = await catalogFile(BAD);
    const { live, version } = open(file.path);
    await live.idle();
    expect(version()).toBeNull();
    expect(live.refusal?.sentence).toMatch(/none is served: 1 error/);
    await file.write(catalog());
    await live.reload();
    expect([version(), live.refusal]).toEqual(["1.0.0", null]);
  });

  it("names a few of many problems", async () => {
    const file = await catalogFile(catalog(Array.from({ length: 50 }, () => resource("x", { title: "x" }))));
    const { live } = open(file.path);
    await live.idle();
    expect(live.refusal?.sentence).toMatch(/and \d+ more$/);
    expect(live.refusal?.sentence.length).toBeLessThan(1000);
  });

  it("is noticed when it is replaced by another of the same size and time", async () => {
    const file = await catalogFile(catalog([resource("one")], "1.0.1"));
    await utimes(file.path, 1, 1);
    const { live, version } = open(file.path);
    await live.idle();
    const other = `${file.path}.new`;
    await writeFile(other, `${JSON.stringify(catalog([resource("one")], "1.0.2"), null, 2)}\n`);
    await utimes(other, 1, 1);
    await rename(other, file.path);
    await live.reload();
    expect(version()).toBe("1.0.2");
  });

  it("is let go at once when it is closed while it is read", async () => {
    const file = await catalogFile();
    for (let turns = 0; turns < 20; turns++) {
      const { live, lines } = open(file.path);
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      await live.close();
      expect(lines.filter((line) => line.startsWith("error"))).toEqual([]);
    }
  });

  it("is looked at by itself, until it is closed", async () => {
    const file = await catalogFile();
    const served = Promise.withResolvers<void>();
    const info = (message: string) => void (message.includes("1.0.1") && served.resolve());
    const { live, version } = open(file.path, { everyMs: 5, log: { info, error: () => {} } });
    await live.idle();
    await file.write(catalog([resource("one")], "1.0.1"));
    await served.promise;
    expect(version()).toBe("1.0.1");
    await live.close();
    await file.write(catalog([resource("one")], "1.0.2"));
    await live.reload();
    expect(version()).toBe("1.0.1");
  });
});

/** Serves what it is given, with an ETag, and counts how often a body went out. */
async function startFiles() {
  const seen: IncomingHttpHeaders[] = [];
  const file = { body: JSON.stringify(catalog()), tag: '"1"', status: 200 };
  let bodies = 0;
  const server = createServer((request, response) => {
    seen.push(request.headers);
    if (request.headers["if-none-match"] === file.tag) return void response.writeHead(304).end();
    bodies++;
    response.writeHead(file.status, { etag: file.tag }).end(file.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onCleanup(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/catalog.json`,
    origin: `http://127.0.0.1:${port}`,
    file,
    seen,
    bodies: () => bodies,
  };
}

describe("a catalog at a URL", () => {
  it("is asked for again only where it has changed", async () => {
    const files = await startFiles();
    const { live, version } = open(files.url, { allowTargets: ["127.0.0.1"] });
    await live.idle();
    await live.reload();
    await live.reload();
    expect([version(), files.seen.length, files.bodies()]).toEqual(["1.0.0", 3, 1]);
    Object.assign(files.file, { body: JSON.stringify(catalog([resource("x")], "1.1.0")), tag: '"2"' });
    await live.reload();
    expect([version(), files.bodies()]).toEqual(["1.1.0", 2]);
  });

  it("brings the token to the hub and to nobody else", async () => {
    const files = await startFiles();
    const token = "hf_secret_of_mine";
    const elsewhere = open(files.url, { token, allowTargets: ["127.0.0.1"] });
    await elsewhere.live.idle();
    expect(files.seen[0]?.authorization).toBeUndefined();
    const hub = open(files.url, { token, endpoint: files.origin });
    await hub.live.idle();
    expect(files.seen[1]?.authorization).toBe(`Bearer ${token}`);
  });

  it("is not asked for on this machine unless it is allowed", async () => {
    const files = await startFiles();
    const { live } = open(files.url);
    await live.idle();
    expect(live.refusal?.sentence).toMatch(/CATALOG_ALLOW_TARGETS/);
    expect(files.seen).toEqual([]);
  });

  it("stays as it was while the server has troubles", async () => {
    const files = await startFiles();
    const { live, version } = open(files.url, { allowTargets: ["127.0.0.1"] });
    await live.idle();
    Object.assign(files.file, { status: 500, tag: '"2"' });
    await live.reload();
    expect([version(), live.refusal?.problems]).toEqual(["1.0.0", []]);
    expect(live.refusal?.sentence).toMatch(/answered 500/);
    Object.assign(files.file, { status: 200, tag: '"1"' });
    await live.reload();
    expect([version(), live.refusal]).toEqual(["1.0.0", null]);
  });
});
