import { describe, expect, it } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { codePoints, isDate, isHttpUri } from "../../src/catalog/formats.ts";

const ajv = new Ajv2020({ strict: true });
addFormats.default(ajv);
const ajvUri = ajv.compile({ type: "string", format: "uri", pattern: "^https?://" });
const ajvDate = ajv.compile({ type: "string", format: "date" });
const ajvLength = (least: number) => ajv.compile({ type: "string", minLength: least });

/** Short texts of the characters that matter, so that chance makes good ones and nearly good ones. */
const fromParts = (...parts: string[]) =>
  fc.array(fc.constantFrom(...parts), { maxLength: 14 }).map((all) => all.join(""));

describe("an address", () => {
  it.each([
    "http://a",
    "https://example.org",
    "https://example.org/",
    "https://user:pass@example.org:8080/a/b;c?d=e&f=/?#g/?",
    "https://example.org:/",
    "https://example.org/%D9%BE%DA%9A",
    "http://[::1]/",
    "http://[2001:db8::1]:8080/a",
    "http://[::ffff:192.0.2.1]",
    "http://[1:2:3:4:5:6:7:8]/?a#b",
    "http://[1:2:3:4:5:6:192.0.2.1]",
    "http://[v1.a:b]/",
    "http://me@[::]:80",
    "http://",
    "http:///path",
    "https://example.org/a(b)'c!$*+,~",
  ])("is %s", (text) => {
    expect([isHttpUri(text), ajvUri(text)]).toEqual([true, true]);
  });

  it.each([
    "",
    "example.org",
    "HTTP://example.org",
    "ftp://example.org",
    "http:/example.org",
    "https://example.org/a b",
    " https://example.org",
    "https://example.org\n",
    "https://example.org/پښتو",
    "https://پښتو.example/",
    "https://example.org/%",
    "https://example.org/%g0",
    "https://example.org/<a>",
    'https://example.org/"',
    "https://example.org/#a#b",
    "https://example.org/a[b]",
    "http://[::1",
    "http://::1]/",
    "http://[]/",
    "http://[1::2::3]/",
    "http://[1:2:3:4:5:6:7]/",
    "http://[1:2:3:4:5:6:7:8:9]/",
    "http://[1:2:3:4:5:6:7::8]/",
    "http://[12345::]/",
    "http://[192.0.2.1]/",
    "http://[192.0.2.1::]/",
    "http://[::192.0.2.256]/",
    "http://[fe80::1%25eth0]/",
    "http://[::1]a/",
    "http://[v.a]/",
    "javascript:alert(1)",
  ])("is not %j", (text) => {
    expect([isHttpUri(text), ajvUri(text)]).toEqual([false, false]);
  });

  it("is what a validator with full formats takes for one", () => {
    const parts = ["a", "Z", "9", ".", "-", "_", "~", ":", "/", "?", "#", "@", "[", "]", "[::", "%", "%4A", "%zz", "!"];
    const rest = fromParts(
      ...parts,
      "$",
      "&",
      "'",
      "(",
      "*",
      "+",
      ",",
      ";",
      "=",
      " ",
      "é",
      "پ",
      "\\",
      "^",
      "|",
      "<",
      "\n",
    );
    const address = fc
      .tuple(fc.constantFrom("http://", "https://", "https:/", "Http://", ""), rest)
      .map((all) => all.join(""));
    fc.assert(
      fc.property(fc.oneof(address, fc.webUrl(), fc.string()), (text) => isHttpUri(text) === ajvUri(text)),
      { numRuns: 3000 },
    );
  });

  it("may have any address in brackets that a validator takes, and no other", () => {
    const inside = fromParts(
      "0",
      "a",
      "F1",
      "1234",
      "12345",
      ":",
      ":",
      "::",
      "192.0.2.1",
      "01.1.1.1",
      "256.1.1.1",
      "v1.",
      ".",
      "g",
    );
    fc.assert(
      fc.property(fc.oneof(inside, fc.ipV6()), fc.constantFrom("", ":80", "/a", "x"), (address, behind) => {
        const text = `http://[${address}]${behind}`;
        return isHttpUri(text) === ajvUri(text);
      }),
      { numRuns: 5000 },
    );
  });

  it("is recognised in time that grows no faster than it is long", () => {
    for (const piece of ["%41", "a", "@", ":", "[", "/", "a@", "?#"])
      expect(typeof isHttpUri(`https://${piece.repeat(200_000)} `)).toBe("boolean");
  });
});

describe("a date", () => {
  it.each(["2026-01-31", "2024-02-29", "2000-02-29", "0000-02-29", "9999-12-31", "2026-04-30"])("is %s", (text) => {
    expect([isDate(text), ajvDate(text)]).toEqual([true, true]);
  });

  it.each([
    "2026-02-29",
    "1900-02-29",
    "2026-02-30",
    "2026-04-31",
    "2026-00-01",
    "2026-13-01",
    "2026-01-00",
    "2026-01-32",
    "26-01-01",
    "2026-1-1",
    "2026/01/01",
    "2026-01-01T00:00:00Z",
    " 2026-01-01",
    "2026-01-01\n",
    "۲۰۲۶-۰۱-۰۱",
    "",
  ])("is not %j", (text) => {
    expect([isDate(text), ajvDate(text)]).toEqual([false, false]);
  });

  it("is what a validator takes for one", () => {
    const number = (most: number, width: number) =>
      fc.integer({ min: 0, max: most }).map((one) => String(one).padStart(width, "0"));
    const date = fc.tuple(number(9999, 4), number(13, 2), number(32, 2)).map((parts) => parts.join("-"));
    fc.assert(
      fc.property(fc.oneof(date, fc.string()), (text) => isDate(text) === ajvDate(text)),
      { numRuns: 3000 },
    );
  });
});

describe("the length of a text", () => {
  it.each([
    ["abc", 3],
    ["😀😀", 2],
    ["\ud800", 1],
    ["\udc00\ud800", 2],
    ["\ud800\ud83d\ude00", 2],
    ["پښتو", 4],
    ["e\u0301", 2],
  ])("of %j is %i", (text, length) => {
    expect(codePoints(text)).toBe(length);
  });

  it("is what a validator counts", () => {
    const unit = fc.constantFrom("a", "\ud83d", "\ude00", "😀", "پ");
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 8 }), fc.integer({ min: 0, max: 8 }), (units, least) => {
        const text = units.join("");
        return codePoints(text) >= least === ajvLength(least)(text);
      }),
    );
  });
});
