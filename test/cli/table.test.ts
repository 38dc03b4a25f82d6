import { describe, expect, it } from "@jest/globals";
import { type Column, displayWidth, tableLines } from "../../src/cli/table.ts";

interface Row {
  id: string;
  name: string;
  count: number;
}

const columns: Column<Row>[] = [
  { title: "ID", text: ({ id }) => id },
  { title: "NAME", text: ({ name }) => name, atLeast: 4 },
  { title: "COUNT", text: ({ count }) => `${count}`, right: true },
];
const rows = [
  { id: "a1", name: "dataset:me/a-long-name", count: 7 },
  { id: "b2", name: "model:you", count: 12345678 },
];

describe("a table", () => {
  it("is as wide as what stands in it", () => {
    expect(tableLines(columns, rows, 100)).toEqual([
      "ID  NAME                       COUNT",
      "a1  dataset:me/a-long-name         7",
      "b2  model:you               12345678",
    ]);
  });

  it("cuts what may be cut, and nothing else, to fit the line", () => {
    const lines = tableLines(columns, rows, 24);
    expect(lines).toEqual(["ID  NAME           COUNT", "a1  dataset:m…         7", "b2  model:you   12345678"]);
    expect(tableLines(columns, rows, 5)[1]).toBe("a1  dat…         7");
  });

  it("has a head without rows", () => {
    expect(tableLines(columns, [], 80)).toEqual(["ID  NAME  COUNT"]);
  });

  it("counts what is wide twice and what is combined once", () => {
    expect(["abc", "日本", "é", "e\u0301", "👩‍🔬", ""].map(displayWidth)).toEqual([3, 4, 1, 1, 2, 0]);
    const wide = tableLines(columns, [{ id: "1", name: "日本語の名前", count: 1 }], 20);
    expect(wide.map(displayWidth)).toEqual([20, 20]);
  });

  it("keeps a row on its line, whatever stands in it", () => {
    const hostile = "two\nlines\tand \u001b[31mred\u001b[0m \u202eback\u0007";
    const [, line] = tableLines(columns, [{ id: "1", name: hostile, count: 1 }], 80);
    expect(line).toBe("1   two lines and red back      1");
  });

  it("is coloured by the cell, which changes no width", () => {
    const painted = columns.map((column) => ({ ...column, paint: (cell: string) => `<${cell}>` }));
    expect(tableLines(painted, rows.slice(1), 80)[1]).toBe("<b2>  <model:you>  <12345678>");
  });
});
