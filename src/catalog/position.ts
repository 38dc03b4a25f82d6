/** Where in a catalog file something stands, for people who go there. */
import { type Position, positionsOf } from "./lines.ts";
import { locate, type Path } from "./locate.ts";

/** @param bytes well-formed and without a byte order mark, as those of every valid catalog */
export function positionOf(bytes: Uint8Array, path: Path): Position {
  const [span] = locate(bytes, [path]);
  const [position = { line: 1, column: 1 }] = positionsOf(bytes, [span?.start ?? 0]);
  return position;
}
