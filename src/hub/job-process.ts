/**
 * Runs a Job's command on this machine: in a fresh temporary folder, with nothing of this process's environment but
 * PATH, as a process group of its own that is ended as a whole, also when the hub is killed. It keeps honest commands
 * apart; it is no sandbox.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Clock } from "../deliveries/clock.ts";
import { toError } from "../errors.ts";
import { guardJob } from "./job-guard.ts";
import { type JobLog, MAX_LINE } from "./job-log.ts";

/** Between the polite end and the other one. */
const GRACE_MS = 3_000;
/** For what stands in the pipes when it has ended. */
const LAST_WORDS_MS = 1_000;

export interface Command {
  command: readonly string[];
  env: Record<string, string>;
  timeoutMs: number;
}

/** How it ended: `problem` is null when it ended well. */
export interface JobEnd {
  problem: string | null;
}

export async function runProcess(
  { command, env, timeoutMs }: Command,
  { log, clock, signal, path }: { log: JobLog; clock: Clock; signal: AbortSignal; path: string },
): Promise<JobEnd> {
  const folder = await mkdtemp(join(tmpdir(), "hubhook-job-"));
  const guard = guardJob(folder);
  let cancelTimer = () => {};
  let stopped: string | null = null;
  try {
    const [file = "", ...args] = command;
    const child = spawn(file, args, {
      cwd: folder,
      env: { PATH: path, HOME: folder, TMPDIR: folder, LANG: "C.UTF-8", ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    if (child.pid !== undefined) guard.watch(child.pid);
    const stop = (why: string) => {
      if (stopped !== null) return;
      stopped = why;
      endGroup(child, "SIGTERM");
      const cancel = clock.setTimer(() => endGroup(child, "SIGKILL"), GRACE_MS);
      child.once("close", cancel);
    };
    cancelTimer = clock.setTimer(() => stop(`it ran longer than its time limit of ${timeoutMs / 1000} s`), timeoutMs);
    const onAbort = () => stop(toError(signal.reason).message);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await ended(child, log, () => stopped);
    } finally {
      signal.removeEventListener("abort", onAbort);
      // What it left in the background ends with it.
      endGroup(child, "SIGKILL");
    }
  } catch (error) {
    // Not every refusal of the system comes as an event.
    return { problem: startProblem(toError(error), env) };
  } finally {
    cancelTimer();
    guard.release();
    // What the Job made undeletable stays; that it ended well is still true.
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}

function ended(child: ChildProcess, log: JobLog, stopped: () => string | null): Promise<JobEnd> {
  for (const stream of [child.stdout, child.stderr]) if (stream) readLines(stream, (line) => log.add(line));
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ problem: startProblem(error) }));
    child.once("exit", () => {
      // Whoever it left behind may hold its output open for ever, and one that left its group is not ended with it.
      setTimeout(() => endGroup(child, "SIGKILL"), 100).unref();
      const closePipes = () => child.stdio.forEach((stream) => void stream?.destroy());
      const timer = setTimeout(closePipes, LAST_WORDS_MS);
      child.once("close", () => clearTimeout(timer));
    });
    child.once("close", (code, killedBy) => {
      const problem =
        stopped() ?? (code === 0 ? null : killedBy ? `it was ended by ${killedBy}` : `it ended with exit code ${code}`);
      resolve({ problem });
    });
  });
}

/** A line ends when the Job says so, or never: no more of it is held than is kept, and reading goes on. */
function readLines(stream: Readable, add: (line: string) => void): void {
  let open = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const lines = (open + chunk).split("\n");
    open = (lines.pop() ?? "").slice(0, MAX_LINE);
    for (const line of lines) add(line.replace(/\r$/, ""));
  });
  stream.on("end", () => {
    if (open !== "") add(open);
  });
}

function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Nobody of the group is left.
  }
}

const START_PROBLEMS: Record<string, string> = {
  ENOENT: "there is no such command on this machine",
  EACCES: "this machine may not run that file: it lacks the permission (chmod +x)",
  EMFILE: "the hub has too many files open to start it: allow it more (ulimit -n), or fewer Jobs at once",
  EAGAIN: "this machine takes no more processes of this user: allow it more (ulimit -u), or fewer Jobs at once",
};

function startProblem(error: NodeJS.ErrnoException, env: Record<string, string> = {}): string {
  const known = START_PROBLEMS[error.code ?? ""];
  if (known !== undefined) return known;
  if (error.code === "E2BIG")
    return `the command and its variables are larger than a command can be given${largest(env)}`;
  return `it could not be started: ${error.message}`;
}

/** A payload of many files is what mostly outgrows it: Linux takes 128 kB in one variable. */
function largest(env: Record<string, string>): string {
  const sizes = Object.entries(env).map(([name, value]) => ({ name, bytes: Buffer.byteLength(value) }));
  const [first] = sizes.sort((a, b) => b.bytes - a.bytes);
  return first ? `: ${first.name} alone has ${first.bytes} bytes, and Linux takes 131,072 in one` : "";
}
