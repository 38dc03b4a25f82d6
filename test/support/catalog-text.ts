/** Catalogs as people and programs write them: the same value in any formatting. */
import fc from "fast-check";
import { CATEGORIES, type Catalog, type Resource, type Source, STATUSES } from "../../src/catalog/schema.ts";

export interface TextStyle {
  /** undefined: all on one line. */
  indent: string | undefined;
  eol: "\n" | "\r\n";
  bom: boolean;
  finalEol: boolean;
  /** `": "` comes with `", "`, and `":"` with `","`. */
  colon: ": " | ":" | " : ";
  /** Lists of strings on one line, whatever the rest is. */
  flatLists: boolean;
  /** All that is not ASCII is escaped. */
  ascii: boolean;
}

/** Every width of indentation, and everything else in each of its forms. */
export const textStyles: fc.Arbitrary<TextStyle> = fc.record({
  indent: fc.constantFrom(undefined, "", " ", "  ", "   ", "    ", " ".repeat(5), " ".repeat(6), " ".repeat(8), "\t"),
  eol: fc.constantFrom("\n", "\r\n"),
  bom: fc.boolean(),
  finalEol: fc.boolean(),
  colon: fc.constantFrom(": ", ":", " : "),
  flatLists: fc.boolean(),
  ascii: fc.boolean(),
});

export function written(value: unknown, style: TextStyle): string {
  return (style.bom ? "\ufeff" : "") + valueIn(value, style, 0) + (style.finalEol ? style.eol : "");
}

function valueIn(value: unknown, style: TextStyle, depth: number): string {
  if (Array.isArray(value)) {
    const flat = style.flatLists && value.every((item) => typeof item === "string");
    return group(
      "[",
      value.map((item) => valueIn(item, style, depth + 1)),
      "]",
      style,
      depth,
      flat,
    );
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(
      ([key, one]) => `${JSON.stringify(key)}${style.colon}${valueIn(one, style, depth + 1)}`,
    );
    return group("{", members, "}", style, depth, false);
  }
  const text = JSON.stringify(value);
  if (!style.ascii) return text;
  return text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function group(open: string, parts: string[], close: string, style: TextStyle, depth: number, flat: boolean): string {
  if (parts.length === 0) return open + close;
  const { indent, eol, colon } = style;
  if (flat || indent === undefined) return open + parts.join(colon === ":" ? "," : ", ") + close;
  const line = eol + indent.repeat(depth + 1);
  return open + line + parts.join(`,${line}`) + eol + indent.repeat(depth) + close;
}

/** The same value with blanks of any kind wherever JSON allows them. */
export function scattered(value: unknown): fc.Arbitrary<string> {
  const blanks = fc.constantFrom("", "", "", " ", "  ", "\t", "\n", "\r\n", "\n\n   ");
  const tokens = JSON.stringify(value).match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^[\]{},:"]+/g) ?? [];
  return fc
    .array(blanks, { minLength: tokens.length + 1, maxLength: tokens.length + 1 })
    .map((gaps) => gaps.map((gap, index) => gap + (tokens[index] ?? "")).join(""));
}

const words = fc.constantFrom(
  "Pashto",
  "پښتو",
  'a "quoted" word',
  "back\\slash",
  "emoji 👩‍🔬",
  "brackets ]}{[",
  "comma, colon: end",
);
const phrase = fc.array(words, { minLength: 3, maxLength: 5 }).map((some) => some.join(" "));
const list = (minLength: number) => fc.array(words, { minLength, maxLength: 3 });
const id = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{2,12}$/);
const url = id.map((name) => `https://example.org/${name}`);

export const resources = (sources: fc.Arbitrary<Source>): fc.Arbitrary<Resource> =>
  fc.record(
    {
      id,
      title: phrase,
      url,
      category: fc.constantFrom(...CATEGORIES),
      source: sources,
      status: fc.constantFrom(...STATUSES),
      summary: phrase,
      primary_use: phrase,
      pashto_evidence: fc.record({ evidence_text: phrase, evidence_url: url, markers: list(1) }),
      tags: list(1),
      license: fc.constantFrom("cc-by-4.0", "mit"),
      tasks: list(0),
    },
    {
      requiredKeys: [
        "id",
        "title",
        "url",
        "category",
        "source",
        "status",
        "summary",
        "primary_use",
        "pashto_evidence",
        "tags",
      ],
    },
  );

/** Valid ones of up to `maxLength` resources, in one vocabulary each. */
export const catalogs = (minLength: number, maxLength = 4): fc.Arbitrary<Catalog> =>
  fc.constantFrom<Source[]>(["model_hub", "other"], ["huggingface", "other"]).chain((sources) =>
    fc.record({
      version: fc.constantFrom("0.0.0", "1.2.3", "1.0.99999999999999999999"),
      updated_on: fc.constantFrom("2026-01-31", "2024-02-29"),
      resources: fc.uniqueArray(resources(fc.constantFrom(...sources)), {
        minLength,
        maxLength,
        selector: (resource) => resource.id,
      }),
    }),
  );
