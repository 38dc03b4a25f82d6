import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import request from "supertest";
import { folderWith } from "../support/cli.ts";
import { SECRET, startTestReceiver } from "../support/receiver.ts";
import { head, openWire } from "../support/wire.ts";

const nowhere = { PUBLIC_DIR: "/nowhere/at/all" };

/** The directives of a Content-Security-Policy. */
function policy(headers: Record<string, string>): Record<string, string[]> {
  const directives = (headers["content-security-policy"] ?? "").split(";").map((one) => one.trim().split(/\s+/));
  return Object.fromEntries(directives.map(([name = "", ...sources]) => [name, sources]));
}

describe("the landing page", () => {
  it("is the built-in one where nobody made another", async () => {
    const receiver = await startTestReceiver({ env: nowhere });
    const { text, headers } = await request(receiver.url).get("/").expect(200);
    expect(headers["content-type"]).toMatch(/^text\/html/);
    expect(text).toContain("<html");
  });

  it("loads nothing from elsewhere, and only what is there", async () => {
    const receiver = await startTestReceiver({ env: nowhere });
    const { text } = await request(receiver.url).get("/");
    const links = [...text.matchAll(/<(?:script|link|img|source|iframe)\b[^>]*\b(?:src|href)="([^"]+)"/g)];
    expect(links.length).toBeGreaterThan(1);
    for (const [, link = ""] of links) {
      expect(link).not.toMatch(/^(https?:)?\/\//);
      expect([link, (await fetch(new URL(link, receiver.url))).status]).toEqual([link, 200]);
    }
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/);
  });

  it("is a person's own index.html where there is one, and the API stays, and the built-in files behind it", async () => {
    await using folder = await folderWith({
      "index.html": "<h1>mine</h1>",
      "mine.css": "b{}",
      "sub/index.html": "sub",
    });
    const receiver = await startTestReceiver({ env: { PUBLIC_DIR: folder.path } });
    const get = async (path: string) => (await fetch(receiver.url + path)).text();
    expect(await get("/")).toBe("<h1>mine</h1>");
    expect(await get("/mine.css")).toBe("b{}");
    expect(await get("/sub/")).toBe("sub");
    expect(JSON.parse(await get("/api/endpoints")).endpoints).toHaveLength(1);
    expect(await get("/styles.css")).toContain("{");
  });

  it("cannot take the place of the API or of an endpoint", async () => {
    await using folder = await folderWith({
      "api/endpoints": "mine",
      "webhooks/echo": "mine",
      "webhooks/other": "mine",
      health: "mine",
      metrics: "mine",
    });
    const receiver = await startTestReceiver({ env: { PUBLIC_DIR: folder.path, WEBHOOK_SECRET: SECRET } });
    for (const [path, status] of [
      ["/api/endpoints", 200],
      ["/webhooks/echo", 405],
      ["/webhooks/other", 404],
      ["/health", 200],
      ["/metrics", 401],
    ] as const) {
      const answer = await fetch(receiver.url + path);
      expect([path, answer.status, await answer.text()]).toEqual([path, status, expect.not.stringContaining("mine")]);
    }
  });

  it("may be one file, or a function", async () => {
    await using folder = await folderWith({ "page.html": "one file", "beside.txt": "beside" });
    const filed = await startTestReceiver({ ui: join(folder.path, "page.html") });
    expect(await (await fetch(filed.url)).text()).toBe("one file");
    expect(await (await fetch(`${filed.url}/beside.txt`)).text()).toBe("beside");
    const made = await startTestReceiver({ ui: (_request, response) => void response.send("made") });
    expect(await (await fetch(made.url)).text()).toBe("made");
  });

  it("that fails is a 500 without details", async () => {
    const receiver = await startTestReceiver({
      ui: () => {
        throw new Error("my page is broken");
      },
    });
    const answer = await fetch(receiver.url);
    expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining("my page is broken")]);
    expect(receiver.written()).toContain("my page is broken");
  });
});

describe("a page's headers", () => {
  it("let it live in a frame of the Hub and of nobody else", async () => {
    const receiver = await startTestReceiver();
    const { headers } = await request(receiver.url).get("/");
    expect(policy(headers)["frame-ancestors"]).toEqual(["'self'", "https://huggingface.co"]);
    expect(headers["x-frame-options"]).toBeUndefined();
  });

  it("let nothing run or load but its own files, and no insecure request be changed", async () => {
    const receiver = await startTestReceiver();
    const { headers } = await request(receiver.url).get("/");
    const directives = policy(headers);
    expect(directives).toMatchObject({
      "default-src": ["'none'"],
      "script-src": ["'self'"],
      "style-src": ["'self'"],
      "connect-src": ["'self'"],
      "base-uri": ["'none'"],
      "form-action": ["'self'"],
    });
    expect(JSON.stringify(directives)).not.toMatch(/unsafe|upgrade-insecure|\*/);
    expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": expect.any(String) });
    expect(headers["x-powered-by"]).toBeUndefined();
  });

  it("stand on what is not found, too", async () => {
    const receiver = await startTestReceiver();
    const { headers, status } = await request(receiver.url).get("/nothing.html");
    expect([status, policy(headers)["default-src"]]).toEqual([404, ["'none'"]]);
  });

  it("keep the inspector out of every frame", async () => {
    await using folder = await folderWith({ "inspect.html": "the inspector" });
    for (const PUBLIC_DIR of [folder.path, "/nowhere"]) {
      const receiver = await startTestReceiver({ env: { PUBLIC_DIR } });
      for (const path of ["/inspect", "/inspect.html", "/%69nspect", "/inspect.htm%6c", "//inspect"]) {
        const { headers, status } = await request(receiver.url).get(path);
        if (status === 200) expect([path, policy(headers)["frame-ancestors"]]).toEqual([path, ["'none'"]]);
        else expect([PUBLIC_DIR, status]).toEqual(["/nowhere", 404]);
      }
    }
  });
});

describe("static files", () => {
  it("are those of the folder and no others, whatever the path says", async () => {
    await using outside = await folderWith({
      "secret.txt": "TOP SECRET",
      "public/index.html": "mine",
      "public/.env": "TOP SECRET",
    });
    await mkdir(join(outside.path, "public/.git"));
    await writeFile(join(outside.path, "public/.git/config"), "TOP SECRET");
    await writeFile(join(outside.path, "public-other"), "TOP SECRET");
    const receiver = await startTestReceiver({ env: { PUBLIC_DIR: join(outside.path, "public") } });
    for (const path of [
      "/../secret.txt",
      "/..%2fsecret.txt",
      "/%2e%2e/secret.txt",
      "/%2e%2e%2fsecret.txt",
      "/..%5csecret.txt",
      "/..\\secret.txt",
      "//secret.txt",
      "/./../secret.txt",
      "/sub/../../secret.txt",
      `/%2f${outside.path}/secret.txt`,
      `/${outside.path}/secret.txt`,
      "/%00/secret.txt",
      "/index.html%00.txt",
      "/../public-other",
      "/.env",
      "/.git/config",
      "/%2egit/config",
    ]) {
      await using wire = await openWire(receiver.port);
      await wire.send(head(`GET ${path}`));
      const answer = await wire.answer();
      expect([path, answer.body]).toEqual([path, expect.not.stringContaining("TOP SECRET")]);
      expect([path, [400, 403, 404].includes(answer.status)]).toEqual([path, true]);
    }
  });

  it("never lead elsewhere by a redirect", async () => {
    await using folder = await folderWith({ "sub/index.html": "sub", "example.org/index.html": "x" });
    const receiver = await startTestReceiver({ env: { PUBLIC_DIR: folder.path } });
    for (const path of [
      "/sub",
      "//sub",
      "//example.org",
      "///example.org",
      "//example.org/..",
      "/\\example.org",
      "//example.org%2f..",
      "/%5cexample.org",
    ]) {
      await using wire = await openWire(receiver.port);
      await wire.send(head(`GET ${path}`));
      const { headers } = await wire.answer();
      const { location } = headers;
      if (location === undefined) continue;
      expect([path, new URL(location, receiver.url).host]).toEqual([path, new URL(receiver.url).host]);
    }
  });

  it("may be asked for in parts, and are said to be unchanged", async () => {
    await using folder = await folderWith({ "data.txt": "0123456789" });
    const receiver = await startTestReceiver({ env: { PUBLIC_DIR: folder.path } });
    const part = await request(receiver.url).get("/data.txt").set("Range", "bytes=2-4");
    expect([part.status, part.text]).toEqual([206, "234"]);
    const again = await request(receiver.url)
      .get("/data.txt")
      .set("If-None-Match", part.headers.etag ?? "");
    expect(again.status).toBe(304);
    const beyond = await request(receiver.url).get("/data.txt").set("Range", "bytes=99-");
    expect([404, 416]).toContain(beyond.status);
  });

  it("are only read: other methods find nothing", async () => {
    await using folder = await folderWith({ "data.txt": "0123456789" });
    const receiver = await startTestReceiver({ env: { PUBLIC_DIR: folder.path } });
    for (const method of ["POST", "PUT", "DELETE", "PATCH"])
      expect((await fetch(`${receiver.url}/data.txt`, { method })).status).toBe(404);
  });

  it("behind a link are served: the owner of the folder made it", async () => {
    await using folder = await folderWith({ "real.txt": "real", "public/index.html": "mine" });
    await symlink(join(folder.path, "real.txt"), join(folder.path, "public/link.txt"));
    const receiver = await startTestReceiver({ env: { PUBLIC_DIR: join(folder.path, "public") } });
    expect(await (await fetch(`${receiver.url}/link.txt`)).text()).toBe("real");
  });
});

describe("what is not there", () => {
  it("is answered 404 as JSON that says where to look", async () => {
    const receiver = await startTestReceiver();
    const { status, body } = await request(receiver.url).get("/no/such/page?x=1");
    expect([status, body]).toEqual([
      404,
      { code: "not_found", error: expect.stringContaining("/api/endpoints"), requestId: expect.any(String) },
    ]);
    expect(body.error).not.toContain("x=1");
  });
});
