import { statSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { delivery, gate, openTest } from "../support/deliveries.ts";

describe("accepting", () => {
  it("gives every delivery an id that sorts by arrival and fits into a URL", async () => {
    const { inbox } = openTest();
    const ids: string[] = [];
    for (let i = 0; i < 50; i++) ids.push((await inbox.accept(delivery(`${i}`))).id);
    expect(new Set(ids).size).toBe(50);
    expect([...ids].sort()).toEqual(ids);
    expect(ids.every((id) => /^[0-9a-v]{11}$/.test(id))).toBe(true);
  });

  it("keeps payload, headers and what the event was about", async () => {
    const { inbox } = openTest({ held: true });
    const { id } = await inbox.accept(
      delivery('{"ö":"\\u0000 𝄞"}', { key: "k", serial: "s", headers: { "user-agent": "x" } }),
    );
    expect(inbox.get(id)).toMatchObject({
      id,
      receiver: "train",
      key: "k",
      serial: "s",
      scope: "repo.content",
      action: "update",
      repo: "dataset:me/texts",
      payload: '{"ö":"\\u0000 𝄞"}',
      headers: { "user-agent": "x" },
      state: "pending",
      attempts: 0,
      record: [],
    });
    expect(inbox.get("00000000000")).toBeUndefined();
    expect(inbox.get("no id at all")).toBeUndefined();
  });

  it("keeps the folder and the file from other users", () => {
    const { file } = openTest();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  });

  it("refuses a payload over the limit", async () => {
    const { inbox } = openTest({ settings: { payloadBytes: 10 } });
    await expect(inbox.accept(delivery("ééééé"))).resolves.toMatchObject({ outcome: "accepted" });
    await expect(inbox.accept(delivery("éééééé"))).rejects.toMatchObject({ status: 413, code: "payload_too_large" });
  });

  it("does not let one broken delivery refuse the others of its turn", async () => {
    const { inbox } = openTest({ held: true });
    const broken = { ...delivery("b"), scope: Symbol("no text") as unknown as string };
    const results = await Promise.allSettled([
      inbox.accept(delivery("a")),
      inbox.accept(broken),
      inbox.accept(delivery("c")),
    ]);
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(inbox.stats().pending).toBe(2);
    expect(inbox.health()).toEqual({ ok: true });
  });
});

describe("a backlog that is full", () => {
  it("is answered 503 with a time to come back, and nothing of it is taken", async () => {
    const { inbox } = openTest({ held: true, settings: { backlog: { count: 2, bytes: 1e6 } } });
    const results = await Promise.allSettled(["a", "b", "c"].map((payload) => inbox.accept(delivery(payload))));
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    await expect(inbox.accept(delivery("d"))).rejects.toMatchObject({
      status: 503,
      code: "backlog_full",
      headers: { "Retry-After": "30" },
    });
    expect(() => inbox.assertRoom()).toThrow("too many deliveries are waiting");
    expect(await inbox.count()).toBe(2);
    expect(inbox.stats()).toMatchObject({ pending: 2, totals: { accepted: 2, refused: 2 } });
  });

  it("counts bytes too, and has room again when deliveries have finished", async () => {
    const { inbox } = openTest({ held: true, settings: { backlog: { count: 100, bytes: 10 } } });
    await inbox.accept(delivery("12345678"));
    await expect(inbox.accept(delivery("1234"))).rejects.toMatchObject({ code: "backlog_full" });
    inbox.start();
    await inbox.idle();
    await expect(inbox.accept(delivery("1234"))).resolves.toMatchObject({ outcome: "accepted" });
  });

  it("still recognises what it knows", async () => {
    const { inbox } = openTest({ held: true, settings: { backlog: { count: 1, bytes: 1e6 } } });
    const first = await inbox.accept(delivery("a", { key: "k" }));
    expect(await inbox.accept(delivery("a", { key: "k" }))).toEqual({ id: first.id, outcome: "known" });
  });
});

describe("a sender's id that was seen before", () => {
  it("runs 50 duplicates that arrive at once exactly once", async () => {
    const { inbox, ran } = openTest();
    const answers = await Promise.all(Array.from({ length: 50 }, () => inbox.accept(delivery("a", { key: "k" }))));
    await inbox.idle();
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(answers.filter(({ outcome }) => outcome === "accepted")).toHaveLength(1);
    expect(answers.filter(({ outcome }) => outcome === "known")).toHaveLength(49);
    expect(ran).toEqual(["a#1"]);
  });

  it("is known while it waits or runs, and a duplicate once it has succeeded", async () => {
    const [begun, end] = [gate(), gate()];
    const test = openTest({
      held: true,
      attempt: () => {
        begun.open();
        return end.promise;
      },
    });
    const { inbox } = test;
    const { id } = await inbox.accept(delivery("a", { key: "k" }));
    expect(await inbox.accept(delivery("a", { key: "k" }))).toEqual({ id, outcome: "known" });
    inbox.start();
    await begun.promise;
    expect(inbox.get(id)?.state).toBe("running");
    expect(await inbox.accept(delivery("a", { key: "k" }))).toEqual({ id, outcome: "known" });
    end.open();
    await inbox.idle();
    expect(await inbox.accept(delivery("a", { key: "k" }))).toEqual({ id, outcome: "duplicate" });
    await inbox.idle();
    expect(test.ran).toEqual(["a#1"]);
  });

  it("runs again under the same id when the receiver wants that", async () => {
    const { inbox, ran } = openTest();
    const { id } = await inbox.accept(delivery("a", { key: "k" }));
    await inbox.idle();
    expect(await inbox.accept(delivery("a", { key: "k", rerun: true }))).toEqual({ id, outcome: "accepted" });
    await inbox.idle();
    expect(ran).toEqual(["a#1", "a#2"]);
    expect(inbox.stats()).toMatchObject({ pending: 0, succeeded: 1 });
  });

  it("runs again with a fresh schedule after it had failed", async () => {
    const test = openTest({
      settings: { scheduleMs: [1000] },
      attempt: () => {
        throw new Error("no");
      },
    });
    const { inbox, clock } = test;
    const { id } = await inbox.accept(delivery("a", { key: "k" }));
    await inbox.idle();
    clock.advance(1000);
    await inbox.idle();
    expect(inbox.get(id)?.state).toBe("failed");
    expect(await inbox.accept(delivery("a", { key: "k" }))).toEqual({ id, outcome: "accepted" });
    await inbox.idle();
    expect(inbox.get(id)).toMatchObject({ state: "pending", attempts: 3 });
    clock.advance(1000);
    await inbox.idle();
    expect(inbox.get(id)).toMatchObject({ state: "failed", attempts: 4 });
    expect(inbox.get(id)?.record.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  });

  it("belongs to one receiver", async () => {
    const { inbox, ran } = openTest();
    const answers = await Promise.all([
      inbox.accept(delivery("a", { key: "k" })),
      inbox.accept(delivery("b", { key: "k", receiver: "other" })),
      inbox.accept(delivery("c")),
      inbox.accept(delivery("c")),
    ]);
    await inbox.idle();
    expect(answers.map(({ outcome }) => outcome)).toEqual(["accepted", "accepted", "accepted", "accepted"]);
    expect(ran).toEqual(["a#1", "b#1", "c#1", "c#1"]);
  });

  it("is recognised after a restart, among tens of thousands", async () => {
    const test = openTest({ held: true });
    const accept = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, (_, i) => test.inbox.accept(delivery("x", { key: `key-${from + i}` }))),
      );
    for (let from = 0; from < 40_000; from += 4_000) await accept(from, from + 4_000);
    const known = async () => (await accept(0, 40_000)).every(({ outcome }) => outcome === "known");
    expect(await known()).toBe(true);
    await test.reopen();
    expect(await known()).toBe(true);
    expect(test.inbox.stats().pending).toBe(40_000);
  });
});
