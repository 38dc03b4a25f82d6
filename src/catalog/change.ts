/** Changes of a catalog's text: what is not meant by one stays as it is, to the byte. */
import { isList, itemsOf } from "./layout.ts";
import { locate, type Path } from "./locate.ts";
import { endOfValue, QUOTE, type Span, skipSpace, stringAt } from "./scan.ts";
import type { Resource, Status } from "./schema.ts";
import { appended } from "./style.ts";
import { type Edit, edited } from "./write.ts";

export type Change =
  | { add: Resource }
  /** By their place in `resources`. */
  | { remove: number }
  | { setStatus: Status; of: number };

/** Why a file that is JSON cannot be changed: it lacks what the change touches. */
export class Unchangeable extends Error {
  override readonly name = "Unchangeable";
}

export interface Changed {
  bytes: Uint8Array;
  /** The one after the change. */
  version: string;
}

/** Of a byte order mark, which is an error that a change does not mend. */
const MARK = [0xef, 0xbb, 0xbf];

/**
 * The file after the change, its patch version raised and `updated_on` set.
 * @param bytes well-formed JSON
 * @param today as 2026-11-21
 * @throws Unchangeable
 */
export function changed(bytes: Uint8Array, change: Change, today: string): Changed {
  const marked = MARK.every((byte, at) => bytes[at] === byte);
  const text = marked ? bytes.subarray(MARK.length) : bytes;
  const start = skipSpace(text, 0);
  const root = { start, end: endOfValue(text, start) };
  const resources = spanOf(text, ["resources"], 'it has no list of "resources"');
  if (!isList(text, resources)) throw new Unchangeable('it has no list of "resources"');
  const version = raised(text);
  const after = edited(text, [
    version.edit,
    { ...spanOf(text, ["updated_on"], 'it has no "updated_on"'), text: JSON.stringify(today) },
    editFor(text, root, resources, change),
  ]);
  return { bytes: marked ? Buffer.concat([bytes.subarray(0, MARK.length), after]) : after, version: version.is };
}

function editFor(text: Uint8Array, root: Span, resources: Span, change: Change): Edit {
  if ("add" in change) return appended(text, root, resources, change.add);
  if ("remove" in change) return { ...withNeighbours(text, resources, change.remove), text: "" };
  const status = spanOf(text, ["resources", change.of, "status"], 'the resource has no "status"');
  return { ...status, text: JSON.stringify(change.setStatus) };
}

/** What goes with a resource that is removed: one comma, and the white space at its side of it. */
function withNeighbours(text: Uint8Array, resources: Span, index: number): Span {
  const items = itemsOf(text, resources);
  const [before, item, after] = [items[index - 1], items[index], items[index + 1]];
  if (!item) throw new RangeError(`there is no resource ${index}`);
  if (after) return { start: item.start, end: after.start };
  if (before) return { start: before.end, end: item.end };
  return { start: resources.start + 1, end: resources.end - 1 };
}

function raised(text: Uint8Array): { is: string; edit: Edit } {
  const span = spanOf(text, ["version"], 'it has no "version"');
  const version = text[span.start] === QUOTE ? stringAt(text, span.start, span.end) : "";
  const [, minor, patch] = /^(\d+\.\d+)\.(\d+)$/.exec(version) ?? [];
  if (minor === undefined || patch === undefined)
    throw new Unchangeable('its "version" cannot be raised: write it as 1.0.0');
  const is = `${minor}.${BigInt(patch) + 1n}`;
  return { is, edit: { ...span, text: JSON.stringify(is) } };
}

function spanOf(text: Uint8Array, path: Path, missing: string): Span {
  const [span] = locate(text, [path]);
  if (!span) throw new Unchangeable(missing);
  return { start: span.start, end: span.end };
}
