import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { documentedEventNames } from "../../src/protocol/events.ts";
import { type DocumentedEvent, documentedEvents, payloadSchema } from "../../src/protocol/payload.ts";
import { repoTypes } from "../../src/protocol/repo.ts";
import { completePayload, type PartialPayload, samplePayload } from "../../src/protocol/sample.ts";

const everySample = documentedEventNames.flatMap((name) =>
  repoTypes.map((type) => ({ name, repo: `${type}:me/my_thing`, type })),
);

/** Every key of the payload that the schema does not know. */
function strangers(name: DocumentedEvent, payload: unknown): string[] {
  const parsed = documentedEvents[name].parse(payload);
  return keysOf(payload).filter((key) => !keysOf(parsed).includes(key));
}

function keysOf(value: unknown, at = ""): string[] {
  if (typeof value !== "object" || value === null) return [at];
  return Object.entries(value).flatMap(([key, inner]) => keysOf(inner, `${at}.${key}`));
}

describe("a sample payload", () => {
  it.each(everySample)("of $name on a $type is what its schema promises, and nothing besides", ({ name, repo }) => {
    const payload = samplePayload(name, { repo });
    expect(documentedEvents[name].safeParse(payload).error).toBeUndefined();
    expect(payloadSchema.safeParse(payload).error).toBeUndefined();
    expect(strangers(name, payload)).toEqual([]);
  });

  it("is typed by the event's name", () => {
    const comment: string | undefined = samplePayload("discussion.comment:create").comment.content;
    const moved: string = samplePayload("repo:move").movedTo.name;
    // @ts-expect-error a repo event has no comment
    samplePayload("repo:create").comment;
    expect([typeof comment, typeof moved]).toEqual(["string", "string"]);
  });

  it("has ids of 24 and shas of 40 hexadecimal digits", () => {
    const payload = samplePayload("repo.content:update", { repo: "dataset:me/data" });
    for (const id of [payload.repo.id, payload.repo.owner.id, payload.webhook.id]) expect(id).toMatch(/^[0-9a-f]{24}$/);
    const push = payload.updatedRefs?.[0];
    for (const sha of [payload.repo.headSha, push?.oldSha, push?.newSha]) expect(sha).toMatch(/^[0-9a-f]{40}$/);
  });

  it("is the same each time, and another repo has other ids", () => {
    const sample = (repo: string) => samplePayload("discussion:create", { repo });
    expect(sample("model:me/a")).toEqual(sample("model:me/a"));
    expect(sample("model:me/a").repo.id).not.toBe(sample("model:me/b").repo.id);
    expect(sample("model:me/a").repo.id).not.toBe(sample("dataset:me/a").repo.id);
    expect(sample("model:me/a").repo.owner.id).toBe(sample("dataset:me/b").repo.owner.id);
  });

  it.each([
    ["model:me/m", "https://huggingface.co/me/m", "https://huggingface.co/api/models/me/m"],
    ["model:gpt2", "https://huggingface.co/gpt2", "https://huggingface.co/api/models/gpt2"],
    ["dataset:me/d", "https://huggingface.co/datasets/me/d", "https://huggingface.co/api/datasets/me/d"],
    ["space:me/s", "https://huggingface.co/spaces/me/s", "https://huggingface.co/api/spaces/me/s"],
    ["bucket:me/b", "https://huggingface.co/buckets/me/b", "https://huggingface.co/api/buckets/me/b"],
  ])("of %s leads to its page", (repo, web, api) => {
    expect(samplePayload("repo:create", { repo }).repo.url).toEqual({ web, api });
  });

  it("leads to another hub when told so", () => {
    const { repo, discussion, comment } = samplePayload("discussion:create", { endpoint: "http://127.0.0.1:7861/" });
    expect(repo.url.api).toBe("http://127.0.0.1:7861/api/models/me/my-model");
    expect(discussion.url.web).toBe("http://127.0.0.1:7861/me/my-model/discussions/1");
    expect(comment.url.web).toBe(`${discussion.url.web}#${comment.id}`);
  });

  it("of a push lists refs, and of a bucket files and no head", () => {
    const push = samplePayload("repo.content:update", { repo: "space:me/My_App" });
    expect(push.updatedRefs?.[0]).toMatchObject({ ref: "refs/heads/main", newSha: push.repo.headSha });
    expect(push.updatedFiles).toBeUndefined();
    expect(push.repo.subdomain).toBe("me-my-app");

    const bucket = samplePayload("repo.content:update", { repo: "bucket:me/files" });
    expect(bucket.updatedFiles?.[0]).toMatchObject({ action: "add", path: expect.any(String) });
    expect(bucket).not.toHaveProperty("updatedRefs");
    expect(bucket.repo).not.toHaveProperty("headSha");
  });

  it("of a discussion has no head commit", () => {
    expect(samplePayload("discussion:create").repo).not.toHaveProperty("headSha");
    expect(samplePayload("repo.config:update").repo).toHaveProperty("headSha");
  });

  it.each(["me/data", "user:me", "dataset:", "dataset:me/data/more", "dataset:../etc", "Dataset:me/data", ""])(
    "refuses %p as a repo",
    (repo) => {
      expect(() => samplePayload("repo:create", { repo })).toThrow("write type:owner/name");
    },
  );
});

describe("completing a payload", () => {
  const on = (scope: string, action: string, rest: object = {}): PartialPayload => ({
    event: { scope, action },
    ...rest,
  });

  it("keeps what is given, extra keys too", () => {
    const given = on("repo:update", "update", {
      repo: { type: "dataset", name: "me/d", id: "abc", new: 1 },
      newer: [2],
    });
    expect(completePayload(given)).toMatchObject(given);
  });

  it("makes a pull request of a discussion that is one", () => {
    const pr = completePayload(on("discussion", "update", { discussion: { isPullRequest: true, num: 7 } }));
    expect(pr.discussion).toMatchObject({ num: 7, changes: { base: "refs/heads/main" } });
    expect(pr.discussion?.url?.web).toMatch(/\/discussions\/7$/);
    expect(pr).not.toHaveProperty("comment");

    const merged = completePayload(on("discussion", "update", { discussion: { changes: {}, status: "merged" } }));
    expect(merged.discussion).toMatchObject({ isPullRequest: true, changes: { mergeCommitId: expect.any(String) } });
  });

  it("leaves the text of a hidden comment out", () => {
    const { comment } = completePayload(on("discussion.comment", "update", { comment: { hidden: true } }));
    expect(comment).toMatchObject({ hidden: true, id: expect.any(String) });
    expect(comment).not.toHaveProperty("content");
  });

  it("completes each ref that is named, and takes the head from the push to main", () => {
    const newSha = "a".repeat(40);
    const { repo, updatedRefs } = completePayload(
      on("repo.content", "update", { updatedRefs: [{ ref: "refs/pr/1" }, { ref: "refs/heads/main", newSha }] }),
    );
    expect(updatedRefs?.[0]).toMatchObject({ ref: "refs/pr/1", oldSha: null, newSha: expect.any(String) });
    expect(updatedRefs?.[1]).toMatchObject({ oldSha: expect.any(String), newSha });
    expect(repo.headSha).toBe(newSha);
  });

  it("takes a head at its word, be it empty", () => {
    const { repo, updatedRefs } = completePayload(on("repo.content", "update", { repo: { headSha: "" } }));
    expect([repo.headSha, updatedRefs?.[0]?.newSha]).toEqual(["", ""]);
  });

  it("completes each file of a bucket", () => {
    const given = on("repo.content", "update", {
      repo: { type: "bucket" },
      updatedFiles: [{ action: "delete", path: "a" }, {}],
    });
    const { updatedFiles } = completePayload(given);
    expect(updatedFiles?.[0]).toEqual({ action: "delete", path: "a" });
    expect(updatedFiles?.[1]).toMatchObject({ action: "add", size: expect.any(Number) });
  });

  it("leaves the report of an unreported setting empty", () => {
    expect(completePayload(on("repo.config", "update", { updatedConfig: {} })).updatedConfig).toEqual({});
    expect(completePayload(on("repo.config", "update", { updatedConfig: { private: true } })).repo.private).toBe(true);
  });

  it("gives an undocumented narrower scope the keys of the broader one", () => {
    expect(completePayload(on("discussion.comment.reaction", "create"))).toHaveProperty("comment.id");
    expect(completePayload(on("repo.config.doi", "update"))).toHaveProperty("updatedConfig");
    expect(Object.keys(completePayload(on("galaxy", "update")))).toEqual(["event", "repo", "webhook"]);
  });

  // A report of settings stays as empty as it is given.
  const completed = everySample.filter(({ name }) => name !== "repo.config:update");
  it.each(completed)("of $name on a $type with any part of itself makes it whole again", ({ name, repo, type }) => {
    const whole = samplePayload(name, { repo });
    const ref = { type, name: whole.repo.name };
    fc.assert(
      fc.property(fc.infiniteStream(fc.boolean()), (kept) => {
        const part = partOf(whole, () => kept.next().value) as PartialPayload;
        const given = { ...part, event: whole.event, repo: { ...part.repo, ...ref } };
        expect(JSON.stringify(completePayload(given))).toBe(JSON.stringify(whole));
      }),
    );
  });

  // Ids and made-up commits stand in files and in what people wrote down: they stay, and so does the order of the keys.
  it("makes the same text of a push as ever", () => {
    const endpoint = "http://127.0.0.1:7861";
    const newSha = "b".repeat(40);
    const given = on("repo.content", "update", {
      newer: [2],
      updatedRefs: [
        { newSha, ref: "refs/heads/main" },
        { of: 1, ref: "refs/tags/v1" },
        { oldSha: newSha, ref: "refs/heads/dev" },
        { newSha, ref: "refs/heads/dev" },
      ],
      repo: { new: {}, private: true, id: "1", name: "me/My_App", type: "space" },
    });
    const owner = { id: "de26adb8feefd8d333d87caa" };
    const url = { web: `${endpoint}/spaces/me/My_App`, api: `${endpoint}/api/spaces/me/My_App` };
    const repo = { type: "space", name: "me/My_App", id: "1", private: true, url, owner };
    const whole = {
      event: { scope: "repo.content", action: "update" },
      repo: { ...repo, headSha: newSha, subdomain: "me-my-app", tags: [], new: {} },
      updatedRefs: [
        { ref: "refs/heads/main", oldSha: "b979018d9dd91d039607009f441ed9cf21679320", newSha },
        { ref: "refs/tags/v1", oldSha: null, newSha: "e401fa1598f66a8322e8567097ffd167f7bb359a", of: 1 },
        { ref: "refs/heads/dev", oldSha: newSha, newSha: "873160499801dcf1fd119dd722b8bdf241e01f7a" },
        { ref: "refs/heads/dev", oldSha: "f2d4d373108bb326746dd8e4564002d52d585fff", newSha },
      ],
      webhook: { id: "9fd09dc33545f9cc19b81ebd", version: 3 },
      newer: [2],
    };
    expect(JSON.stringify(completePayload(given, { endpoint }))).toBe(JSON.stringify(whole));
  });

  it("makes the same text of a pull request as ever", () => {
    const given = on("discussion", "create", { discussion: { title: "T", num: 7, changes: {} } });
    const at = { web: "https://huggingface.co/me/my-model", api: "https://huggingface.co/api/models/me/my-model" };
    const owner = { id: "de26adb8feefd8d333d87caa" };
    const author = { id: "d35d084b0056d48247d76d87" };
    const repo = { type: "model", name: "me/my-model", id: "7d1f0fc3ac03f9612f009349", private: false };
    const url = { web: `${at.web}/discussions/7`, api: `${at.api}/discussions/7` };
    const discussion = { id: "6be5794d9381b94d7c70729e", num: 7, title: "T", status: "open", author };
    const id = "62ea2ce10a6a944b5d1b132b";
    const whole = {
      event: { scope: "discussion", action: "create" },
      repo: { ...repo, url: at, owner, tags: [] },
      discussion: { ...discussion, isPullRequest: true, url, changes: { base: "refs/heads/main" } },
      comment: { id, author, content: "Thank you for sharing this.", hidden: false, url: { web: `${url.web}#${id}` } },
      webhook: { id: "9fd09dc33545f9cc19b81ebd", version: 3 },
    };
    expect(JSON.stringify(completePayload(given))).toBe(JSON.stringify(whole));
  });

  it("keeps any JSON that is given, however wrong", () => {
    const events = fc.constantFrom(...documentedEventNames, "repo.x:update", "galaxy:spin");
    const keys = fc.constantFrom(
      "repo",
      "discussion",
      "comment",
      "updatedRefs",
      "updatedFiles",
      "updatedConfig",
      "movedTo",
      "webhook",
      "event",
      "__proto__",
    );
    const part = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom("type", "name", "url", "num", "changes", "owner", "ref"), fc.jsonValue()),
    );
    fc.assert(
      fc.property(events, fc.dictionary(keys, part), (name, parts) => {
        const [scope, action] = name.split(":");
        const given = { event: { scope, action }, ...parts } as unknown as PartialPayload;
        const before = structuredClone(given);
        const completed = completePayload(given);
        expect(given).toEqual(before);
        expect(completePayload(completed as PartialPayload)).toEqual(completed);
        for (const [key, value] of Object.entries(parts)) expect(completed).toHaveProperty([key], supersetOf(value));
      }),
    );
  });
});

/** Some of its keys, at any depth, and others undefined, which is as good as absent; an element of a list keeps its place. */
function partOf(value: unknown, keeps: () => boolean): unknown {
  if (Array.isArray(value)) return value.map((inner) => partOf(inner, keeps));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).map(([key, inner]) => [key, keeps() ? partOf(inner, keeps) : undefined]);
  return Object.fromEntries(kept.filter(([, inner]) => inner !== undefined || keeps()));
}

function supersetOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(supersetOf);
  if (typeof value !== "object" || value === null) return value;
  return expect.objectContaining(
    Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, supersetOf(inner)])),
  );
}
