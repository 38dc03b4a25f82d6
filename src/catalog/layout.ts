/**
 * Where the parts of an object or a list stand in a file, and so the white space between them. The file must be
 * well-formed. Offsets are in bytes.
 */
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  endOfString,
  endOfValue,
  nextPart,
  OPEN_LIST,
  OPEN_OBJECT,
  type Span,
  skipSpace,
  stringAt,
} from "./scan.ts";

export interface Member extends Span {
  name: string;
  /** Behind the key and its quotes. */
  keyEnd: number;
  value: Span;
}

export function isObject(bytes: Uint8Array, { start }: Span): boolean {
  return bytes[start] === OPEN_OBJECT;
}

export function isList(bytes: Uint8Array, { start }: Span): boolean {
  return bytes[start] === OPEN_LIST;
}

/** Of an object, in the order of the file; of a key that comes twice, both. */
export function membersOf(bytes: Uint8Array, object: Span): Member[] {
  const members: Member[] = [];
  let at = skipSpace(bytes, object.start + 1);
  while (at < object.end && bytes[at] !== CLOSE_OBJECT) {
    const keyEnd = endOfString(bytes, at);
    const start = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1);
    const end = endOfValue(bytes, start);
    members.push({ start: at, end, name: stringAt(bytes, at, keyEnd), keyEnd, value: { start, end } });
    at = nextPart(bytes, end);
  }
  return members;
}

export function itemsOf(bytes: Uint8Array, list: Span): Span[] {
  const items: Span[] = [];
  let at = skipSpace(bytes, list.start + 1);
  while (at < list.end && bytes[at] !== CLOSE_LIST) {
    const item = { start: at, end: endOfValue(bytes, at) };
    items.push(item);
    at = nextPart(bytes, item.end);
  }
  return items;
}
