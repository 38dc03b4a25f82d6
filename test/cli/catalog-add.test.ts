import { writeFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { CATALOG, type CatalogFolder, catalogFolder, newResource, SPEECH, WORDS } from "../support/catalog-file.ts";
import { hubhook } from "../support/cli.ts";
import { atTerminal, CTRL_C, hasTerminal } from "../support/terminal.ts";

const onTerminal = hasTerminal ? it : it.skip;
const env = { CATALOG: "catalog.json" };

const run = ({ path }: CatalogFolder, ...args: string[]) => hubhook(["catalog", "add", ...args], { cwd: path, env });

const LEAST = {
  url: "https://github.com/me/pashto-nlp",
  title: "Pashto NLP",
  category: "code",
  summary: "Tokenizer and stemmer",
  use: "text processing",
  evidence: "A tokenizer for Pashto (پښتو)",
  tag: "nlp",
};

function flags(named: object): string[] {
  return Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
}

const ADDED = {
  id: "pashto-nlp",
  title: "Pashto NLP",
  url: "https://github.com/me/pashto-nlp",
  category: "code",
  source: "github",
  status: "candidate",
  summary: "Tokenizer and stemmer",
  primary_use: "text processing",
  pashto_evidence: {
    evidence_text: "A tokenizer for Pashto (پښتو)",
    evidence_url: "https://github.com/me/pashto-nlp",
    markers: ["Pashto", "پښتو"],
  },
  tags: ["nlp"],
};

describe("hubhook catalog add with flags", () => {
  it("needs only what does not follow from the rest", async () => {
    await using folder = await catalogFolder();
    const before = await folder.text();
    const { code, stdout, stderr } = await run(folder, ...flags(LEAST));
    expect([code, stderr]).toEqual([0, ""]);
    const { updated_on, resources } = await folder.read();
    expect(stdout).toBe(`pashto-nlp is added as candidate; catalog.json is version 1.2.4 of ${updated_on}\n`);
    expect(resources).toEqual([...CATALOG.resources, ADDED]);
    const rest = before.slice(before.indexOf('"resources"'), before.lastIndexOf("}\n  ]"));
    expect(await folder.text()).toContain(rest);
  });

  it("takes all of them", async () => {
    await using folder = await catalogFolder();
    const all = {
      ...LEAST,
      id: "nlp",
      source: "code_host_b",
      status: "verified",
      license: "mit",
      "evidence-url": "https://example.org/evidence",
      marker: "پښتو",
    };
    const { stdout } = await run(
      folder,
      ...flags(all),
      "--tag",
      "tokenizer",
      "--task",
      "one",
      "--task",
      "two",
      "--format",
      "json",
    );
    const { updated_on, resources } = await folder.read();
    expect(JSON.parse(stdout)).toEqual({ id: "nlp", status: "verified", written: true, version: "1.2.4", updated_on });
    expect(resources.at(-1)).toEqual({
      ...ADDED,
      id: "nlp",
      // The file's word for it.
      source: "gitlab",
      status: "verified",
      license: "mit",
      tasks: ["one", "two"],
      pashto_evidence: {
        evidence_text: LEAST.evidence,
        evidence_url: "https://example.org/evidence",
        markers: ["پښتو"],
      },
      tags: ["nlp", "tokenizer"],
    });
  });

  it.each([
    [undefined, "code_host_a"],
    ["platform", "github"],
  ])("an empty catalog takes either vocabulary (%s)", async (vocabulary, source) => {
    await using folder = await catalogFolder({ ...CATALOG, resources: [] });
    await run(folder, ...flags({ ...LEAST, ...(vocabulary && { source }) }));
    expect((await folder.read()).resources).toEqual([{ ...ADDED, source }]);
  });

  it.each([
    [{}, "add --url, --title, --category, --summary, --use, --evidence, --tag"],
    [{ ...LEAST, tag: undefined, use: undefined }, "add --use, --tag"],
    [{ ...LEAST, title: "NLP", evidence: "A tokenizer" }, "add --marker"],
  ])("names all at once that is missing: %p", async (given, sentence) => {
    await using folder = await catalogFolder();
    const { code, stdout, stderr } = await run(folder, ...flags(given));
    expect([code, stdout, stderr]).toEqual([2, "", `hubhook: nobody can be asked here: ${sentence}\n`]);
    expect(await folder.read()).toEqual(CATALOG);
  });

  it("names all at once that is wrong", async () => {
    await using folder = await catalogFolder();
    const wrong = { ...LEAST, url: "github.com/me/x", category: "cod", summary: "short", tag: " " };
    const { code, stderr } = await run(folder, ...flags(wrong));
    expect([code, stderr]).toEqual([
      2,
      [
        "hubhook: this is no resource yet:",
        "  --url: this is no address of the web: did you mean https://github.com/me/x?",
        "  --category: this is no category: did you mean code?",
        "  --summary: this text is too short: write a text of at least 10 characters",
        "  --tag: this list has too few items: write a list of texts, at least 1",
        "",
      ].join("\n"),
    ]);
    const one = await run(folder, ...flags({ ...LEAST, source: "githb" }));
    expect([one.code, one.stderr]).toEqual([2, "hubhook: --source: this is no source: did you mean github?\n"]);
  });

  it("refuses an id and a url that another one has, and says which", async () => {
    await using folder = await catalogFolder();
    const id = await run(folder, ...flags({ ...LEAST, id: "pashto-speech" }));
    expect([id.code, id.stderr]).toEqual([
      1,
      'hubhook: nothing was added: "Pashto Speech" has the id pashto-speech already\n',
    ]);
    const url = await run(folder, ...flags({ ...LEAST, url: "http://HuggingFace.co/datasets/me/pashto-speech/" }));
    expect([url.code, url.stderr]).toEqual([1, "hubhook: nothing was added: pashto-speech has this url already\n"]);
    expect(await folder.read()).toEqual(CATALOG);
  });

  it("names one that is broken by its place", async () => {
    const [{ title, ...untitled }, { id, ...nameless }] = [SPEECH, WORDS];
    const text = JSON.stringify({ ...CATALOG, resources: [untitled, nameless] });
    await using folder = await catalogFolder(text);
    const said = async (changes: object) => (await run(folder, ...flags({ ...LEAST, ...changes }))).stderr;
    expect(await said({ id: untitled.id })).toContain(`resources[0] has the id ${untitled.id} already`);
    expect(await said({ url: nameless.url })).toContain("resources[1] has this url already");
    expect(await said({ title: nameless.title })).toContain("resources[1] has nearly the same title");
  });

  it("proposes an id that is free, and a title that is nearly another's needs --yes", async () => {
    await using folder = await catalogFolder();
    const alike = flags({ ...LEAST, title: "PASHTO speech" });
    const refused = await run(folder, ...alike);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      'hubhook: nothing was added: pashto-speech has nearly the same title, "Pashto Speech". If yours is another one, add --yes\n',
    ]);
    const { code, stderr } = await run(folder, ...alike, "--yes");
    expect(code).toBe(0);
    expect(stderr).toContain("warning: catalog.json:");
    expect((await folder.read()).resources.at(-1)?.id).toBe("pashto-speech-2");
  });

  it("names a resource that has no Latin letters by its url", async () => {
    await using folder = await catalogFolder();
    await run(folder, ...flags({ ...LEAST, title: "د پښتو ژبې پروسس" }));
    expect((await folder.read()).resources.at(-1)?.id).toBe("me-pashto-nlp");
  });

  it("warns of what shows no marker of the language", async () => {
    await using folder = await catalogFolder();
    const url = "https://github.com/me/nlp";
    const { code, stderr } = await run(
      folder,
      ...flags({ ...LEAST, url, title: "NLP", evidence: "Tokens", marker: "tokens" }),
    );
    expect(code).toBe(0);
    expect(stderr).toContain("this code shows no marker of the language");
  });
});

/** Questions in their order, each with the answers that are given until one is taken. */
const INTERVIEW: [string, string][] = [
  ["URL: ", "github.com/me/pashto-nlp\n"],
  ["URL [https://github.com/me/pashto-nlp]: ", "https://huggingface.co/datasets/me/pashto-speech\n"],
  ["URL [https://github.com/me/pashto-nlp]: ", "\n"],
  ["Title: ", "\n"],
  ["Title: ", "Pa\n"],
  ["Title: ", "Pashto NLP\n"],
  ["Id [pashto-nlp]: ", "pashto-speech\n"],
  ["Id [pashto-nlp]: ", "\n"],
  ["Category: ", "codee\n"],
  ["Category [code]: ", "\n"],
  ["Source [github]: ", "\n"],
  ["Summary: ", "Tokenizer and stemmer\n"],
  ["Use: ", "text processing\n"],
  ["Evidence: ", "A tokenizer for Pashto (پښتو)\n"],
  ["Evidence URL [https://github.com/me/pashto-nlp]: ", "\n"],
  ["Markers [Pashto, پښتو]: ", "\n"],
  ["Tags, commas between them: ", ",\n"],
  ["Tags, commas between them: ", " nlp ,\n"],
  ["Tasks, commas between them (Enter: none): ", "\n"],
  ["License (Enter: none): ", "\n"],
];

describe("hubhook catalog add at a terminal", () => {
  onTerminal("asks for what is missing, and again where an answer is wrong", async () => {
    await using folder = await catalogFolder();
    const { code, screen } = await atTerminal(["catalog", "add"], INTERVIEW, { cwd: folder.path, env });
    expect(code).toBe(0);
    for (const sentence of [
      "A new resource for catalog.json, which has 3 resources so far.",
      "  this is no address of the web: did you mean https://github.com/me/pashto-nlp?\n",
      "  pashto-speech has this url already\n",
      "  this one is needed\n",
      "  this text is too short: write a text of at least 3 characters\n",
      '  "Pashto Speech" has the id pashto-speech already\n',
      "One of dataset, model, benchmark, tool, paper, project, code.\n",
      "  this is no category: did you mean code?\n",
      "pashto-nlp is added as candidate; catalog.json is version 1.2.4 of",
    ])
      expect(screen).toContain(sentence);
    expect((await folder.read()).resources).toEqual([...CATALOG.resources, ADDED]);
  });

  onTerminal("does not ask for what the flags say", async () => {
    await using folder = await catalogFolder();
    const { use: _, ...given } = LEAST;
    const answers: [string, string][] = [
      ["Id [pashto-nlp]: ", "mine\n"],
      ["Source [github]: ", "code_host_b\n"],
      ["Use: ", "text processing\n"],
      ["Evidence URL [", "\n"],
      ["Markers [", "\n"],
      ["Tasks", "asr، tts\n"],
      ["License", "mit\n"],
    ];
    const { code } = await atTerminal(["catalog", "add", ...flags(given)], answers, { cwd: folder.path, env });
    expect(code).toBe(0);
    const more = { id: "mine", source: "gitlab", license: "mit", tasks: ["asr", "tts"] };
    expect((await folder.read()).resources.at(-1)).toEqual({ ...ADDED, ...more });
    // Where nothing is missing nothing is asked.
    const all = flags({ ...LEAST, url: "https://example.org/other", title: "Other" });
    expect((await atTerminal(["catalog", "add", ...all], [], { cwd: folder.path, env })).code).toBe(0);
  });

  onTerminal("takes answers that are typed ahead", async () => {
    await using folder = await catalogFolder();
    const answers = [
      "https://github.com/me/pashto-nlp",
      "Pashto NLP",
      "",
      "co",
      "",
      "Tokenizer and stemmer",
      "text processing",
    ];
    const more = ["A tokenizer for Pashto (پښتو)", "", "", "nlp", "", ""];
    const typed = [...answers, ...more].map((line) => `${line}\n`).join("");
    const { code } = await atTerminal(["catalog", "add"], [["URL: ", typed]], { cwd: folder.path, env });
    expect(code).toBe(0);
    expect((await folder.read()).resources.at(-1)).toEqual(ADDED);
  });

  onTerminal("takes the end of the input for leaving", async () => {
    await using folder = await catalogFolder();
    const typed = "https://github.com/me/pashto-nlp\nPashto NLP\n\u0004";
    const { code, screen } = await atTerminal(["catalog", "add"], [["URL: ", typed]], { cwd: folder.path, env });
    expect(code).toBe(1);
    expect(screen).toMatch(/hubhook: nothing was added\n$/);
    expect(await folder.read()).toEqual(CATALOG);
  });

  const leaving = hasTerminal ? it.each : it.skip.each;
  leaving([0, 5, 11, 19])("leaves the file as it is on Ctrl-C (after %d answers)", async (after) => {
    await using folder = await catalogFolder();
    const before = await folder.text();
    const answers = [...INTERVIEW.slice(0, after), [INTERVIEW[after]?.[0] ?? "", CTRL_C] as const];
    const { code, screen } = await atTerminal(["catalog", "add"], answers, { cwd: folder.path, env });
    expect(code).toBe(1);
    expect(screen).toMatch(/hubhook: nothing was added\n$/);
    expect(await folder.text()).toBe(before);
  });

  leaving([
    ["y\n", 0],
    ["n\n", 1],
  ])("asks about a title that is nearly another's (%p)", async (answer, code) => {
    await using folder = await catalogFolder();
    const args = ["catalog", "add", ...flags({ ...LEAST, title: "Pashto speech" })];
    const question = 'pashto-speech has nearly the same title, "Pashto Speech". Is yours another one? [y/N] ';
    const asked = await atTerminal(args, [[question, answer]], { cwd: folder.path, env, columns: 200 });
    expect(asked.code).toBe(code);
    expect((await folder.read()).resources).toHaveLength(code === 0 ? 4 : 3);
  });

  onTerminal("hands the answers back where somebody else was quicker", async () => {
    await using folder = await catalogFolder();
    const other = JSON.stringify({ ...CATALOG, resources: [...CATALOG.resources, newResource("quick")] });
    const question = {
      [Symbol.search](text: string) {
        const at = text.indexOf("License");
        if (at !== -1) writeFileSync(folder.file, other);
        return at;
      },
    } as unknown as RegExp;
    const answers = [...INTERVIEW.slice(0, -1), [question, "it's mine\n"] as const];
    const { code, screen } = await atTerminal(["catalog", "add"], answers, { cwd: folder.path, env, columns: 1000 });
    expect(code).toBe(1);
    expect(screen).toContain("catalog.json was changed by somebody else meanwhile, and was left as it is");
    const [, command = ""] = /answers:\n {2}hubhook (.*)\n/.exec(screen) ?? [];
    expect(command).toContain("--license 'it'\\''s mine'");
    expect(await folder.text()).toBe(other);
    const again = await atTerminal([], [], { cwd: folder.path, env, command });
    expect(again.code).toBe(0);
    expect((await folder.read()).resources.at(-1)).toEqual({ ...ADDED, license: "it's mine" });
  });
});
