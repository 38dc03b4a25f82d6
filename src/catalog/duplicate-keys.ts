/** Keys that one object has twice. JSON.parse keeps the last and says nothing. */
import type { Path } from "./locate.ts";
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  endOfString,
  endOfValue,
  nextPart,
  OPEN_LIST,
  OPEN_OBJECT,
  skipSpace,
  stringAt,
} from "./scan.ts";

export interface DuplicateKey {
  path: Path;
  /** Of the second key and of the first, in bytes. */
  offset: number;
  first: number;
}

/**
 * All keys of a parsed value: fewer than the text has where some came twice. Infinity: it lies deeper than is allowed,
 * or than a call stack bears.
 */
export function countKeys(value: unknown, maxDepth: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (maxDepth === 0) return Number.POSITIVE_INFINITY;
  const inside = Array.isArray(value) ? value : Object.values(value);
  let count = Array.isArray(value) ? 0 : inside.length;
  for (const one of inside) if (typeof one === "object") count += countKeys(one, maxDepth - 1);
  return count;
}

/** Longer keys are cut in paths: each of many problems names the keys that it lies in. */
const MAX_STEP = 200;

/** The text must be well-formed, and no deeper than a call stack bears. */
export function findDuplicateKeys(bytes: Uint8Array, limit: number): DuplicateKey[] {
  const found: DuplicateKey[] = [];
  const path: (string | number)[] = [];

  const walk = (start: number): number => {
    if (bytes[start] === OPEN_OBJECT) return walkObject(start);
    if (bytes[start] === OPEN_LIST) return walkList(start);
    return endOfValue(bytes, start);
  };
  const walkObject = (start: number): number => {
    const seen = new Map<string, number>();
    let at = skipSpace(bytes, start + 1);
    while (bytes[at] !== CLOSE_OBJECT) {
      const keyEnd = endOfString(bytes, at);
      const key = stringAt(bytes, at, keyEnd);
      path.push(key.length > MAX_STEP ? `${key.slice(0, MAX_STEP)}…` : key);
      const first = seen.get(key);
      if (first === undefined) seen.set(key, at);
      else if (found.length < limit) found.push({ path: [...path], offset: at, first });
      at = nextPart(bytes, walk(skipSpace(bytes, skipSpace(bytes, keyEnd) + 1)));
      path.pop();
    }
    return at + 1;
  };
  const walkList = (start: number): number => {
    let at = skipSpace(bytes, start + 1);
    for (let index = 0; bytes[at] !== CLOSE_LIST; index++) {
      path.push(index);
      at = nextPart(bytes, walk(at));
      path.pop();
    }
    return at + 1;
  };
  walk(skipSpace(bytes, 0));
  return found;
}
