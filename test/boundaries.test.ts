import { glob, readFile } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { importsOf, isPackage, rules, type Source, violations } from "./support/boundaries.ts";

const SRC = resolve(import.meta.dirname, "../src");

async function sources(): Promise<Source[]> {
  const found: Source[] = [];
  for await (const file of glob(`${SRC}/**/*.{ts,js}`))
    found.push({ path: relative(SRC, file).split(sep).join("/"), text: await readFile(file, "utf8") });
  return found;
}

describe("the rooms of the house", () => {
  it("keep to the rules of who may import whom and who may touch the process", async () => {
    expect(violations(await sources())).toEqual([]);
  });

  it("import only files that are there", async () => {
    const all = await sources();
    const there = new Set(all.map(({ path }) => path));
    const own = all.flatMap((source) =>
      importsOf(source)
        .filter(({ target }) => !isPackage(target))
        .map(({ target }) => ({ from: source.path, target })),
    );
    expect(own.length).toBeGreaterThan(100);
    expect(own.filter(({ target }) => !there.has(target))).toEqual([]);
  });
});

describe("the rules", () => {
  const broken: [string, string, RegExp][] = [
    ["protocol/x.ts", 'import { a } from "../errors.ts";', /protocol imports nothing of ours/],
    ["protocol/x.ts", 'import type { A } from "../receiver/webhook.ts";', /protocol imports nothing of ours/],
    ["handlers/x.ts", 'import { loadConfig } from "../config.ts";', /handlers import receiver\/webhook\.ts/],
    ["handlers/x.ts", 'import express from "express";', /express stays in the rooms/],
    ["receiver/x.ts", 'import {\n  a,\n  b as c,\n} from "../hub/hub.ts";', /receiver never imports the hub/],
    ["receiver/x.ts", 'const { a } = await import("../client/client.ts");', /receiver never imports the hub/],
    ["receiver/x.ts", 'import { createApp } from "../app.ts";', /only webhooks-server\.ts/],
    ["hub/x.ts", 'export * from "../receiver/endpoint.ts";', /the hub never imports the receiver/],
    ["hub/x.ts", 'import { html } from "./pages/html.ts";', /only its app\.ts imports them/],
    ["deliveries/x.ts", 'import { createServer } from "node:http";', /know nothing of HTTP/],
    ["deliveries/x.ts", 'import type { Config } from "../config.ts";', /know nothing of HTTP/],
    ["http/x.ts", 'import { a } from "../receiver/secret.ts";', /http is plumbing/],
    ["client/x.ts", 'import { loadConfig } from "../config.ts";', /published alone/],
    ["catalog/x.ts", 'import { loadConfig } from "../config.ts";', /the catalog knows none/],
    ["catalog/x.ts", 'import { a } from "../cli/table.ts";', /the catalog knows none/],
    ["cli/x.ts", 'import { a } from "../catalog/scan.ts";', /doors of other rooms/],
    ["publish/x.ts", 'import { a } from "../receiver/server.ts";', /publish imports client, protocol, config/],
    ["cli/x.ts", 'const { a } = await import("../receiver/body.ts");', /doors of other rooms/],
    ["receiver/x.ts", 'import "../cli/output.ts";', /nobody imports it/],
    ["app.ts", 'import { greet } from "./handlers/greet.ts";', /loaded, not imported/],
    ["cli/x.ts", 'import { main } from "../index.ts";', /only hubhook serve/],
    ["logger.ts", 'import { a } from "./receiver/call.ts";', /at the bottom/],
    ["receiver/x.ts", "const port = process.env.PORT;", /only config\.ts reads process\.env/],
    ["receiver/x.ts", "const { env } = process;", /only config\.ts reads process\.env/],
    ["cli/x.ts", 'import { env } from "node:process";', /only config\.ts reads process\.env/],
    ["receiver/x.ts", 'process.on("SIGTERM", stop);', /only the process entries call process\.on/],
    ["receiver/x.ts", 'process.once("SIGTERM", stop);', /only the process entries call process\.on/],
    ["app.ts", "process.exit(1);", /only the process entries call process\.on/],
    ["hub/x.ts", 'process.once("beforeExit", start);', /beforeExit belongs to/],
    ["config.ts", 'import "dotenv/config";', /only the process entries read \.env/],
    ["receiver/x.ts", 'process.stdout.write("x");', /write to standard output/],
    ["receiver/x.ts", 'console.log("x");', /write to standard output/],
    ["deliveries/writer.ts", 'import { DatabaseSync } from "node:sqlite";', /names a driver/],
    ["receiver/x.ts", 'import pg from "pg";', /names a driver/],
  ];
  it.each(broken)("are heard when %s has %j", (path, text, rule) => {
    expect(violations([{ path, text }]).join("\n")).toMatch(rule);
  });

  it("are each broken by one of these", () => {
    const heard = broken.flatMap(([path, text]) => violations([{ path, text }])).join("\n");
    expect(rules.filter(({ says }) => !heard.includes(says)).map(({ says }) => says)).toEqual([]);
  });

  it.each([
    ["protocol/x.ts", 'import { z } from "zod";\nimport { a } from "./payload.ts";'],
    ["handlers/x.ts", 'import { webhook } from "../receiver/webhook.ts";'],
    ["cli/x.ts", 'import type { Endpoint } from "../receiver/endpoint.ts";'],
    ["receiver/x.ts", '// process.exit(1) is not for us, and neither is "node:sqlite"\n/* console.log(1) */'],
    ["receiver/webhooks-server.ts", 'process.once("beforeExit", launch);'],
    ["deliveries/database.ts", 'import { DatabaseSync } from "node:sqlite";'],
  ])("let pass what they allow: %s with %j", (path, text) => {
    expect(violations([{ path, text }])).toEqual([]);
  });
});
