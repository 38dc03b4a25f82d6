import { chmodSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { describe, expect, it } from "@jest/globals";
import {
  BENCH,
  CATALOG,
  type CatalogFolder,
  catalogFolder,
  newResource,
  SPEECH,
  WORDS,
} from "../support/catalog-file.ts";
import { hubhook } from "../support/cli.ts";
import { atTerminal, CTRL_C, hasTerminal } from "../support/terminal.ts";

const onTerminal = hasTerminal ? it : it.skip;
const env = { CATALOG: "catalog.json" };
/** Root may write anywhere: so the test of rights runs as somebody who may not. */
const isRoot = process.getuid?.() === 0;
const canBeAnother = !isRoot || [process.execPath, resolve("src/cli")].every(othersMayReach);
const today = () => new Date().toISOString().slice(0, 10);

const run = ({ path }: CatalogFolder, ...args: string[]) => hubhook(["catalog", ...args], { cwd: path, env });

describe("hubhook catalog promote and demote", () => {
  it("change the status and the head, and nothing else", async () => {
    await using folder = await catalogFolder();
    const before = await folder.text();
    const days = [today()];
    const { code, stdout, stderr } = await run(folder, "promote", "pashto-words");
    days.push(today());
    const { updated_on } = await folder.read();
    expect(days).toContain(updated_on);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(`pashto-words is verified now; catalog.json is version 1.2.4 of ${updated_on}\n`);
    const expected = before
      .replace('"version": "1.2.3"', '"version": "1.2.4"')
      .replace('"updated_on": "2026-01-02"', `"updated_on": "${updated_on}"`)
      .replace('"status": "candidate"', '"status": "verified"');
    expect(await folder.text()).toBe(expected);
    expect((await run(folder, "demote", "pashto-words")).stdout).toContain("pashto-words is candidate now");
    expect((await folder.read()).resources).toEqual(CATALOG.resources);
  });

  it("of one in that state already write nothing", async () => {
    await using folder = await catalogFolder();
    const before = await folder.text();
    expect(await run(folder, "promote", "pashto-speech")).toEqual({
      code: 0,
      stdout: "pashto-speech is verified already: nothing was written\n",
      stderr: "",
    });
    expect((await run(folder, "demote", "pashto-words")).stdout).toContain("is candidate already");
    const json = await run(folder, "promote", "pashto-speech", "--format", "json");
    expect(JSON.parse(json.stdout)).toEqual({ id: "pashto-speech", status: "verified", written: false });
    expect(await folder.text()).toBe(before);
  });

  it("are told to programs", async () => {
    await using folder = await catalogFolder();
    const { stdout } = await run(folder, "promote", "pashto-words", "--format", "json");
    expect(JSON.parse(stdout)).toEqual({
      id: "pashto-words",
      status: "verified",
      written: true,
      version: "1.2.4",
      updated_on: (await folder.read()).updated_on,
    });
  });

  it.each([
    ["pashto-word", "did you mean pashto-words?"],
    ["pashto", "`hubhook catalog ls --file catalog.json` lists the ids"],
  ])("take a whole id only: %s", async (id, next) => {
    await using folder = await catalogFolder();
    const { code, stdout, stderr } = await run(folder, "promote", id);
    expect([code, stdout, stderr]).toEqual([1, "", `hubhook: catalog.json has no resource "${id}": ${next}\n`]);
  });

  it("go on where another resource has an error, and tell of it", async () => {
    const broken = { ...CATALOG, resources: [{ ...SPEECH, source: "huggingfce" }, WORDS] };
    await using folder = await catalogFolder(JSON.stringify(broken));
    const { code, stderr } = await run(folder, "promote", "pashto-words");
    expect([code, stderr]).toEqual([
      0,
      "catalog.json has 1 error from before: `hubhook catalog validate catalog.json` shows what to mend.\n",
    ]);
  });

  it("do not choose between two of the same id", async () => {
    await using folder = await catalogFolder(JSON.stringify({ ...CATALOG, resources: [WORDS, WORDS] }));
    const { code, stderr } = await run(folder, "promote", "pashto-words");
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('2 resources of catalog.json have the id "pashto-words"'),
    ]);
  });
});

describe("hubhook catalog remove", () => {
  it("refuses where nobody can be asked, and needs no answer with --yes", async () => {
    await using folder = await catalogFolder();
    const refused = await run(folder, "remove", "pashto-words");
    expect([refused.code, refused.stderr]).toEqual([2, "hubhook: nobody can be asked here: add --yes to remove it\n"]);
    expect(await folder.read()).toEqual(CATALOG);
    const { code, stdout } = await run(folder, "remove", "pashto-words", "--yes");
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^pashto-words is removed; catalog\.json is version 1\.2\.4 of/),
    ]);
    expect((await folder.read()).resources).toEqual([SPEECH, BENCH]);
  });

  const answers = hasTerminal ? it.each : it.skip.each;
  answers([
    ["y\n", 0],
    ["yes\n", 0],
    ["n\n", 1],
    ["\n", 1],
    [CTRL_C, 1],
  ])("asks at a terminal, and %p is an answer", async (answer, code) => {
    await using folder = await catalogFolder();
    const asked = await atTerminal(["catalog", "remove", "pashto-words"], [["[y/N]", answer]], {
      cwd: folder.path,
      env,
    });
    expect(asked.code).toBe(code);
    expect(asked.screen).toContain(`${WORDS.title}\n${WORDS.url}\nRemove pashto-words from catalog.json? [y/N]`);
    if (code === 1) expect(asked.screen).toContain("nothing was removed");
    expect((await folder.read()).resources).toHaveLength(code === 0 ? 2 : 3);
  });

  onTerminal("does not write over what somebody else did while it was asked", async () => {
    await using folder = await catalogFolder();
    const other = { ...CATALOG, version: "2.0.0" };
    // The answer is typed after the other one has written.
    const question = {
      [Symbol.search]: (text: string) => {
        const at = text.indexOf("[y/N]");
        if (at !== -1) writeFileSync(folder.file, JSON.stringify(other));
        return at;
      },
    } as unknown as RegExp;
    const { code, screen } = await atTerminal(["catalog", "remove", "pashto-words"], [[question, "y\n"]], {
      cwd: folder.path,
      env,
    });
    expect(code).toBe(1);
    expect(screen).toContain("catalog.json was changed by somebody else meanwhile");
    expect(await folder.read()).toEqual(other);
  });
});

describe("a catalog that is changed", () => {
  it.each([
    [{ CATALOG: "https://example.org/catalog.json" }, [], "CATALOG is a URL, and only a file can be changed"],
    [{}, ["--file", "HTTPS://example.org/c.json"], "--file is a URL, and only a file can be changed"],
    [{}, ["--file", "-"], "--file is standard input, and only a file can be changed"],
    [{}, [], "say which catalog is meant: --file catalog.json, or set CATALOG"],
  ])("must be a file of this machine: %p %p", async (given, args, sentence) => {
    for (const verb of [["promote", "a"], ["demote", "a"], ["remove", "a", "--yes"], ["add"]]) {
      const { code, stderr } = await hubhook(["catalog", ...verb, ...args], { env: given as Record<string, string> });
      expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
    }
  });

  it.each([
    ["gone.json", "gone.json cannot be read: there is no such file"],
    [".", ". is no file: only files of this machine can be changed"],
    ["/dev/null", "/dev/null is no file"],
  ])("must be there: %s", async (file, sentence) => {
    await using folder = await catalogFolder();
    const { code, stderr } = await run(folder, "promote", "a", "--file", file);
    expect([code, stderr]).toEqual([1, expect.stringContaining(sentence)]);
  });

  it("that is no JSON is shown where it breaks", async () => {
    await using folder = await catalogFolder('{\n  "version": "1.0.0",\n  "resources": [}\n');
    const { code, stderr } = await run(folder, "promote", "a");
    expect(code).toBe(1);
    expect(stderr).toContain("catalog.json cannot be changed before it is mended:\n  catalog.json:3:17 ");
  });

  const asAnother = canBeAnother ? it : it.skip;
  asAnother("may lie where this user cannot write", async () => {
    await using folder = await catalogFolder();
    chmodSync(folder.path, 0o555);
    const { code, stderr } = await asNobody(folder, ["promote", "pashto-words"]);
    expect([code, stderr]).toEqual([
      1,
      "hubhook: catalog.json cannot be written: this user may not do that to the file or to its folder\n",
    ]);
    chmodSync(folder.path, 0o777);
    chmodSync(folder.file, 0o444);
    expect((await asNobody(folder, ["promote", "pashto-words"])).code).toBe(1);
    expect(await folder.read()).toEqual(CATALOG);
  });

  it("by many at once holds all that was said to be added, and those that were late are told", async () => {
    await using folder = await catalogFolder();
    const ids = Array.from({ length: 6 }, (_, index) => `new-${index}`);
    const ends = await Promise.all(ids.map((id) => run(folder, "add", ...flagsFor(id))));
    const added = ids.filter((_, index) => ends[index]?.code === 0);
    expect(added.length).toBeGreaterThan(0);
    for (const { code, stderr } of ends)
      if (code !== 0) expect(stderr).toMatch(/changed by somebody else meanwhile|somebody else is changing/);
    const { resources, version } = await folder.read();
    expect(
      resources
        .map(({ id }) => id)
        .slice(3)
        .sort(),
    ).toEqual(added);
    expect(version).toBe(`1.2.${3 + added.length}`);
  });
});

function flagsFor(id: string): string[] {
  const { title, url, category, summary, primary_use, pashto_evidence, tags } = newResource(id);
  const evidence = pashto_evidence.evidence_text;
  const named = { title, url, id, category, summary, use: primary_use, evidence, tag: tags[0] };
  return Object.entries(named).flatMap(([name, value]) => [`--${name}`, `${value}`]);
}

async function asNobody({ path }: CatalogFolder, args: string[]) {
  return hubhook(["catalog", ...args], { cwd: path, env, ...(isRoot && { uid: 65_534 }) });
}

/** Can others come to this file? */
function othersMayReach(file: string): boolean {
  const folder = dirname(file);
  return (statSync(file).mode & 0o1) !== 0 && (folder === file || othersMayReach(folder));
}
