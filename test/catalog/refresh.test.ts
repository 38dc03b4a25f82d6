import { once } from "node:events";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "@jest/globals";
import type { Catalog } from "../../src/catalog/schema.ts";
import { loadConfig } from "../../src/config.ts";
import { refresh } from "../../src/handlers/_catalog-refresh.ts";
import { onCleanup } from "../support/cleanup.ts";
import { temporaryFolder } from "../support/deliveries.ts";
import { START, startProgram } from "../support/program.ts";
import { deliver } from "../support/receiver.ts";
import { catalog, resource } from "../support/served-catalog.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const TOKEN = "hf_of_the_receiver";
const sha = (digit: number) => String(digit).repeat(40);

interface Posted {
  path: string;
  body: Record<string, unknown>;
}

/** A hub that has the file at some commits, takes comments, and wants a token for both. */
async function startHub(files: Record<string, string>) {
  const posted: Posted[] = [];
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const { url = "", method, headers } = request;
    asked.push(`${method} ${url}`);
    const body = await text(request);
    if (headers.authorization !== `Bearer ${TOKEN}`) return void response.writeHead(401).end();
    if (method === "POST") {
      posted.push({ path: url, body: JSON.parse(body) });
      server.emit("posted");
      return void response.writeHead(200, { "content-type": "application/json" }).end("{}");
    }
    const [, commit = ""] = /^\/datasets\/me\/catalog\/resolve\/([0-9a-f]{40})\/data\/catalog\.json$/.exec(url) ?? [];
    const file = files[commit];
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onCleanup(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posted,
    asked,
    async heard(count: number) {
      while (posted.length < count) await once(server, "posted");
      return posted.at(-1) as Posted;
    },
  };
}

/** A receiver whose only handler is the one that ships, renamed. */
async function startReceiver(hub: { url: string }, served: Catalog, env: Record<string, string> = {}) {
  const folder = temporaryFolder();
  await mkdir(join(folder, "src/handlers"), { recursive: true });
  // What the handler imports stays where it is.
  for (const name of ["catalog", "protocol", "receiver", "http", "errors.ts"])
    await symlink(join(ROOT, "src", name), join(folder, "src", name));
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await cp(join(ROOT, "src/handlers/_catalog-refresh.ts"), join(folder, "src/handlers/catalog-refresh.ts"));
  await mkdir(join(folder, "served"));
  const file = join(folder, "served/catalog.json");
  await writeFile(file, JSON.stringify(served));
  const receiver = startProgram(START, {
    cwd: folder,
    env: {
      PORT: "0",
      HF_ENDPOINT: hub.url,
      HF_TOKEN: TOKEN,
      CATALOG: "served/catalog.json",
      CATALOG_REPO: "me/catalog",
      CATALOG_PATH: "data/catalog.json",
      ...env,
    },
  });
  const [, url = ""] = await receiver.says(/Look at them: (http\S+)/);
  return {
    file,
    program: receiver,
    push: (ref: string, newSha: string, name = "me/catalog") =>
      deliver(`${url}/webhooks/catalog-refresh`, {
        event: { scope: "repo.content", action: "update" },
        repo: {
          type: "dataset",
          name,
          id: "1",
          private: false,
          headSha: newSha,
          // Where a token must not go.
          url: { web: "http://127.0.0.1:9/datasets/me/catalog", api: "http://127.0.0.1:9/api/datasets/me/catalog" },
          owner: { id: "1" },
        },
        webhook: { id: "1", version: 3 },
        updatedRefs: [{ ref, oldSha: sha(0), newSha }],
      }),
    version: async () => {
      const answer = await fetch(`${url}/api/catalog`);
      return ((await answer.json()) as { catalog: Catalog }).catalog.version;
    },
    /** What became of the newest delivery. */
    async outcome() {
      for (;;) {
        const answer = await fetch(`${url}/api/deliveries?limit=1`);
        const { deliveries } = (await answer.json()) as { deliveries: { id: string; finishedAt?: string }[] };
        if (!deliveries[0]?.finishedAt) continue;
        const one = await fetch(`${url}/api/deliveries/${deliveries[0].id}`);
        const { attempts } = (await one.json()) as { attempts: { outcome: string; response?: unknown }[] };
        return attempts.at(-1);
      }
    },
  };
}

const one = JSON.stringify(catalog([resource("one")], "1.0.0"));
const two = JSON.stringify(catalog([resource("one"), resource("two")], "1.0.1"));
const bad = JSON.stringify({
  ...catalog([resource("one", { source: "huggingfce" as never })], "1.0.2"),
  extra: "`` ``` @somebody ![](https://tracker.example/x.png)",
});

describe("the handler that keeps a catalog up to date", () => {
  it("looks for the same words as the receiver, where nobody says which", () => {
    const settings = refresh.options.settings?.parse({ CATALOG_REPO: "me/catalog", CATALOG: "catalog.json" });
    const { CATALOG_MARKERS } = settings as { CATALOG_MARKERS: string };
    expect(CATALOG_MARKERS.split(",")).toEqual(loadConfig({}).catalog.markers);
  });

  it("publishes a good push, and keeps what it has where the next one is bad", async () => {
    const hub = await startHub({ [sha(1)]: two, [sha(2)]: bad });
    const receiver = await startReceiver(hub, JSON.parse(one), { CATALOG_REPORT: "comment" });
    expect(await receiver.version()).toBe("1.0.0");

    expect((await receiver.push("refs/heads/main", sha(1))).status).toBe(202);
    while ((await receiver.version()) !== "1.0.1");
    expect(await readFile(receiver.file, "utf8")).toBe(two);
    expect(await receiver.outcome()).toMatchObject({
      outcome: "succeeded",
      response: { "refs/heads/main": { published: "1.0.1", resources: 2, warnings: 0 } },
    });

    await receiver.push("refs/heads/main", sha(2));
    const { path, body } = await hub.heard(1);
    expect(path).toBe("/api/datasets/me/catalog/discussions");
    expect(body).toMatchObject({ title: expect.stringMatching(/was not published/), pullRequest: false });
    const { description } = body as { description: string };
    expect(description).toContain(`of commit ${sha(2)} has 2 errors`);
    expect(description).toMatch(/huggingfce/);
    // What the file says stays inside the block.
    expect(description.split("```")).toHaveLength(3);
    expect(await receiver.version()).toBe("1.0.1");
    expect(await readFile(receiver.file, "utf8")).toBe(two);
    // Nothing is left lying beside it.
    expect(await readdir(join(receiver.file, ".."))).toEqual(["catalog.json"]);
  });

  it("comments under a pull request that would break the catalog, and publishes none of it", async () => {
    const hub = await startHub({ [sha(1)]: bad, [sha(2)]: two });
    const receiver = await startReceiver(hub, JSON.parse(one), { CATALOG_REPORT: "comment" });
    await receiver.push("refs/pr/7", sha(1));
    const { path, body } = await hub.heard(1);
    expect(path).toBe("/api/datasets/me/catalog/discussions/7/comment");
    expect(body).toEqual({ comment: expect.stringMatching(/data\/catalog\.json.*has 2 errors/) });
    await receiver.push("refs/pr/7", sha(2));
    while (hub.asked.filter((line) => line.startsWith("GET")).length < 2) await receiver.outcome();
    await receiver.outcome();
    expect(hub.posted).toHaveLength(1);
    expect(await readFile(receiver.file, "utf8")).toBe(one);
  });

  it("only logs unless it is asked to comment", async () => {
    const hub = await startHub({ [sha(1)]: bad });
    const receiver = await startReceiver(hub, JSON.parse(one));
    await receiver.push("refs/heads/main", sha(1));
    expect(await receiver.outcome()).toMatchObject({ response: { "refs/heads/main": { errors: 2 } } });
    expect(hub.posted).toEqual([]);
    expect(receiver.program.stderr()).toMatch(/huggingfce/);
  });

  it("asks for nothing that a payload makes up", async () => {
    const hub = await startHub({ [sha(1)]: two });
    const receiver = await startReceiver(hub, JSON.parse(one));
    await receiver.push("refs/heads/main", sha(1), "me/other");
    expect(await receiver.outcome()).toMatchObject({ response: { ignored: "another repo" } });
    await receiver.push("refs/heads/main", "../../../api/whoami");
    expect(await receiver.outcome()).toMatchObject({ outcome: "failed" });
    expect(hub.asked).toEqual([]);
  });

  it("says what is missing before it starts", async () => {
    const hub = await startHub({});
    await expect(startReceiver(hub, JSON.parse(one), { CATALOG_REPO: "not a repo" })).rejects.toThrow(
      /CATALOG_REPO: write it as owner\/name/,
    );
    await expect(startReceiver(hub, JSON.parse(one), { CATALOG_PATH: "../secret" })).rejects.toThrow(/CATALOG_PATH/);
    await expect(startReceiver(hub, JSON.parse(one), { CATALOG: "https://x.example/c.json" })).rejects.toThrow(
      /CATALOG: name a file/,
    );
  });
});
