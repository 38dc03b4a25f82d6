import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { diffCatalogs, isSame } from "../../src/catalog/diff.ts";
import type { Catalog, Resource } from "../../src/catalog/schema.ts";
import { statsOf } from "../../src/catalog/stats.ts";
import { catalogs } from "../support/catalog-text.ts";

function resource(id: string, more: Partial<Resource> = {}): Resource {
  const url = `https://example.org/${id}`;
  return {
    id,
    title: `Title of ${id}`,
    url,
    category: "dataset",
    source: "huggingface",
    status: "candidate",
    summary: "A summary of it",
    primary_use: "speech",
    pashto_evidence: { evidence_text: "in Pashto", evidence_url: url, markers: ["Pashto"] },
    tags: ["speech", "پښتو"],
    ...more,
  };
}

const catalog = (...resources: Resource[]): Catalog => ({ version: "1.0.0", updated_on: "2026-01-01", resources });

describe("the difference of two catalogs", () => {
  it("tells what was added, removed and changed, field by field", () => {
    const before = catalog(resource("a"), resource("b", { license: "mit" }), resource("c"));
    const evidence = { ...resource("b").pashto_evidence, markers: ["Pashto", "ps"] };
    const after = catalog(
      resource("d"),
      resource("b", { title: "Other", tasks: ["asr"], pashto_evidence: evidence }),
      resource("c"),
    );
    const difference = diffCatalogs(before, { ...after, version: "1.0.1", updated_on: "2026-02-02" });
    expect(difference).toEqual({
      version: { old: "1.0.0", new: "1.0.1" },
      updated_on: { old: "2026-01-01", new: "2026-02-02" },
      added: [resource("d")],
      removed: [resource("a")],
      changed: [
        {
          id: "b",
          title: "Other",
          fields: [
            { field: "title", old: "Title of b", new: "Other" },
            { field: "license", old: "mit" },
            { field: "pashto_evidence.markers", old: ["Pashto"], new: ["Pashto", "ps"] },
            { field: "tasks", new: ["asr"] },
          ],
        },
      ],
    });
    expect(isSame(difference)).toBe(false);
  });

  it("is none where only the order or the vocabulary is another", () => {
    const before = catalog(resource("a"), resource("b"));
    const after = catalog(resource("b", { source: "model_hub" }), resource("a", { source: "model_hub" }));
    expect(isSame(diffCatalogs(before, after))).toBe(true);
    const moved = catalog(resource("a", { source: "github" }), resource("b"));
    expect(diffCatalogs(before, moved).changed).toEqual([
      { id: "a", title: "Title of a", fields: [{ field: "source", old: "huggingface", new: "github" }] },
    ]);
  });

  it("is found in the head alone too", () => {
    expect(isSame(diffCatalogs(catalog(), { ...catalog(), version: "1.0.1" }))).toBe(false);
    expect(isSame(diffCatalogs(catalog(), { ...catalog(), updated_on: "2026-01-02" }))).toBe(false);
  });

  it("turned round is the difference turned round", () => {
    fc.assert(
      fc.property(catalogs(0, 6), catalogs(0, 6), (one, other) => {
        const there = diffCatalogs(one, other);
        const back = diffCatalogs(other, one);
        expect(back.added).toEqual(there.removed);
        expect(back.removed).toEqual(there.added);
        expect(back.changed.map(({ id }) => id).sort()).toEqual(there.changed.map(({ id }) => id).sort());
        expect(isSame(diffCatalogs(one, one))).toBe(true);
      }),
    );
  });
});

describe("the numbers of a catalog", () => {
  it("count each value once a resource, the most frequent first", () => {
    const stats = statsOf(
      catalog(
        resource("a", { status: "verified", tags: ["2024", "x", "x"], license: "mit" }),
        resource("b", { category: "tool", tags: ["x"], tasks: ["asr"] }),
        resource("c", { tags: ["x", "a"] }),
      ),
    );
    expect(stats).toEqual({
      version: "1.0.0",
      updated_on: "2026-01-01",
      resources: 3,
      verified: 1,
      category: [
        { value: "dataset", count: 2 },
        { value: "tool", count: 1 },
      ],
      source: [{ value: "huggingface", count: 3 }],
      license: [{ value: "mit", count: 1 }],
      tag: [
        { value: "x", count: 3 },
        { value: "2024", count: 1 },
        { value: "a", count: 1 },
      ],
      task: [{ value: "asr", count: 1 }],
    });
  });

  it("of an empty one are none", () => {
    expect(statsOf(catalog())).toMatchObject({ resources: 0, verified: 0, category: [], tag: [] });
  });
});
