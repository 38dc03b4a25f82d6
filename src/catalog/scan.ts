/**
 * Walks JSON text byte by byte. Bytes are enough: quotes, backslashes and brackets never stand inside a character of
 * several bytes. Nothing here checks the text: that is for JSON.parse, which is quicker than anything of ours.
 *
 * NOTE: in the loops that every byte comes by, bytes are written as numbers: constants of a module are read anew each
 * time, and cost half as much again.
 */

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;

/** What stands from `start` on, up to before `end`. */
export interface Span {
  start: number;
  end: number;
}

/** How many keys the text has, those counted twice that come twice. A few too many where strings look like keys. */
export function keysIn(bytes: Buffer): number {
  let keys = 0;
  // The search is native, and quicker than any loop over bytes.
  for (let at = bytes.indexOf(COLON); at >= 0; at = bytes.indexOf(COLON, at + 1)) {
    let before = at - 1;
    while ((bytes[before] ?? 0x21) <= 0x20) before--;
    if (bytes[before] === QUOTE) keys++;
  }
  return keys;
}

/** How many lists begin, and brackets that stand in strings. */
export function listsIn(bytes: Buffer): number {
  let lists = 0;
  for (let at = bytes.indexOf(OPEN_LIST); at >= 0; at = bytes.indexOf(OPEN_LIST, at + 1)) lists++;
  return lists;
}

/** Offset of the first bracket that lies deeper than is allowed; -1: none does. */
export function tooDeepAt(bytes: Uint8Array, maxDepth: number): number {
  const { length } = bytes;
  let depth = 0;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] as number;
    if (byte === 0x22) at = endOfString(bytes, at) - 1;
    // { [
    else if ((byte | 0x20) === 0x7b) {
      if (++depth > maxDepth) return at;
    }
    // } ]
    else if ((byte | 0x20) === 0x7d) depth--;
  }
  return -1;
}

/** The offset behind the string that begins here. */
export function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  for (let byte = bytes[at]; byte !== 0x22 && byte !== undefined; byte = bytes[++at]) if (byte === 0x5c) at++;
  return at + 1;
}

/** The offset of the next byte that is no white space. */
export function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = bytes[++at]);
  return at;
}

/** From behind a part of an object or a list to the next one, or to the bracket that closes. */
export function nextPart(bytes: Uint8Array, end: number): number {
  const at = skipSpace(bytes, end);
  return bytes[at] === COMMA ? skipSpace(bytes, at + 1) : at;
}

/** The offset behind the value that begins here. */
export function endOfValue(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return endOfString(bytes, start);
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) return endOfWord(bytes, start);
  const { length } = bytes;
  let depth = 0;
  for (let at = start; at < length; at++) {
    const byte = bytes[at] as number;
    if (byte === 0x22) {
      at++;
      for (let inside = bytes[at]; inside !== 0x22 && at < length; inside = bytes[++at]) if (inside === 0x5c) at++;
    } else if ((byte | 0x20) === 0x7b) depth++;
    else if ((byte | 0x20) === 0x7d && --depth === 0) return at + 1;
  }
  return length;
}

/** A number, true, false or null. */
function endOfWord(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let byte = bytes[at]; byte !== undefined && byte > 0x20 && byte !== COMMA; byte = bytes[++at])
    if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) break;
  return at;
}

/** The text of the string from `start` to `end`, quotes and escapes taken away. */
export function stringAt(bytes: Uint8Array, start: number, end: number): string {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8")) as string;
}
