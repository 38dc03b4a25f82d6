import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { exact, html, plain } from "../../../src/hub/pages/html.ts";

describe("html", () => {
  it("keeps what it made itself, and escapes all else", () => {
    const item = html`<b title="${'"><script>'}">${"<script>alert('1')</script> & co"}</b>`;
    expect(html`<p>${item}${item}</p>`.toString()).toBe(
      `<p>${'<b title="&quot;&gt;&lt;script&gt;">&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; co</b>'.repeat(2)}</p>`,
    );
  });

  it("joins lists, and writes nothing for what is nothing", () => {
    expect(html`${[1, "<", null, undefined, false, [html`<i>`]]}|${null}|${0}`.toString()).toBe("1&lt;<i>||0");
  });

  it("is not fooled by an object that looks like HTML of ours", () => {
    const forged = JSON.parse('["<script>"]');
    expect(html`${forged}`.toString()).toBe("&lt;script&gt;");
  });

  it("spells out what would hide or reorder text, but keeps it in the values of fields", () => {
    const hostile = "exe\u202Egpj\u0007\u2066.\u061c";
    expect(html`${hostile}`.toString()).toBe("exe\\u202egpj\\u0007\\u2066.\\u061c");
    expect(html`${exact(`${hostile}"`)}`.toString()).toBe(`${hostile}&quot;`);
    expect(plain("two\n\tlines")).toBe("two\n\tlines");
  });

  it("never lets text become markup, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const made = html`<p title="${text}">${text}</p>`.toString();
        expect(made.replace(/^<p title="[^"<>]*">[^<>]*<\/p>$/, "")).toBe("");
      }),
    );
  });

  it("leaves JSON the same JSON", () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: "binary" }), (json) => {
        expect(JSON.parse(plain(json))).toEqual(JSON.parse(json));
      }),
    );
  });
});
