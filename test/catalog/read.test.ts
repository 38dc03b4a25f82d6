import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "@jest/globals";
import { CatalogUnreadable, type ReadOptions, readCatalogBytes } from "../../src/catalog/read.ts";
import { folderWith } from "../support/cli.ts";

type Script = Record<string, (response: ServerResponse) => void>;

interface Site extends AsyncDisposable {
  url: string;
  port: number;
  asked: { path: string; headers: IncomingHttpHeaders }[];
}

/** A server that answers each path as the script says. */
async function site(script: Script): Promise<Site> {
  const asked: Site["asked"] = [];
  const server: Server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push({ path, headers: request.headers });
    (script[path] ?? script["*"] ?? (() => response.writeHead(404).end()))(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    asked,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const ok = (body: string) => (response: ServerResponse) => void response.end(body);
const redirect =
  (location: string, status = 302) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { location }).end("moved");

/** The hub is elsewhere, unless a test says so; loopback is reached only where it is allowed. */
const read = async (url: string, options: Partial<ReadOptions> = {}) => {
  const bytes = await readCatalogBytes(url, {
    endpoint: "https://hub.example",
    token: "hf_secret",
    allowTargets: ["127.0.0.1"],
    ...options,
  });
  return Buffer.from(bytes).toString();
};

async function refusal(url: string, options: Partial<ReadOptions> = {}): Promise<string> {
  const error = await read(url, options).then(
    () => null,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(CatalogUnreadable);
  expect(error.message).not.toContain("hf_secret");
  return error.message;
}

describe("a catalog in a file", () => {
  it("is read as it is", async () => {
    await using folder = await folderWith({ "a.json": "{}\r\n" });
    expect(await read(join(folder.path, "a.json"))).toBe("{}\r\n");
  });

  it("that cannot be read is said to be so in a sentence", async () => {
    await using folder = await folderWith({ "a.json": "{}" });
    expect(await refusal(join(folder.path, "b.json"))).toMatch(/b\.json cannot be read: there is no such file/);
    expect(await refusal(folder.path)).toMatch(/it is a folder/);
    expect(await refusal(join(folder.path, "a.json", "x"))).toMatch(/cannot be read/);
  });

  it("without end is left at the limit", async () => {
    expect(await refusal("/dev/zero", { maxBytes: 2e6 })).toBe("/dev/zero is larger than the 2 MB that are read");
  });
});

describe("a catalog at a URL", () => {
  it("may be as large as the limit, and no larger", async () => {
    await using here = await site({ "/": ok("x".repeat(1000)) });
    expect(await read(`${here.url}/`, { maxBytes: 1000 })).toHaveLength(1000);
    expect(await refusal(`${here.url}/`, { maxBytes: 999 })).toMatch(/is larger than/);
  });

  it("is read, and asked for uncompressed", async () => {
    await using here = await site({ "/a?b=c": ok('{"a": "پ"}') });
    expect(await read(`${here.url}/a?b=c`)).toBe('{"a": "پ"}');
    expect(here.asked).toMatchObject([{ headers: { "accept-encoding": "identity" } }]);
  });

  it.each([301, 302, 303, 307, 308])("is followed where a %i leads", async (status) => {
    await using there = await site({ "/b": ok("{}") });
    await using here = await site({ "/a": redirect("/c", status), "/c": redirect(`${there.url}/b`, status) });
    expect(await read(`${here.url}/a`)).toBe("{}");
  });

  it("is followed five times, and no more", async () => {
    const hops = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, hop) => [`/${count - hop}`, redirect(`/${count - hop - 1}`)]),
      );
    await using here = await site({ ...hops(6), "/0": ok("{}") });
    expect(await read(`${here.url}/5`)).toBe("{}");
    expect(await refusal(`${here.url}/6`)).toMatch(/redirects more than 5 times/);
  });

  it.each([
    ["a file", "file:///etc/passwd", /file:.* is not asked/],
    ["no address", "http://[", /redirects to no address/],
  ])("is not followed to %s", async (_, location, sentence) => {
    await using here = await site({ "/": redirect(location) });
    expect(await refusal(`${here.url}/`)).toMatch(sentence);
  });

  it.each([
    [404, /answered 404: there is no such file/],
    [401, /answered 401: it wants a token/],
    [500, /answered 500/],
    [204, /answered 204/],
    [304, /answered 304/],
  ])("that is answered %i is unreadable", async (status, sentence) => {
    await using here = await site({ "/": (response) => void response.writeHead(status).end() });
    expect(await refusal(`${here.url}/`)).toMatch(sentence);
  });

  it("shows no query, which may hold a secret, in a problem", async () => {
    await using here = await site({});
    const message = await refusal(`${here.url}/a?token=s3cret`);
    expect(message).toContain("/a?…");
    expect(message).not.toContain("s3cret");
  });

  it("is unreadable where nothing listens", async () => {
    const { port } = await site({}).then(async (one) => {
      await one[Symbol.asyncDispose]();
      return one;
    });
    expect(await refusal(`http://127.0.0.1:${port}/`)).toMatch(/nothing listens there/);
    expect(await refusal("http://")).toMatch(/is no address/);
  });
});

describe("the token", () => {
  it("goes to the hub, wherever the hub is", async () => {
    await using hub = await site({ "/a": ok("{}") });
    expect(await read(`${hub.url}/a`, { endpoint: `${hub.url}/hub`, allowTargets: [] })).toBe("{}");
    expect(hub.asked[0]?.headers.authorization).toBe("Bearer hf_secret");
  });

  it("goes nowhere else, not on the way back from there, nor to another port", async () => {
    await using other = await site({ "/b": ok("{}"), "/d": ok("{}") });
    await using hub = await site({ "/a": redirect(`${other.url}/b`) });
    expect(await read(`${hub.url}/a`, { endpoint: hub.url })).toBe("{}");
    await read(`${other.url}/d`, { endpoint: hub.url });
    expect(other.asked).toHaveLength(2);
    for (const { headers } of other.asked) expect(headers.authorization).toBeUndefined();
  });

  it("is not needed", async () => {
    await using hub = await site({ "/a": ok("{}") });
    await read(`${hub.url}/a`, { endpoint: hub.url, token: null });
    expect(hub.asked[0]?.headers.authorization).toBeUndefined();
  });
});

describe("addresses that only this network sees", () => {
  it.each(["127.0.0.1", "localhost", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"])(
    "are not asked: %s",
    async (host) => {
      await using inside = await site({ "*": ok("{}") });
      expect(await refusal(`http://${host}:${inside.port}/`, { allowTargets: [] })).toMatch(
        /CATALOG_ALLOW_TARGETS may allow it/,
      );
      expect(inside.asked).toHaveLength(0);
    },
  );

  it.each(["169.254.169.254", "10.0.0.1", "192.168.1.1"])("are not asked: %s", async (host) => {
    expect(await refusal(`http://${host}/latest`, { allowTargets: [] })).toMatch(/no public address/);
  });

  it("are not asked when a redirect leads there", async () => {
    await using inside = await site({ "*": ok("{}") });
    await using hub = await site({ "/a": redirect(`${inside.url}/b`) });
    expect(await refusal(`${hub.url}/a`, { endpoint: hub.url, allowTargets: [] })).toMatch(/no public address/);
    expect(inside.asked).toHaveLength(0);
  });

  it("are not asked when a name leads there", async () => {
    await using inside = await site({ "*": ok("{}") });
    const lookup: ReadOptions["lookup"] = (_, done) => done(null, [{ address: "127.0.0.1", family: 4 }]);
    const url = `http://files.example:${inside.port}/`;
    expect(await refusal(url, { allowTargets: [], lookup })).toMatch(/files\.example \(127\.0\.0\.1\)/);
    expect(await read(url, { allowTargets: ["files.example"], lookup })).toBe("{}");
  });

  it("must be named so that they can be understood", async () => {
    await expect(read("http://127.0.0.1:1/", { allowTargets: ["10.0.0.0/99"] })).rejects.toThrow(
      /CATALOG_ALLOW_TARGETS/,
    );
  });
});

describe("a server that means no good", () => {
  it("may claim a gigabyte: nothing of it is read", async () => {
    await using here = await site({
      "/": (response) => void response.writeHead(200, { "content-length": 1e9 }).write("{"),
    });
    expect(await refusal(`${here.url}/`)).toMatch(/is larger than the 256 MB/);
  });

  it("may claim more than it sends", async () => {
    const cut = (response: ServerResponse) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("{", () => response.destroy());
    };
    await using here = await site({ "/": cut });
    expect(await refusal(`${here.url}/`)).toMatch(/cut before all had come|less came/);
  });

  it("may pour without end: no more than the limit is read", async () => {
    const pour = (response: ServerResponse) => {
      response.writeHead(200).on("error", () => {});
      const chunk = Buffer.alloc(1 << 20, 0x20);
      const go = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", go);
      go();
    };
    await using here = await site({ "/": pour });
    expect(await refusal(`${here.url}/`, { maxBytes: 2e6 })).toMatch(/is larger than the 2 MB/);
  });

  it("may send a bomb: what is compressed is not read", async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000, 0x20));
    await using here = await site({
      "/": (response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
    });
    expect(await refusal(`${here.url}/`)).toMatch(/compressed \(gzip\)/);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ["never answers", () => {}],
    ["stops in the middle", (response) => void response.writeHead(200).write("{")],
    [
      "redirects and stops",
      (response) => void response.writeHead(302, { location: "/", "content-length": 10 }).write("x"),
    ],
  ])("has only so much time: one that %s", async (_, behave) => {
    await using here = await site({ "/": behave });
    expect(await refusal(`${here.url}/`, { timeoutMs: 150 })).toMatch(/took longer than 0\.15 s/);
  });

  it("is left when nobody waits any more", async () => {
    await using here = await site({ "/": () => {} });
    const aborter = new AbortController();
    const message = refusal(`${here.url}/`, { signal: aborter.signal });
    aborter.abort();
    expect(await message).toMatch(/was cancelled/);
  });
});
