import { describe, expect, it } from "@jest/globals";
import { webhook } from "../../src/receiver/webhook.ts";
import { deliver, gate, LEAST, startTestReceiver } from "../support/receiver.ts";
import { head, openWire } from "../support/wire.ts";

describe("a receiver that is closed", () => {
  it("ends at once when nothing runs, whoever keeps a connection open", async () => {
    const receiver = await startTestReceiver({ env: { SHUTDOWN_GRACE: "1h" } });
    await using idle = await openWire(receiver.port);
    await using used = await openWire(receiver.port);
    await used.send(head("GET /health"));
    expect((await used.answer()).status).toBe(200);
    await receiver.close();
    expect(["end", "reset"]).toContain(await used.ended);
    expect(["end", "reset"]).toContain(await idle.ended);
    await expect(fetch(receiver.url)).rejects.toThrow();
  });

  it("waits for a handler that runs, gives its answer, and aborts nothing before", async () => {
    const door = gate<string>();
    const aborted: boolean[] = [];
    const act = webhook({}, async (_payload, { signal }) => {
      const value = await door.pass();
      aborted.push(signal.aborted);
      return value;
    });
    const receiver = await startTestReceiver({ env: { SHUTDOWN_GRACE: "1h" }, handlers: { act } });
    const answer = deliver(`${receiver.url}/webhooks/act`);
    await door.reached;
    const closed = receiver.close();
    const ready = await fetch(`${receiver.url}/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      expect.objectContaining({ ready: false, running: 1, troubles: [expect.stringContaining("shutting down")] }),
    ]);
    expect((await fetch(`${receiver.url}/health`)).status).toBe(200);
    door.open("done in time");
    expect(await (await answer).json()).toBe("done in time");
    await closed;
    expect(aborted).toEqual([false]);
    expect(receiver.status.lifecycle.signal.aborted).toBe(true);
  });

  it("waits for a handler that goes on after its reply deadline", async () => {
    const door = gate();
    const receiver = await startTestReceiver({
      env: { REPLY_DEADLINE: "10ms", SHUTDOWN_GRACE: "1h" },
      handlers: { act: door.pass },
    });
    expect((await deliver(`${receiver.url}/webhooks/act`)).status).toBe(202);
    let over = false;
    const closed = receiver.close().then(() => {
      over = true;
    });
    expect((await deliver(`${receiver.url}/webhooks/act`)).status).toBe(503);
    expect(over).toBe(false);
    door.open();
    await closed;
  });

  it("takes the body of a delivery that had begun to come", async () => {
    const receiver = await startTestReceiver({ env: { SHUTDOWN_GRACE: "1h" } });
    await using wire = await openWire(receiver.port);
    const body = JSON.stringify(LEAST);
    await wire.send(
      head("POST /webhooks/echo", {
        "Content-Type": "application/json",
        "Content-Length": body.length,
        Expect: "100-continue",
      }),
    );
    expect((await wire.answer()).status).toBe(100);
    const closed = receiver.close();
    await wire.send(body);
    expect((await wire.answer()).status).toBe(200);
    await closed;
  });

  it("waits no longer than SHUTDOWN_GRACE, then aborts the handler's signal and ends the connection", async () => {
    const aborted = Promise.withResolvers<unknown>();
    const reached = Promise.withResolvers<void>();
    const act = webhook({}, (_payload, { signal }) => {
      reached.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          aborted.resolve(signal.reason);
          reject(signal.reason);
        });
      });
    });
    const receiver = await startTestReceiver({ env: { SHUTDOWN_GRACE: "50ms" }, handlers: { act } });
    const answer = deliver(`${receiver.url}/webhooks/act`).then(
      ({ status }) => status,
      () => "cut off",
    );
    await reached.promise;
    await receiver.close();
    expect(await aborted.promise).toMatchObject({ message: expect.stringContaining("shutting down") });
    expect([500, "cut off"]).toContain(await answer);
    await receiver.idle();
  });

  it("waits no longer either for a sender that never ends its body", async () => {
    const receiver = await startTestReceiver({ env: { SHUTDOWN_GRACE: "50ms" } });
    await using wire = await openWire(receiver.port);
    await wire.send(head("POST /webhooks/echo", { "Content-Type": "application/json", "Content-Length": 100 }));
    await wire.send(head("POST"));
    await receiver.close();
    expect(["end", "reset"]).toContain(await wire.ended);
  });

  it("may be closed again, by two at once, and is closed for both", async () => {
    const door = gate();
    const receiver = await startTestReceiver({ handlers: { act: door.pass } });
    const answer = deliver(`${receiver.url}/webhooks/act`);
    await door.reached;
    const both = Promise.all([receiver.close(), receiver.close()]);
    door.open();
    await both;
    await receiver.close();
    expect((await answer).status).toBe(204);
  });

  it("does not disturb another one in the same process", async () => {
    const one = await startTestReceiver();
    const other = await startTestReceiver();
    await one.close();
    expect((await deliver(`${other.url}/webhooks/echo`)).status).toBe(200);
  });
});

describe("idle", () => {
  it("resolves when no handler runs any more", async () => {
    const door = gate();
    const receiver = await startTestReceiver({ handlers: { act: door.pass } });
    await receiver.idle();
    const answer = deliver(`${receiver.url}/webhooks/act`);
    await door.reached;
    let quiet = false;
    const idle = receiver.idle().then(() => {
      quiet = true;
    });
    await fetch(`${receiver.url}/health`);
    expect(quiet).toBe(false);
    door.open();
    await idle;
    expect((await answer).status).toBe(204);
  });
});
