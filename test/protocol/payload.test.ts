import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { documentedEvents, isPlainPayload, payloadSchema } from "../../src/protocol/payload.ts";
import { samplePayload } from "../../src/protocol/sample.ts";

describe("any payload", () => {
  it.each<[string, unknown]>([
    ["the least there is", { event: { action: "update" }, repo: { type: "dataset" } }],
    ["a bucket's", samplePayload("repo.content:update", { repo: "bucket:me/files" })],
    ["an unknown scope", { ...samplePayload("repo:update"), event: { scope: "repo.stars", action: "create" } }],
    ["an unknown action", { ...samplePayload("repo:update"), event: { scope: "repo", action: "spin" } }],
    ["an unknown repo type", { event: { scope: "repo", action: "update" }, repo: { type: "kernel", name: "me/k" } }],
    ["an unknown version", { ...samplePayload("repo:update"), webhook: { id: "1", version: 4 } }],
  ])("of %s is understood and keeps every key", (_of, payload) => {
    expect(payloadSchema.parse(payload)).toEqual(payload);
  });

  it("keeps keys that are new, at every level", () => {
    const push = samplePayload("repo.content:update");
    const newer = {
      ...push,
      repo: { ...push.repo, gated: true },
      updatedRefs: [{ ref: "x", by: 1 }],
      review: { by: 2 },
    };
    expect(payloadSchema.parse(newer)).toEqual(newer);
  });

  it.each<[string, unknown, string]>([
    ["a list", [], ""],
    ["nothing", null, ""],
    ["no event", { repo: { type: "model" } }, "event"],
    ["no repo", { event: { action: "update" } }, "repo"],
    ["no action", { event: { scope: "repo" }, repo: { type: "model" } }, "event.action"],
    ["an empty type", { event: { action: "update" }, repo: { type: "" } }, "repo.type"],
    ["a name that is no text", { event: { action: "update" }, repo: { type: "model", name: 5 } }, "repo.name"],
    ["refs that are no list", { event: { action: "update" }, repo: { type: "model" }, updatedRefs: {} }, "updatedRefs"],
  ])("with %s is refused, and told where", (_with, payload, path) => {
    expect(payloadSchema.safeParse(payload).error?.issues.map((issue) => issue.path.join("."))).toEqual([path]);
  });

  it("is plainly one exactly where the schema accepts it", () => {
    // Mostly what belongs there, now and then anything that JSON can hold.
    const mostly = <T>(usual: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: fc.jsonValue() });
    const text = mostly(fc.constantFrom("update", "repo", ""));
    const object = mostly(fc.constantFrom({}, { id: "1" }));
    const objects = mostly(fc.array(object, { maxLength: 3 }));
    const optional = { webhook: object, discussion: object, comment: object, movedTo: object, updatedConfig: object };
    const payload = fc.record(
      {
        event: mostly(fc.record({ scope: text, action: text }, { requiredKeys: [] })),
        repo: mostly(fc.record({ type: text, name: text }, { requiredKeys: [] })),
        ...optional,
        updatedRefs: objects,
        updatedFiles: objects,
        more: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(mostly(payload), (value) => {
        expect(isPlainPayload(value)).toBe(payloadSchema.safeParse(value).success);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("a documented event", () => {
  it("lacks nothing of what it promises", () => {
    const { comment, ...withoutComment } = samplePayload("discussion:create");
    expect(documentedEvents["discussion:create"].safeParse(withoutComment).success).toBe(false);
    expect(documentedEvents["discussion:create"].safeParse({ ...withoutComment, comment }).success).toBe(true);
  });

  it("of content names refs or files", () => {
    const { updatedRefs, ...push } = samplePayload("repo.content:update");
    const parse = (rest: object) => documentedEvents["repo.content:update"].safeParse({ ...push, ...rest });
    expect(parse({}).error?.issues[0]?.message).toContain("expected updatedRefs (git repos) or updatedFiles (buckets)");
    expect(parse({ updatedRefs }).success).toBe(true);
    expect(parse({ updatedFiles: [], updatedFilesTruncated: true }).success).toBe(true);
  });

  it("may tell of a created and of a deleted ref", () => {
    const push = samplePayload("repo.content:update");
    const [ref] = push.updatedRefs ?? [];
    for (const change of [{ oldSha: null }, { newSha: null }])
      expect(
        documentedEvents["repo.content:update"].safeParse({ ...push, updatedRefs: [{ ...ref, ...change }] }).success,
      ).toBe(true);
  });
});
