/** Columns for the eye: as wide as what stands in them, and never wider than the line. */
import { stripVTControlCharacters } from "node:util";
import { harmless } from "./output.ts";

export interface Column<Row> {
  title: string;
  /** What stands in the cell; text from elsewhere may be given as it is. */
  text(row: Row): string;
  /** Colours the cell, once it has its width. */
  paint?(cell: string, row: Row): string;
  /** Numbers stand to the right. */
  right?: boolean;
  /** May be cut where the line is short, down to this many columns; the widest is cut first. */
  atLeast?: number;
}

const GAP = "  ";

/** The table's lines, the head first. @param width columns of the line */
export function tableLines<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string[] {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.text(row))));
  const widths = columns.map(({ title }, index) =>
    cells.reduce((widest, texts) => Math.max(widest, displayWidth(texts[index] ?? "")), displayWidth(title)),
  );
  shrink(columns, widths, width);
  const line = (texts: readonly string[], painted: (cell: string, column: Column<Row>) => string) =>
    columns
      .map((column, index) => painted(padded(texts[index] ?? "", widths[index] ?? 0, column.right), column))
      .join(GAP)
      .trimEnd();
  const titles = columns.map(({ title }) => title);
  return [
    line(titles, (cell) => cell),
    ...rows.map((row, index) => line(cells[index] ?? [], (cell, { paint }) => paint?.(cell, row) ?? cell)),
  ];
}

/** Takes from the widest column that may be cut, until the line holds all; or until nothing more can be cut. */
function shrink<Row>(columns: readonly Column<Row>[], widths: number[], width: number): void {
  let over = widths.reduce((sum, one) => sum + one, 0) + GAP.length * (columns.length - 1) - width;
  while (over > 0) {
    let widest = -1;
    for (const [index, { atLeast, title }] of columns.entries()) {
      const room = (widths[index] ?? 0) - Math.max(atLeast ?? Number.POSITIVE_INFINITY, displayWidth(title));
      if (room > 0 && (widest < 0 || (widths[index] ?? 0) > (widths[widest] ?? 0))) widest = index;
    }
    if (widest < 0) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
    over--;
  }
}

function padded(text: string, width: number, right = false): string {
  const cut = cutTo(text, width);
  const space = " ".repeat(Math.max(0, width - displayWidth(cut)));
  return right ? space + cut : cut + space;
}

function cutTo(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const { segment } of segments.segment(text)) {
    used += widthOf(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

function oneLine(text: string): string {
  return harmless(stripVTControlCharacters(text)).replace(/\s+/g, " ");
}

const segments = new Intl.Segmenter("en");
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** How many columns of a terminal the text takes. */
export function displayWidth(text: string): number {
  // What most cells are.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segments.segment(text)) width += widthOf(segment);
  return width;
}

function widthOf(segment: string): number {
  if (WIDE.test(segment)) return 2;
  return /^[\p{M}\p{Cf}]*$/u.test(segment) ? 0 : 1;
}
