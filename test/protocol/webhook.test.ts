import { describe, expect, it } from "@jest/globals";
import { secretsOf, withoutSecret, withoutSecrets } from "../../src/protocol/webhook.ts";

describe("an address that is shown", () => {
  it.each([
    ["https://e.com/x?secret=abc&y=1", "https://e.com/x?secret=***&y=1"],
    ["https://e.com/x?y=1&Token=abc#z", "https://e.com/x?y=1&Token=***#z"],
    ["it is at https://me:pw@e.com/x", "it is at https://***@e.com/x"],
    ["https://e.com/@me?secretary=abc", "https://e.com/@me?secretary=abc"],
  ])("%s", (url, shown) => {
    expect(withoutSecret(url)).toBe(shown);
  });
});

describe("the secrets of an address", () => {
  it("are told as they are meant and as they are written", () => {
    expect(secretsOf(new URL("https://e.com/x?a=1&secret=a%20b&TOKEN=c"))).toEqual(["a b", "c", "a%20b", "c"]);
  });
});

describe("a text that repeats secrets", () => {
  it.each([
    ["abcdef and abcd", ["abcd", "abcdef"], "*** and ***"],
    ["$& any", ["any", "$&$&"], "$& any"],
    ["", ["secret"], ""],
  ])("%j without %j", (text, secrets, shown) => {
    expect(withoutSecrets(text, secrets)).toBe(shown);
  });
});
