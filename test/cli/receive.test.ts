import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { samplePayload } from "../../src/protocol/sample.ts";
import { folderWith, hubhook } from "../support/cli.ts";

const webhookModule = new URL("../../src/receiver/webhook.ts", import.meta.url).href;

const handlers = {
  "greet.ts": `
    export async function greet(payload: { repo: { name: string } }, context) {
      console.log("on the side");
      context.log.info("in the log");
      return { greets: payload.repo.name, id: context.deliveryId, attempt: context.attempt };
    }
    export function silent() {}
    export function forever() { setInterval(() => {}, 1000); return "ran"; }
    export function stuck() { return new Promise(() => {}); }
    export function late() { setTimeout(() => { throw new Error("too late"); }); return new Promise(() => {}); }
    export function fails() { throw new Error("out of paper"); }
    export async function rejects() { throw "a word"; }
    export function unwritable() { return 1n; }`,
  "filtered.ts": `
    import { HttpError, webhook } from ${JSON.stringify(webhookModule)};
    export const comments = webhook({ on: "discussion.comment:create" }, ({ comment }) => comment.content);
    export const busy = webhook({}, () => { throw new HttpError(409, "training already"); });`,
};

describe("hubhook receive", () => {
  let folder: Awaited<ReturnType<typeof folderWith>>;
  const receive = (args: string[], run: { env?: Record<string, string>; input?: string } = {}) =>
    hubhook(["receive", ...args], { cwd: folder.path, ...run, env: { HANDLERS_DIR: "handlers", ...run.env } });

  beforeAll(async () => {
    const files = Object.entries(handlers).map(([name, text]) => [`handlers/${name}`, text]);
    folder = await folderWith({
      ...Object.fromEntries(files),
      "payload.json": JSON.stringify(samplePayload("repo:update", { repo: "dataset:me/data" })),
      "broken/good.ts": "export function good() { return 'ran'; }",
      "broken/bad.ts": "export function bad( {",
    });
  });
  afterAll(async () => folder[Symbol.asyncDispose]());

  it("runs a handler on a payload in a file, with nothing but the result on standard output", async () => {
    const { code, stdout, stderr } = await receive(["greet", "--payload", "payload.json"]);
    expect([code, JSON.parse(stdout)]).toEqual([0, { greets: "me/data", id: expect.any(String), attempt: 1 }]);
    expect(stderr).toContain("on the side");
    expect(stderr).toContain("in the log");
  });

  it("takes the payload from standard input, as trigger prints it", async () => {
    const { stdout: input } = await hubhook(["trigger", "repo:update", "--repo", "space:me/app", "--print"]);
    const { code, stdout } = await receive(["greet", "--payload", "-", "--format", "json"], { input });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\{"greets":"me\/app",.*\}\n$/)]);
  });

  it("runs as a Job does, on WEBHOOK_PAYLOAD under WEBHOOK_ID", async () => {
    const env = { WEBHOOK_PAYLOAD: JSON.stringify(samplePayload("repo:update")), WEBHOOK_ID: "delivery-1" };
    const { code, stdout } = await receive(["/greet"], { env });
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { greets: "me/my-model", id: "delivery-1" }]);
    const option = await receive(["greet", "--event", "repo:update", "--repo", "model:me/other"], { env });
    expect(JSON.parse(option.stdout)).toMatchObject({ greets: "me/other" });
  });

  it("runs on a sample of an event", async () => {
    const args = ["comments", "--event", "discussion.comment:create", "--set", "comment.content=Hello"];
    expect(await receive(args)).toMatchObject({ code: 0, stdout: '"Hello"\n' });
  });

  it("says that the filter left the event out", async () => {
    expect(await receive(["comments", "--event", "repo:update"])).toMatchObject({
      code: 0,
      stdout: '{"ignored":true}\n',
    });
  });

  it("says that nothing was returned", async () => {
    const { code, stdout, stderr } = await receive(["silent", "--event", "repo:update"]);
    expect([code, stdout, stderr]).toEqual([0, "", expect.stringContaining("silent returned nothing")]);
    expect((await receive(["silent", "--event", "repo:update", "--format", "json"])).stdout).toBe("null\n");
  });

  it("ends with the handler, whatever that left running", async () => {
    expect(await receive(["forever", "--event", "repo:update"])).toMatchObject({ code: 0, stdout: '"ran"\n' });
  });

  it("does not take a handler that waits for nothing for one that ended", async () => {
    const { code, stderr } = await receive(["stuck", "--event", "repo:update"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("something is awaited that never ends")]);
  });

  it("tells an unexpected error in a sentence, and where it comes from when asked", async () => {
    const args = ["late", "--event", "repo:update"];
    const sentence = "hubhook: unexpected: too late (--verbose shows where it comes from)\n";
    expect(await receive(args)).toEqual({ code: 1, stdout: "", stderr: sentence });
    const where = expect.stringMatching(/unexpected: too late\nError: too late\n +at /);
    expect(await receive([...args, "--verbose"])).toEqual({ code: 1, stdout: "", stderr: where });
    expect(await receive(args, { env: { LOG_LEVEL: "debug" } })).toEqual({ code: 1, stdout: "", stderr: where });
  });

  it.each([
    ["fails", "fails failed: Error: out of paper\n    at "],
    ["rejects", "rejects failed: Error: a word"],
    ["unwritable", "JSON cannot hold"],
    ["busy", "busy: over HTTP that is 409: training already"],
  ])("ends with code 1 when the handler %s", async (name, sentence) => {
    const { code, stdout, stderr } = await receive([name, "--event", "repo:update"]);
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining(sentence)]);
  });

  it.each([
    ["no JSON", "400: malformed JSON"],
    ['{"event":{}}', "422: the JSON is no payload of the Hub: event.action"],
    [
      JSON.stringify({ ...samplePayload("discussion.comment:create"), comment: undefined }),
      "422: the JSON is no payload",
    ],
  ])("refuses %.20s as an endpoint would", async (input, sentence) => {
    const { code, stderr } = await receive(["comments", "--payload", "-"], { input });
    expect([code, stderr]).toEqual([1, expect.stringContaining(sentence)]);
  });

  it.each([
    [["greet"], "there is no payload: give --payload FILE, or --event"],
    [
      ["great", "--event", "repo:update"],
      'no endpoint "great": did you mean greet? The endpoints are: busy, comments, ',
    ],
    [["greet", "--event", "repo:updat"], "did you mean repo:update?"],
  ])("%p are wrong words", async (args, sentence) => {
    const { code, stdout, stderr } = await receive(args);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(sentence)]);
  });

  it("says that a payload's file is not there", async () => {
    const { code, stderr } = await receive(["greet", "--payload", "missing.json"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("the payload cannot be read: ENOENT")]);
  });

  it("runs a good handler beside a broken one, and says what is broken", async () => {
    const args = ["--event", "repo:update", "--handlers", "broken"];
    const good = await receive(["good", ...args]);
    expect(good).toMatchObject({
      code: 0,
      stdout: '"ran"\n',
      stderr: expect.stringContaining("bad.ts: found a syntax error"),
    });
    const bad = await receive(["bad", ...args]);
    expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining("bad.ts: found a syntax error")]);
  });
});
