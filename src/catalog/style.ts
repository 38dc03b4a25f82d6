/** How a catalog file is written, so that what is added looks as if it had always been there. */
import { isAscii } from "node:buffer";
import { isList, isObject, itemsOf, type Member, membersOf } from "./layout.ts";
import type { Span } from "./scan.ts";
import type { Resource } from "./schema.ts";
import type { Edit } from "./write.ts";

/** What stands between the parts of an object or a list: white space, and in `between` a comma. */
interface Spacing {
  open: string;
  between: string;
  close: string;
}

/** How one object is written, and what is in it. */
interface ObjectStyle extends Spacing {
  colon: string;
  keys: string[];
  /** How the object or the list behind a key is written, or would be. */
  nested(key: string): ObjectStyle;
  list(key: string): Spacing;
}

/** The order in which the keys of a new resource stand where the file has no example. */
const KEYS = [
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
  "license",
  "tasks",
];

/** The resource as the last one of the list, written as the one before it. */
export function appended(text: Uint8Array, root: Span, resources: Span, resource: Resource): Edit {
  const items = itemsOf(text, resources);
  const last = items.at(-1);
  const example = items.findLast((item) => isObject(text, item) && membersOf(text, item).length > 1);
  const style = example ? styleOf(text, example) : styleFromRoot(text, root);
  const written = writeObject(resource, style, escapesAll(text));
  if (last) return { start: last.end, end: last.end, text: betweenResources(text, resources, items, style) + written };
  const { open, close } = inner(styleOf(text, root));
  return { start: resources.start + 1, end: resources.end - 1, text: open + written + close };
}

function betweenResources(text: Uint8Array, resources: Span, items: readonly Span[], style: Spacing): string {
  const [before, last] = items.slice(-2);
  if (before && last) return slice(text, before.end, last.start);
  const space = slice(text, resources.start + 1, items[0]?.start);
  return `,${space || (style.between === "," ? "" : " ")}`;
}

function styleOf(text: Uint8Array, object: Span): ObjectStyle {
  const members = membersOf(text, object);
  const colon = colonOf(text, members);
  const spacing = spacingOf(text, object, members, colon);
  const lists = members.filter(({ value }) => isList(text, value) && itemsOf(text, value).length > 0);
  return {
    ...spacing,
    colon,
    keys: members.map(({ name }) => name),
    nested: (key) => {
      const value = members.find(({ name }) => name === key)?.value;
      return value && isObject(text, value) && membersOf(text, value).length > 0
        ? styleOf(text, value)
        : deeper(spacing, colon);
    },
    list: (key) => {
      const list = (lists.find(({ name }) => name === key) ?? lists[0])?.value;
      return list ? spacingOf(text, list, itemsOf(text, list), colon) : inner(spacing);
    },
  };
}

function colonOf(text: Uint8Array, [first]: readonly Member[]): string {
  return first ? slice(text, first.keyEnd, first.value.start) : ": ";
}

function spacingOf(text: Uint8Array, { start, end }: Span, parts: readonly Span[], colon: string): Spacing {
  const [first, second] = parts;
  const open = slice(text, start + 1, first?.start);
  const apart = open.includes("\n") ? open : / $/.test(colon) ? " " : "";
  return {
    open,
    between: first && second ? slice(text, first.end, second.start) : `,${apart}`,
    close: slice(text, parts.at(-1)?.end, end - 1),
  };
}

function slice(text: Uint8Array, start: number | undefined, end: number | undefined): string {
  return Buffer.from(text.subarray(start, end)).toString("latin1");
}

/** Of a resource where there is no other: two levels deeper than what the outermost object holds. */
function styleFromRoot(text: Uint8Array, root: Span): ObjectStyle {
  const { colon, ...spacing } = styleOf(text, root);
  return deeper(inner(spacing), colon);
}

function deeper(outer: Spacing, colon: string): ObjectStyle {
  const spacing = inner(outer);
  return {
    ...spacing,
    colon,
    keys: [],
    nested: () => deeper(spacing, colon),
    list: () => inner(spacing),
  };
}

/** One level deeper: on lines of its own where the outer one is, and as much further in. */
function inner({ open, between, close }: Spacing): Spacing {
  if (!open.includes("\n")) return { open, between, close };
  const [indent, outer] = [indentOf(open), indentOf(close)];
  const further = open + (indent.startsWith(outer) ? indent.slice(outer.length) : indent);
  return { open: further, between: `,${further}`, close: open };
}

function indentOf(space: string): string {
  return space.includes("\n") ? space.slice(space.lastIndexOf("\n") + 1) : "";
}

function writeObject(value: object, style: ObjectStyle, ascii: boolean): string {
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  const order = orderOf(style.keys);
  const written = entries
    .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
    .map(([key, one]) => `${JSON.stringify(key)}${style.colon}${writeValue(key, one, style, ascii)}`);
  return `{${style.open}${written.join(style.between)}${style.close}}`;
}

function writeValue(key: string, value: unknown, style: ObjectStyle, ascii: boolean): string {
  if (Array.isArray(value)) {
    const items = value.map((item) => writeString(item, ascii));
    const { open, between, close } = style.list(key);
    return items.length === 0 ? "[]" : `[${open}${items.join(between)}${close}]`;
  }
  if (typeof value === "object" && value !== null) return writeObject(value, style.nested(key), ascii);
  return writeString(value, ascii);
}

function writeString(value: unknown, ascii: boolean): string {
  const text = JSON.stringify(value);
  if (!ascii) return text;
  return text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The example's order; what it lacks stands behind what it stands behind in ours. */
function orderOf(keys: readonly string[]): string[] {
  const order = [...keys];
  for (const [index, key] of KEYS.entries()) {
    if (order.includes(key)) continue;
    const before = order.indexOf(KEYS[index - 1] ?? "");
    order.splice(before + 1, 0, key);
  }
  return order;
}

/** Written by a program that escapes all that is not ASCII, as Python's does when nothing else is asked of it. */
function escapesAll(text: Uint8Array): boolean {
  return isAscii(text) && /\\u(?!00[01])[0-9a-f]{4}/i.test(slice(text, 0, text.length));
}
