/** The command line at a terminal, as a person sits before it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { resolve } from "node:path";

const ENTRY = resolve(import.meta.dirname, "../../src/cli/hubhook.js");
/** Far beyond what any command needs: only a hanging one is ended by it. */
const GIVE_UP_MS = 15_000;

/** util-linux's `script` is the one terminal that is nearly everywhere. */
export const hasTerminal = process.platform === "linux" && existsSync("/usr/bin/script");

export const CTRL_C = "\u0003";

interface Sitting {
  env?: Record<string, string>;
  cwd: string;
  columns?: number;
  /** Instead of arguments: what stands behind `hubhook`, as a shell reads it. */
  command?: string;
}

export interface Seen {
  code: number | null;
  /** All that stood on the screen, with what was typed. */
  screen: string;
}

/** Runs `hubhook …`, and types an answer as soon as its question is there; the questions must come in this order. */
export async function atTerminal(
  args: string[],
  answers: readonly (readonly [question: RegExp | string, answer: string])[],
  { env = {}, cwd, columns = 80, command = args.map(quoted).join(" ") }: Sitting,
): Promise<Seen> {
  const line = `stty cols ${columns}; ${quoted(process.execPath)} ${quoted(ENTRY)} ${command}`;
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, TERM: "dumb", NO_COLOR: "1", ...env },
    stdio: ["pipe", "pipe", "inherit"],
    timeout: GIVE_UP_MS,
  });
  let screen = "";
  let read = 0;
  const left = [...answers];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    screen += chunk;
    const [next] = left;
    if (!next) return;
    const [question, answer] = next;
    const rest = screen.slice(read);
    const at = typeof question === "string" ? rest.indexOf(question) : rest.search(question);
    if (at === -1) return;
    read = screen.length;
    left.shift();
    child.stdin.write(answer);
  });
  const [code] = await once(child, "close");
  if (left.length > 0) throw new Error(`it never asked ${left[0]?.[0]}:\n${screen}`);
  return { code, screen: screen.replaceAll("\r\n", "\n") };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
