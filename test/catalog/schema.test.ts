import { describe, expect, it } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { jsonSchema } from "../../src/catalog/json-schema.ts";
import { rules } from "../../src/catalog/rules.ts";
import { CATEGORIES, catalogSchemas, SOURCES, STATUSES, VOCABULARIES } from "../../src/catalog/schema.ts";
import { translate } from "../../src/catalog/sources.ts";
import { catalog, foundIn, problemsOf, resource } from "../support/catalog.ts";

function compiled(vocabulary: (typeof VOCABULARIES)[number]) {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(jsonSchema(vocabulary));
}
const ajv = { neutral: compiled("neutral"), platform: compiled("platform") };

const ALL_RULES = Object.keys(rules);
/** Rules that JSON Schema cannot say. */
const BEYOND = new Set(ALL_RULES.slice(ALL_RULES.indexOf("duplicate-id")));

/** Does our schema accept it? In which words its sources are must be seen from the file. */
function accepted(value: unknown): boolean {
  return problemsOf(value).every(({ rule }) => BEYOND.has(rule));
}

describe("the words for sources", () => {
  it("are the same places in the same order", () => {
    expect(SOURCES.neutral).toHaveLength(SOURCES.platform.length);
    expect(SOURCES.neutral.map((word) => translate(word, "platform"))).toEqual(SOURCES.platform);
    expect(SOURCES.platform.map((word) => translate(word, "neutral"))).toEqual(SOURCES.neutral);
    for (const { words, to } of [
      { words: SOURCES.neutral, to: "neutral" },
      { words: SOURCES.platform, to: "platform" },
    ] as const)
      expect(words.map((word) => translate(word, to))).toEqual(words);
  });

  it.each(["constructor", "__proto__", "", "Other", "GitHub"])("do not have %j", (word) => {
    expect(translate(word, "neutral")).toBeUndefined();
  });
});

describe("the published schema", () => {
  it.each(VOCABULARIES)("with %s sources stays as it is", (vocabulary) => {
    expect(jsonSchema(vocabulary)).toMatchSnapshot();
  });

  it("takes no additional properties at any level", () => {
    const objects = JSON.stringify(jsonSchema("neutral")).match(/"type":"object"/g);
    const closed = JSON.stringify(jsonSchema("neutral")).match(/"additionalProperties":false/g);
    expect(objects).toHaveLength(3);
    expect(closed).toHaveLength(3);
  });
});

const evidence = resource().pashto_evidence;
const withEvidence = (changes: object) => catalog([resource(1, { pashto_evidence: { ...evidence, ...changes } })]);
const withResource = (changes: object) => catalog([resource(1, changes)]);
const without = (value: object, key: string) =>
  Object.fromEntries(Object.entries(value).filter(([one]) => one !== key));

describe("a catalog in its bounds", () => {
  const good: [string, unknown][] = [
    ["no resources", catalog([])],
    ["version 0.0.0", catalog([], { version: "0.0.0" })],
    ["version 10.200.3000", catalog([], { version: "10.200.3000" })],
    ["version 01.2.3", catalog([], { version: "01.2.3" })],
    ["updated_on 2024-02-29", catalog([], { updated_on: "2024-02-29" })],
    ...CATEGORIES.map((category): [string, unknown] => [`category ${category}`, withResource({ category })]),
    ...STATUSES.map((status): [string, unknown] => [`status ${status}`, withResource({ status })]),
    ...[...SOURCES.neutral, ...SOURCES.platform].map((source): [string, unknown] => [
      `source ${source}`,
      withResource({ source }),
    ]),
    ...["a", "0", "a.b_c-d", "9-"].map((id): [string, unknown] => [`id ${id}`, withResource({ id })]),
    ["title of 3", withResource({ title: "abc" })],
    ["title of 3 code points", withResource({ title: "😀😀😀" })],
    ["title of 3 in Pashto", withResource({ title: "پښت" })],
    ["summary of 10", withResource({ summary: "0123456789" })],
    ["primary_use of 3", withResource({ primary_use: "abc" })],
    ["an empty tag", withResource({ tags: [""] })],
    ["an empty license", withResource({ license: "" })],
    ["no tasks", withResource({ tasks: [] })],
    ["tasks", withResource({ tasks: ["", "asr"] })],
    ["evidence_text of 3", withEvidence({ evidence_text: "abc" })],
    ["evidence_url with http", withEvidence({ evidence_url: "http://a" })],
    ["a marker of 1", withEvidence({ markers: ["پ"] })],
  ];
  it.each(good)("is good with %s", (_, value) => {
    expect(foundIn(value).filter((found) => !/^(no-marker|future)/.test(found))).toEqual([]);
    expect(ajv.neutral(value) || ajv.platform(value)).toBe(true);
  });

  const R = "/resources/0";
  const E = `${R}/pashto_evidence`;
  const bad: [string, unknown, string[]][] = [
    ["null", null, ["wrong-type "]],
    ["a list", [], ["wrong-type "]],
    ["nothing in it", {}, ["missing-key ", "missing-key ", "missing-key "]],
    ["another key", catalog([], { name: "x" }), ["unknown-key /name"]],
    ["resources that are an object", { ...catalog(), resources: {} }, ["wrong-type /resources"]],
    ["a resource that is null", catalog([null]), [`wrong-type ${R}`]],
    ["a resource that is a list", catalog([[]]), [`wrong-type ${R}`]],
    ...["1.0", "1.0.0.0", "v1.0.0", "1.0.0-rc", "1.0.0 ", "1.0.0\n", "١.٠.٠", ""].map(
      (version): [string, unknown, string[]] => [`version ${version}`, catalog([], { version }), ["pattern /version"]],
    ),
    ["version 1", catalog([], { version: 1 }), ["wrong-type /version"]],
    ["updated_on 2026-02-29", catalog([], { updated_on: "2026-02-29" }), ["date /updated_on"]],
    ["updated_on 5", catalog([], { updated_on: 5 }), ["wrong-type /updated_on"]],
    ["a key of a resource that is unknown", withResource({ name: "x" }), [`unknown-key ${R}/name`]],
    ["a key of evidence that is unknown", withEvidence({ text: "x" }), [`unknown-key ${E}/text`]],
    ...["", "A", "-a", "_a", ".a", "a b", "ä", "a/b", "پ", "a\n"].map((id): [string, unknown, string[]] => [
      `id ${JSON.stringify(id)}`,
      withResource({ id }),
      [`pattern ${R}/id`],
    ]),
    ["title of 2", withResource({ title: "ab" }), [`too-short ${R}/title`]],
    ["title of 2 code points", withResource({ title: "😀😀" }), [`too-short ${R}/title`]],
    ["url of ftp", withResource({ url: "ftp://example.org" }), [`url ${R}/url`]],
    ["url with a space", withResource({ url: "https://example.org/a b" }), [`url ${R}/url`]],
    ["category Dataset", withResource({ category: "Dataset" }), [`not-allowed ${R}/category`]],
    ["category null", withResource({ category: null }), [`wrong-type ${R}/category`]],
    ["source GitHub", withResource({ source: "GitHub" }), [`not-allowed ${R}/source`]],
    ["status draft", withResource({ status: "draft" }), [`not-allowed ${R}/status`]],
    ["summary of 9", withResource({ summary: "012345678" }), [`too-short ${R}/summary`]],
    ["primary_use of 2", withResource({ primary_use: "ab" }), [`too-short ${R}/primary_use`]],
    ["no tag", withResource({ tags: [] }), [`too-few ${R}/tags`]],
    ["a tag that is a number", withResource({ tags: ["a", 1] }), [`wrong-type ${R}/tags/1`]],
    ["tags that are a text", withResource({ tags: "a" }), [`wrong-type ${R}/tags`]],
    ["license null", withResource({ license: null }), [`wrong-type ${R}/license`]],
    ["a task that is null", withResource({ tasks: [null] }), [`wrong-type ${R}/tasks/0`]],
    ["evidence that is a text", withResource({ pashto_evidence: "x" }), [`wrong-type ${E}`]],
    ["evidence_text of 2", withEvidence({ evidence_text: "ab" }), [`too-short ${E}/evidence_text`]],
    ["evidence_url without scheme", withEvidence({ evidence_url: "//example.org" }), [`url ${E}/evidence_url`]],
    ["no markers", withEvidence({ markers: [] }), [`too-few ${E}/markers`]],
    ["an empty marker", withEvidence({ markers: ["a", ""] }), [`too-short ${E}/markers/1`]],
    ...Object.keys(without(without(resource(), "license"), "tasks")).map((key): [string, unknown, string[]] => [
      `no ${key}`,
      catalog([without(resource(), key)]),
      [`missing-key ${R}`],
    ]),
    ...Object.keys(evidence).map((key): [string, unknown, string[]] => [
      `no ${key}`,
      withResource({ pashto_evidence: without(evidence, key) }),
      [`missing-key ${E}`],
    ]),
    [
      "two vocabularies",
      catalog([resource(1), resource(2, { source: "github" })]),
      ["mixed-vocabulary /resources/1/source"],
    ],
  ];
  it.each(bad)("is refused with %s", (_, value, expected) => {
    expect(foundIn(value)).toEqual(expected);
    expect(ajv.neutral(value) || ajv.platform(value)).toBe(false);
  });

  it("breaks every rule of the schema by one of these", () => {
    const broken = new Set(bad.flatMap(([, , found]) => found.map((one) => one.split(" ")[0])));
    const schemaRules = ALL_RULES.slice(ALL_RULES.indexOf("unknown-key"), ALL_RULES.indexOf("duplicate-id"));
    expect(schemaRules.filter((rule) => !broken.has(rule))).toEqual([]);
  });
});

/** A good catalog to which a few things were done, each at a place and of a kind that chance chose. */
function damaged() {
  const text = fc.oneof(
    fc.constantFrom(
      "",
      "ab",
      "abc",
      "😀😀",
      "😀😀😀",
      "https://example.org",
      "http://[::1]/",
      "2026-02-29",
      "1.2.3",
      "Pashto",
    ),
    fc.constantFrom(...SOURCES.neutral, ...SOURCES.platform, ...CATEGORIES, ...STATUSES),
    fc.string({ unit: "grapheme", maxLength: 12 }),
    fc.webUrl(),
  );
  const value = fc.oneof(text, text, fc.jsonValue({ maxDepth: 2 }), fc.array(text, { maxLength: 3 }));
  const keys = [
    "id",
    "title",
    "url",
    "license",
    "tasks",
    "tags",
    "markers",
    "evidence_url",
    "source",
    "x",
    "__proto__",
  ];
  const change = fc.record({
    place: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    kind: fc.constantFrom("replace", "replace", "replace", "remove", "add"),
    key: fc.constantFrom(...keys),
    value,
  });
  return fc.record({
    vocabulary: fc.constantFrom(...VOCABULARIES),
    places: fc.array(fc.nat({ max: 12 }), { maxLength: 3 }),
    changes: fc.array(change, { maxLength: 2 }),
  });
}

type Container = Record<string, unknown> | unknown[];

function containersOf(value: unknown): Container[] {
  if (typeof value !== "object" || value === null) return [];
  return [value as Container, ...Object.values(value).flatMap(containersOf)];
}

function apply(
  root: unknown,
  { place, kind, key, value }: { place: number; kind: string; key: string; value: unknown },
) {
  const all = containersOf(root);
  const container = all[Math.floor(place * all.length)] as Record<string, unknown>;
  const own = Object.keys(container);
  const chosen = own[Math.floor(place * 7919) % Math.max(1, own.length)] ?? key;
  if (kind === "remove") {
    if (Array.isArray(container)) container.splice(Number(chosen), 1);
    else delete container[chosen];
  } else {
    const name = kind === "add" && !Array.isArray(container) ? key : chosen;
    Object.defineProperty(container, name, { value, enumerable: true, configurable: true, writable: true });
  }
}

describe("what our schema accepts", () => {
  it("is what a validator accepts with the published schema, and nothing else", () => {
    let good = 0;
    let bad = 0;
    fc.assert(
      fc.property(damaged(), ({ vocabulary, places, changes }) => {
        const sources = SOURCES[vocabulary];
        const root = catalog(
          places.map((place, index) => resource(index, { source: sources[place], license: "MIT", tasks: ["a"] })),
        );
        for (const change of changes) apply(root, change);
        const value = JSON.parse(JSON.stringify(root));
        const theirs = ajv.neutral(value) || ajv.platform(value);
        if (theirs) good++;
        else bad++;
        expect(accepted(value)).toBe(theirs);
      }),
      { numRuns: 1000 },
    );
    // Chance must try both.
    expect(Math.min(good, bad)).toBeGreaterThan(100);
  });

  it("is what zod accepts too", () => {
    fc.assert(
      fc.property(damaged(), ({ places, changes, vocabulary }) => {
        const root = catalog(places.map((place, index) => resource(index, { source: SOURCES[vocabulary][place] })));
        for (const change of changes) apply(root, change);
        const value = JSON.parse(JSON.stringify(root));
        const theirs = VOCABULARIES.some((one) => catalogSchemas[one].safeParse(value).success);
        expect(accepted(value)).toBe(theirs);
      }),
      { numRuns: 1000 },
    );
  });
});
