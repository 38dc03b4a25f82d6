import { describe, expect, it } from "@jest/globals";
import { counted, errorsOf, problemLine, whereText } from "../../src/catalog/problem-line.ts";
import type { Problem } from "../../src/catalog/validate.ts";

const problem: Problem = {
  rule: "not-allowed",
  severity: "error",
  path: ["resources", 0, "source"],
  pointer: "/resources/0/source",
  resource: "common-voice",
  line: 3,
  column: 15,
  message: "this is no source",
  found: '"githb"',
  allowed: "github, gitlab",
  suggestion: "github",
};

describe("a problem in one line", () => {
  it("says where it stands, what was found, and what was meant", () => {
    const what = 'resources[0].source (common-voice): this is no source, found "githb" (did you mean github?)';
    expect(problemLine(problem)).toBe(`line 3, column 15, ${what}`);
    expect(problemLine(problem, "a.json")).toBe(`a.json:3:15 ${what}`);
  });

  it("says what is allowed where nothing is near", () => {
    const { suggestion, ...other } = problem;
    expect(problemLine(other)).toMatch(/found "githb" \(allowed: github, gitlab\)$/);
  });

  it("stays in one line, whatever the id is", () => {
    expect(whereText({ ...problem, resource: "a\n::error::b" })).not.toContain("\n");
    expect(whereText({ ...problem, resource: null, path: [] })).toBe("$");
  });
});

it("errors are told from warnings, and counted", () => {
  expect(errorsOf([problem, { ...problem, severity: "warning" }])).toEqual([problem]);
  expect([0, 1, 1234].map((count) => counted(count, "error"))).toEqual(["0 errors", "1 error", "1,234 errors"]);
});
