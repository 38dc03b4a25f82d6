/**
 * The Hub's official Python client and its `hf` command against a hub of ours, and beside our own command line:
 * `npm run test:clients`. They come from the package index into a virtual environment; without Python or the index this
 * is skipped, and says so.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startHub } from "../../src/hub/hub.ts";
import { createSilentLogger } from "../../src/logger.ts";
import { startTarget } from "../support/target.ts";

const CLIENT = "huggingface_hub==2.4.0";
const folder = mkdtempSync(join(tmpdir(), "hubhook-clients-"));

try {
  const missing = install();
  if (missing === null) process.exitCode = await run();
  else process.stdout.write(`skipped: ${missing}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Why the client cannot be had; null when it is there. */
function install(): string | null {
  const quiet = { encoding: "utf8", timeout: 180_000 } as const;
  const venv = spawnSync("python3", ["-m", "venv", join(folder, "venv")], quiet);
  if (venv.status !== 0) return `python3 with venv is not there (${venv.error?.message ?? venv.stderr.trim()})`;
  const pip = spawnSync(bin("pip"), ["install", "--quiet", "--disable-pip-version-check", CLIENT], quiet);
  if (pip.status === 0) return null;
  return `${CLIENT} cannot be had from the package index (${pip.stderr.trim().split("\n").at(-1) ?? "no reason given"})`;
}

function bin(name: string): string {
  return join(folder, "venv", "bin", name);
}

async function run(): Promise<number> {
  await using target = await startTarget({ status: 200, body: "thanks" });
  const users = ["alice", "bob"].map((name) => ({ name, token: `hf_${name}` }));
  const dataDir = join(folder, "data");
  const home = join(folder, "home");
  mkdirSync(home);
  const hub = await startHub({
    dataDir,
    settings: { port: 0, users, jobs: "process", rateLimit: 200, scheduleMs: [] },
    log: createSilentLogger(),
    version: "0.0.0",
  });
  const { spawn } = await import("node:child_process");
  const child = spawn(bin("python"), [join(import.meta.dirname, "official.py")], {
    stdio: "inherit",
    env: {
      PATH: `${join(folder, "venv", "bin")}:${process.env.PATH}`,
      HOME: home,
      HF_HOME: join(home, "hf"),
      HF_ENDPOINT: hub.url,
      HF_TOKEN: "hf_alice",
      TARGET: target.url,
      HUBHOOK: JSON.stringify([process.execPath, resolve(import.meta.dirname, "../../src/cli/hubhook.js")]),
      NO_COLOR: "1",
    },
  });
  const code = await new Promise<number>((resolve) => child.once("close", (ended) => resolve(ended ?? 1)));
  await hub.close();
  return code;
}
