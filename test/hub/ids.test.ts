import { describe, expect, it } from "@jest/globals";
import { idOf, newSha, userIdOf, webhookIdOf } from "../../src/hub/ids.ts";
import { samplePayload } from "../../src/protocol/sample.ts";

describe("ids", () => {
  it("of commits are 40 hexadecimal digits, and never the same", () => {
    const shas = Array.from({ length: 1_000 }, newSha);
    expect(new Set(shas).size).toBe(shas.length);
    for (const sha of shas) expect(sha).toMatch(/^[0-9a-f]{40}$/);
  });

  it("that follow from words are those of complete payloads", () => {
    const { repo } = samplePayload("repo:update", { repo: "dataset:acme/d" });
    expect([idOf("repo", "dataset", "acme/d"), userIdOf("acme")]).toEqual([repo.id, repo.owner.id]);
  });

  it("of an event for a webhook stay what they are, over versions too", () => {
    expect(webhookIdOf("e", "w")).toBe("97c4a10c-a8dd-82fa-bd46-924a37fe62e8");
  });
});
