import { describe, expect, it } from "@jest/globals";
import { assign } from "../../src/cli/assign.ts";
import { UsageError } from "../../src/cli/exit.ts";

function assigned(...assignments: string[]): unknown {
  const target = {};
  for (const assignment of assignments) assign(target, assignment);
  return target;
}

describe("--set", () => {
  it.each<[string[], unknown]>([
    [["title=Mend it"], { title: "Mend it" }],
    [["a.b.c=x"], { a: { b: { c: "x" } } }],
    [["updatedRefs.0.ref=refs/pr/1"], { updatedRefs: [{ ref: "refs/pr/1" }] }],
    [["refs.1=b", "refs.0=a"], { refs: ["a", "b"] }],
    [["a=1", "b=true", "c=null", 'd={"e":[1]}', 'f="1"'], { a: 1, b: true, c: null, d: { e: [1] }, f: "1" }],
    [["a=", "b=x=y"], { a: "", b: "x=y" }],
    [["a=1", "a=2"], { a: 2 }],
    [['a={"b":1}', "a.c=2"], { a: { b: 1, c: 2 } }],
    [['a=["x"]', "a.1=y"], { a: ["x", "y"] }],
    [["a.b=1", "a.0=2"], { a: { b: 1, 0: 2 } }],
    [["a.toString=x"], { a: { toString: "x" } }],
  ])("%p makes %p", (assignments, expected) => {
    expect(assigned(...assignments)).toEqual(expected);
  });

  it.each<[string[], string]>([
    [["a"], "write path=value"],
    [["=a"], "write path=value"],
    [["a..b=1"], "write path=value"],
    [[".a=1"], "write path=value"],
    [["__proto__.polluted=1"], "may not be part of a path"],
    [["a.__proto__.polluted=1"], "may not be part of a path"],
    [["constructor.prototype.polluted=1"], "may not be part of a path"],
    [["a.prototype=1"], "may not be part of a path"],
    [["a.0=x", "a.10000=1"], "an index goes up to 9999"],
    [["a.99999999999999=1"], "an index goes up to 9999"],
    [["a.0=1", "a.b=1"], 'a is a list: "b" is no index'],
    [["a=x", "a.b=1"], 'a is "x" already, and has no "b"'],
    [["a=null", "a.b=1"], 'a is null already, and has no "b"'],
  ])("%p is refused", (assignments, sentence) => {
    expect(() => assigned(...assignments)).toThrow(UsageError);
    expect(() => assigned(...assignments)).toThrow(sentence);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });
});
