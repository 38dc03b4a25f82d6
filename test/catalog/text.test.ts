import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { countKeys, findDuplicateKeys } from "../../src/catalog/duplicate-keys.ts";
import { positionsOf } from "../../src/catalog/lines.ts";
import { locate, type Path } from "../../src/catalog/locate.ts";
import { keysIn, tooDeepAt } from "../../src/catalog/scan.ts";
import { findSyntaxProblem } from "../../src/catalog/syntax.ts";
import { validateCatalog } from "../../src/catalog/validate.ts";
import { catalog, resource } from "../support/catalog.ts";

const layout = fc.constantFrom(undefined, 1, 3, "\t");
const anyJson = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), layout)
  .map(([value, space]) => JSON.stringify(value, null, space));

/** Text to which a few things were done, byte by byte. */
function spoiled(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const pieces = [
    "",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "0",
    "1",
    "-",
    ".",
    "e",
    "t",
    "null",
    " ",
    "\n",
    "\u0001",
    "پ",
    "😀",
    "//",
  ];
  const change = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat({ max: 3 }), fc.constantFrom(...pieces));
  return fc.tuple(text, fc.array(change, { maxLength: 3 })).map(([before, changes]) =>
    changes.reduce((now, [place, gone, piece]) => {
      const at = Math.floor(place * now.length);
      return now.slice(0, at) + piece + now.slice(at + gone);
    }, before),
  );
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function pathsOf(value: unknown): Path[] {
  if (typeof value !== "object" || value === null) return [[]];
  const inside = Array.isArray(value) ? value.map((one, index) => [index, one] as const) : Object.entries(value);
  return [[], ...inside.flatMap(([step, one]) => pathsOf(one).map((path) => [step, ...path]))];
}

describe("the text of a file, however it is written", () => {
  it("has a syntax problem where JSON.parse fails, and nowhere else", () => {
    fc.assert(
      fc.property(spoiled(anyJson), (text) => {
        const bytes = Buffer.from(text);
        const problem = findSyntaxProblem(bytes);
        expect(problem === null).toBe(parses(bytes.toString()));
        if (problem) expect(problem.offset).toBeLessThanOrEqual(bytes.length);
      }),
      { numRuns: 3000 },
    );
  });

  it("has every value where its path leads", () => {
    fc.assert(
      fc.property(anyJson, (text) => {
        const bytes = Buffer.from(text);
        const value = JSON.parse(text);
        const paths = pathsOf(value);
        const spans = locate(bytes, [...paths, ["nowhere", 99]]);
        expect(spans.pop() ?? null).toBeNull();
        for (const [index, span] of spans.entries()) {
          const path = paths[index] ?? [];
          const found = JSON.parse(bytes.subarray(span?.start, span?.end).toString());
          const expected = path.reduce((inside, step) => (inside as Record<string | number, unknown>)[step], value);
          expect(found).toEqual(expected);
          const key = path.at(-1);
          if (typeof key === "string")
            expect(bytes.subarray(span?.key).toString().startsWith(JSON.stringify(key))).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("has its offsets on the lines and in the columns where they are", () => {
    const text = fc.array(fc.constantFrom("a", "پ", "😀", "\n", "\r\n", " ")).map((all) => all.join(""));
    fc.assert(
      fc.property(text, (whole) => {
        const bytes = Buffer.from(whole);
        const characters = [...whole];
        let before = "";
        const expected = characters.map((character) => {
          const lines = before.split("\n");
          before += character;
          return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
        });
        const offsets = characters.map((_, index) => Buffer.byteLength(characters.slice(0, index).join("")));
        expect(positionsOf(bytes, offsets)).toEqual(expected);
      }),
    );
  });

  it("has no key twice where JSON.stringify wrote it, and as many more as were put in", () => {
    fc.assert(
      fc.property(anyJson, (text) => {
        const value = JSON.parse(text);
        const keys = countKeys(value, 100);
        expect(findDuplicateKeys(Buffer.from(text), 100)).toEqual([]);
        // What looks like a key in a text may be counted too, and none may be missed.
        expect(keysIn(Buffer.from(text))).toBeGreaterThanOrEqual(keys);
        const twice = `{"x": ${text},\n"y": 1, "x" : ${text} }`;
        expect(findDuplicateKeys(Buffer.from(twice), 100)).toMatchObject([{ path: ["x"], first: 1 }]);
        expect(keysIn(Buffer.from(twice))).toBeGreaterThan(countKeys(JSON.parse(twice), 100));
      }),
      { numRuns: 500 },
    );
  });

  it("is as deep as its value", () => {
    const depth = (value: unknown): number =>
      typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
    fc.assert(
      fc.property(anyJson, fc.nat({ max: 5 }), (text, most) => {
        const value = JSON.parse(text);
        expect(tooDeepAt(Buffer.from(text), most) >= 0).toBe(depth(value) > most);
        expect(countKeys(value, most) === Number.POSITIVE_INFINITY).toBe(depth(value) > most);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a spoiled catalog", () => {
  const written = fc
    .constantFrom(undefined, 2)
    .map((space) => JSON.stringify(catalog([resource(1), resource(2)]), null, space));

  it("never breaks the validator, and always has a place in the file", () => {
    fc.assert(
      fc.property(spoiled(written), fc.boolean(), (text, latin) => {
        const bytes = Buffer.from(text, latin ? "latin1" : "utf8");
        const lines = bytes.toString().split("\n");
        const { problems, catalog: good } = validateCatalog(bytes);
        const errors = problems.filter(({ severity }) => severity === "error");
        expect(good === null).toBe(errors.length > 0);
        for (const { line, column } of problems) {
          expect(line).toBeLessThanOrEqual(lines.length);
          expect(column).toBeLessThanOrEqual((lines[line - 1] ?? "").length + 1);
        }
      }),
      { numRuns: 1500 },
    );
  });
});
