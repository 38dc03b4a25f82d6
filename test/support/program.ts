/** A process of its own, as a person starts it, with nothing of this environment in it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { afterEach } from "@jest/globals";

const ROOT = resolve(import.meta.dirname, "../..");
/** What `npm start` runs. */
export const START = ["--import", resolve(ROOT, "src/preflight.js"), resolve(ROOT, "src/index.ts")];
export const programFile = (name: string) => resolve(ROOT, "test/fixtures/programs", name);

/** Far beyond what any of them needs: only a hanging one is ended by it. */
const GIVE_UP_MS = 15_000;

export interface Program {
  stdout(): string;
  stderr(): string;
  /** Resolves when the text is there; rejects when the process ends without it. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  write(text: string): void;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const running = new Set<Program>();

export function startProgram(
  args: string[],
  { env = {}, cwd = tmpdir() }: { env?: Record<string, string>; cwd?: string } = {},
): Program {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, HF_TOKEN_PATH: "/nowhere", ...env },
    stdio: ["pipe", "pipe", "pipe"],
    timeout: GIVE_UP_MS,
    killSignal: "SIGKILL",
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
      child.emit("said");
    });
  child.stdin.on("error", () => {});
  let over = false;
  const ended = once(child, "close").then(([code, signal]) => {
    over = true;
    child.emit("said");
    return { code, signal };
  });
  const program: Program = {
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    async says(pattern) {
      for (;;) {
        const match = pattern.exec(said.stdout) ?? pattern.exec(said.stderr);
        if (match) return match;
        if (over) throw new Error(`it ended and never said ${pattern}:\n${said.stdout}\n${said.stderr}`);
        await once(child, "said");
      }
    },
    write: (text) => void child.stdin.write(text),
    kill: (signal) => void child.kill(signal),
    ended,
  };
  running.add(program);
  return program;
}

afterEach(async () => {
  for (const program of running) {
    program.kill("SIGKILL");
    await program.ended;
  }
  running.clear();
});
