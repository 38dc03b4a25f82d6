/**
 * A hub for the fault tests to kill: `node hub-child.ts <folder> <port of the target>`. It makes a webhook if there is
 * none, publishes without end, and tells on stdout, a line each, what was stored (`A <repo>`) and what became of it
 * (`S <repo>`: its success is on record).
 */
import { writeSync } from "node:fs";
import { startHub } from "../../src/hub/hub.ts";
import { createSilentLogger } from "../../src/logger.ts";

// A test that was itself killed must not leave this behind.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 500).unref();

const [dataDir = ".", target = "", mode = "load"] = process.argv.slice(2);
const hub = await startHub({
  dataDir,
  settings: { port: 0, quota: 1_000_000, scheduleMs: Array<number>(200).fill(5) },
  log: createSilentLogger(),
  version: "0",
});

const headers = { authorization: "Bearer x", "content-type": "application/json" };
async function ask(path: string, body?: unknown) {
  const method = body === undefined ? "GET" : "POST";
  const response = await fetch(hub.url + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

const WEBHOOKS = "/api/settings/webhooks";
if (((await ask(WEBHOOKS)) as unknown[]).length === 0)
  await ask(WEBHOOKS, { url: `http://127.0.0.1:${target}/`, watched: [{ type: "user", name: "me" }] });
tell("open");

if (mode === "drain") {
  const [{ id }] = (await ask(WEBHOOKS)) as [{ id: string }];
  const waits = async () => {
    const { deliveries } = (await ask(`${WEBHOOKS}/${id}/activity?state=pending&limit=1`)) as { deliveries: unknown[] };
    return deliveries.length > 0;
  };
  do await hub.idle();
  while (await waits());
  await hub.close();
  tell("closed");
} else
  for (let n = 0; ; n += 10) {
    const names = Array.from({ length: 10 }, (_, i) => `me/r${process.pid}-${n + i}`);
    const events = names.map((name) => ({ event: { scope: "repo", action: "update" }, repo: { type: "model", name } }));
    await ask("/api/hub/events", { events });
    for (const name of names) tell(`A ${name}`);
  }

function tell(line: string): void {
  writeSync(1, `${line}\n`);
}
