import { describe, expect, it } from "@jest/globals";
import { AttemptFailure } from "../../src/deliveries/delivery.ts";
import { delivery, type Gate, gate, openTest } from "../support/deliveries.ts";

/** Lets `size` deliveries run together, of whichever receivers. */
function shared(size: number) {
  let inside = 0;
  let most = 0;
  const refused = new Set<string>();
  return {
    get inside() {
      return inside;
    },
    get most() {
      return most;
    },
    enter(receiver: string) {
      if (inside >= size) {
        refused.add(receiver);
        return 60_000;
      }
      inside++;
      most = Math.max(most, inside);
      return 0;
    },
    leave() {
      inside--;
      const [next] = refused;
      if (next !== undefined) refused.delete(next);
      return next;
    },
  };
}

describe("a gate", () => {
  it("lets only so many run together, of whichever receivers, and lets the next in at once", async () => {
    const door = shared(2);
    const { inbox, ran } = openTest({ settings: { gate: door } });
    await inbox.acceptAll(
      Array.from({ length: 30 }, (_, n) => delivery(`payload ${n}`, { receiver: `receiver ${n % 7}` })),
    );
    await inbox.idle();
    expect(ran).toHaveLength(30);
    expect(door).toMatchObject({ most: 2, inside: 0 });
  });

  it("holds back without using up an attempt, and asks again after the time it was told", async () => {
    let open = false;
    const test = openTest({
      settings: {
        gate: {
          enter: () => (open ? 0 : 5_000),
          leave: () => undefined,
        },
      },
    });
    const { id } = await test.inbox.accept(delivery("a"));
    await test.inbox.idle();
    expect(test.inbox.get(id)).toMatchObject({ state: "pending", attempts: 0 });
    open = true;
    test.clock.advance(4_999);
    await test.inbox.idle();
    expect(test.ran).toEqual([]);
    test.clock.advance(1);
    await test.inbox.idle();
    expect(test.inbox.get(id)).toMatchObject({ state: "succeeded", attempts: 1 });
  });

  it("does not hold up those that it does not mean", async () => {
    const slow: Gate[] = [];
    const test = openTest({
      settings: { gate: { enter: (receiver) => (receiver === "dead" ? 60_000 : 0), leave: () => undefined } },
      attempt: () => {
        const one = gate();
        slow.push(one);
        return one.promise;
      },
    });
    await test.inbox.acceptAll([delivery("a", { receiver: "dead" }), delivery("b", { receiver: "good" })]);
    while (slow.length === 0) await new Promise(setImmediate);
    expect(test.ran).toEqual(["b#1"]);
    for (const one of slow) one.open();
    await test.inbox.idle();
  });
});

describe("what a failed attempt leaves behind", () => {
  it("keeps the response that an AttemptFailure carries, and nothing of other errors", async () => {
    const { inbox } = openTest({
      settings: { scheduleMs: [] },
      attempt: ({ payload }) => {
        if (payload === "answered") throw new AttemptFailure("it said 500", { response: { status: 500 } });
        throw Object.assign(new Error("broken"), { response: { token: "secret" } });
      },
    });
    const [answered, broken] = await inbox.acceptAll([delivery("answered"), delivery("broken")]);
    await inbox.idle();
    expect(inbox.get(answered?.id ?? "")?.record).toMatchObject([{ error: "it said 500", response: { status: 500 } }]);
    expect(inbox.get(broken?.id ?? "")?.record[0]?.response).toBeUndefined();
  });
});
