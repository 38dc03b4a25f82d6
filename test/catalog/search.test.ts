import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import type { Filters } from "../../src/catalog/facets.ts";
import type { Resource } from "../../src/catalog/schema.ts";
import { openSearch, openSearchGently } from "../../src/catalog/search.ts";
import { fold, wordsOf } from "../../src/catalog/words.ts";
import { catalog, manyResources, resource } from "../support/served-catalog.ts";

const open = (...resources: Resource[]) => openSearch(catalog(resources));
const idsOf = (search: ReturnType<typeof open>, text: string, filters?: Filters) =>
  search.query(text, filters).resources.map(({ id }) => id);

describe("words", () => {
  it.each([
    ["Common Voice 17.0", ["common", "voice", "17", "0"]],
    ["facebook/mms-1b_all", ["facebook", "mms", "1b", "all"]],
    ["Café naïve ÅNGSTRÖM", ["cafe", "naive", "angstrom"]],
    ["ﬁne ＷＩＤＥ ①", ["fine", "wide", "1"]],
    ["İstanbul", ["istanbul"]],
    ["", []],
    ["…!?", []],
    ["日本語 한국어", ["日本語".normalize("NFKD"), "한국어".normalize("NFKD")]],
  ])("of %j", (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  it.each([
    ["پښتو", "پښتو\u200c"],
    ["مي‌کنم", "میکنم"],
    ["پَښْتُو", "پښتو"],
    ["پښـــتو", "پښتو"],
    ["ليك", "لیک"],
    ["ګل", "گل"],
    ["آزادي", "ازادی"],
    ["ښوونځے", "ښوونځی"],
    ["ښوونځی", "ښوونځى"],
    ["۱۲۳", "123"],
    ["٤٥٦", "456"],
    ["ﻟﻴﻚ", "لیک"],
    ["کتابونه", "كتابونہ"],
  ])("%s and %s are one", (a, b) => {
    expect(wordsOf(a)).toEqual(wordsOf(b));
    expect(wordsOf(a)).toHaveLength(1);
  });

  it.each([
    ["ښ", "ش"],
    ["ړ", "ر"],
    ["ځ", "ج"],
  ])("%s and %s are letters of their own", (a, b) => {
    expect(wordsOf(a)).not.toEqual(wordsOf(b));
  });

  it("come the same from whatever is folded already, and are never long", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (text) => {
        const words = wordsOf(text);
        expect(wordsOf(words.join(" "))).toEqual(words);
        for (const word of words) expect(word.length).toBeLessThanOrEqual(64);
        expect(wordsOf(fold(text))).toEqual(words);
      }),
    );
  });
});

describe("a search", () => {
  const search = open(
    resource("common-voice", { title: "Common Voice Pashto", summary: "Read speech, by volunteers", tags: ["asr"] }),
    resource("fleurs", { title: "FLEURS", summary: "Parallel speech in many languages", tags: ["asr", "Speech"] }),
    resource("spelling", { title: "A spelling dictionary", summary: "Words of Pashto, checked", tags: ["lexicon"] }),
    resource("shahmukhi", { title: "د پښتو ژبې ګرامر", summary: "د ژبې جوړښت او قواعد", tags: ["grammar"] }),
  );

  it.each([
    ["speech", ["fleurs", "common-voice"]],
    ["SPEECH", ["fleurs", "common-voice"]],
    ["speech common", ["common-voice"]],
    ["common speech ", ["common-voice"]],
    ["spee", ["fleurs", "common-voice"]],
    ["spee ", ["fleurs", "common-voice"]],
    ["speach", ["fleurs", "common-voice"]],
    ["dictionnary", ["spelling"]],
    ["asr", ["common-voice", "fleurs"]],
    ["common-voice", ["common-voice"]],
    ["گرامر", ["shahmukhi"]],
    ["د پښتو ژ", ["shahmukhi"]],
    ["testing", ["common-voice", "fleurs", "spelling", "shahmukhi"]],
    ["the card names", ["common-voice", "fleurs", "spelling", "shahmukhi"]],
    ["nowhere", []],
    ["speech nowhere", []],
    ["xyz", []],
    ["", ["common-voice", "fleurs", "spelling", "shahmukhi"]],
    ["  …  ", ["common-voice", "fleurs", "spelling", "shahmukhi"]],
  ])("for %j finds %j, the best first", (text, ids) => {
    expect(idsOf(search, text)).toEqual(ids);
  });

  it("takes a word for a slip only where nothing is written so", () => {
    const near = open(resource("a", { title: "The voice" }), resource("b", { title: "The vowel" }));
    expect(idsOf(near, "voice ")).toEqual(["a"]);
    expect(idsOf(near, "voive ")).toEqual(["a"]);
    // Three letters have too many neighbours.
    expect(idsOf(near, "thf ")).toEqual([]);
  });

  it("puts a word in a title before the same in a summary, and a rare word before a frequent one", () => {
    const ranked = open(
      resource("summary", { summary: "It has a lexicon inside" }),
      resource("title", { title: "Lexicon" }),
      resource("tag", { tags: ["lexicon"] }),
    );
    expect(idsOf(ranked, "lexicon")).toEqual(["title", "tag", "summary"]);
  });

  it("finds one by its id", () => {
    expect(search.get("fleurs")?.title).toBe("FLEURS");
    expect(search.get("__proto__")).toBeNull();
  });

  it("is not disturbed by words that objects know", () => {
    const odd = open(
      resource("constructor", {
        title: "__proto__ constructor",
        tags: ["__proto__", "toString"],
        license: "hasOwnProperty",
      }),
    );
    expect(idsOf(odd, "constructor")).toEqual(["constructor"]);
    expect(idsOf(odd, "", { tag: "tostring", license: "HASOWNPROPERTY" })).toEqual(["constructor"]);
    expect(odd.query("").facets?.tag).toEqual([
      { value: "__proto__", count: 1 },
      { value: "toString", count: 1 },
    ]);
  });

  it("is as good on an empty catalog", () => {
    expect(open().query("speech", { tag: "x" })).toEqual({
      total: 0,
      resources: [],
      next: null,
      facets: { category: [], source: [], status: [], tag: [], task: [], license: [] },
    });
  });

  it("comes out the same in small steps, and ends when it is called off", async () => {
    const many = catalog(manyResources(1000));
    const gently = await openSearchGently(many);
    expect(gently.query("grammar")).toEqual(openSearch(many).query("grammar"));
    await expect(openSearchGently(many, AbortSignal.abort(new Error("over")))).rejects.toThrow("over");
  });
});

describe("filters and facets", () => {
  const search = open(
    resource("a", { category: "dataset", source: "github", status: "verified", tags: ["x"], license: "MIT" }),
    resource("b", { category: "dataset", source: "github", status: "candidate", tags: ["x", "y"], license: "mit" }),
    resource("c", { category: "model", source: "zenodo", status: "verified", tags: ["y"], tasks: ["mt"] }),
    resource("d", { category: "tool", source: "other", status: "verified", tags: ["z", "z"] }),
  );

  it.each<[Filters, string[]]>([
    [{ category: "dataset" }, ["a", "b"]],
    [{ category: ["dataset", "model"] }, ["a", "b", "c"]],
    [{ category: ["dataset", "model"], status: "verified" }, ["a", "c"]],
    [{ category: [] }, ["a", "b", "c", "d"]],
    [{ license: "mit" }, ["a", "b"]],
    [{ tag: ["Y", "z"] }, ["b", "c", "d"]],
    [{ task: "mt" }, ["c"]],
    [{ source: "code_host_a" }, ["a", "b"]],
    [{ source: "github" }, ["a", "b"]],
    [{ source: "other" }, ["d"]],
    [{ tag: "unknown" }, []],
    [{ tag: ["unknown", "x"] }, ["a", "b"]],
    [{ category: "dataset", tag: "unknown" }, []],
  ])("%j leave %j", (filters, ids) => {
    expect(idsOf(search, "", filters)).toEqual(ids);
  });

  it("count what each choice would leave under the filters of the other facets", () => {
    const { facets, total } = search.query("", { category: "dataset", status: "verified" });
    expect(total).toBe(1);
    expect(facets?.category).toEqual([
      { value: "dataset", count: 1 },
      { value: "model", count: 1 },
      { value: "tool", count: 1 },
    ]);
    expect(facets?.status).toEqual([
      { value: "verified", count: 1 },
      { value: "candidate", count: 1 },
    ]);
    expect(facets?.tag).toEqual([{ value: "x", count: 1 }]);
    expect(facets?.license).toEqual([{ value: "MIT", count: 1 }]);
  });

  it("tell of a choice that leaves nothing, so that it can be taken back", () => {
    const { facets } = search.query("", { category: "model", tag: "z" });
    expect(facets?.tag).toContainEqual({ value: "z", count: 0 });
  });

  it("count a resource once for each value, and tell the most frequent of many", () => {
    const tagged = open(
      ...Array.from({ length: 80 }, (_, at) => resource(`r${at}`, { tags: ["all", "all", `tag-${at}`] })),
    );
    const { facets } = tagged.query("", { tag: "tag-79" });
    expect(facets?.tag[0]).toEqual({ value: "all", count: 80 });
    expect(facets?.tag).toHaveLength(51);
    expect(facets?.tag.at(-1)).toEqual({ value: "tag-79", count: 1 });
  });

  it("are not what the next search begins with", () => {
    const { facets } = search.query("");
    facets?.category.splice(0);
    expect(search.query("").facets?.category).toHaveLength(3);
  });

  it("agree with what a plain loop finds and counts", () => {
    const resources = manyResources(300);
    const large = openSearch(catalog(resources));
    const some = <Value extends string>(...values: Value[]) => fc.subarray(values);
    const filters = fc.record({
      category: some("dataset", "model", "paper"),
      status: some("verified", "candidate"),
      tag: some("speech", "news", "law"),
      license: some("mit", "cc-by-4.0"),
      source: some("github", "arxiv"),
      task: some("translation"),
    });
    const has = (one: Resource, name: string): readonly string[] =>
      name === "tag"
        ? one.tags
        : name === "task"
          ? (one.tasks ?? [])
          : [(one as unknown as Record<string, string | undefined>)[name] ?? ""];
    fc.assert(
      fc.property(filters, fc.constantFrom("", "speech", "coll", "pashto grammar"), (wanted, text) => {
        const entries = Object.entries(wanted).filter(([, values]) => values.length > 0);
        const passes = (one: Resource, without = "") =>
          entries.every(([name, values]) => name === without || values.some((value) => has(one, name).includes(value)));
        const matching = large.query(text, {}, { limit: 1000 }).resources;
        const found = large.query(text, wanted, { limit: 1000 });
        expect(found.resources).toEqual(matching.filter((one) => passes(one)));
        for (const [name, values] of Object.entries(found.facets ?? {})) {
          for (const { value, count } of values)
            expect([name, value, count]).toEqual([
              name,
              value,
              matching.filter((one) => passes(one, name) && has(one, name).includes(value)).length,
            ]);
        }
      }),
    );
  });
});

describe("a resource of megabytes", () => {
  const summary = `begins ${"word ".repeat(50_000)} ends`;

  it("is found by what it begins with", () => {
    const search = open(resource("long", { summary }), resource("many", { tags: Array(200_000).fill("tag") }));
    expect(idsOf(search, "begins")).toEqual(["long"]);
    expect(idsOf(search, "ends")).toEqual([]);
    expect(idsOf(search, "tag")).toEqual(["many"]);
  });

  it("holds nobody up for long, nor do many of them", async () => {
    let turns = 0;
    let opening = true;
    const count = () => {
      turns++;
      if (opening) setImmediate(count);
    };
    setImmediate(count);
    await openSearchGently(catalog(Array.from({ length: 20 }, (_, at) => resource(`long-${at}`, { summary }))));
    opening = false;
    expect(turns).toBeGreaterThanOrEqual(20);
  });
});

describe("pages", () => {
  const resources = manyResources(1000);
  const search = openSearch(catalog(resources));

  it.each(["", "collection", "speech", "pashto gr"])("of %j follow one another without a gap", (text) => {
    const whole = search.query(text, {}, { limit: 1000 });
    const seen: string[] = [];
    for (let offset: number | null = 0; offset !== null; ) {
      const page: ReturnType<typeof search.query> = search.query(text, {}, { offset, limit: 37, facets: false });
      expect(page.total).toBe(whole.total);
      expect(page.facets).toBeNull();
      seen.push(...page.resources.map(({ id }) => id));
      offset = page.next;
    }
    expect(seen).toEqual(whole.resources.map(({ id }) => id));
    expect(new Set(seen).size).toBe(whole.total);
  });

  it("beyond the last one are empty", () => {
    expect(search.query("", {}, { offset: 5000 })).toMatchObject({ total: 1000, resources: [], next: null });
    expect(search.query("speech", {}, { offset: 5000 })).toMatchObject({ resources: [], next: null });
  });
});
