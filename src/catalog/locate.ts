/** Where in a file the values lie that paths name. The file must be well-formed. */
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

export type Path = readonly (string | number)[];

export interface Located extends Span {
  /** Where the key before it begins; the value's own start for what has none. */
  key: number;
}

interface Wanted {
  inside: Map<string | number, Wanted>;
  span: Located | null;
}

/**
 * The spans of the paths, in their order; null for what is not there. One walk through the text, however many they
 * are. Of a key that comes twice the last is meant, as JSON.parse takes it.
 */
export function locate(bytes: Uint8Array, paths: readonly Path[]): (Located | null)[] {
  const root: Wanted = { inside: new Map(), span: null };
  const wanted = paths.map((path) => path.reduce((parent, step) => childOf(parent, step), root));
  const start = skipSpace(bytes, 0);
  walk(bytes, start, start, root);
  return wanted.map(({ span }) => span);
}

function childOf(parent: Wanted, step: string | number): Wanted {
  let child = parent.inside.get(step);
  if (!child) {
    child = { inside: new Map(), span: null };
    parent.inside.set(step, child);
  }
  return child;
}

/** Goes no deeper than the paths do. Gives the offset behind the value. */
function walk(bytes: Uint8Array, key: number, start: number, wanted: Wanted | undefined): number {
  if (!wanted) return endOfValue(bytes, start);
  let end: number;
  if (wanted.inside.size === 0) end = endOfValue(bytes, start);
  else if (bytes[start] === OPEN_OBJECT) end = walkObject(bytes, start, wanted);
  else if (bytes[start] === OPEN_LIST) end = walkList(bytes, start, wanted);
  else end = endOfValue(bytes, start);
  wanted.span = { key, start, end };
  return end;
}

function walkObject(bytes: Uint8Array, start: number, { inside }: Wanted): number {
  let at = skipSpace(bytes, start + 1);
  while (at < bytes.length && bytes[at] !== CLOSE_OBJECT) {
    const keyEnd = endOfString(bytes, at);
    const value = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1);
    const end = walk(bytes, at, value, inside.get(stringAt(bytes, at, keyEnd)));
    at = nextPart(bytes, end);
  }
  return at + 1;
}

function walkList(bytes: Uint8Array, start: number, { inside }: Wanted): number {
  let at = skipSpace(bytes, start + 1);
  for (let index = 0; at < bytes.length && bytes[at] !== CLOSE_LIST; index++)
    at = nextPart(bytes, walk(bytes, at, at, inside.get(index)));
  return at + 1;
}
