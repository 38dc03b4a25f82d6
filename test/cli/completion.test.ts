/** In the shells themselves, as far as they are on this machine. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { folderWith, hubhook } from "../support/cli.ts";

const ENTRY = resolve(import.meta.dirname, "../../src/cli/hubhook.js");

let bin: Awaited<ReturnType<typeof folderWith>>;
beforeAll(async () => {
  bin = await folderWith({ hubhook: `#!/bin/sh\nexec "${process.execPath}" "${ENTRY}" "$@"\n` });
  await chmod(`${bin.path}/hubhook`, 0o755);
});
afterAll(async () => bin[Symbol.asyncDispose]());

const itIn = (shell: string) => (spawnSync(shell, ["-c", "true"]).status === 0 ? it : it.skip);

/** What the script, run in the shell with these arguments, prints. */
function inShell(shell: string, args: string[]): string[] {
  const env = { PATH: `${bin.path}:${process.env.PATH}`, HOME: bin.path };
  const options = { env, cwd: bin.path, encoding: "utf8", timeout: 15_000 } as const;
  const { stdout, stderr, status } = spawnSync(shell, args, options);
  expect([status, stderr]).toEqual([0, ""]);
  return stdout.split("\n").filter(Boolean);
}

/** As readline calls it, with what it takes for the borders of words. */
const BASH = `
eval "$(hubhook completion bash)"
COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:' COMP_LINE="$1" COMP_POINT=\${#1}
_hubhook
printf '%s\\n' "\${COMPREPLY[@]}"`;

const cases: [string, string[]][] = [
  ["hubhook web", ["webhooks"]],
  ["hubhook webhooks u", ["update"]],
  ["hubhook webhooks ls --fo", ["--format"]],
  ["hubhook webhooks ls --format ", ["json", "quiet", "table"]],
  ["hubhook webhooks create --domain ", ["discussion", "repo"]],
  ["hubhook completion ", ["bash", "fish", "zsh"]],
  ["hubhook webhooks galaxy --nothing ", []],
];

describe("completion in bash", () => {
  itIn("bash").each<[string, string[]]>([
    ...cases,
    ["hubhook webhooks ls --format=q", ["quiet"]],
    // Readline keeps what stands before the last colon.
    ["hubhook trigger repo.content:", ["update"]],
    ["hubhook trigger discussion.comment:c", ["create"]],
  ])("of %j", (line, words) => {
    expect(inShell("bash", ["--norc", "-c", BASH, "bash", line]).sort()).toEqual(words);
  });

  itIn("bash")("runs nothing of the line, and may be loaded twice", () => {
    const line = "hubhook trigger 'a $(touch ran) `touch ran` ";
    expect(inShell("bash", ["--norc", "-c", `${BASH}\n${BASH}`, "bash", line])).toEqual([]);
    expect(existsSync(join(bin.path, "ran"))).toBe(false);
  });

  itIn("bash")("offers every command", () => {
    const words = inShell("bash", ["--norc", "-c", BASH, "bash", "hubhook webhooks "]);
    for (const word of ["ls", "info", "create", "update", "enable", "disable", "delete", "activity", "replay", "test"])
      expect(words).toContain(word);
  });
});

describe("completion in fish", () => {
  const fish = 'hubhook completion fish | source; complete --do-complete "$argv[1]"';
  itIn("fish").each<[string, string[]]>([...cases, ["hubhook trigger repo.content:", ["repo.content:update"]]])(
    "of %j",
    (line, words) => {
      const found = inShell("fish", ["--no-config", "-c", fish, line]).map((text) => text.split("\t")[0]);
      expect(found.sort()).toEqual(words);
    },
  );
});

describe("hubhook completion", () => {
  itIn("zsh")("prints a script that zsh can read", async () => {
    const { stdout } = await hubhook(["completion", "zsh"]);
    expect(spawnSync("zsh", ["-fn"], { input: stdout, encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
  });

  it("knows three shells, and says how to set them up", async () => {
    expect(await hubhook(["completion", "tcsh"])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("Allowed choices are bash, zsh, fish"),
    });
    expect((await hubhook(["completion", "--help"])).stdout).toContain('$ eval "$(hubhook completion bash)"');
    expect((await hubhook(["--help"])).stdout).not.toMatch(/^ {2}complete /m);
  });
});
