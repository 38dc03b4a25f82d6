import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "@jest/globals";
import { EditRefused, openForEdit } from "../../src/catalog/edit.ts";
import { validateCatalog } from "../../src/catalog/validate.ts";
import { BENCH, CATALOG, catalogFolder, newResource, SPEECH, WORDS } from "../support/catalog-file.ts";

const CHILD = resolve(import.meta.dirname, "../support/catalog-child.ts");
const at = (time: string) => ({ now: () => new Date(time) });

/** What was thrown, with its problems. */
async function refusalOf(work: () => unknown): Promise<EditRefused> {
  try {
    await work();
  } catch (error) {
    if (error instanceof EditRefused) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

describe("a change of a catalog file", () => {
  it("raises the patch version and sets the day, as it is in UTC", async () => {
    await using folder = await catalogFolder();
    const change = { setStatus: "verified", of: 1 } as const;
    const plan = openForEdit(folder.file, at("2026-03-31T23:59:59.999Z")).plan(change);
    expect(plan).toMatchObject({ version: "1.2.4", updatedOn: "2026-03-31", warnings: [], errors: 0 });
    expect(await folder.read()).toEqual(CATALOG);
    await plan.write();
    const resources = [SPEECH, { ...WORDS, status: "verified" }, BENCH];
    expect(await folder.read()).toEqual({ version: "1.2.4", updated_on: "2026-03-31", resources });
    expect(readdirSync(folder.path)).toEqual(["catalog.json"]);
  });

  it("keeps the mode of the file, and leads through symbolic links", async () => {
    await using folder = await catalogFolder();
    chmodSync(folder.file, 0o640);
    const link = join(folder.path, "link.json");
    symlinkSync("catalog.json", link);
    await openForEdit(link).plan({ remove: 0 }).write();
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(statSync(folder.file).mode & 0o7777).toBe(0o640);
    expect((await folder.read()).resources).toEqual([WORDS, BENCH]);
  });

  it("is refused where its result is no valid catalog", async () => {
    await using folder = await catalogFolder();
    const before = await folder.text();
    const catalog = openForEdit(folder.file);
    const twin = await refusalOf(() => catalog.plan({ add: newResource("pashto-speech") }));
    expect(twin.message).toContain("would get new errors");
    expect(twin.problems.map(({ rule, resource }) => [rule, resource])).toEqual([["duplicate-id", "pashto-speech"]]);
    const broken = { ...newResource("new"), summary: "short", more: 1 };
    expect((await refusalOf(() => catalog.plan({ add: broken }))).problems).toHaveLength(2);
    expect(await folder.text()).toBe(before);
  });

  it("tells warnings that were not there before", async () => {
    await using folder = await catalogFolder();
    const catalog = openForEdit(folder.file, { markers: ["Pashto"] });
    const alike = newResource("new", { title: "PASHTO  speech!" });
    expect(catalog.problems.map(({ rule }) => rule)).toEqual(["no-marker"]);
    expect(catalog.plan({ add: alike }).warnings.map(({ rule }) => rule)).toEqual(["near-duplicate-title"]);
  });
});

describe("in a file that has errors already", () => {
  const broken = { ...CATALOG, resources: [{ ...SPEECH, source: "huggingfce" }, WORDS, BENCH] };

  it("a change goes on as long as it brings no new ones", async () => {
    await using folder = await catalogFolder(JSON.stringify(broken));
    const catalog = openForEdit(folder.file);
    expect(catalog.problems).toHaveLength(1);
    const plan = catalog.plan({ remove: 1 });
    expect([plan.errors, plan.warnings]).toEqual([1, []]);
    await plan.write();
    expect((await folder.read()).resources.map(({ id }) => id)).toEqual(["pashto-speech", "translation-bench"]);
    expect(() => openForEdit(folder.file).plan({ add: newResource("Bad") })).toThrow("new errors");
  });

  it("that mixes vocabularies, most of it may be in the other one afterwards", async () => {
    const sources = ["model_hub", "code_host_a", "huggingface", "github"] as const;
    const resources = sources.map((source, index) => newResource(`r${index}`, { source }));
    await using folder = await catalogFolder({ ...CATALOG, resources });
    expect(openForEdit(folder.file).plan({ remove: 0 }).errors).toBe(1);
  });

  it("what is broken can be removed", async () => {
    await using folder = await catalogFolder(JSON.stringify(broken));
    await openForEdit(folder.file).plan({ remove: 0 }).write();
    expect(validateCatalog(await folder.text()).problems).toEqual([]);
  });

  it.each([
    ["{", "cannot be changed before it is mended"],
    ["", "cannot be changed before it is mended"],
    ["\ufeff\ufeff{}", "cannot be changed before it is mended"],
    ["[".repeat(1000), "cannot be changed before it is mended"],
    ["[]", 'is no catalog: it has no list of "resources"'],
    ["null", 'is no catalog: it has no list of "resources"'],
    ['{"resources":{}}', 'is no catalog: it has no list of "resources"'],
  ])("%p is refused: it %s", async (content, sentence) => {
    await using folder = await catalogFolder(content);
    const { message, problems } = await refusalOf(() => openForEdit(folder.file));
    expect(message).toContain(sentence);
    expect(problems.length).toBeGreaterThan(0);
  });

  it("what is no UTF-8 is refused rather than written back as something else", async () => {
    await using folder = await catalogFolder();
    const bytes = readFileSync(folder.file);
    const latin1 = Buffer.concat([bytes.subarray(0, 100), Buffer.from([0xe9]), bytes.subarray(100)]);
    writeFileSync(folder.file, latin1);
    expect((await refusalOf(() => openForEdit(folder.file))).message).toContain(
      "cannot be changed before it is mended",
    );
    expect(readFileSync(folder.file)).toEqual(latin1);
  });

  it.each([
    ['{"version":"1.0","updated_on":"2026-01-01","resources":[]}', 'its "version" cannot be raised'],
    ['{"version":"1.0.0","resources":[]}', 'it has no "updated_on"'],
  ])("%s has no head that could be changed", async (content, sentence) => {
    await using folder = await catalogFolder(content);
    expect((await refusalOf(() => openForEdit(folder.file).plan({ add: newResource("a") }))).message).toContain(
      sentence,
    );
  });

  it("a byte order mark, line ends and escapes stay", async () => {
    const marked = `\ufeff${JSON.stringify(CATALOG, null, "\t").replaceAll("\n", "\r\n")}`;
    await using folder = await catalogFolder(marked);
    await openForEdit(folder.file).plan({ setStatus: "candidate", of: 0 }).write();
    const after = await folder.text();
    const head = (text: string) => text.replace(/"(version|updated_on|status)": "[^"]*"/g, "");
    expect(head(after)).toBe(head(marked));
    expect(after).toContain('"status": "candidate"');
  });
});

describe("two who change the same file", () => {
  it("one is told that the other was quicker, and nothing is lost", async () => {
    await using folder = await catalogFolder();
    const [mine, yours] = [openForEdit(folder.file), openForEdit(folder.file)];
    const plan = yours.plan({ add: newResource("yours") });
    await mine.plan({ add: newResource("mine") }).write();
    const after = await folder.text();
    expect((await refusalOf(() => plan.write())).message).toBe(
      `${folder.file} was changed by somebody else meanwhile, and was left as it is: try again`,
    );
    expect(await folder.text()).toBe(after);
    expect((await folder.read()).resources.at(-1)?.id).toBe("mine");
  });

  it("are told apart by what stands in the file, not by its times", async () => {
    await using folder = await catalogFolder();
    const plan = openForEdit(folder.file).plan({ remove: 0 });
    const { atime, mtime } = statSync(folder.file);
    writeFileSync(folder.file, (await folder.text()).replace("Forty", "Fifty"));
    utimesSync(folder.file, atime, mtime);
    await expect(plan.write()).rejects.toThrow("was changed by somebody else");
    // What was only touched is as it was.
    const same = openForEdit(folder.file).plan({ remove: 0 });
    utimesSync(folder.file, 0, 0);
    await same.write();
  });

  it("do not write at the same moment, and one that has died is named", async () => {
    await using folder = await catalogFolder();
    const lock = `${folder.file}.lock`;
    writeFileSync(lock, "");
    const plan = openForEdit(folder.file).plan({ remove: 0 });
    expect((await refusalOf(() => plan.write())).message).toContain("right now: try again in a moment");
    utimesSync(lock, 0, 0);
    expect((await refusalOf(() => plan.write())).message).toContain(
      `${lock} is left over from a change that was cut off: delete it`,
    );
    expect(existsSync(lock)).toBe(true);
    expect(await folder.read()).toEqual(CATALOG);
  });

  it("processes that go on until each is done leave a file that holds all of it", async () => {
    await using folder = await catalogFolder();
    const each = 8;
    const names = ["a", "b", "c", "d"];
    const children = names.map((name) => startChild(folder.file, name, each));
    for (const child of children) child.stdout.resume();
    const codes = await Promise.all(children.map(async (child) => (await once(child, "close"))[0]));
    expect(codes).toEqual([0, 0, 0, 0]);
    const { resources, version } = await folder.read();
    expect(new Set(resources.map(({ id }) => id)).size).toBe(3 + names.length * each);
    // Every change has raised it once.
    expect(version).toBe(`1.2.${3 + names.length * each}`);
    expect(readdirSync(folder.path)).toEqual(["catalog.json"]);
  });

  it("a process that is killed at any moment leaves a whole file, with all that it said was written", async () => {
    await using folder = await catalogFolder();
    for (let round = 0; round < 4; round++) {
      const child = startChild(folder.file, `round${round}`, 10_000);
      let said = "";
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        said += chunk;
        if (said.split("\n").length > round * 3) child.kill("SIGKILL");
      });
      await once(child, "close");
      const written = said.split("\n").slice(0, -1);
      const { catalog, problems } = validateCatalog(readFileSync(folder.file));
      expect(problems).toEqual([]);
      expect(catalog?.resources.map(({ id }) => id)).toEqual(expect.arrayContaining(written));
      rmSync(`${folder.file}.lock`, { force: true });
    }
  });
});

describe("a file system that takes no more", () => {
  it("leaves the file as it was", async () => {
    await using folder = await catalogFolder();
    const add = `import { openForEdit } from "${resolve("src/catalog/edit.ts")}";
      await openForEdit("catalog.json").plan({ remove: 0 }).write();`;
    const script = 'ulimit -f 1; exec "$0" --input-type=module-typescript -e "$1"';
    const child = spawn("sh", ["-c", script, process.execPath, add], {
      cwd: folder.path,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    expect([code, said]).toEqual([1, expect.stringContaining("catalog.json cannot be written: it would be larger")]);
    expect(await folder.read()).toEqual(CATALOG);
    expect(readdirSync(folder.path)).toEqual(["catalog.json"]);
  });
});

function startChild(file: string, name: string, count: number): ChildProcessByStdio<null, Readable, null> {
  return spawn(process.execPath, [CHILD, file, name, `${count}`], { stdio: ["ignore", "pipe", "inherit"] });
}
