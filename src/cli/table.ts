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
  /** Left out where the line is too short to show the other columns whole beside it. */
  spare?: true;
}

const GAP = "  ";

interface Measured<Row> {
  column: Column<Row>;
  texts: string[];
  width: number;
}

/** The table's lines, the head first. @param width columns of the line */
export function tableLines<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string[] {
  const measured = columns.map((column) => measure(column, rows));
  const shown = measured.filter(({ column }) => !column.spare || hasRoom(column, measured, width));
  shrink(shown, width);
  const head = shown.map(({ column, width }) => padded(column.title, width, column.right));
  const body = rows.map((row, index) =>
    shown.map(({ column, texts, width }) => {
      const cell = padded(texts[index] ?? "", width, column.right);
      return column.paint?.(cell, row) ?? cell;
    }),
  );
  return [head, ...body].map((cells) => cells.join(GAP).trimEnd());
}

function measure<Row>(column: Column<Row>, rows: readonly Row[]): Measured<Row> {
  const texts = rows.map((row) => oneLine(column.text(row)));
  const width = texts.reduce((widest, text) => Math.max(widest, displayWidth(text)), displayWidth(column.title));
  return { column, texts, width };
}

function lineOf<Row>(measured: readonly Measured<Row>[]): number {
  return measured.reduce((sum, { width }) => sum + width, 0) + GAP.length * (measured.length - 1);
}

function hasRoom<Row>(spare: Column<Row>, measured: readonly Measured<Row>[], width: number): boolean {
  const others = measured.filter(({ column }) => column !== spare);
  return lineOf(others) + GAP.length + (spare.atLeast ?? 0) <= width;
}

/** Takes from what can be spared, then from the widest column that may be cut, until the line holds all; or until nothing more can be cut. */
function shrink<Row>(measured: readonly Measured<Row>[], width: number): void {
  for (let over = lineOf(measured) - width; over > 0; over--) {
    const [widest] = measured
      .filter(({ column, width }) => column.atLeast !== undefined && width > least(column))
      .sort((a, b) => Number(b.column.spare ?? false) - Number(a.column.spare ?? false) || b.width - a.width);
    if (!widest) return;
    widest.width--;
  }
}

function least<Row>({ title, atLeast = 0 }: Column<Row>): number {
  return Math.max(atLeast, displayWidth(title));
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
