/** Lines and columns of offsets. A line ends with LF or CR LF; columns are UTF-16 code units, as editors count. */

export interface Position {
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
}

const LF = 0x0a;

/** The positions of offsets in bytes, which must ascend. One pass, also where a file has a single long line. */
export function positionsOf(bytes: Uint8Array, offsets: readonly number[]): Position[] {
  const positions: Position[] = [];
  let line = 1;
  let column = 1;
  /** What `column` counts up to. */
  let counted = 0;
  let lineEnd = endOfLine(bytes, 0);
  for (const offset of offsets) {
    for (; lineEnd < offset; lineEnd = endOfLine(bytes, counted)) {
      line++;
      column = 1;
      counted = lineEnd + 1;
    }
    column += utf16Length(bytes, counted, offset);
    counted = offset;
    positions.push({ line, column });
  }
  return positions;
}

function endOfLine(bytes: Uint8Array, from: number): number {
  const at = bytes.indexOf(LF, from);
  return at < 0 ? bytes.length : at;
}

function utf16Length(bytes: Uint8Array, start: number, end: number): number {
  let length = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte < 0x80 || byte >= 0xc0) length += byte >= 0xf0 ? 2 : 1;
  }
  return length;
}

const BEFORE = 50;
const AFTER = 30;

/** The line around an offset, cut where it is long, and below it a caret. */
export function excerptAt(bytes: Uint8Array, offset: number): string {
  // Windows of bytes: a character that they cut is dropped.
  const decode = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).toString("utf8");
  const windowStart = Math.max(0, offset - 4 * BEFORE);
  const windowEnd = offset + 4 * AFTER;
  const before =
    decode(windowStart, offset)
      .split(/[\r\n]/)
      .at(-1) ?? "";
  const after = decode(offset, windowEnd).split(/[\r\n]/)[0] ?? "";
  const left = [...before.replace(/^\ufffd+/, "")].slice(-BEFORE);
  const right = [...after.replace(/\ufffd+$/, "")].slice(0, AFTER);
  const shown = left.join("").replaceAll("\t", " ");
  return `${shown}${right.join("").replaceAll("\t", " ")}\n${" ".repeat(left.length)}^`;
}
