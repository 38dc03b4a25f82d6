import { describe, expect, it } from "@jest/globals";
import { pathText } from "../../src/catalog/problem.ts";
import { rules } from "../../src/catalog/rules.ts";
import { validateCatalog } from "../../src/catalog/validate.ts";
import { catalog, foundIn, MARKERS, NOW, problemsOf, resource } from "../support/catalog.ts";

const two = (first: object, second: object) => catalog([resource(1, first), resource(2, second)]);

describe("an id", () => {
  it("may stand once", () => {
    expect(problemsOf(two({ id: "a" }, { id: "a" }))).toMatchObject([
      {
        rule: "duplicate-id",
        severity: "error",
        pointer: "/resources/1/id",
        message: expect.stringContaining("resources[0] (line 6)"),
      },
    ]);
    expect(foundIn(two({ id: "a" }, { id: "a-" }))).toEqual([]);
  });

  it("is told of each time it stands again, with the first", () => {
    const three = catalog([resource(1, { id: "x" }), resource(2), resource(3, { id: "x" }), resource(4, { id: "x" })]);
    const found = problemsOf(three);
    expect(found.map(({ pointer }) => pointer)).toEqual(["/resources/2/id", "/resources/3/id"]);
    for (const { message } of found) expect(message).toContain("resources[0] (line 6)");
  });
});

describe("an address", () => {
  it.each([
    ["https://example.org/a", "https://example.org/a"],
    ["https://example.org/a", "http://example.org/a"],
    ["https://example.org/a", "https://Example.ORG/a/"],
    ["https://example.org", "https://example.org/"],
  ])("%s is the same as %s, which is a warning", (first, second) => {
    expect(foundIn(two({ url: first }, { url: second }))).toEqual(["duplicate-url /resources/1/url"]);
  });

  it.each([
    ["https://example.org/a", "https://example.org/A"],
    ["https://example.org/a", "https://example.org/a?b"],
    ["https://example.org/#a", "https://example.org/#b"],
    ["https://example.org/a", "https://example.org/a//"],
    ["https://a.example.org/", "https://example.org/a"],
    ["https://example.org", "https://example.org:8080"],
  ])("%s is another than %s", (first, second) => {
    expect(foundIn(two({ url: first }, { url: second }))).toEqual([]);
  });
});

describe("a title", () => {
  it.each([
    ["Pashto Speech", "Pashto Speech"],
    ["Pashto Speech", "pashto  SPEECH"],
    ["Pashto Speech", "Pashto-Speech!"],
    ["Pashto Speech", " «Pashto: Speech»"],
    ["Pashto ﬁles", "Pashto files"],
    ["Ｐａｓｈｔｏ", "Pashto"],
    ["Ｐａｓｈｔｏ １", "pashto 1"],
    ["د پښتو ژبه", "د پښتو، ژبه"],
    ["ﭘښتو", "پښتو"],
    ["!!!", "!!!"],
  ])("%s is nearly %s, which is a warning", (first, second) => {
    const found = foundIn(two({ title: first }, { title: second }));
    expect(found).toEqual(["near-duplicate-title /resources/1/title"]);
  });

  it.each([
    ["Pashto Speech 1", "Pashto Speech 2"],
    ["Model 1.0", "Model 10"],
    ["C++ for Pashto", "C for Pashto"],
    ["!!!", "???"],
    ["پښتو", "پښتون"],
    ["cafe", "café"],
  ])("%s is another than %s", (first, second) => {
    expect(foundIn(two({ title: first }, { title: second }))).toEqual([]);
  });
});

describe("a marker of the language", () => {
  const silent = { evidence_text: "tips", evidence_url: "https://example.org/e", markers: ["x"] };
  const without = { title: "Speech", url: "https://example.org/u", pashto_evidence: silent };

  it.each(["model", "paper", "tool", "code", "project"])("is missed in a %s", (category) => {
    expect(problemsOf(catalog([resource(1, { ...without, category })]))).toMatchObject([
      { rule: "no-marker", severity: "warning", pointer: "/resources/0", allowed: MARKERS.join(", ") },
    ]);
  });

  it.each(["dataset", "benchmark"])("is not asked of a %s", (category) => {
    expect(foundIn(catalog([resource(1, { ...without, category })]))).toEqual([]);
  });

  it.each([
    ["title", { title: "Pashto speech" }],
    ["title in Pashto", { title: "د پښتو ژبه" }],
    ["url", { url: "https://example.org/pashto-asr" }],
    ["escaped url", { url: "https://example.org/%D9%BE%DA%9A%D8%AA%D9%88" }],
    ["evidence_text", { pashto_evidence: { ...silent, evidence_text: "lists ps_af" } }],
    ["evidence_url", { pashto_evidence: { ...silent, evidence_url: "https://example.org/?lang=ps" } }],
    ["markers", { pashto_evidence: { ...silent, markers: ["x", "pbt_Arab"] } }],
  ])("counts in %s", (_, changes) => {
    expect(foundIn(catalog([resource(1, { ...without, category: "model", ...changes })]))).toEqual([]);
  });

  it.each([
    ["summary", { summary: "About Pashto only" }],
    ["tags", { tags: ["pashto"] }],
    ["id", { id: "pashto" }],
  ])("does not count in %s", (_, changes) => {
    expect(foundIn(catalog([resource(1, { ...without, category: "model", ...changes })]))).toEqual([
      "no-marker /resources/0",
    ]);
  });

  it("may be of another language", () => {
    const dari = catalog([resource(1, { ...without, category: "model", title: "Dari speech" })]);
    expect(foundIn(dari)).toEqual(["no-marker /resources/0"]);
    expect(foundIn(dari, { markers: ["Dari"] })).toEqual([]);
    expect(foundIn(dari, { markers: [] })).toEqual([]);
  });
});

describe("the day of the last change", () => {
  it("may be today wherever on Earth, and no later", () => {
    const on = (updated_on: string, now: string) => foundIn(catalog([], { updated_on }), { now: new Date(now) });
    expect(on("2026-06-15", "2026-06-15T00:00:00Z")).toEqual([]);
    expect(on("2026-06-15", "2026-06-14T10:00:00Z")).toEqual([]);
    expect(on("2026-06-15", "2026-06-14T09:59:59Z")).toEqual(["future-date /updated_on"]);
    expect(on("2027-06-15", "2026-06-15T12:00:00Z")).toEqual(["future-date /updated_on"]);
    expect(problemsOf(catalog([], { updated_on: "2999-01-01" }))[0]).toMatchObject({
      severity: "warning",
      suggestion: "2026-06-15",
    });
  });
});

describe("the version", () => {
  it.each([
    ["1.2.4", "1.2.3"],
    ["1.3.0", "1.2.9"],
    ["2.0.0", "1.99.99"],
    ["1.2.10", "1.2.9"],
    ["99999999999999999999.0.1", "99999999999999999999.0.0"],
  ])("%s is above %s", (version, before) => {
    expect(foundIn(catalog([], { version }), { against: { version: before } })).toEqual([]);
  });

  it.each([
    ["1.2.3", "1.2.3"],
    ["1.2.3", "1.2.4"],
    ["1.2.9", "1.2.10"],
    ["1.02.3", "1.2.3"],
    ["0.9.9", "1.0.0"],
  ])("%s is not above %s, which is an error", (version, before) => {
    expect(problemsOf(catalog([], { version }), { against: { version: before } })).toMatchObject([
      { rule: "version-not-raised", severity: "error", pointer: "/version", allowed: `above ${before}` },
    ]);
  });

  it("is suggested", () => {
    const [problem] = problemsOf(catalog([], { version: "1.2.9" }), { against: { version: "1.2.9" } });
    expect(problem?.suggestion).toBe("1.2.10");
  });

  it("is not compared where it is none, or where there was none before", () => {
    expect(foundIn(catalog([], { version: "1.2" }), { against: { version: "1.2.3" } })).toEqual(["pattern /version"]);
    expect(foundIn(catalog([]), { against: null })).toEqual([]);
  });
});

describe("the vocabulary", () => {
  const withSources = (...sources: string[]) => catalog(sources.map((source, index) => resource(index, { source })));
  const report = (...sources: string[]) => validateCatalog(JSON.stringify(withSources(...sources)), { now: NOW });

  it("is told, and is neither where only words of both stand", () => {
    expect(report("code_host_a", "other").vocabulary).toBe("neutral");
    expect(report("other", "github").vocabulary).toBe("platform");
    expect(report("other").vocabulary).toBeNull();
    expect(report().vocabulary).toBeNull();
    expect(report("other").catalog).not.toBeNull();
  });

  it("is the one of most sources, and the others are each a problem with its translation", () => {
    const { vocabulary, problems, catalog } = report("github", "model_hub", "arxiv", "other", "data_archive");
    expect([vocabulary, catalog]).toEqual(["platform".slice(0), null]);
    expect(problems.map(({ pointer, suggestion }) => [pointer, suggestion])).toEqual([
      ["/resources/1/source", "huggingface"],
      ["/resources/4/source", "dataverse"],
    ]);
  });

  it("is the first one where there are as many of both", () => {
    expect(report("model_hub", "github").vocabulary).toBe("neutral");
    expect(report("github", "model_hub").vocabulary).toBe("platform");
  });

  it("is told also of a file with errors, and decides which words are allowed", () => {
    const { vocabulary, problems } = report("huggingfce", "github");
    expect(vocabulary).toBe("platform");
    expect(problems).toMatchObject([{ rule: "not-allowed", found: '"huggingfce"', suggestion: "huggingface" }]);
    expect(problems[0]?.allowed).not.toContain("model_hub");
    expect(report("huggingfce").problems[0]).toMatchObject({
      suggestion: "huggingface",
      allowed: expect.stringMatching(/model_hub.*huggingface/),
    });
  });
});

describe("a source that is missing, or is no text,", () => {
  it.each([
    ["neutral", "code_host_a", "github"],
    ["platform", "github", "code_host_a"],
  ])("is asked for in the file's words, %s", (_, word, other) => {
    for (const source of [undefined, 5]) {
      const first = resource(1, { source: word });
      const text = JSON.stringify(catalog([first, resource(2, { source: word }), resource(3, { source })]));
      const [problem] = problemsOf(text);
      expect(problem?.allowed).toContain(word);
      expect(problem?.allowed).not.toContain(other);
    }
  });
});

describe("a suggestion", () => {
  const suggestionFor = (changes: object) => problemsOf(catalog([resource(1, changes)]))[0]?.suggestion;

  it.each([
    [{ category: "datset" }, "dataset"],
    [{ category: "PAPER" }, "paper"],
    [{ status: "verifed" }, "verified"],
    [{ source: "code_host-a" }, "code_host_a"],
    [{ licence: "MIT" }, "license"],
    [{ id: "Pashto ASR (v2)" }, "pashto-asr-v2"],
    [{ id: "Éxample" }, "example"],
    [{ url: "example.org/a" }, "https://example.org/a"],
    [{ url: "https://example.org/a b" }, "https://example.org/a%20b"],
    [{ url: "HTTPS://example.org/" }, "https://example.org/"],
    [{ url: "https://example.org/پښتو" }, "https://example.org/%D9%BE%DA%9A%D8%AA%D9%88"],
  ])("for %j is %s", (changes, suggestion) => {
    expect(suggestionFor(changes)).toBe(suggestion);
  });

  it.each([
    [{ category: "spreadsheet" }],
    [{ source: "myspace" }],
    [{ id: "پښتو" }],
    [{ url: "ftp://example.org" }],
    [{ url: "none" }],
  ])("is not made up for %j", (changes) => {
    expect(suggestionFor(changes)).toBeUndefined();
  });

  it.each([
    [{ updated_on: "2026/1/5" }, "2026-01-05"],
    [{ updated_on: "2026-01-05T10:00:00Z" }, "2026-01-05"],
    [{ updated_on: "5 January" }, undefined],
    [{ version: "v1.2" }, "1.2.0"],
    [{ version: "1.2.3-rc1" }, undefined],
  ])("for %j of the file is %s", (changes, suggestion) => {
    expect(problemsOf(catalog([], changes))[0]?.suggestion).toBe(suggestion);
  });

  it("names no key that is there already", () => {
    const [problem] = problemsOf(catalog([resource(1, { tilte: "x" })]));
    expect(problem).toMatchObject({ rule: "unknown-key", pointer: "/resources/0/tilte" });
    expect(problem).not.toHaveProperty("suggestion");
  });

  it("is not searched for words of any length", () => {
    expect(suggestionFor({ category: "datasets".repeat(1_000_000) })).toBeUndefined();
  });
});

describe("places", () => {
  it("are those of values, of keys that are wrong, and of objects that miss one", () => {
    const text = `{
  "version": "1.2.3", "updated_on": "2026-02-30",
  "resources": [
    {
      "id": "x", "extra"  :  1,
      "title": "ab"
    }
  ]
}`;
    const at = Object.fromEntries(problemsOf(text).map(({ rule, line, column }) => [rule, [line, column]]));
    expect(at).toMatchObject({
      date: [2, 37],
      "unknown-key": [5, 18],
      "too-short": [6, 16],
      "missing-key": [4, 5],
    });
  });

  it("count UTF-16 code units, as editors do", () => {
    const line = '{"version": "1.0.0", "updated_on": "2026-01-01", "😀پ": 1, "resources": []}';
    expect(problemsOf(line)[0]).toMatchObject({ line: 1, column: line.indexOf('"😀') + 1 });
    const behind = '{"x😀پ": 1, "version": 1, "updated_on": "2026-01-01", "resources": []}';
    expect(problemsOf(behind)[1]).toMatchObject({
      rule: "wrong-type",
      line: 1,
      column: behind.indexOf("1, ", 9 + 5) + 1,
    });
  });

  it.each([
    ["LF", "\n"],
    ["CR LF", "\r\n"],
  ])("count lines that end with %s", (_, end) => {
    const text = JSON.stringify(catalog([resource(1, { tags: [] })]), null, 2).replaceAll("\n", end);
    const line = text.slice(0, text.indexOf('"tags"')).split(end).length;
    expect(problemsOf(text)).toMatchObject([{ rule: "too-few", line, column: 15 }]);
  });

  it("are found in a file that is one long line, in the order of the file", () => {
    const many = Array.from({ length: 500 }, (_, index) => resource(index, { tags: [], source: "x" }));
    const text = JSON.stringify(catalog(many));
    const found = problemsOf(text);
    expect(found).toHaveLength(1000);
    expect(found.every(({ line }) => line === 1)).toBe(true);
    expect(found.map(({ column }) => column)).toEqual(found.map(({ column }) => column).toSorted((a, b) => a - b));
    expect(text.slice((found.at(-1)?.column ?? 0) - 1)).toMatch(/^\[\]/);
  });

  it("are found behind keys that are written with escapes", () => {
    const text = '{"version": "1.0.0", "updated_on": "2026-01-01",\n "resour\\u0063es": [{"i\\u0064": "A"}]}';
    expect(problemsOf(text)).toContainEqual(expect.objectContaining({ rule: "pattern", line: 2, column: 33 }));
  });

  it("come with the path, the pointer and the id", () => {
    const value = catalog([resource(1), resource(2, { id: "two", "a/b~c": 1 })]);
    const [problem] = problemsOf(value);
    expect(problem).toMatchObject({
      path: ["resources", 1, "a/b~c"],
      pointer: "/resources/1/a~1b~0c",
      resource: "two",
    });
    expect(pathText(problem?.path ?? [])).toBe('resources[1]["a/b~c"]');
    expect(pathText([])).toBe("$");
    expect(pathText(["resources", 1, "tags", 0])).toBe("resources[1].tags[0]");
  });
});

describe("a report", () => {
  it("has the catalog when there are no errors, warnings or not", () => {
    const value = catalog([resource(1), resource(2, { title: "Pashto resource 1" })]);
    const report = validateCatalog(JSON.stringify(value), { markers: MARKERS, now: NOW });
    expect(report).toMatchObject({ catalog: value, vocabulary: "neutral", read: { resources: 2 } });
    expect(report.problems).toHaveLength(1);
  });

  it("takes bytes and text alike", () => {
    const text = JSON.stringify(catalog([resource(1, { title: "پښ" })]));
    expect(validateCatalog(Buffer.from(text))).toEqual(validateCatalog(text));
    // Bytes may lie anywhere in their buffer.
    const inside = Buffer.from(`xxx${text}xxx`).subarray(3, -3);
    expect(validateCatalog(inside)).toEqual(validateCatalog(text));
  });

  it("says how far it has come", () => {
    const many = JSON.stringify(catalog(Array.from({ length: 4500 }, (_, index) => resource(index))));
    const steps: number[] = [];
    validateCatalog(many, { onProgress: ({ done, total }) => steps.push(done / total) });
    expect(steps.length).toBeGreaterThan(2);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    expect(steps.at(-1)).toBe(1);
  });

  it("knows rules by names that say what is so", () => {
    for (const [name, { says, severity }] of Object.entries(rules)) {
      expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(says).toMatch(/^[A-Zu].*\.$/);
      expect(["error", "warning"]).toContain(severity);
    }
  });
});
