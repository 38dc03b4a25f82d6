/** A disk without room under the hub: a small file system, which only root may mount. */
import { execFileSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { onCleanup } from "../support/cleanup.ts";
import { testClock } from "../support/clock.ts";
import { temporaryFolder } from "../support/deliveries.ts";
import { activityOf, addWebhook, publish, startTestHub, WEBHOOKS } from "../support/hub.ts";
import { startTarget } from "../support/target.ts";

/** A folder on a file system of its own, and how to fill that and to make room again; null where that is not allowed. */
function smallDisk() {
  const folder = temporaryFolder();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return null;
  }
  onCleanup(() => void execFileSync("umount", [folder]));
  const filler = join(folder, "filler");
  return {
    dataDir: join(folder, "data"),
    fill() {
      for (let bytes = 4_000_000; bytes >= 1; bytes = Math.floor(bytes / 2))
        try {
          writeFileSync(filler, "x".repeat(bytes), { flag: "a" });
        } catch {
          // Less of it may fit.
        }
    },
    free: () => rmSync(filler),
  };
}

describe("a hub whose disk is full", () => {
  it("refuses what it cannot keep with 503, goes on when there is room again, and loses nothing", async () => {
    const disk = smallDisk();
    if (!disk) return;
    await using target = await startTarget({ status: 500 }, { status: 200 });
    const clock = testClock();
    const test = await startTestHub({ jobs: "process" }, { dataDir: disk.dataDir, clock });
    const { api, hub } = test;
    const id = await addWebhook(api, { url: target.url });
    await publish(api, "repo:update").expect(202);
    await hub.idle();
    const gate = join(temporaryFolder(), "gate");
    const command = ["sh", "-c", `while [ ! -e ${gate} ]; do sleep 0.02; done; echo done`];
    const job = (await api.post("/api/jobs/me", { dockerImage: "x", command }).expect(200)).body.id as string;
    disk.fill();

    const filler = "x".repeat(300_000);
    const [first] = await activityOf(api, id);
    expect((await api.get("/ready").expect(200)).body).toEqual({ ready: true, troubles: [] });
    const published = await publish(api, "repo:create", "model:me/large", { filler }).expect(503);
    expect(published.headers["retry-after"]).toBe("30");
    const unready = await test.as(null).get("/ready").expect(503);
    expect(unready.body).toEqual({
      ready: false,
      troubles: [expect.stringContaining("events cannot be stored since")],
    });
    await api.get("/health").expect(200);
    const watched = Array.from({ length: 1_000 }, (_, n) => ({ type: "model", name: `me/${"m".repeat(80)}${n}` }));
    for (const refused of [
      api.post(WEBHOOKS, { watched, url: target.url }),
      api.post(`${WEBHOOKS}/${id}`, { watched }),
      api.post("/api/jobs/me", { dockerImage: "x", command: ["true"], environment: { A: filler } }),
    ]) {
      const { body, headers } = await refused.expect(503);
      expect(body).toMatchObject({
        code: "storage_unavailable",
        error: expect.stringContaining("nothing was changed"),
      });
      expect(headers["x-error-message"]).toBe(body.error);
    }
    expect((await api.get(WEBHOOKS).expect(200)).body).toMatchObject([{ id, watched: [{ type: "user", name: "me" }] }]);

    writeFileSync(gate, "");
    const ended = await api.get(`/api/jobs/me/${job}/logs`).expect(200);
    expect(ended.text).toContain("done");
    const shown = async () => (await api.get(`/api/jobs/me/${job}`).expect(200)).body.status.stage;
    expect(await shown()).toBe("COMPLETED");

    disk.free();
    clock.advance(5_000);
    await target.received(2);
    await publish(api, "repo:create", "model:me/large", { filler }).expect(202);
    await hub.idle();
    await api.get("/ready").expect(200);
    await test.restart();
    expect(await activityOf(api, id)).toMatchObject([
      { state: "succeeded", event: { action: "create" } },
      { id: first?.id, state: "succeeded", attempts: [{ status: 500 }, { status: 200 }] },
    ]);
    expect(target.requests).toHaveLength(3);
    expect(await shown()).toBe("COMPLETED");
    expect(existsSync(gate)).toBe(true);
  });
});
