import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { webhookIdOf } from "../../src/hub/ids.ts";
import { Sender } from "../../src/hub/sender.ts";
import { onCleanup } from "../support/cleanup.ts";
import { testClock } from "../support/clock.ts";

describe("the time limit", () => {
  it("is each attempt's own, whatever began before it and has ended since", async () => {
    const open: ServerResponse[] = [];
    const target = createServer((request, response) => {
      request.resume();
      open.push(response);
      target.emit("taken");
    }).listen(0, "127.0.0.1");
    await once(target, "listening");
    const clock = testClock();
    const sender = new Sender({ timeoutMs: 30_000, connectTimeoutMs: 10_000, loopback: true, allow: [], clock });
    onCleanup(async () => {
      await sender.close();
      target.close();
    });

    const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
    const outcomes: string[] = [];
    const sent: Promise<void>[] = [];
    for (const name of ["first", "second", "third", "fourth"]) {
      const taken = once(target, "taken");
      sent.push(
        sender.send({ url, body: "{}", headers: [] }).then(({ problem }) => {
          outcomes.push(`${name}: ${problem}`);
        }),
      );
      await taken;
      clock.advance(5_000);
    }
    // 20 s have passed. The timer was for the first; the others are still to be found in their places.
    for (const n of [0, 3]) {
      open[n]?.end();
      await sent[n];
    }
    clock.advance(14_999);
    await new Promise(setImmediate);
    expect(outcomes).toEqual(["first: null", "fourth: null"]);
    clock.advance(1);
    await sent[1];
    clock.advance(4_999);
    await new Promise(setImmediate);
    expect(outcomes.slice(2)).toEqual(["second: no answer within 30 s"]);
    expect(clock.timers).toBe(1);
    clock.advance(1);
    await sent[2];
    expect(outcomes.slice(3)).toEqual(["third: no answer within 30 s"]);
    expect(clock.timers).toBe(0);
  });
});

describe("the id of a delivery", () => {
  it("is the same in every version: receivers know by it what they have had", () => {
    const id = webhookIdOf("123e4567-e89b-12d3-a456-426614174000", "65f0a1b2c3d4e5f601234567");
    expect(id).toBe("d20445b9-6e48-8f4e-b4f3-83b5432e256e");
  });
});
