import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { displayWidth } from "../../src/cli/table.ts";
import { BENCH, CATALOG, catalogFolder, newResource, SPEECH, WORDS } from "../support/catalog-file.ts";
import { folderWith, hubhook } from "../support/cli.ts";
import { startTarget } from "../support/target.ts";
import { atTerminal, hasTerminal } from "../support/terminal.ts";

const onTerminal = hasTerminal ? it : it.skip;

/** Runs `hubhook catalog …` where CATALOG names the file. */
async function run(args: string[], content: Parameters<typeof catalogFolder>[0] = CATALOG, input?: string) {
  await using folder = await catalogFolder(content);
  const env = { CATALOG: "catalog.json" };
  return await hubhook(["catalog", ...args], { cwd: folder.path, env, ...(input !== undefined && { input }) });
}

describe("hubhook catalog ls", () => {
  it("is a table in the order of the file, the title last", async () => {
    expect(await run(["ls"])).toEqual({
      code: 0,
      stderr: "",
      stdout: [
        "ID                 CATEGORY   SOURCE       STATUS     TITLE",
        "pashto-speech      dataset    huggingface  verified   Pashto Speech",
        `pashto-words       code       github       candidate  ${WORDS.title}`,
        "translation-bench  benchmark  zenodo       verified   Translation benchmark",
        "",
      ].join("\n"),
    });
  });

  onTerminal("is cut to the terminal, whatever the direction of the titles", async () => {
    await using folder = await catalogFolder();
    const env = { CATALOG: "catalog.json" };
    const { screen, code } = await atTerminal(["catalog", "ls"], [], { cwd: folder.path, env, columns: 80 });
    expect(code).toBe(0);
    expect(screen).toBe(
      [
        "ID                 CATEGORY   SOURCE       STATUS     TITLE",
        "pashto-speech      dataset    huggingface  verified   Pashto Speech",
        "pashto-words       code       github       candidate  د پښتو د کلمو لویه ټولګه …",
        "translation-bench  benchmark  zenodo       verified   Translation benchmark",
        "",
      ].join("\n"),
    );
    for (const columns of [70, 60]) {
      const narrow = await atTerminal(["catalog", "ls"], [], { cwd: folder.path, env, columns });
      for (const line of narrow.screen.split("\n")) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
    }
  });

  onTerminal("is coloured at a terminal only", async () => {
    await using folder = await catalogFolder();
    const env = { CATALOG: "catalog.json", NO_COLOR: "", TERM: "xterm" };
    const { screen } = await atTerminal(["catalog", "ls"], [], { cwd: folder.path, env });
    expect(screen).toContain("\u001b[32mverified");
    expect((await run(["ls"])).stdout).not.toContain("\u001b");
  });

  it("is told to programs as a list, and as bare ids", async () => {
    expect(JSON.parse((await run(["ls", "--format", "json"])).stdout)).toEqual([SPEECH, WORDS, BENCH]);
    expect((await run(["ls", "--format", "quiet"])).stdout).toBe("pashto-speech\npashto-words\ntranslation-bench\n");
  });

  it.each([
    [["--category", "dataset"], ["pashto-speech"]],
    [
      ["--category", "dataset", "--category", "CODE"],
      ["pashto-speech", "pashto-words"],
    ],
    [
      ["--status", "verified"],
      ["pashto-speech", "translation-bench"],
    ],
    [["--status", "verified", "--category", "code"], []],
    [["--source", "github"], ["pashto-words"]],
    [["--source", "code_host_a"], ["pashto-words"]],
    [
      ["--tag", "text"],
      ["pashto-words", "translation-bench"],
    ],
    [["--tag", "TEXT", "--license", "mit"], ["translation-bench"]],
    [["--task", "automatic-speech-recognition"], ["pashto-speech"]],
    [["--license", "MIT"], ["translation-bench"]],
    [
      ["--limit", "2"],
      ["pashto-speech", "pashto-words"],
    ],
  ])("%p leaves %p", async (args, ids) => {
    const { stdout, code } = await run(["ls", "--format", "quiet", ...args]);
    expect([code, stdout]).toEqual([0, ids.map((id) => `${id}\n`).join("")]);
  });

  it.each([
    [["--tag", "txt"], 'no resource has the tag "txt": did you mean text?'],
    [["--task", "translation"], 'no resource has the task "translation".'],
    [["--category", "paper"], "leave out an option to see more"],
  ])("%p fits nothing, and what to do next is said", async (args, sentence) => {
    const { code, stdout, stderr } = await run(["ls", ...args]);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toBe(
      `Nothing fits among the 3 resources of catalog.json: ${sentence}${stderr.endsWith(".\n") && !sentence.endsWith(".") ? "." : ""}\n`,
    );
    expect((await run(["ls", ...args, "--format", "json"])).stdout).toBe("[]\n");
  });

  it("of an empty catalog says how to fill it", async () => {
    const { code, stderr } = await run(["ls"], { ...CATALOG, resources: [] });
    expect([code, stderr]).toEqual([0, "catalog.json lists nothing yet: `hubhook catalog add` adds a resource.\n"]);
  });

  it("says how many more there are", async () => {
    expect((await run(["ls", "--limit", "1"])).stderr).toBe("2 more fit: --limit 3 shows all.\n");
  });

  it("does not let a catalog steer the terminal", async () => {
    const evil = newResource("evil", { title: "\u001b]0;title\u0007\u001b[2Jevil\nnext\u202e", tags: ["\u001b[31m"] });
    for (const args of [["ls"], ["show", "evil"], ["stats"], ["search", "evil"]]) {
      const { stdout } = await run(args, { ...CATALOG, resources: [evil] });
      expect(stdout.replace(/[^\p{Cc}\p{Cf}]|\n/gu, "")).toBe("");
    }
  });
});

describe("hubhook catalog search", () => {
  it("puts the best first, and takes words in any script", async () => {
    const ids = async (...words: string[]) =>
      (await run(["search", "--format", "quiet", ...words])).stdout.split("\n").filter(Boolean);
    expect(await ids("speech")).toEqual(["pashto-speech"]);
    expect(await ids("پښتو")).toEqual(["pashto-words"]);
    expect((await ids("text"))[0]).toBeDefined();
    expect(await ids("pashto", "wor")).toEqual(["pashto-words"]);
    expect(await ids("pashto", "--status", "candidate")).toEqual(["pashto-words"]);
    expect((await ids("translation"))[0]).toBe("translation-bench");
  });

  it("says what to do when nothing is found", async () => {
    const { code, stdout, stderr } = await run(["search", "quaternions"]);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toBe(
      "Nothing fits among the 3 resources of catalog.json: try fewer or shorter words; `hubhook catalog stats` shows the tags.\n",
    );
  });

  it("shows the best twenty, and says that there are more", async () => {
    const resources = Array.from({ length: 30 }, (_, index) => newResource(`r${index}`));
    const { stdout, stderr } = await run(["search", "resource", "--format", "quiet"], { ...CATALOG, resources });
    expect(stdout.trim().split("\n")).toHaveLength(20);
    expect(stderr).toBe("10 more fit: --limit 30 shows all.\n");
  });
});

describe("hubhook catalog show", () => {
  it("shows all of one, and where it stands", async () => {
    expect((await run(["show", "pashto-speech"])).stdout).toBe(
      [
        "verified Pashto Speech",
        "Id         pashto-speech",
        "URL        https://huggingface.co/datasets/me/pashto-speech",
        "Category   dataset",
        "Source     huggingface",
        "License    cc-by-4.0",
        "Tags       speech, audio",
        "Tasks      automatic-speech-recognition",
        "Use        speech recognition",
        "Stands in  catalog.json:5:5",
        "",
        "Summary",
        "  Forty hours of read speech with transcripts.",
        "",
        "Evidence https://example.org/pashto-speech",
        "  It is in Pashto.",
        "  markers: Pashto",
        "",
      ].join("\n"),
    );
    expect(JSON.parse((await run(["show", "pashto-words", "--format", "json"])).stdout)).toEqual(WORDS);
  });

  it("takes how the id begins, where only one begins so", async () => {
    expect((await run(["show", "trans"])).stdout).toContain("Translation benchmark");
    const { code, stderr } = await run(["show", "pashto"]);
    expect([code, stderr]).toEqual([
      1,
      'hubhook: several ids begin with "pashto": pashto-speech, pashto-words. Write more of it\n',
    ]);
    // A whole id is meant, also where another one goes on from it.
    const resources = [newResource("a-b"), newResource("a")];
    expect((await run(["show", "a"], { ...CATALOG, resources })).stdout).toContain("Id         a\n");
  });

  it.each([
    ["pasto-speech", "did you mean pashto-speech?"],
    ["quaternions", "`hubhook catalog ls --file catalog.json` lists the ids"],
    ["", "`hubhook catalog ls --file catalog.json` lists the ids"],
  ])("says that there is no %p", async (id, next) => {
    const { code, stdout, stderr } = await run(["show", id]);
    expect([code, stdout, stderr]).toEqual([1, "", `hubhook: catalog.json has no resource "${id}": ${next}\n`]);
  });
});

describe("hubhook catalog stats", () => {
  it("counts", async () => {
    expect((await run(["stats"])).stdout).toBe(
      [
        "catalog.json version 1.2.3 of 2026-01-02",
        "3 resources, 2 verified (67 %), platforms as sources",
        "",
        "Category",
        "  1  benchmark",
        "  1  code",
        "  1  dataset",
        "",
        "Source",
        "  1  github",
        "  1  huggingface",
        "  1  zenodo",
        "",
        "License",
        "  1  cc-by-4.0",
        "  1  mit",
        "",
        "Task",
        "  1  automatic-speech-recognition",
        "",
        "Tag",
        "  2  text",
        "  1  audio",
        "  1  speech",
        "  1  translation",
        "  1  words",
        "",
      ].join("\n"),
    );
    const json = JSON.parse((await run(["stats", "--format", "json"])).stdout);
    expect(json).toMatchObject({ version: "1.2.3", vocabulary: "platform", resources: 3, verified: 2 });
    expect(json.tag[0]).toEqual({ value: "text", count: 2 });
    expect((await run(["stats"], { ...CATALOG, resources: [] })).stdout).toContain(
      "0 resources, none verified, no source that tells the vocabulary\n",
    );
  });

  it("shows the ten most frequent tags", async () => {
    const tags = Array.from({ length: 13 }, (_, index) => `tag${index}`);
    const { stdout } = await run(["stats"], { ...CATALOG, resources: [newResource("a", { tags })] });
    expect(stdout).toMatch(/ {2}1 {2}tag6\n {2}and 3 more\n$/);
  });
});

describe("hubhook catalog diff", () => {
  const after = {
    version: "1.2.4",
    updated_on: "2026-02-03",
    resources: [
      BENCH,
      { ...SPEECH, status: "candidate" as const, tags: ["speech", "read"], license: undefined, tasks: ["asr"] },
      newResource("new-one"),
    ],
  };

  async function diff(args: string[], input?: string) {
    await using folder = await folderWith({ "old.json": JSON.stringify(CATALOG), "new.json": JSON.stringify(after) });
    return await hubhook(["catalog", "diff", ...args], { cwd: folder.path, ...(input !== undefined && { input }) });
  }

  it("tells what was added, removed and changed, and does not fail by it", async () => {
    expect(await diff(["old.json", "new.json"])).toEqual({
      code: 0,
      stderr: "",
      stdout: [
        "version 1.2.3 → 1.2.4, updated on 2026-01-02 → 2026-02-03",
        "+ new-one  The resource new-one",
        `- pashto-words  ${WORDS.title}`,
        "~ pashto-speech  Pashto Speech",
        "    status",
        "      - verified",
        "      + candidate",
        "    tags",
        "      - audio",
        "      + read",
        "    license",
        "      - cc-by-4.0",
        "    tasks",
        "      - automatic-speech-recognition",
        "      + asr",
        "1 added, 1 removed, 1 changed",
        "",
      ].join("\n"),
    });
  });

  it("is told to programs", async () => {
    const json = JSON.parse((await diff(["old.json", "new.json", "--format", "json"])).stdout);
    expect(json).toMatchObject({
      version: { old: "1.2.3", new: "1.2.4" },
      added: [newResource("new-one")],
      removed: [{ id: "pashto-words" }],
      changed: [{ id: "pashto-speech", fields: expect.arrayContaining([{ field: "license", old: "cc-by-4.0" }]) }],
    });
  });

  it("fails by a difference where it is asked to, as git does", async () => {
    expect((await diff(["old.json", "new.json", "--exit-code"])).code).toBe(1);
    const same = await diff(["old.json", "old.json", "--exit-code"]);
    expect(same).toEqual({ code: 0, stdout: "No difference: version 1.2.3 of 2026-01-02\n", stderr: "" });
  });

  it("reads one of the two from standard input", async () => {
    const { stdout } = await diff(["-", "new.json"], JSON.stringify(CATALOG));
    expect(stdout).toContain("1 added, 1 removed, 1 changed");
    expect(await diff(["-", "-"])).toMatchObject({
      code: 2,
      stderr: "hubhook: standard input can be one of the two only\n",
    });
  });
});

describe("the catalog that is meant", () => {
  it("is --file before CATALOG, and may be standard input", async () => {
    await using folder = await folderWith({ "other.json": JSON.stringify({ ...CATALOG, resources: [BENCH] }) });
    const env = { CATALOG: join(folder.path, "gone.json") };
    const ls = ["catalog", "ls", "--format", "quiet"];
    const other = await hubhook([...ls, "--file", "other.json"], { cwd: folder.path, env });
    expect(other.stdout).toBe("translation-bench\n");
    const piped = await hubhook([...ls, "--file", "-"], { env, input: JSON.stringify(CATALOG) });
    expect(piped.stdout).toContain("pashto-words\n");
    const gone = await hubhook(ls, { env });
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining("gone.json")]);
  });

  it("may be at a URL, of which nothing secret is shown", async () => {
    const body = JSON.stringify({ ...CATALOG, resources: [SPEECH, SPEECH] });
    await using site = await startTarget({ status: 200, body: JSON.stringify(CATALOG) }, { status: 200, body });
    const env = { CATALOG: `${site.url}/catalog.json?key=s3cret`, CATALOG_ALLOW_TARGETS: "127.0.0.1" };
    const { code, stdout } = await hubhook(["catalog", "show", "pashto-speech"], { env });
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Stands in  ${site.url}/catalog.json?…:1:`)]);
    const broken = await hubhook(["catalog", "ls"], { env });
    expect([broken.code, broken.stderr]).toEqual([
      1,
      expect.stringContaining(`${site.url}/catalog.json?… has 1 error`),
    ]);
    expect(broken.stderr).not.toContain("s3cret");
    const elsewhere = await hubhook(["catalog", "ls"], { env: { CATALOG: env.CATALOG } });
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      1,
      expect.stringContaining("CATALOG_ALLOW_TARGETS may allow it"),
    ]);
    expect(elsewhere.stderr).not.toContain("s3cret");
  });

  it("must be named", async () => {
    for (const verb of ["ls", "stats"])
      expect(await hubhook(["catalog", verb])).toEqual({
        code: 2,
        stdout: "",
        stderr: "hubhook: say which catalog is meant: --file catalog.json, or set CATALOG\n",
      });
  });

  it("must have no errors, and the first of them are shown", async () => {
    const broken = { ...CATALOG, resources: [{ ...SPEECH, source: "huggingfce", more: 1 }, WORDS] };
    const { code, stderr } = await run(["ls"], JSON.stringify(broken, null, 2));
    expect(code).toBe(1);
    expect(stderr.split("\n")[0]).toBe("hubhook: catalog.json has 2 errors:");
    expect(stderr).toContain("  catalog.json:10:17 resources[0].source (pashto-speech): this is no source");
    expect(stderr).toContain("did you mean huggingface?");
  });

  it.each([
    [["ls", "--category", "datset"], "Did you mean dataset?"],
    [["ls", "--source", "hub"], "Allowed choices are model_hub, "],
    [["ls", "--limit", "0"], "Write a number from 1 to"],
    [["search"], "missing required argument 'words'"],
    [["lst"], "unknown command 'lst': did you mean ls?"],
    [["show"], "missing required argument 'id'"],
    [["diff", "one.json"], "missing required argument 'new'"],
  ])("%p is answered by one sentence and exit code 2", async (args, sentence) => {
    const { code, stdout, stderr } = await hubhook(["catalog", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  it.each(["ls", "search", "show", "stats", "diff", "add", "promote", "demote", "remove"])(
    "catalog %s --help shows examples",
    async (verb) => {
      const { code, stdout } = await hubhook(["catalog", verb, "--help"]);
      expect(code).toBe(0);
      expect(stdout).toContain(`$ hubhook catalog ${verb}`);
    },
  );
});
