import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { folderWith, hubhook } from "../support/cli.ts";

describe("hubhook", () => {
  it("prints its version", async () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));
    expect(await hubhook(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  it.each([[["--help"]], [["help"]]])("%p names every command and shows examples", async (args) => {
    const { code, stdout, stderr } = await hubhook(args);
    expect([code, stderr]).toEqual([0, ""]);
    for (const word of [
      "serve",
      "trigger",
      "receive",
      "deliveries",
      "webhooks",
      "completion",
      "Examples:",
      "$ hubhook",
    ])
      expect(stdout).toContain(word);
  });

  it.each(["serve", "trigger", "receive", "deliveries", "webhooks", "completion"])(
    "%s --help shows examples, and help of it is the same",
    async (command) => {
      const { code, stdout, stderr } = await hubhook([command, "--help"]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toContain(`Usage: hubhook ${command}`);
      expect(stdout).toContain(`$ hubhook ${command}`);
      expect((await hubhook(["help", command])).stdout).toBe(stdout);
    },
  );

  it("without a word shows its help as a mistake", async () => {
    const { code, stdout, stderr } = await hubhook([]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("Usage: hubhook");
  });

  it.each([
    [["triger"], "unknown command 'triger': did you mean trigger?"],
    [["galaxy"], "unknown command 'galaxy': see `hubhook --help`"],
    [["trigger", "repo:update", "--prin"], "unknown option '--prin': did you mean --print?"],
    [["webhooks", "list", "--nothing"], "unknown option '--nothing': see `hubhook webhooks ls --help`"],
    [["trigger"], "missing required argument 'scope:action': see `hubhook trigger --help`"],
    [["trigger", "repo:update", "more"], "too many arguments"],
    [["trigger", "repo:update", "--count", "0"], "Write a number from 1 to 10000"],
    [["trigger", "repo:update", "--count", "10001"], "Write a number from 1 to 10000"],
    [["trigger", "repo:update", "--format", "xml"], "Allowed choices are text, json"],
    [["serve", "--port", "http"], "Write a number from 0 to 65535"],
    [["receive", "greet", "--payload", "-", "--event", "repo:update"], "cannot be used with"],
  ])("%p is answered by one sentence and exit code 2", async (args, sentence) => {
    const { code, stdout, stderr } = await hubhook(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  it("lists every setting that is wrong", async () => {
    const { code, stderr } = await hubhook(["trigger", "repo:update"], { env: { PORT: "x", LOG_LEVEL: "loud" } });
    expect(code).toBe(1);
    expect(stderr).toMatch(/PORT is "x".*\n.*LOG_LEVEL is "loud"/);
    expect(stderr).not.toContain("    at ");
  });

  it("reads .env where it runs", async () => {
    await using folder = await folderWith({ ".env": "HF_ENDPOINT=http://127.0.0.1:7861\n" });
    const { stdout } = await hubhook(["trigger", "repo:update", "--print"], { cwd: folder.path });
    expect(JSON.parse(stdout).repo.url.web).toBe("http://127.0.0.1:7861/me/my-model");
  });

  it("uses no colours in a pipe, and colours where they are forced", async () => {
    const refused = ["trigger", "repo:update", "--to", "http://127.0.0.1:1/"];
    expect((await hubhook(refused)).stderr).not.toContain("\u001b[");
    expect((await hubhook(refused, { env: { FORCE_COLOR: "1" } })).stderr).toContain("\u001b[31m");
    expect((await hubhook(refused, { env: { NO_COLOR: "1" } })).stderr).not.toContain("\u001b[");
  });
});
