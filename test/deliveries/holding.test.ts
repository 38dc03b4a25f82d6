import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "@jest/globals";
import { Holding } from "../../src/deliveries/holding.ts";
import type { Candidate } from "../../src/deliveries/runs.ts";
import { until } from "../support/deliveries.ts";

function candidate(id: number, receiver: number): Candidate {
  const words = { key: null, serial: null, scope: "repo", action: "update", repo: "model:me/m" };
  const numbers = { state: 0, attempts: 0, tries: 0, created: id, replayOf: null, bytes: 1 };
  return { id, receiver, headers: {}, payload: "x", ...words, ...numbers };
}

describe("what is held in memory", () => {
  it("goes when it is taken, also while an older one of a slow receiver stays", async () => {
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    const holding = new Holding();
    holding.add(candidate(1, 1), 0);
    const passed: WeakRef<Candidate>[] = [];
    const pass = (id: number) => {
      holding.add(candidate(id, 2), id);
      const taken = holding.take(2);
      if (taken) passed.push(new WeakRef(taken));
    };
    for (let id = 2; id <= 100; id++) pass(id);
    expect(passed).toHaveLength(99);
    await until(() => {
      collect();
      return passed.every((one) => one.deref() === undefined);
    });
    expect(holding).toMatchObject({ size: 1, oldest: { id: 1 } });
  });

  it("is let go of when too many others were looked at since", () => {
    const holding = new Holding();
    holding.add(candidate(1, 1), 0);
    holding.add(candidate(2, 1), 1);
    expect(holding.takeOverdue(65_536)).toBeUndefined();
    expect(holding.takeOverdue(65_537)?.id).toBe(1);
    expect(holding.takeOverdue(65_537)).toBeUndefined();
    expect(holding.receivers()).toEqual([1]);
  });
});
