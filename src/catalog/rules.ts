/** The rules of a catalog by their names, those of its schema and those beyond it. */

export interface Rule {
  severity: "error" | "warning";
  says: string;
}

const error = (says: string): Rule => ({ severity: "error", says });
const warning = (says: string): Rule => ({ severity: "warning", says });

export const rules = {
  // The text.
  "too-large": error("A file has at most 256 MB."),
  encoding: error("A file is UTF-8."),
  "byte-order-mark": error("A file begins without a byte order mark."),
  syntax: error("A file is JSON."),
  "too-deep": error("A file nests at most 100 levels."),
  "duplicate-key": error("An object has each key once."),
  // The schema.
  "unknown-key": error("An object has no other keys than the schema's."),
  "missing-key": error("An object has all keys that the schema requires."),
  "wrong-type": error("A value is of the schema's type."),
  "not-allowed": error("A category, a source, a status is one of the schema's words."),
  "mixed-vocabulary": error("A file names its sources in neutral words or by the platforms' names, one throughout."),
  pattern: error("An id and a version have their form."),
  "too-short": error("A text has as many characters (code points) as the schema asks for."),
  "too-few": error("A list has as many items as the schema asks for."),
  url: error("An address is a URI that begins with http:// or https://."),
  date: error("updated_on is a day that the calendar has, as 2026-01-31."),
  // Beyond it.
  "duplicate-id": error("An id stands once in a file."),
  "version-not-raised": error("The version is above that of the catalog before (--against)."),
  "duplicate-url": warning(
    "An address stands once in a file; http or https, the case of the host and a slash at the end make no difference.",
  ),
  "near-duplicate-title": warning(
    "A title stands once in a file; case, punctuation, white space and compatibility forms make no difference.",
  ),
  "no-marker": warning(
    "A model, paper, tool, code or project has a marker of the language (CATALOG_MARKERS) as a word in its title, url or evidence.",
  ),
  "future-date": warning("updated_on is not in the future, wherever on Earth."),
  // The report.
  "too-many-problems": error("A report has at most 100,000 problems: the rest is left out."),
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof rules;

export const MAX_BYTES = 256_000_000;
export const MAX_DEPTH = 100;
export const MAX_PROBLEMS = 100_000;
/** Each level that JSON.parse is in takes about 100 bytes: where more could be, the depth is looked at first. */
export const MANY_LEVELS = 4_000_000;
