import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { openDatabase } from "../../src/deliveries/database.ts";
import { openDeliveries } from "../../src/deliveries/deliveries.ts";
import { onCleanup } from "../support/cleanup.ts";
import { checkFile, delivery, gate, openTest, temporaryFolder } from "../support/deliveries.ts";

/** `npm run test:faults` does many more. */
const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 10);
const CHILD = fileURLToPath(new URL("../support/deliveries-child.ts", import.meta.url));

/** The child, and its lines as they come. */
function start(
  folder: string,
  mode: string,
): { child: ChildProcess; lines: string[]; heard(start: string): Promise<void> } {
  const child = spawn(process.execPath, [CHILD, folder, mode], { stdio: ["ignore", "pipe", "inherit"] });
  onCleanup(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  const waiting: { start: string; open: () => void }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    for (const one of waiting) if (line.startsWith(one.start)) one.open();
  });
  return {
    child,
    lines,
    heard: (start) => new Promise((open) => waiting.push({ start, open })),
  };
}

async function killed(child: ChildProcess): Promise<void> {
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}

describe("a process that is killed at any moment", () => {
  it(
    `loses nothing it accepted and runs nothing again that it recorded as done (${ROUNDS} times)`,
    async () => {
      const folder = temporaryFolder();
      const accepted = new Map<string, string>();
      for (let round = 0; round < ROUNDS; round++) {
        const { child, lines, heard } = start(folder, "load");
        await heard("A");
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 150));
        await killed(child);
        for (const [kind, id = "", payload = ""] of lines.map((line) => line.split(" "))) {
          expect(kind).not.toBe("P");
          if (kind === "A") accepted.set(id, payload);
        }
      }
      expect(accepted.size).toBeGreaterThan(ROUNDS * 10);

      const database = openDatabase(join(folder, "inbox.sqlite"));
      const rest: string[] = [];
      const inbox = openDeliveries({
        database,
        attempt: ({ payload }) => void rest.push(payload),
        settings: { scheduleMs: Array.from({ length: 100 }, () => 0) },
      });
      inbox.start();
      await inbox.idle();
      for (let waits = 0; inbox.stats().pending > 0 && waits < 2_000; waits++)
        await new Promise((resolve) => setTimeout(resolve, 5));
      await inbox.idle();
      checkFile(database);
      for (const [id, payload] of accepted) expect(inbox.get(id)).toMatchObject({ payload, state: "succeeded" });

      const done = new Set<string>();
      for (const line of readFileSync(join(folder, "runs"), "utf8").split("\n")) {
        const [kind, payload = ""] = line.split(" ");
        if (kind === "S") done.add(payload);
        else expect(done.has(payload)).toBe(false);
      }
      expect(done.size).toBeGreaterThan(0);
      expect(rest.filter((payload) => done.has(payload))).toEqual([]);
      await inbox.close();
      database.close();
    },
    Math.max(60_000, ROUNDS * 3_000),
  );

  it("gives up a delivery that kills it each time, and serves the others", async () => {
    const folder = temporaryFolder();
    for (let round = 0; round < 3; round++) {
      const { child } = start(folder, "poison");
      const [, signal] = await once(child, "close");
      expect(signal).toBe("SIGKILL");
    }
    const inbox = openDeliveries({
      file: join(folder, "inbox.sqlite"),
      attempt: () => undefined,
      settings: { scheduleMs: [0, 0] },
    });
    const [poison] = (await inbox.list()).deliveries;
    expect(inbox.get(poison?.id ?? "")).toMatchObject({
      state: "failed",
      attempts: 3,
      error: "the process died during this attempt",
      record: [{ outcome: "interrupted" }, { outcome: "interrupted" }, { outcome: "interrupted" }],
    });
    const { id } = await inbox.accept(delivery("fine"));
    inbox.start();
    await inbox.idle();
    expect(inbox.get(id)?.state).toBe("succeeded");
    await inbox.close();
  });

  it("holds its folder until then, and not longer", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "inbox.sqlite");
    const { child, heard } = start(folder, "hold");
    await heard("open");
    expect(() => openDeliveries({ file, attempt: () => undefined })).toThrow(`the folder ${folder} is in use`);
    await killed(child);
    const inbox = openDeliveries({ file, attempt: () => undefined });
    await inbox.close();
  });
});

describe("a disk that cannot be written", () => {
  /** An inbox whose file may not grow beyond so many pages: SQLite then answers as for a full disk. */
  function limited() {
    const file = join(temporaryFolder(), "inbox.sqlite");
    const database = openDatabase(file);
    const hold = gate();
    const test = openTest({ database, attempt: () => hold.promise, settings: { concurrency: 2 } });
    const pages = () => Number(database.prepare("PRAGMA page_count").get<{ page_count: number }>()?.page_count);
    return {
      ...test,
      database,
      hold,
      fill: (more: number) => database.exec(`PRAGMA max_page_count = ${pages() + more}`),
      free: () => database.exec("PRAGMA max_page_count = 1000000"),
    };
  }

  it("answers 503, says so until it can be written again, and keeps what was accepted", async () => {
    const { inbox, clock, database, hold, fill, free, problems } = limited();
    const before = await Promise.all(
      ["a", "b", "c"].map((payload) => inbox.accept(delivery(payload, { key: payload }))),
    );
    fill(5);
    const turn = await Promise.allSettled([
      inbox.accept(delivery("small", { key: "small" })),
      inbox.accept(delivery("x".repeat(100_000), { key: "large" })),
    ]);
    for (const result of turn)
      expect(result).toMatchObject({
        status: "rejected",
        reason: { status: 503, code: "storage_unavailable", headers: { "Retry-After": "30" } },
      });
    expect(inbox.health()).toMatchObject({ ok: false, problem: expect.stringContaining("cannot be written") });
    expect(problems).toHaveLength(1);
    checkFile(database);

    // What has ended meanwhile is written as soon as that is possible, and not forgotten.
    database.exec("PRAGMA query_only = 1");
    hold.open();
    await expect(inbox.accept(delivery("d"))).rejects.toMatchObject({ status: 503 });
    clock.advance(5_000);
    expect(inbox.health().ok).toBe(false);
    database.exec("PRAGMA query_only = 0");
    free();
    clock.advance(1_000);
    await inbox.idle();
    expect(inbox.health()).toEqual({ ok: true });
    expect(before.map(({ id }) => inbox.get(id)?.state)).toEqual(["succeeded", "succeeded", "succeeded"]);
    expect(inbox.stats()).toMatchObject({ succeeded: 3, pending: 0, running: 0, totals: { refused: 3 } });
    // What was refused left no trace: its key is new.
    expect(await inbox.accept(delivery("small", { key: "small" }))).toMatchObject({ outcome: "accepted" });
    await inbox.idle();
    expect(inbox.get(before[0]?.id ?? "")?.record).toHaveLength(1);
    checkFile(database);
  });

  it("still records the ends of attempts when there is room for those alone", async () => {
    const { inbox, hold, fill, database } = limited();
    const accepted = await Promise.all(["a", "b"].map((payload) => inbox.accept(delivery(payload))));
    fill(2);
    hold.open();
    await expect(inbox.accept(delivery("x".repeat(100_000)))).rejects.toMatchObject({ code: "storage_unavailable" });
    await inbox.idle();
    expect(inbox.health().ok).toBe(false);
    expect(accepted.map(({ id }) => inbox.get(id)?.state)).toEqual(["succeeded", "succeeded"]);
    checkFile(database);
  });

  it("that is a small file system filled to the last byte loses nothing", async () => {
    const folder = temporaryFolder();
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], { stdio: "ignore" });
    } catch {
      return; // Only root may mount; the tests above cover the same with a limited file.
    }
    onCleanup(() => void execFileSync("umount", [folder]));
    const file = join(folder, "data", "inbox.sqlite");
    const test = openTest({ file, held: true });
    const ids: string[] = [];
    const fill = async () => {
      for (let n = 0; n < 1_000; n++) {
        try {
          ids.push((await test.inbox.accept(delivery("x".repeat(20_000), { key: `${n}` }))).id);
        } catch (error) {
          return error;
        }
      }
    };
    expect(await fill()).toMatchObject({ status: 503, code: "storage_unavailable" });
    expect(ids.length).toBeGreaterThan(10);
    expect(test.inbox.health().ok).toBe(false);
    execFileSync("mount", ["-o", "remount,size=20m", folder]);
    await test.reopen();
    test.inbox.start();
    await test.inbox.idle();
    expect(ids.map((id) => test.inbox.get(id)?.state)).toEqual(ids.map(() => "succeeded"));
    expect(await test.inbox.count()).toBe(ids.length);
  });
});
