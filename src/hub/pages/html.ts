/**
 * HTML from templates: whatever is put in is text, escaped and with nothing hidden in it, unless it is HTML made here.
 * Values stand in text and in attributes between double quotes, and nowhere else: scripts and styles are files.
 */

export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

export type Content = Html | string | number | null | undefined | false | readonly Content[];

/** `html`<p>${text}</p>``; lists are joined; null, undefined and false are nothing. */
export function html(parts: TemplateStringsArray, ...values: Content[]): Html {
  return new Html(String.raw({ raw: parts }, ...values.map(written)));
}

/** Text as it is, with what hides or reorders it: for the values of fields, which are sent back. */
export function exact(text: string): Html {
  return new Html(escaped(text));
}

function written(value: Content): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value === "object") return value.map(written).join("");
  return escaped(plain(String(value)));
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (one) => ESCAPES[one] ?? one);
}

/** Control characters, and those that make a reader see text in another order than it has. */
const HIDDEN = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Text with what hides or reorders other text spelt out as JSON would: `\u202e`. Inside JSON it stays the same JSON. */
export function plain(text: string): string {
  return text.replace(HIDDEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
