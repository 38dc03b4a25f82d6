/**
 * Walks JSON text byte by byte. Bytes are enough: quotes, backslashes and brackets never stand inside a character of
 * several bytes. Nothing here checks the text: that is for JSON.parse, which is quicker than anything of ours.
 */

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;

interface Shape {
  /** Keys of all objects, those that come twice counted twice. */
  keys: number;
  /** Offset of the first bracket that lies deeper than is allowed; -1: none does. */
  tooDeep: number;
}

export function shapeOf(bytes: Uint8Array, maxDepth: number): Shape {
  let keys = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at) - 1;
    else if (byte === COLON) keys++;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (++depth > maxDepth) return { keys, tooDeep: at };
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
  }
  return { keys, tooDeep: -1 };
}

/** The offset behind the string that begins here. */
export function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  for (; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
  return at + 1;
}

/** The offset of the next byte that is no white space. */
export function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = bytes[at]) at++;
  return at;
}

/** The offset behind the value that begins here. */
export function endOfValue(bytes: Uint8Array, start: number): number {
  let at = start;
  let depth = 0;
  do {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth++;
      at++;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth--;
      at++;
    } else if (depth > 0) at++;
    else at = endOfWord(bytes, at);
  } while (depth > 0 && at < bytes.length);
  return at;
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
