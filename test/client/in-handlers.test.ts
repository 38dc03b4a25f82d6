import { describe, expect, it } from "@jest/globals";
import type { HandlerContext } from "../../src/receiver/webhook.ts";
import { folderWith, hubhook } from "../support/cli.ts";
import { addWebhook, startTestHub } from "../support/hub.ts";
import { deliver, startTestReceiver } from "../support/receiver.ts";

const URL_A = "https://example.com/a";

/** Switches off whatever it finds. */
const handler = async (_payload: unknown, { webhooks, signal }: HandlerContext) => {
  const [first] = await webhooks.list({ signal });
  return first && (await webhooks.disable(first.id));
};

describe("a handler's context.webhooks", () => {
  it("are those of the hub that the settings name", async () => {
    const { hub, as } = await startTestHub({ users: [{ name: "me", token: "hf_me" }] });
    const id = await addWebhook(as("hf_me"), { url: URL_A });
    const env = { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_me" };
    const receiver = await startTestReceiver({ env, handlers: { off: handler } });
    const answer = await deliver(`${receiver.url}/webhooks/off`);
    expect(await answer.json()).toMatchObject({ id, url: URL_A, status: "disabled" });
  });

  it("are there too where one handler runs once", async () => {
    const { hub, api } = await startTestHub();
    const id = await addWebhook(api, { url: URL_A });
    await using folder = await folderWith({ "handlers/off.js": `export const off = ${handler};` });
    const env = { HF_ENDPOINT: hub.url, HF_TOKEN: "any", HANDLERS_DIR: "handlers" };
    const { code, stdout } = await hubhook(["receive", "off", "--event", "repo:update"], { cwd: folder.path, env });
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { id, status: "disabled" }]);
  });
});
