import { describe, expect, it } from "@jest/globals";
import { MAX_BYTES, MAX_PROBLEMS } from "../../src/catalog/rules.ts";
import { catalog, foundIn, problemsOf, resource } from "../support/catalog.ts";

const good = JSON.stringify(catalog(), null, 2);

describe("malformed JSON", () => {
  it.each([
    ["", 1, 1, "empty"],
    [" \n ", 2, 2, "empty"],
    ['{"a": 1,}', 1, 8, "comma too many"],
    ['{"a": [1,\n2,\n]}', 2, 2, "comma too many"],
    ['{"a": 1 "b": 2}', 1, 9, "comma is missing"],
    ["[1 2]", 1, 4, 'comma is missing before "2"'],
    ['{"a" 1}', 1, 6, "colon should stand"],
    ['{"a": }', 1, 7, "value is missing"],
    ["{a: 1}", 1, 2, 'key in double quotes should stand here, not "a"'],
    ["{'a': 1}", 1, 2, "single quote"],
    ['{"a": True}', 1, 7, '"True" is no value'],
    ['{"a": nul}', 1, 7, '"nul" is no value'],
    ['{"a": 01}', 1, 7, '"01" is no number'],
    ['{"a":\u00a01}', 1, 6, "an invisible character (U+00A0)"],
    ["\0\0\0", 1, 1, "an invisible character (U+0000)"],
    ['{"a": +1}', 1, 7, "no number"],
    ['{"a": 1.}', 1, 7, "no number"],
    ['{"a": .5}', 1, 7, "no number"],
    ['{"a": -}', 1, 7, "no number"],
    ['{"a": 0x10}', 1, 7, "no number"],
    ['{"a": NaN}', 1, 7, "no value"],
    ['{"a": "x}', 1, 7, "never ends"],
    ['{"a": "x\n"}', 1, 9, "does not end on its line"],
    ['{"a": "x\ty"}', 1, 9, "control character"],
    ['{"a": "\\x"}', 1, 8, "backslash"],
    ['{"a": "\\u12"}', 1, 8, "backslash"],
    ['{"a": "\\', 1, 8, "backslash"],
    ["// note\n{}", 1, 1, "comments"],
    ["{} /* note */", 1, 4, "behind the end"],
    ["{}{}", 1, 3, "behind the end"],
    ['{"a": [1, 2}', 1, 12, 'where "]" should'],
    ["]", 1, 1, "closes nothing"],
    ['{"a": [{"b": 1', 1, 15, '"}]}" should still come'],
    ["[", 1, 2, '"]" should still come'],
    [",", 1, 1, "no value"],
    ["\u00a0{}", 1, 1, "no value"],
    ['{"پښتو": 😀}', 1, 10, '"😀"'],
  ])("%j is told of at %i:%i", (text, line, column, message) => {
    expect(problemsOf(text)).toMatchObject([
      { rule: "syntax", path: [], line, column, message: expect.stringContaining(message) },
    ]);
  });

  it("is shown with the text around it, a caret below the place", () => {
    const text = good.replace('"verified",', '"verified"');
    const [problem] = problemsOf(text);
    expect(problem?.excerpt).toBe('      "summary": "Ten or more charac\n      ^');
  });

  it("is shown in part where its line is long", () => {
    const [problem] = problemsOf(`{"a": "${"پ".repeat(5000)}" "b": "${"x".repeat(5000)}"}`);
    const [line = "", caret = ""] = problem?.excerpt?.split("\n") ?? [];
    expect([...line]).toHaveLength(80);
    expect([...line][caret.length - 1]).toBe('"');
    expect(problem?.column).toBe(5010);
  });

  it("has its place also where an accident cut it", () => {
    for (let length = 0; length < good.length; length++) {
      const [problem, ...more] = problemsOf(good.slice(0, length));
      expect([problem?.rule, more]).toEqual(["syntax", []]);
    }
  });
});

describe("bytes that are no text", () => {
  it.each([
    ["Latin-1", Buffer.from('{"title": "Pashto é"}', "latin1"), 1, 19],
    ["a cut character", Buffer.concat([Buffer.from('{\n"پ": "'), Buffer.from([0xd9]), Buffer.from('"}')]), 2, 7],
    ["a surrogate", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 1, 2],
    ["an overlong form", Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 1, 2],
    ["one behind a replacement character of the file's own", Buffer.from([0x22, 0xef, 0xbf, 0xbd, 0xff, 0x22]), 1, 3],
  ])("are told of: %s", (_, bytes, line, column) => {
    expect(problemsOf(bytes)).toMatchObject([
      { rule: "encoding", line, column, message: expect.stringContaining("UTF-8") },
    ]);
  });

  it.each([
    ["UTF-16", Buffer.from(`\ufeff${good}`, "utf16le")],
    ["UTF-16 without a mark", Buffer.from(good, "utf16le")],
    ["UTF-16, the other way round", Buffer.from(`\ufeff${good}`, "utf16le").swap16()],
  ])("are recognised: %s", (_, bytes) => {
    const [problem] = problemsOf(bytes);
    expect(problem).toMatchObject({ rule: expect.stringMatching(/encoding|syntax/) });
  });

  it("may begin with a mark, which is a problem beside the others and counts as no column", () => {
    const text = `\ufeff{"version": 1, "updated_on": "2026-01-01", "resources": []}`;
    expect(problemsOf(text)).toMatchObject([
      { rule: "byte-order-mark", line: 1, column: 1 },
      { rule: "wrong-type", line: 1, column: 13 },
    ]);
  });
});

describe("keys that come twice", () => {
  it("are told of at the second, with the line of the first", () => {
    const text = `{"version": "1.0.0",\n"updated_on": "2026-01-01", "resources": [],\n"version": "1.0.1"}`;
    expect(problemsOf(text)).toMatchObject([
      { rule: "duplicate-key", pointer: "/version", line: 3, column: 1, message: expect.stringContaining("(line 1)") },
    ]);
  });

  it("are found however they are written, and wherever", () => {
    const written = good.replace('"tags"', '"t\\u0061gs": ["x"], "tags"');
    expect(foundIn(written)).toEqual(["duplicate-key /resources/0/tags"]);
    const deep = good.replace('"markers"', '"x": {"a": [{"b": 1, "b": 2}]}, "markers"');
    expect(foundIn(deep)).toEqual([
      "unknown-key /resources/0/pashto_evidence/x",
      "duplicate-key /resources/0/pashto_evidence/x/a/0/b",
    ]);
    const proto = good.replace('"tags"', '"__proto__": 1, "__proto__": 2, "tags"');
    expect(foundIn(proto)).toEqual(["unknown-key /resources/0/__proto__", "duplicate-key /resources/0/__proto__"]);
  });

  it("are not seen where there are none", () => {
    const tricky = catalog([
      resource(1, { summary: '{"a": 1, "a": 2} \\" "b":"b":', tags: ['"x":', "\\", "{[", ":"] }),
    ]);
    expect(foundIn(tricky)).toEqual([]);
  });
});

describe("what would reach the prototypes of objects", () => {
  it("is only a key that the schema does not know", () => {
    const text = good.replace('"tags"', '"__proto__": {"title": "x"}, "constructor": {"prototype": 1}, "tags"');
    expect(foundIn(text)).toEqual(["unknown-key /resources/0/__proto__", "unknown-key /resources/0/constructor"]);
    expect(foundIn('{"__proto__": {"version": "1.0.0", "updated_on": "2026-01-01", "resources": []}}')).toEqual([
      "missing-key ",
      "missing-key ",
      "missing-key ",
      "unknown-key /__proto__",
    ]);
    expect(({} as { title?: unknown }).title).toBeUndefined();
  });
});

describe("files that would use up the machine", () => {
  it.each([
    ["[", "]"],
    ['{"a":', "}"],
    ['[{"a":', "}]"],
  ])("may nest %s without end", (open, close) => {
    const whole = `{"resources": [{"x": ${open.repeat(200_000)}1${close.repeat(200_000)}}]}`;
    expect(foundIn(whole)).toEqual(expect.arrayContaining(["unknown-key /resources/0/x", "too-deep "]));
    expect(foundIn(open.repeat(200_000))).toEqual(["syntax "]);
    // So many that JSON.parse is not even tried.
    expect(problemsOf(open.repeat(4_000_001))).toMatchObject([{ rule: "too-deep", line: 1 }]);
  });

  it("may have brackets in texts as they like", () => {
    const brackets = resource(1, { summary: `${"[{".repeat(60)}"${"]".repeat(200)}` });
    expect(foundIn(catalog([brackets]))).toEqual([]);
    expect(foundIn(JSON.stringify(catalog([brackets])).replace('"tags"', '"tags":["a"],"tags"'))).toEqual([
      "duplicate-key /resources/0/tags",
    ]);
  });

  it("may nest a hundred levels, and no more", () => {
    const nested = (levels: number) =>
      good.replace('"tags"', `"x": ${"[".repeat(levels)}${"]".repeat(levels)}, "tags"`);
    // The file, its list and the resource are three.
    expect(foundIn(nested(97))).toEqual(["unknown-key /resources/0/x"]);
    expect(foundIn(nested(98))).toEqual(["unknown-key /resources/0/x", "too-deep "]);
  });

  it("have so many bytes, and no more", () => {
    const large = Buffer.alloc(MAX_BYTES + 1, 0x20);
    expect(problemsOf(large)).toMatchObject([{ rule: "too-large", found: "256.0 MB" }]);
    large.write(good);
    expect(foundIn(large.subarray(0, MAX_BYTES))).toEqual([]);
  });

  const most = { maxProblems: 100 };

  it("may have lists of any length, and what is wrong in them is told up to the limit", () => {
    const long = (wrong: unknown, ...rest: unknown[]) => [...Array.from({ length: 500 }, () => wrong), ...rest];
    const evidence = (markers: unknown[]) =>
      catalog([resource(1, { pashto_evidence: { ...resource().pashto_evidence, markers } })]);
    expect(foundIn(catalog([resource(1, { tags: long(""), tasks: long("a") })]), most)).toEqual([]);
    expect(foundIn(catalog([resource(1, { tags: long("", 1) })]), most)).toEqual(["wrong-type /resources/0/tags/500"]);
    expect(foundIn(evidence(long("a", "", "a")), most)).toEqual(["too-short /resources/0/pashto_evidence/markers/500"]);
    expect(foundIn(evidence(long("")), most)).toHaveLength(101);
    expect(foundIn(catalog([resource(1, { tasks: long(1) })]), most)).toHaveLength(101);
  });

  it.each([
    ["items", `{"resources": [${"1,".repeat(500)}1]}`],
    ["keys", `{${Array.from({ length: 500 }, (_, index) => `"k${index}": 1`).join(",")}}`],
    ["keys that come twice", `{${'"a": 1,'.repeat(500)} "b": 1}`],
  ])("are reported on up to a limit: %s", (_, text) => {
    expect(problemsOf(text, most)).toHaveLength(101);
    expect(problemsOf(text, most).at(-1)).toMatchObject({ rule: "too-many-problems", severity: "error" });
    expect(problemsOf(text).length).toBeGreaterThan(500);
  });

  it("are reported on up to 100,000 problems where nothing else is said", () => {
    expect(problemsOf(`{"resources": [${"1,".repeat(MAX_PROBLEMS)}1]}`)).toHaveLength(MAX_PROBLEMS + 1);
  });

  it("have keys of any length, which are cut where many problems lie in one", () => {
    const text = `{"${"k".repeat(100_000)}": {${'"a": 1,'.repeat(500)} "b": 1}}`;
    const pointers = problemsOf(text)
      .filter(({ rule }) => rule === "duplicate-key")
      .map(({ pointer }) => pointer.length);
    expect(pointers).toHaveLength(499);
    expect(Math.max(...pointers)).toBeLessThan(250);
  });

  it.each([
    ["good", "", []],
    ["bad", " ", ["url /resources/0/url"]],
    ["in brackets", "]", ["url /resources/0/url"]],
  ])("have addresses of any length: %s", (_, end, found) => {
    const start = end === "]" ? "https://[1" : "https://example.org/";
    expect(foundIn(catalog([resource(1, { url: start + ":1".repeat(10_000_000) + end })]))).toEqual(found);
  });

  it("have texts of any length, of which little is shown", () => {
    const [problem] = problemsOf(catalog([resource(1, { status: "x".repeat(1_000_000) })]));
    expect(problem?.found?.length).toBeLessThan(100);
  });
});
