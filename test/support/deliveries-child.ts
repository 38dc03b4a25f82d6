/**
 * A process for the fault tests to kill: `node deliveries-child.ts <folder> load|poison|hold`.
 * It tells on stdout, a line each, what was accepted (`A <id> <payload>`), and writes to `<folder>/runs` what it does:
 * `R <payload>` before an attempt does its work, `S <payload>` once its success is on record.
 */
import { fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openDeliveries } from "../../src/deliveries/deliveries.ts";

// A test that was itself killed must not leave this behind.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 500).unref();

const [folder = ".", mode = "load"] = process.argv.slice(2);
const runs = openSync(join(folder, "runs"), "a");
const payloads = new Map<string, string>();

const inbox = openDeliveries({
  file: join(folder, "inbox.sqlite"),
  settings: { scheduleMs: mode === "poison" ? [0, 0] : Array.from({ length: 100 }, () => 1), concurrency: 8 },
  onProblem: (problem) => tell(`P ${problem}`),
  attempt: async ({ id, payload, attempt }) => {
    payloads.set(id, payload);
    writeSync(runs, `R ${payload}\n`);
    fsyncSync(runs);
    if (payload === "poison") process.kill(process.pid, "SIGKILL");
    if (attempt === 1 && payload.endsWith("7")) throw new Error("once");
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
  },
});
inbox.subscribe(({ id, state }) => {
  if (state === "succeeded") writeSync(runs, `S ${payloads.get(id)}\n`);
});
tell("open");

if (mode === "load") {
  inbox.start();
  for (let n = 0; ; n += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, i) => accept(`${process.pid}-${n + i}`)));
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
  }
} else if (mode === "poison") {
  await accept("poison");
  inbox.start();
  await inbox.idle();
  await inbox.close();
  tell("closed");
} else {
  setInterval(() => {}, 1_000);
}

async function accept(payload: string): Promise<void> {
  const { id, outcome } = await inbox.accept({
    receiver: `receiver-${payload.length % 3}`,
    key: payload,
    serial: payload.endsWith("3") ? "one" : undefined,
    scope: "repo",
    action: "update",
    repo: "model:me/m",
    payload,
  });
  tell(`A ${id} ${payload} ${outcome}`);
}

function tell(line: string): void {
  writeSync(1, `${line}\n`);
}
