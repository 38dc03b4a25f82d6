/** The command line as a person runs it: a process of its own, in an empty folder, with nothing in its environment. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";

const ENTRY = resolve(import.meta.dirname, "../../src/cli/hubhook.js");
/** Far beyond what any command needs: only a hanging one is ended by it. */
const GIVE_UP_MS = 15_000;

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Run {
  env?: Record<string, string>;
  cwd?: string;
  /** Who runs it, where that is somebody else. */
  uid?: number;
  /** What comes on standard input. */
  input?: string;
}

export type CliProcess = ChildProcessByStdio<Writable, Readable, Readable>;

export function spawnHubhook(args: string[], { env = {}, cwd = tmpdir(), uid }: Run = {}): CliProcess {
  return spawn(process.execPath, [ENTRY, ...args], {
    cwd,
    ...(uid !== undefined && { uid }),
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdio: ["pipe", "pipe", "pipe"],
    timeout: GIVE_UP_MS,
  });
}

/** Runs `hubhook …` to its end. */
export async function hubhook(args: string[], run: Run = {}): Promise<Ended> {
  const child = spawnHubhook(args, run);
  child.stdin.on("error", () => {}).end(run.input ?? "");
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code, stdout, stderr };
}

export interface Served extends AsyncDisposable {
  port: number;
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

/** A receiver on a free port, started by `hubhook serve`. */
export function serve(args: string[], run: Run = {}): Promise<Served> {
  return started(["serve", "--port", "0", ...args], run);
}

/** A hub on a free port, started by `hubhook hub`. */
export function serveHub(args: string[], run: Run = {}): Promise<Served> {
  return started(["hub", "--port", "0", ...args], run);
}

async function started(args: string[], run: Run): Promise<Served> {
  const child = spawnHubhook(args, run);
  const closed = once(child, "close");
  const stderr = text(child.stderr);
  let stdout = "";
  const port = await new Promise<number>((resolvePort, reject) => {
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
      const [, found] = /http:\/\/[\w.[\]:]+:(\d+)/.exec(stdout) ?? [];
      if (found !== undefined) resolvePort(Number(found));
    });
    closed.then(async () => reject(new Error(`it ended before it listened:\n${stdout}\n${await stderr}`)), reject);
  });
  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    const [code] = await closed;
    return { code, stdout, stderr: await stderr };
  };
  return { port, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

/** A folder of its own for a test, with these files; gone when the test disposes of it. */
export async function folderWith(files: Record<string, string>): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "hubhook-test-"));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
