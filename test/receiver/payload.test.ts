import { describe, expect, it } from "@jest/globals";
import { documentedEventNames } from "../../src/protocol/events.ts";
import { samplePayload } from "../../src/protocol/sample.ts";
import { type WebhookOptions, type WebhookPayload, webhook } from "../../src/receiver/webhook.ts";
import { deliver, LEAST, startTestReceiver } from "../support/receiver.ts";

/** A receiver that keeps what its handler gets. */
async function keeper(options: WebhookOptions = {}) {
  const got: WebhookPayload[] = [];
  const handler = webhook(options, (payload) => void got.push(payload));
  const receiver = await startTestReceiver({ handlers: { keep: handler } });
  const post = async (body: unknown) => {
    const answer = await deliver(`${receiver.url}/webhooks/keep`, body);
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
  };
  return { got, post };
}

const bucket = {
  event: { scope: "repo.content", action: "update" },
  repo: { type: "bucket", name: "me/files", id: "b1", private: true, url: { web: "w", api: "a" }, owner: { id: "o" } },
  updatedFiles: [{ path: "a/b.bin", action: "add", xetHash: "x", size: 3 }],
  updatedFilesTruncated: true,
  webhook: { id: "w", version: 3 },
};

describe("a payload", () => {
  it.each<[string, unknown]>([
    ["the least there is", LEAST],
    ["a bucket's", bucket],
    ["an unknown scope's", { ...LEAST, event: { scope: "billing.invoice", action: "create" } }],
    ["an unknown action's", { ...LEAST, event: { scope: "repo", action: "transmogrify" } }],
    ["an unknown repo type's", { ...LEAST, repo: { type: "kernel", name: "me/k" } }],
    ["of a version to come", { ...LEAST, webhook: { id: "w", version: 99 } }],
    [
      "with extra keys everywhere",
      { ...LEAST, event: { action: "x", why: [1] }, repo: { type: "t", x: { y: null } }, z: 0 },
    ],
    [
      "with keys that objects have by nature",
      { ...LEAST, constructor: 1, toString: { hasOwnProperty: 2 }, valueOf: [] },
    ],
    ["with text of every kind", { ...LEAST, "ключ \u0000 \ud83e\udd17": "\u2028 \uffff \u202e" }],
    ["with numbers of every kind", { ...LEAST, n: [0, -1.5, 1e308, 1e-7, 9_007_199_254_740_991] }],
    ["with empty words", { ...LEAST, "": "", discussion: {}, comment: {}, updatedRefs: [] }],
  ])("that is %s reaches the handler as it was sent", async (_name, payload) => {
    const { got, post } = await keeper();
    expect(await post(payload)).toEqual({ status: 204, body: null });
    expect(got).toEqual([payload]);
  });

  it.each(documentedEventNames)("of %s reaches a handler for just that event as it was sent", async (name) => {
    const { got, post } = await keeper({ on: name });
    const payload = samplePayload(name);
    expect((await post(payload)).status).toBe(204);
    expect(got).toEqual([payload]);
  });

  it.each([
    ["event", { repo: { type: "dataset" } }],
    ["repo", { event: { action: "update" } }],
    ["event.action", { event: {}, repo: { type: "dataset" } }],
    ["event.action", { event: { action: "" }, repo: { type: "dataset" } }],
    ["repo.type", { event: { action: "update" }, repo: { type: null } }],
    ["repo.name", { event: { action: "update" }, repo: { type: "dataset", name: 1 } }],
    ["event.scope", { event: { action: "update", scope: {} }, repo: { type: "dataset" } }],
    ["updatedRefs", { ...LEAST, updatedRefs: {} }],
    ["updatedRefs.1", { ...LEAST, updatedRefs: [{}, 1] }],
    ["discussion", { ...LEAST, discussion: "x" }],
  ])("with a wrong %s is answered 422, which names it", async (path, payload) => {
    const { got, post } = await keeper();
    expect(await post(payload)).toMatchObject({ status: 422, body: { code: "payload_invalid", issues: [{ path }] } });
    expect(got).toEqual([]);
  });

  it("lists all that is wrong with it", async () => {
    const { post } = await keeper();
    const { body } = await post({ event: { scope: 1 }, repo: 2, comment: 3 });
    expect(body.issues.map(({ path }: { path: string }) => path)).toEqual([
      "event.scope",
      "event.action",
      "repo",
      "comment",
    ]);
  });

  it.each(["__proto__", "\\u005f_proto__", "__pro\\u0074o__", "\\u005F\\u005Fproto\\u005F\\u005F"])(
    "cannot change a prototype by a key written %s",
    async (key) => {
      const { got, post } = await keeper();
      const text = `{"${key}":{"admin":true},"event":{"action":"a","${key}":{"x":1}},"repo":{"type":"t","deep":[{"${key}":1}]}}`;
      expect((await post(text)).status).toBe(204);
      expect(got).toEqual([{ event: { action: "a" }, repo: { type: "t", deep: [{}] } }]);
      const copy = Object.assign({}, got[0]) as { admin?: boolean };
      expect([copy.admin, Object.getPrototypeOf(copy), ({} as { admin?: boolean }).admin]).toEqual([
        undefined,
        Object.prototype,
        undefined,
      ]);
    },
  );
});

describe("a handler that names its events", () => {
  it("is not called with less than the event promises: 422 with issues", async () => {
    const { got, post } = await keeper({ on: "discussion.comment:create" });
    const { comment: _, ...payload } = samplePayload("discussion.comment:create");
    expect(await post({ ...payload, discussion: { ...payload.discussion, num: "7" } })).toMatchObject({
      status: 422,
      body: { issues: [{ path: "discussion.num" }, { path: "comment" }] },
    });
    expect(got).toEqual([]);
  });

  it("gets an unknown narrower scope as it is, of which nothing is promised", async () => {
    const { got, post } = await keeper({ on: "discussion" });
    const payload = { ...LEAST, event: { scope: "discussion.reaction", action: "create" } };
    expect((await post(payload)).status).toBe(204);
    expect(got).toEqual([payload]);
  });

  it("that names none takes what lacks documented keys", async () => {
    const { post } = await keeper();
    expect((await post({ ...LEAST, event: { scope: "discussion", action: "create" } })).status).toBe(204);
  });
});

describe("a filter", () => {
  const content = samplePayload("repo.content:update");
  const withRefs = (...refs: string[]) => ({
    ...content,
    updatedRefs: refs.map((ref) => ({ ref, oldSha: null, newSha: null })),
  });
  const ofRepo = (type: string, name?: string) => ({ ...content, repo: { ...content.repo, type, name } });
  const ofEvent = (scope: string | undefined, action: string) => ({ ...LEAST, event: { scope, action } });

  const cases: [WebhookOptions, unknown, "takes" | "ignores"][] = [
    [{ on: "repo" }, ofEvent("repo", "purge"), "takes"],
    [{ on: "repo" }, ofEvent("repo.secrets", "purge"), "takes"],
    [{ on: "repo" }, ofEvent("repository", "purge"), "ignores"],
    [{ on: "repo" }, ofEvent(undefined, "update"), "ignores"],
    [{ on: "repo:update" }, ofEvent("repo.secrets", "delete"), "takes"],
    [{ on: "repo:delete" }, ofEvent("repo.secrets", "delete"), "ignores"],
    [{ on: "repo:delete" }, samplePayload("repo:delete"), "takes"],
    [{ on: "repo:delete" }, samplePayload("repo:create"), "ignores"],
    [{ on: ["repo:delete", "discussion"] }, samplePayload("discussion:update"), "takes"],
    [{ on: "discussion" }, samplePayload("discussion.comment:create"), "takes"],
    [{ on: "discussion:create" }, samplePayload("discussion.comment:create"), "ignores"],
    [{ repos: "dataset:me/*" }, ofRepo("dataset", "me/data"), "takes"],
    [{ repos: "dataset:me/*" }, ofRepo("model", "me/data"), "ignores"],
    [{ repos: "dataset:me/*" }, ofRepo("dataset", "you/data"), "ignores"],
    [{ repos: "dataset:me/*" }, ofRepo("dataset"), "ignores"],
    [{ repos: ["model:gpt2", "{dataset,space}:me/**"] }, ofRepo("model", "gpt2"), "takes"],
    [{ repos: ["model:gpt2", "{dataset,space}:me/**"] }, ofRepo("space", "me/app"), "takes"],
    [{ refs: "refs/heads/main" }, withRefs("refs/heads/main"), "takes"],
    [{ refs: "refs/heads/main" }, withRefs("refs/heads/dev"), "ignores"],
    [{ refs: "refs/heads/main" }, withRefs("refs/heads/dev", "refs/heads/main"), "takes"],
    [{ refs: "refs/pr/*" }, withRefs("refs/pr/12"), "takes"],
    [{ refs: ["refs/pr/*", "refs/tags/v*"] }, withRefs("refs/tags/v1.0"), "takes"],
    [{ refs: "refs/pr/*" }, LEAST, "ignores"],
    [{ refs: "refs/pr/*" }, { ...LEAST, updatedRefs: [{ ref: 7 }] }, "ignores"],
    [{ on: "repo.content", repos: "model:*/*", refs: "refs/heads/*" }, ofRepo("dataset", "a/b"), "ignores"],
  ];
  const titled = cases.map(([options, payload, expected]) => {
    const { event, repo, updatedRefs } = payload as WebhookPayload;
    const what = `${event.scope}:${event.action} of ${repo.type}:${repo.name} ${updatedRefs?.map(({ ref }) => ref) ?? ""}`;
    return { title: `${JSON.stringify(options)} ${expected} ${what}`, options, payload, expected };
  });
  it.each(titled)("$title", async ({ options, payload, expected }) => {
    const { got, post } = await keeper(options);
    const answer = await post(payload);
    if (expected === "takes") expect([answer.status, got.length]).toEqual([204, 1]);
    else expect([answer, got.length]).toEqual([{ status: 200, body: { ignored: true } }, 0]);
  });
});
