import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { type Handler, PermanentError, type WebhookOptions, webhook } from "../../src/receiver/webhook.ts";
import { folderWith } from "../support/cli.ts";
import { deliver, gate, LEAST, SECRET, startTestReceiver, type TestReceiver } from "../support/receiver.ts";

let folder: Awaited<ReturnType<typeof folderWith>>;
beforeEach(async () => {
  folder = await folderWith({});
});
afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

const keeping = (
  act: Handler,
  { env = {}, options = {} }: { env?: Record<string, string>; options?: WebhookOptions } = {},
) =>
  startTestReceiver({
    env: { DATA_DIR: join(folder.path, "data"), RETRY_SCHEDULE: "1ms", ...env },
    handlers: { act: webhook({ mode: "background", ...options }, act) },
  });

const post = async (receiver: TestReceiver, body: unknown = LEAST, headers: Record<string, string> = {}) => {
  const answer = await deliver(`${receiver.url}/webhooks/act`, body, headers);
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> };
};

describe("background mode", () => {
  it("answers 202 with the delivery before the handler has run, and runs it after that", async () => {
    const door = gate();
    const seen: unknown[] = [];
    const receiver = await keeping(async (payload, { attempt, deliveryId, headers }) => {
      await door.pass();
      seen.push({ payload, attempt, deliveryId, agent: headers["user-agent"] });
    });
    const { status, body } = await post(receiver, { ...LEAST, more: 1 }, { "user-agent": "hub" });
    expect([status, body]).toEqual([202, { delivery: expect.any(String) }]);
    expect(seen).toEqual([]);
    door.open();
    await receiver.idle();
    expect(seen).toEqual([{ payload: { ...LEAST, more: 1 }, attempt: 1, deliveryId: body.delivery, agent: "hub" }]);
  });

  it("stores once what comes twice under one id, and says so when it has succeeded", async () => {
    const door = gate();
    let runs = 0;
    const receiver = await keeping(() => {
      runs++;
      return door.pass();
    });
    const first = await post(receiver, LEAST, { "webhook-id": "w1" });
    const again = await post(receiver, LEAST, { "webhook-id": "w1" });
    expect([first.status, again.status, again.body]).toEqual([202, 202, first.body]);
    door.open();
    await receiver.idle();
    expect(await post(receiver, LEAST, { "webhook-id": "w1" })).toMatchObject({
      status: 200,
      body: { ...first.body, duplicate: true },
    });
    expect(runs).toBe(1);
  });

  it("stores neither what the filter leaves out nor what lacks what it promises", async () => {
    let runs = 0;
    const receiver = await keeping(() => void runs++, { options: { on: "discussion:create" } });
    expect(await post(receiver)).toMatchObject({ status: 200, body: { ignored: true } });
    expect(await post(receiver, { ...LEAST, event: { scope: "discussion", action: "create" } })).toMatchObject({
      status: 422,
      body: { code: "payload_invalid" },
    });
    await receiver.idle();
    expect(runs).toBe(0);
  });

  it("refuses with 503 when the backlog is full: after the size is checked, before the body is read", async () => {
    const door = gate();
    const receiver = await keeping(door.pass, {
      env: { BACKLOG_COUNT: "1", BODY_LIMIT: "1kb", WEBHOOK_SECRET: SECRET },
    });
    const known = { "x-webhook-secret": SECRET };
    expect((await post(receiver, LEAST, known)).status).toBe(202);
    const full = await post(receiver, LEAST, known);
    expect([full.status, Number(full.headers.get("retry-after")) > 0]).toEqual([503, true]);
    expect((await post(receiver, "{", known)).status).toBe(503);
    expect((await post(receiver, "x".repeat(2000), known)).status).toBe(413);
    expect((await post(receiver, LEAST, { ...known, "content-type": "text/plain" })).status).toBe(415);
    expect((await post(receiver)).status).toBe(401);
    const ready = await fetch(`${receiver.url}/ready`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining("BACKLOG_COUNT")]);
    door.open();
    await receiver.idle();
    expect((await post(receiver, LEAST, known)).status).toBe(202);
    await receiver.idle();
  });

  it("keeps over a restart what has not run, with neither secret nor token on the disk", async () => {
    const TOKEN = "hf_tokenOfTheOwner";
    const env = { WEBHOOK_SECRET: SECRET, HF_TOKEN: TOKEN, CONCURRENCY: "1", SHUTDOWN_GRACE: "0ms" };
    const known = { "x-webhook-secret": SECRET, authorization: `Bearer ${TOKEN}`, cookie: `a=${SECRET}` };
    const door = gate();
    const first = await keeping(door.pass, { env });
    const ids: unknown[] = [];
    for (let n = 0; n < 3; n++) ids.push((await post(first, { ...LEAST, n }, known)).body.delivery);
    await door.reached;
    await first.close();
    door.open();
    for (const file of await readdir(join(folder.path, "data"))) {
      const bytes = await readFile(join(folder.path, "data", file), "latin1");
      for (const secret of [SECRET, TOKEN]) expect([file, bytes.includes(secret)]).toEqual([file, false]);
    }
    const ran: unknown[] = [];
    const second = await keeping((_payload, { deliveryId }) => void ran.push(deliveryId), { env });
    await second.idle();
    while (ran.length < 3) await new Promise((resolve) => setImmediate(resolve));
    await second.idle();
    expect(ran.sort()).toEqual([...ids].sort());
  });

  it("tries again what failed, never what failed for good, and the log says both", async () => {
    let runs = 0;
    const receiver = await keeping((payload) => {
      runs++;
      if (payload.event.action === "hopeless") throw new PermanentError("no use");
      if (runs === 1) throw new Error("not yet");
    });
    await post(receiver);
    while (runs < 2) await new Promise((resolve) => setImmediate(resolve));
    await receiver.idle();
    await post(receiver, { ...LEAST, event: { action: "hopeless" } });
    await receiver.idle();
    expect(runs).toBe(3);
    expect(receiver.lines).toContainEqual(
      expect.objectContaining({ level: "warn", reason: expect.stringContaining("not yet") }),
    );
    expect(receiver.lines).toContainEqual(
      expect.objectContaining({ level: "error", reason: expect.stringContaining("no use") }),
    );
  });

  it("opens no file where no handler asks for it", async () => {
    const DATA_DIR = join(folder.path, "unused");
    await mkdir(folder.path, { recursive: true });
    const receiver = await startTestReceiver({ env: { DATA_DIR } });
    expect((await deliver(`${receiver.url}/webhooks/echo`)).status).toBe(200);
    await expect(readdir(DATA_DIR)).rejects.toThrow("ENOENT");
  });
});
