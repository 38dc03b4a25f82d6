import { execFileSync } from "node:child_process";
import { chmod, link, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { convertSources, NotConvertible } from "../../src/catalog/convert.ts";
import { SOURCES, VOCABULARIES } from "../../src/catalog/schema.ts";
import { edited, FileUnwritable, replaceFile } from "../../src/catalog/write.ts";
import { catalog, resource } from "../support/catalog.ts";
import { folderWith } from "../support/cli.ts";

const convert = (text: string, to: "neutral" | "platform") =>
  Buffer.from(convertSources(Buffer.from(text), to).bytes).toString();

describe("a conversion", () => {
  it("changes the words of the sources and nothing else", () => {
    const text = `{ "resources" :[\r\n\t{"source" : "github","id":"a", "title":"\\u0047ithub \\"source\\": \\"github\\"", "url":"https://example.org",
      "tags": [ "github" ], "category":"code","status":"verified","summary":"source: github","primary_use":"github",
      "pashto_evidence":{"markers":["ps"],"evidence_text":"پښتو github","evidence_url":"https://github.com/"}} ]\r\n,
      "updated_on":"2026-01-31" , "version":"1.0.0"}\n\n`;
    expect(convert(text, "neutral")).toBe(text.replace('"source" : "github"', '"source" : "code_host_a"'));
    expect(convertSources(Buffer.from(text), "platform")).toEqual({ bytes: Buffer.from(text), changed: 0 });
  });

  it("there and back gives the same bytes, whatever the catalog and however it is written", () => {
    const source = fc.nat({ max: SOURCES.neutral.length - 1 });
    const layout = fc.constantFrom(undefined, 1, 2, "\t");
    const text = fc.string({ unit: "grapheme", minLength: 10 });
    fc.assert(
      fc.property(
        fc.constantFrom(...VOCABULARIES),
        fc.array(source, { maxLength: 6 }),
        layout,
        text,
        (from, places, space, words) => {
          const value = catalog(
            places.map((place, index) => resource(index, { source: SOURCES[from][place], summary: words })),
          );
          const before = JSON.stringify(value, null, space);
          const to = from === "neutral" ? "platform" : "neutral";
          const there = convert(before, to);
          expect(JSON.parse(there).resources.map((one: { source: string }) => one.source)).toEqual(
            places.map((place) => SOURCES[to][place]),
          );
          expect(convert(there, from)).toBe(before);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("mends a file that mixes both vocabularies", () => {
    const mixed = JSON.stringify(
      catalog([resource(1, { source: "github" }), resource(2), resource(3, { source: "other" })]),
    );
    const sources = JSON.parse(convert(mixed, "platform")).resources.map((one: { source: string }) => one.source);
    expect(sources).toEqual(["github", "github", "other"]);
  });

  it.each([
    ["malformed", "{"],
    ["a key twice", '{"version": "1.0.0", "version": "1.0.0", "updated_on": "2026-01-01", "resources": []}'],
    ["a source that is none", JSON.stringify(catalog([resource(1, { source: "huggingfce" })]))],
    ["a byte order mark", `\ufeff${JSON.stringify(catalog())}`],
  ])("is refused with the errors of a file that is wrong: %s", (_, text) => {
    expect(() => convertSources(Buffer.from(text), "neutral")).toThrow(NotConvertible);
  });
});

describe("edits", () => {
  it("may come in any order, and may take away or put in", () => {
    const edits = [
      { start: 4, end: 4, text: "پ" },
      { start: 0, end: 1, text: "" },
    ];
    expect(Buffer.from(edited(Buffer.from("abcdef"), edits)).toString()).toBe("bcdپef");
  });
});

describe("a file is replaced", () => {
  it("whole, with its mode, and leaves nothing beside it", async () => {
    await using folder = await folderWith({ "a.json": "old" });
    const file = join(folder.path, "a.json");
    await chmod(file, 0o640);
    await replaceFile(file, Buffer.from("new"), Buffer.from("old"));
    expect(await readFile(file, "utf8")).toBe("new");
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    expect(await readdir(folder.path)).toEqual(["a.json"]);
  });

  it("in one step: who had it open reads the old one to its end", async () => {
    await using folder = await folderWith({ "a.json": "old" });
    await link(join(folder.path, "a.json"), join(folder.path, "other name"));
    await replaceFile(join(folder.path, "a.json"), Buffer.from("new"));
    expect(await readFile(join(folder.path, "other name"), "utf8")).toBe("old");
  });

  it("not when it changed meanwhile, or went away", async () => {
    await using folder = await folderWith({ "a.json": "theirs" });
    const file = join(folder.path, "a.json");
    await expect(replaceFile(file, Buffer.from("ours"), Buffer.from("old"))).rejects.toThrow(FileUnwritable);
    expect(await readFile(file, "utf8")).toBe("theirs");
    await expect(replaceFile(join(folder.path, "b.json"), Buffer.from("ours"), Buffer.from("old"))).rejects.toThrow();
    expect(await readdir(folder.path)).toEqual(["a.json"]);
  });

  it("behind a link, which stays one", async () => {
    await using folder = await folderWith({ "a.json": "old" });
    await symlink("a.json", join(folder.path, "link.json"));
    await replaceFile(join(folder.path, "link.json"), Buffer.from("new"));
    expect(await readFile(join(folder.path, "a.json"), "utf8")).toBe("new");
  });

  it("only where it is one: of a pipe or a device nothing would be left", async () => {
    await using folder = await folderWith({});
    const pipe = join(folder.path, "pipe");
    execFileSync("mkfifo", [pipe]);
    for (const path of [pipe, folder.path])
      await expect(replaceFile(path, Buffer.from("new"))).rejects.toThrow(`${path} cannot be written: it is no file`);
    expect((await stat(pipe)).isFIFO()).toBe(true);
    expect(await readdir(folder.path)).toEqual(["pipe"]);
  });

  it("or made where none was", async () => {
    await using folder = await folderWith({});
    await replaceFile(join(folder.path, "new.json"), Buffer.from("new"));
    expect(await readFile(join(folder.path, "new.json"), "utf8")).toBe("new");
    await writeFile(join(folder.path, "file"), "");
    await expect(replaceFile(join(folder.path, "file", "x.json"), Buffer.from("new"))).rejects.toThrow();
  });
});

describe("the example catalogs", () => {
  it("are the same, in each of the vocabularies", async () => {
    const platform = await readFile("public/catalog.example.json", "utf8");
    const neutral = await readFile("test/fixtures/catalog.json", "utf8");
    expect(convert(platform, "neutral")).toBe(neutral);
    expect(convert(neutral, "platform")).toBe(platform);
  });
});
