import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { type Change, changed as changedBytes, Unchangeable } from "../../src/catalog/change.ts";
import type { Resource, Status } from "../../src/catalog/schema.ts";
import { validateCatalog } from "../../src/catalog/validate.ts";
import { catalogs, resources, scattered, textStyles, written } from "../support/catalog-text.ts";

const TODAY = "2026-11-21";
const RUNS = { numRuns: 400 };

type AnyCatalog = ReturnType<typeof JSON.parse>;
const changed = (text: string, change: Change, today: string) =>
  Buffer.from(changedBytes(Buffer.from(text), change, today).bytes).toString();
const parsed = (text: string): AnyCatalog => JSON.parse(text.replace(/^\ufeff/, ""));
const raised = (version: string) => version.replace(/\d+$/, (patch) => `${BigInt(patch) + 1n}`);
const touched = (catalog: AnyCatalog, list: unknown[]) => ({
  ...catalog,
  version: raised(catalog.version),
  updated_on: TODAY,
  resources: list,
});
const other = (status: Status): Status => (status === "verified" ? "candidate" : "verified");
const newcomer = resources(fc.constant("other" as const)).map((resource) => ({ ...resource, id: "the-new-one" }));
const place = fc.nat().map((many) => (list: unknown[]) => many % list.length);

/** A byte order mark is an error of its own, and none of a change's. */
function expectValid(text: string): void {
  const { problems } = validateCatalog(text, { markers: [] });
  expect(problems.filter(({ severity, rule }) => severity === "error" && rule !== "byte-order-mark")).toEqual([]);
}

/** What the file's text would be with its head as it was before. */
function withHeadOf(before: string, after: string): string {
  const { version, updated_on } = parsed(before);
  return after
    .replace(JSON.stringify(raised(version)), JSON.stringify(version))
    .replace(JSON.stringify(TODAY), JSON.stringify(updated_on));
}

/** All of `shorter` stands in `longer`, which has one more stretch of text somewhere. */
function hasOneMoreStretch(longer: string, shorter: string): boolean {
  let same = 0;
  while (same < shorter.length && longer[same] === shorter[same]) same++;
  return longer.endsWith(shorter.slice(same));
}

describe("in any regular formatting", () => {
  it("what is added looks as if the file had been written with it", () => {
    fc.assert(
      fc.property(catalogs(1), newcomer, textStyles, (catalog, resource, style) => {
        // Escapes show in a text only where there is something to escape.
        const ascii = style.ascii && /[^\0-\x7f]/.test(JSON.stringify(catalog));
        const after = changed(written(catalog, { ...style, ascii }), { add: resource }, TODAY);
        expectValid(after);
        const inOrder = orderedAs(catalog.resources.at(-1) ?? {}, resource);
        expect(after).toBe(written(touched(catalog, [...catalog.resources, inOrder]), { ...style, ascii }));
      }),
      RUNS,
    );
  });

  it("the first resource of a file is written as the rest of it", () => {
    fc.assert(
      fc.property(catalogs(0, 0), newcomer, textStyles, (catalog, resource, style) => {
        const shown = { ...style, flatLists: false, ascii: false };
        const after = changed(written(catalog, shown), { add: resource }, TODAY);
        expectValid(after);
        expect(after).toBe(written(touched(catalog, [orderedAs({}, resource)]), shown));
      }),
      RUNS,
    );
  });

  it("what is removed leaves no trace", () => {
    fc.assert(
      fc.property(catalogs(1), place, textStyles, (catalog, placeIn, style) => {
        const index = placeIn(catalog.resources);
        const after = changed(written(catalog, style), { remove: index }, TODAY);
        expectValid(after);
        expect(after).toBe(written(touched(catalog, catalog.resources.toSpliced(index, 1)), style));
      }),
      RUNS,
    );
  });

  it("a new status stands where the old one stood", () => {
    fc.assert(
      fc.property(catalogs(1), place, textStyles, (catalog, placeIn, style) => {
        const index = placeIn(catalog.resources);
        const list = structuredClone(catalog.resources);
        const one = list[index];
        if (!one) throw new Error("there is one");
        one.status = other(one.status);
        const after = changed(written(catalog, style), { setStatus: one.status, of: index }, TODAY);
        expectValid(after);
        expect(after).toBe(written(touched(catalog, list), style));
      }),
      RUNS,
    );
  });
});

describe("in no formatting at all", () => {
  const scatteredCatalogs = (min: number) =>
    catalogs(min).chain((catalog) => scattered(catalog).map((text) => ({ catalog, text })));

  it("what is added is one more stretch of text", () => {
    fc.assert(
      fc.property(scatteredCatalogs(1), newcomer, ({ catalog, text }, resource) => {
        const after = changed(text, { add: resource }, TODAY);
        expectValid(after);
        expect(parsed(after)).toEqual(touched(catalog, [...catalog.resources, resource]));
        expect(hasOneMoreStretch(withHeadOf(text, after), text)).toBe(true);
      }),
      RUNS,
    );
  });

  it("an empty list takes a first resource", () => {
    fc.assert(
      fc.property(catalogs(0, 0).chain(scattered), newcomer, (text, resource) =>
        expect(parsed(changed(text, { add: resource }, TODAY)).resources).toEqual([resource]),
      ),
      RUNS,
    );
  });

  it("what is removed is one stretch of text less", () => {
    fc.assert(
      fc.property(scatteredCatalogs(1), place, ({ catalog, text }, placeIn) => {
        const index = placeIn(catalog.resources);
        const after = changed(text, { remove: index }, TODAY);
        expectValid(after);
        expect(parsed(after)).toEqual(touched(catalog, catalog.resources.toSpliced(index, 1)));
        expect(hasOneMoreStretch(text, withHeadOf(text, after))).toBe(true);
      }),
      RUNS,
    );
  });

  it("a change of status and back leaves the file as it was, but for its head", () => {
    fc.assert(
      fc.property(scatteredCatalogs(1), place, ({ catalog, text }, placeIn) => {
        const index = placeIn(catalog.resources);
        const status = catalog.resources[index]?.status ?? "verified";
        const there = changed(text, { setStatus: other(status), of: index }, TODAY);
        expectValid(there);
        expect(parsed(there).resources[index].status).toBe(other(status));
        const back = changed(there, { setStatus: status, of: index }, TODAY);
        expect(withHeadOf(text, back.replace(raised(raised(catalog.version)), raised(catalog.version)))).toBe(text);
      }),
      RUNS,
    );
  });
});

describe("by hand", () => {
  const RESOURCE: Resource = {
    id: "b",
    title: "The second",
    url: "https://example.org/b",
    category: "tool",
    source: "other",
    status: "candidate",
    summary: "A tool for Pashto",
    primary_use: "trying",
    pashto_evidence: { evidence_text: "پښتو", evidence_url: "https://example.org/b", markers: ["پښتو"] },
    tags: ["x", "y"],
  };
  const add = (text: string) => changed(text, { add: RESOURCE }, TODAY);

  it("one resource a line stays one resource a line", () => {
    const { id: _, ...rest } = RESOURCE;
    const line = (id: string) => `  ${JSON.stringify({ id, ...rest })}`;
    const file = (version: string, day: string, ...lines: string[]) =>
      `{"version":"${version}","updated_on":"${day}","resources":[\n${lines.join(",\n")}\n]}\n`;
    expect(add(file("1.0.0", "2026-01-01", line("a")))).toBe(file("1.0.1", TODAY, line("a"), line("b")));
    const two = file("1.0.0", "2026-01-01", line("a"), line("c"));
    expect(changed(two, { remove: 0 }, TODAY)).toBe(file("1.0.1", TODAY, line("c")));
    expect(changed(two, { remove: 1 }, TODAY)).toBe(file("1.0.1", TODAY, line("a")));
  });

  it("a comma before the line is a comma before the line", () => {
    const text =
      '{"version":"1.0.0","updated_on":"2026-01-01","resources":[\n  {"id":"a"\n  ,"tags":["x"]}\n, {"id":"c"\n  ,"tags":["x"]}]}';
    expect(add(text)).toContain('"tags":["x"]}\n, {"id":"b"\n  ,"title":"The second"\n  ,"url"');
  });

  it("keeps the order of keys, also where the head stands last", () => {
    const text = '{"resources": [{"tags": ["x"], "id": "a"}], "updated_on": "2026-01-01", "version": "1.0.0"}';
    const after = add(text);
    expect(Object.keys(parsed(after))).toEqual(["resources", "updated_on", "version"]);
    expect(Object.keys(parsed(after).resources[1]).indexOf("tags")).toBeLessThan(
      Object.keys(parsed(after).resources[1]).indexOf("id"),
    );
  });

  it.each([
    ["{}", 'it has no list of "resources"'],
    ["[1, 2]", 'it has no list of "resources"'],
    ['{"resources": {}}', 'it has no list of "resources"'],
    ['{"resources": []}', 'it has no "version"'],
    ['{"resources": [], "version": 1}', 'its "version" cannot be raised'],
    ['{"resources": [], "version": "1.0"}', 'its "version" cannot be raised'],
    ['{"resources": [], "version": "1.0.0"}', 'it has no "updated_on"'],
  ])("%s cannot be changed: %s", (text, sentence) => {
    expect(() => add(text)).toThrow(Unchangeable);
    expect(() => add(text)).toThrow(sentence);
  });

  it("is not impressed by depth", () => {
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    const text = `{"x":${deep},"version":"1.0.0","updated_on":"2026-01-01","resources":[{"id":"a","status":"candidate"}]}`;
    expect(changed(text, { setStatus: "verified", of: 0 }, TODAY)).toContain('"id":"a","status":"verified"');
  });
});

/** The keys in the order of `example`; what it has not, where `resource` has it. */
function orderedAs(example: object, resource: object): object {
  const keys = Object.keys(example).filter((key) => key in resource);
  const entries = Object.entries(resource);
  for (const [index, [key]] of entries.entries()) {
    if (keys.includes(key)) continue;
    keys.splice(keys.indexOf(entries[index - 1]?.[0] ?? "") + 1, 0, key);
  }
  return Object.fromEntries(keys.map((key) => [key, (resource as Record<string, unknown>)[key]]));
}
