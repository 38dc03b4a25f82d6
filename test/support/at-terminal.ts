/** The command line at a terminal of 80 columns, with somebody who answers its questions. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { it } from "@jest/globals";

const ENTRY = resolve(import.meta.dirname, "../../src/cli/hubhook.js");

// util-linux's `script` is the one terminal that is nearly everywhere.
export const onTerminal = process.platform === "linux" && existsSync("/usr/bin/script") ? it : it.skip;

/**
 * Runs `hubhook …` to its end.
 * @param answers what is typed once this much of a question is on the screen
 */
export async function atTerminal(
  args: string[],
  { env = {}, answers = [] }: { env?: Record<string, string>; answers?: [question: string, answer: string][] } = {},
): Promise<{ screen: string; code: number }> {
  const words = args.map((word) => `'${word}'`).join(" ");
  const command = `stty cols 80 rows 24; "${process.execPath}" "${ENTRY}" ${words}; echo "exit $?"`;
  const terminal = spawn("script", ["-qec", command, "/dev/null"], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, HOME: tmpdir(), TERM: "xterm", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const open = [...answers];
  let shown = "";
  terminal.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    shown += chunk;
    const [next] = open;
    if (!next || !shown.includes(next[0])) return;
    open.shift();
    terminal.stdin.write(next[1]);
  });
  await once(terminal, "close");
  const text = shown.replaceAll("\r\n", "\n");
  const [, screen = "", code] = /^([\s\S]*)exit (\d+)\n$/.exec(text) ?? [];
  if (code === undefined) throw new Error(`it did not end well:\n${text}`);
  return { screen, code: Number(code) };
}
