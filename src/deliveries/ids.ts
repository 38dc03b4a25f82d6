/**
 * A delivery's id is a number in the file (its rows are appended in order of arrival, no second index is needed)
 * and 11 characters outside: milliseconds and a count within the millisecond, so both sort by arrival.
 * 51 bits: beyond that SQLite no longer takes a JavaScript number for an integer.
 */
const EPOCH = Date.UTC(2025, 0, 1);
const PER_MS = 1024;
const MAX_ID = 2 ** 51 - 1;

export function idToText(id: number): string {
  return id.toString(32).padStart(11, "0");
}

/** undefined where the text is no id. */
export function textToId(text: string): number | undefined {
  if (!/^[0-9a-v]{11}$/.test(text)) return undefined;
  const id = Number.parseInt(text, 32);
  return id <= MAX_ID ? id : undefined;
}

/** The least and the greatest id whose text begins so; undefined where none can. */
export function idsFrom(prefix: string): [least: number, greatest: number] | undefined {
  const least = textToId(prefix.padEnd(11, "0"));
  return least === undefined ? undefined : [least, Number.parseInt(prefix.padEnd(11, "v"), 32)];
}

/** The next id after `last` at the time `now`: it never goes back, whatever the clock does. */
export function nextId(last: number, now: number): number {
  return Math.max(last + 1, firstIdAt(now));
}

/** The least id that can have been given at `time` or later. */
export function firstIdAt(time: number): number {
  return Math.min(Math.max(0, Math.floor(time) - EPOCH) * PER_MS, MAX_ID);
}

export function timeOfId(id: number): number {
  return Math.floor(id / PER_MS) + EPOCH;
}
