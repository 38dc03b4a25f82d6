import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { jsonSchema } from "../../src/catalog/json-schema.ts";
import { rules } from "../../src/catalog/rules.ts";
import { catalog, resource } from "../support/catalog.ts";
import { folderWith, hubhook } from "../support/cli.ts";
import { startTarget } from "../support/target.ts";

const EXAMPLE = resolve("public/catalog.example.json");
const good = `${JSON.stringify(catalog(), null, 2)}\n`;
const doubtful = JSON.stringify(catalog([resource(1), resource(2, { title: "Pashto: resource 1" })]), null, 2);
const bad = `{
  "version": "1.0",
  "updated_on": "2026-02-30",
  "resources": [
    { "id": "a", "title": "د پښتو ژبه", "url": "https://example.org/a", "category": "datset", "source": "huggingfce",
      "status": "verified", "summary": "100 %, or more", "primary_use": "ASR", "tags": [], "tilte": "x",
      "pashto_evidence": { "evidence_text": "پښتو", "evidence_url": "https://example.org/a", "markers": ["پښتو"] } },
    { "id": "a", "title": "د پښتو ژبه!", "url": "https://example.org/b", "category": "tool", "source": "github",
      "status": "verified", "summary": "a summary", "primary_use": "ASR", "tags": ["a:b, c%"], "status": "candidate",
      "pashto_evidence": { "evidence_text": "tips", "evidence_url": "https://example.org/a" } }
  ]
}
`;

describe("hubhook catalog", () => {
  it.each([[], ["validate"], ["convert"], ["schema"], ["rules"]])("%s --help shows examples", async (...verb) => {
    const { code, stdout, stderr } = await hubhook(["catalog", ...verb, "--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`Usage: hubhook ${["catalog", ...verb].join(" ")}`);
    expect(stdout).toContain("$ hubhook catalog");
  });
});

describe("hubhook catalog validate", () => {
  it("says that the example is good", async () => {
    expect(await hubhook(["catalog", "validate", EXAMPLE])).toEqual({
      code: 0,
      stdout: `${EXAMPLE} has no problems (10 resources, platforms as sources)\n`,
      stderr: "",
    });
  });

  it.each(["text", "json", "github"])("shows all problems at once, in the order of the file, as %s", async (format) => {
    await using folder = await folderWith({ "bad.json": bad });
    const { code, stdout, stderr } = await hubhook(["catalog", "validate", "bad.json", "--format", format], {
      cwd: folder.path,
    });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "hubhook: bad.json has 10 errors and 1 warning (2 resources, platforms as sources)\n",
    });
    expect(format === "json" ? JSON.parse(stdout) : stdout).toMatchSnapshot();
    expect(stdout).not.toContain("\u001b");
  });

  it("colours where it may, and lets nothing from the file steer the terminal", async () => {
    await using folder = await folderWith({
      "a.json": good.replace('"verified"', '"\\u001b[2Jverified\\u202e"').replace('"tags"', '"\\u001b]0;x": 1, "tags"'),
    });
    const { stdout } = await hubhook(["catalog", "validate", "a.json"], {
      cwd: folder.path,
      env: { FORCE_COLOR: "1" },
    });
    expect(stdout).toContain("\u001b[31merror\u001b[39m");
    expect(stdout).not.toContain("\u001b[2J");
    expect(stdout).not.toContain("\u001b]0");
    expect(stdout).not.toContain("\u202e");
  });

  it("lets nothing from the file begin a line, where a workflow would take it for a command", async () => {
    const id = '"id": "a\\n::error::b"';
    const twice = '"c\\n::error::d": 1, "c\\n::error::d": 2';
    const input = good.replace(/"id": "[^"]*"/, `${id}, ${twice}`);
    for (const format of ["text", "github"]) {
      const { stdout } = await hubhook(["catalog", "validate", "-", "--format", format], { input });
      expect(stdout).toContain("duplicate-key");
      expect(stdout).not.toMatch(/^::error::/m);
    }
  });

  it("takes warnings as failures with --strict only", async () => {
    await using folder = await folderWith({ "a.json": doubtful });
    const lax = await hubhook(["catalog", "validate", "a.json"], { cwd: folder.path });
    expect([lax.code, lax.stderr]).toEqual([0, ""]);
    expect(lax.stdout).toMatch(
      /warning near-duplicate-title resources\[1\]\.title[\s\S]*a\.json has 1 warning \(2 resources, neutral sources\)\n$/,
    );
    const strict = await hubhook(["catalog", "validate", "a.json", "--strict"], { cwd: folder.path });
    expect([strict.code, strict.stderr]).toEqual([
      1,
      "hubhook: a.json has 1 warning (2 resources, neutral sources): --strict lets none pass\n",
    ]);
  });

  it("reads standard input", async () => {
    const { code, stdout } = await hubhook(["catalog", "validate", "-"], { input: good });
    expect([code, stdout]).toEqual([0, "standard input has no problems (1 resource, neutral sources)\n"]);
    const github = await hubhook(["catalog", "validate", "-", "--format", "github"], { input: "{" });
    expect(github.stdout).toBe(
      '::error line=1,col=2,title=syntax::$: the file ends too early: "}" should still come\n',
    );
  });

  it("shows the place of malformed JSON with a caret", async () => {
    const { code, stdout } = await hubhook(["catalog", "validate", "-"], { input: '{\n  "version": "1.0.0",\n}\n' });
    expect(code).toBe(1);
    expect(stdout).toBe(`standard input:2:21 error syntax $
  there is a comma too many: nothing follows it, so remove it
  |   "version": "1.0.0",
  |                     ^

`);
  });

  it("compares the version with that of the catalog before, whatever else is wrong there", async () => {
    const old = `{"version": "1.2.3", "resources": "lost"}`;
    await using folder = await folderWith({
      "new.json": good,
      "old.json": old,
      "older.json": old.replace("3", "2"),
      "none.json": "{}",
      "broken.json": "{",
    });
    const against = (file: string) =>
      hubhook(["catalog", "validate", "new.json", "--against", file], { cwd: folder.path });
    expect((await against("older.json")).code).toBe(0);
    const same = await against("old.json");
    expect(same.code).toBe(1);
    expect(same.stdout).toMatch(/version-not-raised version[\s\S]*allowed {2}above 1\.2\.3[\s\S]*1\.2\.4/);
    expect((await against("none.json")).stderr).toContain("none.json (--against) has no version");
    expect((await against("broken.json")).stderr).toContain("broken.json (--against) is no JSON");
    expect((await against("missing.json")).stderr).toContain("missing.json cannot be read: there is no such file");
  });

  it("reads a URL, from the hub with the token", async () => {
    await using hub = await startTarget({ status: 200, body: good });
    const env = { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_secret" };
    const { code, stdout } = await hubhook(["catalog", "validate", `${hub.url}/a.json`], { env });
    expect([code, stdout]).toEqual([0, `${hub.url}/a.json has no problems (1 resource, neutral sources)\n`]);
    expect(hub.requests[0]?.headers.authorization).toBe("Bearer hf_secret");
    const elsewhere = await hubhook(["catalog", "validate", `${hub.url}/a.json`], { env: { HF_TOKEN: "hf_secret" } });
    expect([elsewhere.code, elsewhere.stdout]).toEqual([1, ""]);
    expect(elsewhere.stderr).toMatch(/127\.0\.0\.1 is no public address.*CATALOG_ALLOW_TARGETS/);
    expect(hub.requests).toHaveLength(1);
  });

  it("takes the words for the language from the settings", async () => {
    const dari = JSON.stringify(
      catalog([
        resource(1, {
          category: "model",
          title: "Dari",
          pashto_evidence: { ...resource().pashto_evidence, evidence_text: "Dari", markers: ["Dari"] },
        }),
      ]),
    );
    expect((await hubhook(["catalog", "validate", "-"], { input: dari })).stdout).toContain("no-marker");
    expect(
      (await hubhook(["catalog", "validate", "-"], { input: dari, env: { CATALOG_MARKERS: "Dari,prs" } })).stdout,
    ).not.toContain("no-marker");
  });

  it.each([
    [["validate"], "say which catalog is meant: --file catalog.json, or set CATALOG"],
    [["convert", "--sources", "neutral"], "say which catalog is meant"],
    [["validate", "a.json", "--file", "b.json"], "the catalog is named twice"],
    [["convert", "a.json", "--sources", "neutral", "-o", "https://example.org/a.json"], "-o is a URL"],
    [["validate", "a.json", "b.json"], "see `hubhook catalog validate --help`"],
    [["validate", "-", "--against", "-"], "standard input can be one of the two catalogs only"],
    [["validate", "a.json", "--format", "xml"], "Allowed choices are text, json, github"],
    [["convert", "a.json"], "required option '--sources <words>' not specified"],
    [["convert", "a.json", "--sources", "both"], "Allowed choices are neutral, platform"],
    [["schema", "--sources", "both"], "Allowed choices are neutral, platform"],
    [["valdate", "a.json"], "did you mean validate?"],
  ])("and its like answer %p by a sentence and exit code 2", async (args, sentence) => {
    const { code, stdout, stderr } = await hubhook(["catalog", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });
});

describe("hubhook catalog convert", () => {
  const example = readFile(EXAMPLE, "utf8");

  it("writes the other words to standard output, and back, byte for byte", async () => {
    const there = await hubhook(["catalog", "convert", "--sources", "neutral", EXAMPLE]);
    expect([there.code, there.stderr]).toEqual([0, "9 sources renamed\n"]);
    expect(there.stdout).toBe(await readFile("test/fixtures/catalog.json", "utf8"));
    const back = await hubhook(["catalog", "convert", "--sources", "platform", "-"], { input: there.stdout });
    expect(back.stdout).toBe(await example);
  });

  it("writes a file, which may be the same one", async () => {
    await using folder = await folderWith({ "a.json": await example });
    const run = (...args: string[]) =>
      hubhook(["catalog", "convert", "--sources", "neutral", ...args], { cwd: folder.path });
    expect(await run("a.json", "-o", "b.json")).toEqual({
      code: 0,
      stdout: "",
      stderr: "9 sources renamed in b.json\n",
    });
    expect(await run("a.json", "-o", "a.json")).toMatchObject({ code: 0, stdout: "" });
    const neutral = await readFile("test/fixtures/catalog.json", "utf8");
    expect(await readFile(join(folder.path, "a.json"), "utf8")).toBe(neutral);
    expect(await readFile(join(folder.path, "b.json"), "utf8")).toBe(neutral);
    expect((await run("a.json", "-o", "no/such/folder.json")).stderr).toMatch(
      /no\/such\/folder\.json cannot be written: there is no such folder\n$/,
    );
  });

  it("takes - for standard output, where it may also be written", async () => {
    await using folder = await folderWith({ "a.json": await example });
    const { stdout } = await hubhook(["catalog", "convert", "--sources", "neutral", "a.json", "-o", "-"], {
      cwd: folder.path,
    });
    expect(stdout).toBe(await readFile("test/fixtures/catalog.json", "utf8"));
    expect(await readdir(folder.path)).not.toContain("-");
  });

  it("leaves a file with errors alone", async () => {
    await using folder = await folderWith({ "bad.json": bad });
    const { code, stdout, stderr } = await hubhook(
      ["catalog", "convert", "--sources", "neutral", "bad.json", "-o", "bad.json"],
      { cwd: folder.path },
    );
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      "hubhook: bad.json has 10 errors, and nothing was converted: `hubhook catalog validate bad.json` lists them\n",
    );
    expect(await readFile(join(folder.path, "bad.json"), "utf8")).toBe(bad);
  });
});

describe("a catalog", () => {
  it.each([["validate"], ["convert", "--sources", "neutral"], ["ls"], ["stats"]])(
    "of %s may be named by --file or by CATALOG",
    async (...verb) => {
      const byFile = await hubhook(["catalog", ...verb, "--file", EXAMPLE]);
      const bySetting = await hubhook(["catalog", ...verb], { env: { CATALOG: EXAMPLE } });
      expect(byFile).toMatchObject({ code: 0, stdout: expect.stringMatching(/./) });
      expect(bySetting).toEqual(byFile);
    },
  );
});

describe("hubhook catalog schema", () => {
  it.each([
    [[], "neutral"],
    [["--sources", "neutral"], "neutral"],
    [["--sources", "platform"], "platform"],
  ] as const)("%p prints it with %s sources", async (args, vocabulary) => {
    const { code, stdout, stderr } = await hubhook(["catalog", "schema", ...args]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual(jsonSchema(vocabulary));
  });
});

describe("hubhook catalog rules", () => {
  it("lists every rule by its name", async () => {
    const { stdout } = await hubhook(["catalog", "rules"]);
    for (const [name, { severity, says }] of Object.entries(rules))
      expect(stdout).toMatch(new RegExp(`^${name} +${severity} +${says.slice(0, 20).replace(/[()]/g, "\\$&")}`, "m"));
    const json = await hubhook(["catalog", "rules", "--format", "json"]);
    expect(JSON.parse(json.stdout)).toEqual(Object.entries(rules).map(([name, rule]) => ({ name, ...rule })));
  });
});
