import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { type Database, openDatabase } from "../../src/deliveries/database.ts";
import { delivery, type Gate, gate, openTest, temporaryFolder, turn, until } from "../support/deliveries.ts";

/** An inbox on a disk that takes as long as the test wants, or fails. */
function slowDisk(options: Parameters<typeof openTest>[0] = {}) {
  const real = openDatabase(join(temporaryFolder(), "inbox.sqlite"));
  const waits: Gate[] = [];
  const database: Database = {
    ...real,
    toDisk: () => {
      const wait = gate();
      waits.push(wait);
      return wait.promise.then(real.toDisk);
    },
  };
  const answered: string[] = [];
  const test = openTest({ database, ...options });
  const accept = (payload: string) =>
    test.inbox.accept(delivery(payload, { key: payload })).finally(() => answered.push(payload));
  return { ...test, waits, answered, accept };
}

describe("the wait for the disk", () => {
  it("comes before the answer, and is shared by all that came during the one before", async () => {
    const { inbox, waits, answered, accept, ran } = slowDisk();
    const first = accept("a");
    await until(() => waits.length === 1);
    const others = ["b", "c"].map(accept);
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(answered).toEqual([]);
    expect(ran).toEqual([]);

    waits[0]?.open();
    await first;
    expect(answered).toEqual(["a"]);
    await until(() => waits.length === 2);
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(answered).toEqual(["a"]);
    waits[1]?.open();
    await Promise.all(others);
    for (let open = 2; !answered.includes("idle"); open++) {
      const quiet = inbox.idle().then(() => answered.push("idle"));
      await Promise.race([quiet, until(() => waits.length > open)]);
      waits[open]?.open();
    }
    expect(ran).toEqual(["a#1", "b#1", "c#1"]);
  });

  it("holds up no attempt and no end of one, which come to the disk a moment later", async () => {
    const running: Gate[] = [];
    const { inbox, clock, waits, accept, ran } = slowDisk({
      settings: { concurrency: 1 },
      attempt: () => {
        const one = gate();
        running.push(one);
        return one.promise;
      },
    });
    const accepted = Promise.all(["a", "b", "c"].map(accept));
    await until(() => waits.length === 1);
    waits[0]?.open();
    const [first] = await accepted;
    await until(() => running.length === 1);
    running[0]?.open();
    await until(() => running.length === 2);
    expect(ran).toEqual(["a#1", "b#1"]);
    expect(inbox.get(first?.id ?? "")?.state).toBe("succeeded");
    expect(waits).toHaveLength(1);

    clock.advance(100);
    expect(waits).toHaveLength(2);
    running[1]?.open();
    await until(() => running.length === 3);
    waits[1]?.open();
    running[2]?.open();
    // Nothing more runs that would bring the last end to the disk along with it.
    await until(() => waits.length === 3);
    waits[2]?.open();
    await inbox.idle();
    expect(inbox.stats()).toMatchObject({ succeeded: 3, running: 0 });
  });

  it("that fails is a 503, told until one succeeds; what came with it is known by its key", async () => {
    const { inbox, clock, waits, accept, problems } = slowDisk();
    const refused = accept("a");
    await until(() => waits.length === 1);
    waits[0]?.fail(Object.assign(new Error("disk I/O error: EIO"), { errcode: 10 }));
    await expect(refused).rejects.toMatchObject({ status: 503, code: "storage_unavailable" });
    expect(inbox.health()).toMatchObject({ ok: false, problem: expect.stringContaining("EIO") });
    expect(problems).toHaveLength(1);

    const again = accept("a");
    for (let open = 1; !inbox.health().ok; open++) {
      await until(() => waits.length > open);
      waits[open]?.open();
      clock.advance(1_000);
      await turn();
    }
    expect((await again).outcome).not.toBe("accepted");
    expect(inbox.health()).toEqual({ ok: true });
    expect(problems).toHaveLength(2);
  });

  it("is cut short by a stop in good order, which brings all to the disk itself", async () => {
    const { inbox, waits, answered, accept, reopen } = slowDisk({ held: true });
    const accepted = [accept("a")];
    await until(() => waits.length === 1);
    accepted.push(accept("b"));
    await inbox.close();
    await Promise.all(accepted);
    expect(answered).toEqual(["a", "b"]);
    waits[0]?.open();
    expect(await (await reopen()).count()).toBe(2);
  });
});
