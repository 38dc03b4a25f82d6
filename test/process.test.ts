import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { folderWith } from "./support/cli.ts";
import { type Program, START, startProgram } from "./support/program.ts";
import { deliver, LEAST } from "./support/receiver.ts";

const MODULES = { "package.json": '{"type":"module"}' };
const GREET = { ...MODULES, "src/handlers/greet.ts": "export function greet() { return 'hello'; }" };
/** Answers when a line comes on standard input. */
const WAITS = {
  ...GREET,
  "src/handlers/waits.ts": `export async function waits() {
    const line = new Promise((resolve) => process.stdin.once("data", (data) => resolve(String(data).trim())));
    console.log("handler waits");
    return line;
  }`,
};

/** The receiver in a folder, as \`npm start\` starts it, on a free port. */
async function start(files: Record<string, string>, env: Record<string, string> = {}) {
  const folder = await folderWith(files);
  const receiver = startProgram(START, { cwd: folder.path, env: { PORT: "0", ...env } });
  void receiver.ended.then(() => folder[Symbol.asyncDispose]());
  return receiver;
}

const urlOf = async (receiver: Program) => (await receiver.says(/Look at them: (http\S+)/))[1] ?? "";
const logLines = (receiver: Program) =>
  receiver
    .stderr()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { level: string; message: string });

describe("npm start", () => {
  it("serves the repository's own examples, as they stand", async () => {
    const receiver = await start({}, { HANDLERS_DIR: resolve("src/handlers") });
    const url = await urlOf(receiver);
    const payload = {
      event: { scope: "repo.content", action: "update" },
      repo: { type: "dataset", name: "me/data", headSha: "abc" },
    };
    const answer = await deliver(`${url}/webhooks/trigger_training`, payload);
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { message: "training", repo: "me/data", revision: "abc" },
    ]);
  });

  it("says where each endpoint is and where to register it, and warns once that they are open", async () => {
    const receiver = await start({ ...GREET, "src/handlers/b.js": "export const b = () => {};" });
    const url = await urlOf(receiver);
    await receiver.says(/settings\/webhooks/);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const posts = receiver
      .stdout()
      .split("\n")
      .filter((line) => line.includes("- POST"));
    expect(posts).toEqual([`  - POST ${url}/webhooks/b`, `  - POST ${url}/webhooks/greet`]);
    expect(receiver.stdout()).toMatch(/set up/);
    await deliver(`${url}/webhooks/greet`);
    await receiver.says(/"delivery"/);
    expect(logLines(receiver).filter(({ level }) => level === "warn")).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/WEBHOOK_SECRET is not set.*open to everyone/) }),
    ]);
  });

  it("does not warn where a secret is set, reads it from .env, and the environment wins", async () => {
    const receiver = await start(
      { ...GREET, ".env": "WEBHOOK_SECRET=from-file\nLOG_LEVEL=warn\nHOST=0.0.0.0\n" },
      { HOST: "127.0.0.1" },
    );
    const url = await urlOf(receiver);
    const post = async (secret: string) =>
      (await deliver(`${url}/webhooks/greet`, LEAST, { "x-webhook-secret": secret })).status;
    expect([await post("from-file"), await post("wrong")]).toEqual([200, 403]);
    expect(url).toContain("127.0.0.1");
    expect(receiver.stderr()).toBe("");
    expect(receiver.stdout()).not.toContain("from-file");
  });

  it.each([
    [{ SPACE_HOST: "me-hooks.hf.space", SPACE_ID: "me/hooks" }, "https://me-hooks.hf.space"],
    [{ PUBLIC_URL: "https://hooks.example/base/" }, "https://hooks.example/base"],
  ])("prints the address that the world knows: %j", async (env, url) => {
    const receiver = await start(GREET, env);
    await receiver.says(/settings\/webhooks/);
    expect(receiver.stdout()).toContain(`- POST ${url}/webhooks/greet\n`);
    expect(receiver.stdout()).not.toContain("127.0.0.1");
  });

  it("says so when the port is taken, what to set, and ends with 1", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const receiver = await start(GREET, { PORT: String(port) });
    expect(await receiver.ended).toEqual({ code: 1, signal: null });
    expect(receiver.stderr()).toMatch(new RegExp(`port ${port} on 127\\.0\\.0\\.1 is taken.*set PORT`));
    expect(receiver.stderr()).not.toMatch(/^\s+at /m);
    other.close();
  });

  it("says so when the address is not of this machine", async () => {
    const receiver = await start(GREET, { HOST: "203.0.113.7" });
    expect((await receiver.ended).code).toBe(1);
    expect(receiver.stderr()).toMatch(/203\.0\.113\.7 is no address of this machine: set HOST/);
  });

  it("lists all wrong settings at once and ends with 1, without showing a secret", async () => {
    const receiver = await start(GREET, { PORT: "http", BODY_LIMIT: "5", WEBHOOK_SECRET: "two words" });
    expect((await receiver.ended).code).toBe(1);
    for (const name of ["PORT", "BODY_LIMIT", "WEBHOOK_SECRET"]) expect(receiver.stderr()).toContain(`  - ${name} is`);
    expect(receiver.stderr()).not.toContain("two words");
    expect(receiver.stdout()).toBe("");
  });

  it("lists all broken handlers and ends with 1, also where another one keeps the process busy", async () => {
    const receiver = await start({
      ...GREET,
      "src/handlers/busy.ts": "setInterval(() => {}, 1000); export function busy() {}",
      "src/handlers/syntax.ts": "export function (",
      "src/handlers/none.js": "export const x = 1;",
    });
    expect(await receiver.ended).toEqual({ code: 1, signal: null });
    expect(receiver.stderr()).toMatch(/none\.js\n.*expected an exported function[\s\S]*syntax\.ts\n.*syntax error/);
    expect(receiver.stdout()).toBe("");
  });

  it("starts with the good ones where it is told to skip the broken, and shows those on the page", async () => {
    const receiver = await start(
      { ...GREET, "src/handlers/none.js": "export const x = 1;" },
      { HANDLERS_ON_ERROR: "skip" },
    );
    const url = await urlOf(receiver);
    expect((await deliver(`${url}/webhooks/greet`)).status).toBe(200);
    const { broken } = (await (await fetch(`${url}/api/endpoints`)).json()) as { broken: { file: string }[] };
    expect(broken).toEqual([{ file: "none.js", problem: expect.stringContaining("expected an exported function") }]);
    expect(logLines(receiver)).toContainEqual(
      expect.objectContaining({ level: "error", message: expect.stringContaining("left out") }),
    );
  });

  it("starts without any handler where it is told to skip, and says what to write", async () => {
    const receiver = await start(MODULES, { HANDLERS_ON_ERROR: "skip" });
    await receiver.says(/none yet: write one function/);
  });

  it("says in one sentence when Node is too old", async () => {
    const preflight = pathToFileURL(START[1] ?? "").href;
    const code = `Object.defineProperty(process.versions, "node", { value: "20.19.1" }); await import("${preflight}");`;
    const program = startProgram(["--input-type=module", "-e", code]);
    expect((await program.ended).code).toBe(1);
    expect(program.stderr()).toMatch(/^hubhook needs Node 22\.19 or newer and this is Node 20\.19\.1.*\n$/);
  });
});

describe("a signal", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "%s lets the handler that runs end, then the process, with 0",
    async (signal) => {
      const receiver = await start(WAITS, { SHUTDOWN_GRACE: "1h" });
      const url = await urlOf(receiver);
      const answer = deliver(`${url}/webhooks/waits`);
      await receiver.says(/handler waits/);
      receiver.kill(signal);
      await receiver.says(/stopping/);
      expect((await deliver(`${url}/webhooks/greet`)).status).toBe(503);
      receiver.write("done in time\n");
      expect(await (await answer).json()).toBe("done in time");
      expect(await receiver.ended).toEqual({ code: 0, signal: null });
      expect(logLines(receiver).map(({ message }) => message)).toEqual(
        expect.arrayContaining([`stopping: ${signal}`, "stopped"]),
      );
    },
  );

  it("ends the process at once when it comes a second time", async () => {
    const receiver = await start(WAITS, { SHUTDOWN_GRACE: "1h" });
    const answer = deliver(`${await urlOf(receiver)}/webhooks/waits`).catch(() => "cut off");
    await receiver.says(/handler waits/);
    receiver.kill("SIGINT");
    await receiver.says(/stopping/);
    receiver.kill("SIGINT");
    expect(await receiver.ended).toEqual({ code: 130, signal: null });
    expect(await answer).toBe("cut off");
  });

  it("is not held up by a handler beyond SHUTDOWN_GRACE, nor by what it left open", async () => {
    const receiver = await start(
      { ...WAITS, "src/handlers/open.js": "setInterval(() => {}, 1000); export const open = () => {};" },
      { SHUTDOWN_GRACE: "50ms" },
    );
    const answer = deliver(`${await urlOf(receiver)}/webhooks/waits`).catch(() => "cut off");
    await receiver.says(/handler waits/);
    receiver.kill("SIGTERM");
    expect(await receiver.ended).toEqual({ code: 0, signal: null });
    await answer;
  });
});

describe("a handler's mistake", () => {
  it("in a promise that it left behind takes nothing down", async () => {
    const receiver = await start({
      ...GREET,
      "src/handlers/leaves.js": "export const leaves = () => { Promise.reject(new Error('left behind')); };",
      "src/handlers/word.js": "export const word = () => { Promise.reject('just a word'); };",
    });
    const url = await urlOf(receiver);
    expect((await deliver(`${url}/webhooks/leaves`)).status).toBe(204);
    expect((await deliver(`${url}/webhooks/word`)).status).toBe(204);
    await receiver.says(/left behind/);
    await receiver.says(/just a word/);
    expect((await deliver(`${url}/webhooks/greet`)).status).toBe(200);
  });

  it("that nobody can catch is logged, and ends the process in good order with 1", async () => {
    const receiver = await start({
      ...GREET,
      "src/handlers/later.js":
        "export const later = () => { setImmediate(() => { throw new Error('nobody catches'); }); };",
    });
    expect((await deliver(`${await urlOf(receiver)}/webhooks/later`)).status).toBe(204);
    expect(await receiver.ended).toEqual({ code: 1, signal: null });
    expect(receiver.stderr()).toContain("nobody catches");
    expect(logLines(receiver).at(-1)?.message).toBe("stopped");
  });
});
