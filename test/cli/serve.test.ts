import { describe, expect, it } from "@jest/globals";
import { folderWith, hubhook, serve } from "../support/cli.ts";

const HANDLER = "export function greet() { return 'hello'; }";

describe("hubhook serve", () => {
  it("takes its options before the environment, and ends on a signal in good order", async () => {
    await using folder = await folderWith({ "mine/greet.ts": HANDLER, "page/index.html": "my own page" });
    const env = { PORT: "1", HOST: "127.0.0.2", HANDLERS_DIR: "nowhere", PUBLIC_DIR: "nowhere" };
    const args = ["--host", "127.0.0.1", "--handlers", "mine", "--public", "page"];
    const server = await serve(args, { cwd: folder.path, env });
    const url = `http://127.0.0.1:${server.port}`;
    const body = JSON.stringify({ event: { action: "update" }, repo: { type: "dataset" } });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/webhooks/greet`, { method: "POST", body, headers });
    expect(await answer.json()).toBe("hello");
    expect(await (await fetch(url)).text()).toContain("my own page");
    const { code, stdout } = await server.stop();
    expect([code, stdout]).toEqual([0, expect.stringContaining(`POST ${url}/webhooks/greet`)]);
  });

  it("ends on Ctrl-C in good order too", async () => {
    await using folder = await folderWith({ "greet.ts": HANDLER });
    const server = await serve(["--handlers", folder.path]);
    expect(await server.stop("SIGINT")).toMatchObject({ code: 0 });
  });

  it("does not start on broken handlers, and lists them", async () => {
    await using folder = await folderWith({ "bad.ts": "export const x = 1;", "worse.ts": "export function (" });
    const { code, stderr } = await hubhook(["serve", "--port", "0", "--handlers", folder.path]);
    expect(code).toBe(1);
    for (const file of ["bad.ts", "worse.ts"]) expect(stderr).toContain(file);
  });
});
