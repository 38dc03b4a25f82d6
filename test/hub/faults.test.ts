/** `FAULT_ROUNDS=50` kills more often. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "@jest/globals";
import { openDatabase } from "../../src/deliveries/database.ts";
import { onCleanup } from "../support/cleanup.ts";
import { temporaryFolder } from "../support/deliveries.ts";

const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 4);
const CHILD = join(import.meta.dirname, "../support/hub-child.ts");

/** Runs the child until `enough` says so of a line, and kills it there; or to its end. */
async function run(args: string[], enough: (line: string) => boolean): Promise<string[]> {
  const child = spawn(process.execPath, [CHILD, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const closed = once(child, "close");
  const stderr = text(child.stderr);
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (enough(line)) child.kill("SIGKILL");
  }
  const [code, signal] = await closed;
  if (code !== 0 && signal !== "SIGKILL") throw new Error(`the hub ended by itself: ${await stderr}`);
  return lines;
}

describe("a hub that is killed under load", () => {
  it("delivers everything it had stored, and nothing again whose success was on record", async () => {
    const folder = temporaryFolder();
    const received = new Map<string, number>();
    let requests = 0;
    const target = createServer(async (request, response) => {
      const { repo } = JSON.parse(await text(request)) as { repo: { name: string } };
      requests++;
      // Every seventh attempt fails, so that there are always some that wait for another.
      if (requests % 7 === 0) return void response.writeHead(500).end();
      received.set(repo.name, (received.get(repo.name) ?? 0) + 1);
      response.writeHead(200).end();
    }).listen(0, "127.0.0.1");
    await once(target, "listening");
    onCleanup(() => void target.close());
    const port = String((target.address() as AddressInfo).port);

    const stored: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      let left = 20 + Math.floor(Math.random() * 300);
      const lines = await run([folder, port], (line) => line.startsWith("A ") && left-- === 0);
      stored.push(...lines.filter((line) => line.startsWith("A ")).map((line) => line.slice(2)));

      // What the file says at this very moment has succeeded must not be sent again.
      const file = openDatabase(join(folder, "hub.sqlite"));
      const recorded = file.prepare("SELECT repo FROM deliveries WHERE state = 1").all<{ repo: string }>();
      file.close();
      const before = recorded.map(({ repo }) => [repo, received.get(repo.replace("model:", ""))] as const);
      const last = round === ROUNDS - 1;
      if (last) await run([folder, port, "drain"], () => false);
      else await run([folder, port], (line) => line === "open");
      for (const [repo, times] of before)
        expect([repo, received.get(repo.replace("model:", ""))]).toEqual([repo, times]);
    }
    expect(stored.length).toBeGreaterThan(ROUNDS * 10);
    expect(stored.filter((name) => !received.has(name))).toEqual([]);
    target.closeAllConnections();
  }, 60_000);
});
