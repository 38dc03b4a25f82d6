import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, rename } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { folderWith } from "../support/cli.ts";

const PROGRAM = resolve(import.meta.dirname, "../fixtures/programs/load-handlers.ts");
const WEBHOOK = pathToFileURL(resolve(import.meta.dirname, "../../src/receiver/webhook.ts")).href;
const ZOD = pathToFileURL(resolve(import.meta.dirname, "../../node_modules/zod/index.js")).href;
const imports = `import { webhook } from "${WEBHOOK}"; import { z } from "${ZOD}";\n`;

interface Loaded {
  endpoints: { name: string; file: string; settings?: unknown; mode: string; on: string[] | null }[];
  broken: { file: string; problem: string }[];
  refusal: string | null;
}

/** By Node itself, in a process of its own: the test runner would load the files in its own way. */
async function load(asked: { folder: string; env?: Record<string, string>; timeoutMs?: number }[]): Promise<Loaded[]> {
  const child = spawn(process.execPath, [PROGRAM], { stdio: ["pipe", "pipe", "pipe"], timeout: 30_000 });
  child.stdin.end(JSON.stringify(asked));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  if (out === "") throw new Error(err);
  return JSON.parse(out) as Loaded[];
}

/** Folders that are asked for one after the other and loaded in one go, since a process costs time. */
class Shelf {
  readonly #asked: { files: Record<string, string>; env: Record<string, string> }[] = [];
  #loaded: (Loaded & { folder: string })[] = [];

  folder(files: Record<string, string>, env: Record<string, string> = {}): () => Loaded & { folder: string } {
    const index = this.#asked.push({ files, env }) - 1;
    return () => {
      const loaded = this.#loaded[index];
      if (!loaded) throw new Error("not loaded");
      return loaded;
    };
  }

  async load(): Promise<void> {
    // As in a fork: its package.json says that everything is a module.
    await using folder = await folderWith({ "package.json": '{"type":"module"}' });
    const asked: { folder: string; env: Record<string, string>; timeoutMs: number }[] = [];
    for (const [index, { files, env }] of this.#asked.entries()) {
      const path = join(folder.path, String(index));
      await using made = await folderWith(files);
      await rename(made.path, path);
      asked.push({ folder: path, env, timeoutMs: 500 });
    }
    const loaded = await load(asked);
    this.#loaded = loaded.map((one, index) => ({ ...one, folder: asked[index]?.folder ?? "" }));
  }
}

const shelf = new Shelf();
beforeAll(() => shelf.load());

const good = "export function fine() {}\n";

describe("a broken handler file", () => {
  const cases: [string, string, string, RegExp, RegExp, Record<string, string>?][] = [
    ["a syntax error in TypeScript", "a.ts", "export function x( {", /syntax error/, /a\.ts:1/],
    ["a syntax error in JavaScript", "a.js", "export function x( {", /syntax error/, /a\.js:1/],
    ["a syntax error in a module", "a.mjs", "export const = 1", /syntax error/, /a\.mjs:1/],
    ["an enum", "a.ts", "export enum Colour { Red }", /must be compiled/, /no enum, namespace or parameter property/],
    ["a namespace", "a.ts", "export namespace A { export const b = 1 }", /must be compiled/, /strips types/],
    [
      "a parameter property",
      "a.ts",
      "export class A { constructor(private b: string) {} }",
      /must be compiled/,
      /parameter property/,
    ],
    [
      "an error at its top level",
      "a.ts",
      "const x = 1;\nthrow new TypeError('no database');",
      /TypeError: no database/,
      /a\.ts:2:7/,
    ],
    ["a word thrown at its top level", "a.ts", "throw 'just a word';", /just a word/, /threw while it was loaded/],
    ["nothing thrown at its top level", "a.ts", "throw undefined;", /undefined/, /threw while it was loaded/],
    [
      "a package that is not there",
      "a.ts",
      "import 'no-such-package';\nexport function x() {}",
      /no-such-package/,
      /npm install no-such-package/,
    ],
    [
      "a file that is not there",
      "a.ts",
      "import './gone.ts';\nexport function x() {}",
      /gone\.ts/,
      /Cannot find module/,
    ],
    [
      "an import without its ending",
      "a.ts",
      "import './b';\nexport function x() {}",
      /Cannot find module/,
      /end in \.ts/,
    ],
    [
      "a name that the other file does not export",
      "a.ts",
      "import { nope } from 'node:fs';\nexport function x() {}",
      /nope/,
      /does not provide an export/,
    ],
    ["no export", "a.ts", "function x() {}", /found no export/, /expected an exported function/],
    [
      "exports of other kinds only",
      "a.ts",
      "export const a = 1, b = { c: 1 }, d = [1], e = null;",
      /a \(a number\).*b \(an object\).*d \(an array\).*e \(null\)/,
      /expected an exported function/,
    ],
    ["a class", "a.ts", "export class Train {}", /found a class/, /expected a function/],
    ["a generator", "a.ts", "export function* x() {}", /found a generator function/, /expected a function/],
    [
      "an async generator",
      "a.ts",
      "export async function* x() {}",
      /found a generator function/,
      /expected a function/,
    ],
    [
      "a webhook() without a function",
      "a.ts",
      `${imports}export const x = webhook({ name: 'x' });`,
      /found undefined/,
      /expected a function/,
    ],
    [
      "a webhook() with a function's result",
      "a.ts",
      `${imports}export const x = webhook({ name: 'x' }, (() => 1)());`,
      /found a number/,
      /expected a function/,
    ],
    [
      "a webhook() with options that are none",
      "a.ts",
      `${imports}export const x = webhook('name', () => {});`,
      /options/,
      /expected object, received string/,
    ],
    [
      "a name with a space",
      "a.ts",
      `${imports}export const x = webhook({ name: 'two words' }, () => {});`,
      /"two words" cannot be the name/,
      /one URL segment/,
    ],
    [
      "a name with a slash",
      "a.ts",
      `${imports}export const x = webhook({ name: '/a/b' }, () => {});`,
      /"a\/b" cannot be the name/,
      /one URL segment/,
    ],
    [
      "an empty name",
      "a.ts",
      `${imports}export const x = webhook({ name: '/' }, () => {});`,
      /"" cannot be the name/,
      /one URL segment/,
    ],
    [
      "a name of dots",
      "a.ts",
      `${imports}export const x = webhook({ name: '..' }, () => {});`,
      /"\.\." cannot be/,
      /beginning with a letter/,
    ],
    [
      "a function's name that no URL has",
      "a.ts",
      "export function größe() {}",
      /"größe" cannot be the name/,
      /letters, digits/,
    ],
    [
      "a file's name that no URL has",
      "my file.ts",
      "export default () => {};",
      /"my file" cannot be the name/,
      /one URL segment/,
    ],
    [
      "an unknown option",
      "a.ts",
      `${imports}export const x = webhook({ nam: 'x' } as any, () => {});`,
      /unknown option `nam`/,
      /the options are name, description, on/,
    ],
    [
      "a scope that the Hub does not have",
      "a.ts",
      `${imports}export const x = webhook({ on: 'repos' } as any, () => {});`,
      /"repos" is not a scope/,
      /repo, repo\.content/,
    ],
    [
      "a filter that is no word of the Hub",
      "a.ts",
      `${imports}export const x = webhook({ on: 'Repo Content' } as any, () => {});`,
      /"Repo Content" is neither/,
      /discussion\.comment:create/,
    ],
    [
      "an empty list of filters",
      "a.ts",
      `${imports}export const x = webhook({ on: [] }, () => {});`,
      /`on`/,
      /a string or a list of strings/,
    ],
    [
      "a filter of another type",
      "a.ts",
      `${imports}export const x = webhook({ on: 7 } as any, () => {});`,
      /`on`/,
      /a string or a list of strings/,
    ],
    [
      "a repo without its type",
      "a.ts",
      `${imports}export const x = webhook({ repos: 'me/data' }, () => {});`,
      /"me\/data"/,
      /type:owner\/name/,
    ],
    [
      "a mode that is none",
      "a.ts",
      `${imports}export const x = webhook({ mode: 'later' } as any, () => {});`,
      /`mode`/,
      /"reply"\|"background"/,
    ],
    [
      "settings that are no schema",
      "a.ts",
      `${imports}export const x = webhook({ settings: { A: 'string' } } as any, () => {});`,
      /found an object/,
      /expected a zod object/,
    ],
    [
      "a setting that is missing",
      "a.ts",
      `${imports}export const x = webhook({ settings: z.object({ API_KEY: z.string() }) }, () => {});`,
      /API_KEY/,
      /set it in the environment or \.env/,
    ],
    [
      "a setting that is wrong, without showing it",
      "a.ts",
      `${imports}export const x = webhook({ settings: z.object({ LIMIT: z.coerce.number() }) }, () => {});`,
      /LIMIT: (?!.*s3cret)/,
      /expected number/,
      { LIMIT: "s3cret" },
    ],
    [
      "settings whose check fails itself",
      "a.ts",
      `${imports}export const x = webhook({ settings: z.object({ A: z.string().transform(() => { throw new Error('bad check'); }) }) }, () => {});`,
      /bad check/,
      /settings/,
      { A: "1" },
    ],
    [
      "settings that must be awaited",
      "a.ts",
      `${imports}export const x = webhook({ settings: z.object({ A: z.string().refine(async () => true) }) }, () => {});`,
      /settings/,
      /synchronous|await|async/i,
      { A: "1" },
    ],
    [
      "a top level that never ends",
      "a.ts",
      "await new Promise(() => setInterval(() => {}, 1000));",
      /did not finish loading within 0\.5 s/,
      /top level/,
    ],
    [
      "a promise at its top level that fails",
      "a.ts",
      "await Promise.reject(new Error('no network'));",
      /no network/,
      /threw while it was loaded/,
    ],
  ];
  const titled = cases.map(([title, file, source, found, expected, env]) => ({
    title,
    file,
    found,
    expected,
    loaded: shelf.folder({ [file]: source, "fine.ts": good }, env),
  }));

  it.each(titled)(
    "with $title is named, with what was found and what was expected; the others are loaded",
    ({ file, found, expected, loaded }) => {
      const { broken, endpoints, refusal, folder } = loaded();
      expect(broken.map((one) => one.file)).toEqual([join(folder, file)]);
      expect(broken[0]?.problem).toMatch(found);
      expect(broken[0]?.problem).toMatch(expected);
      expect(broken[0]?.problem).not.toMatch(/node:internal|src\/receiver|src\/errors/);
      expect(endpoints.map(({ name }) => name)).toEqual(["fine"]);
      expect(refusal).toContain(join(folder, file));
      expect(refusal).toContain("HANDLERS_ON_ERROR=skip");
    },
  );

  it.each(
    [
      [
        "within a file",
        { "a.ts": `${imports}export function x() {}\nexport const y = webhook({ name: 'x' }, () => {});` },
      ],
      ["across files", { "a.ts": "export function x() {}", "b.js": "export const x = () => {};" }],
      ["by the file's name", { "a.ts": "export function x() {}", "x.ts": "export default () => {};" }],
    ].map(([title, files]) => ({
      title,
      loaded: shelf.folder({ ...(files as Record<string, string>), "fine.ts": good }),
    })),
  )("with an endpoint that is there twice $title is named, with the other one", ({ loaded }) => {
    const { broken, endpoints } = loaded();
    expect(broken).toHaveLength(1);
    expect(broken[0]?.problem).toMatch(/second handler for POST \/webhooks\/x.*a\.ts has it already.*rename/);
    expect(endpoints.map(({ name }) => name).sort()).toEqual(["fine", "x"]);
  });

  const all = shelf.folder({
    "one.ts": "export function (",
    "two.js": "export const x = 1;",
    "three.ts": `${imports}export const a = webhook({ name: 'a b' }, () => {});\nexport class B {}\nexport const c = webhook({ on: 'nope', repos: 'x', mode: 'reply' } as any, () => {});`,
    "fine.ts": good,
  });
  it("is listed together with all others, in one sentence each", () => {
    const { broken, refusal, endpoints } = all();
    expect(broken.map(({ file }) => basename(file))).toEqual([
      "one.ts",
      "three.ts",
      "three.ts",
      "three.ts",
      "three.ts",
      "two.js",
    ]);
    for (const { file, problem } of broken) {
      expect(refusal).toContain(file);
      expect(refusal?.replace(/\s+/g, " ")).toContain(problem.replace(/\s+/g, " "));
    }
    expect(broken.filter(({ problem }) => problem.includes("export `c`"))).toHaveLength(2);
    expect(endpoints.map(({ name }) => name)).toEqual(["fine"]);
  });
});

describe("an endpoint's name", () => {
  const cases: [string, string, string, string][] = [
    ["the function's", "file.ts", "export async function trigger_training() {}", "trigger_training"],
    ["the function's before the export's", "file.ts", "function inner() {}\nexport { inner as outer };", "inner"],
    ["the constant's, for an arrow function", "file.ts", "export const arrow = async () => {};", "arrow"],
    [
      "the export's, where the function has none",
      "file.ts",
      `${imports}export const exported = webhook({}, () => {});`,
      "exported",
    ],
    [
      "the function's inside webhook()",
      "file.ts",
      `${imports}export const exported = webhook({}, function inner() {});`,
      "inner",
    ],
    ["the file's, for a default export without a name", "my-file.ts", "export default () => {};", "my-file"],
    [
      "the file's, for a default webhook()",
      "my.file.v2.mjs",
      `${imports}export default webhook(() => {});`,
      "my.file.v2",
    ],
    ["the function's, for a default export with one", "file.ts", "export default function named() {}", "named"],
    [
      "the explicit one, with a slash",
      "file.ts",
      `${imports}export const x = webhook({ name: '/discussion-bot' }, function y() {});`,
      "discussion-bot",
    ],
    [
      "the explicit one, without a slash",
      "file.ts",
      `${imports}export const x = webhook({ name: '0.a_b-C' }, () => {});`,
      "0.a_b-C",
    ],
  ];
  it.each(cases.map(([title, file, source, name]) => ({ title, name, loaded: shelf.folder({ [file]: source }) })))(
    "is $title",
    ({ name, loaded }) => {
      const { broken, endpoints } = loaded();
      expect([broken, endpoints.map((one) => one.name)]).toEqual([[], [name]]);
    },
  );
});

describe("a folder of handlers", () => {
  const mixed = shelf.folder({
    "b.ts": "export function b1() {}\nexport function b2() {}\nexport const VERSION = 1;",
    "a.js": "export function a() {}",
    "c.mjs": "export function c() {}",
    "Z.ts": "export function z() {}",
    "_draft.ts": "throw new Error('must not be loaded')",
    ".hidden.ts": "throw new Error('must not be loaded')",
    "types.d.ts": "export declare function declared(): void;",
    "a.test.ts": "throw new Error('must not be loaded')",
    "a.test.js": "throw new Error('must not be loaded')",
    "README.md": "# notes",
    "data.json": "{}",
    "old.cjs": "throw new Error('must not be loaded')",
    "page.tsx": "throw new Error('must not be loaded')",
    "sub/inner.ts": "throw new Error('must not be loaded')",
    "folder.ts/inner.ts": "throw new Error('must not be loaded')",
  });
  it("is read in sorted order, its other files are left alone, several handlers in a file are fine", () => {
    const { broken, endpoints, folder } = mixed();
    expect(broken).toEqual([]);
    expect(endpoints.map(({ name, file }) => [name, file])).toEqual([
      ["z", join(folder, "Z.ts")],
      ["a", join(folder, "a.js")],
      ["b1", join(folder, "b.ts")],
      ["b2", join(folder, "b.ts")],
      ["c", join(folder, "c.mjs")],
    ]);
  });

  const described = shelf.folder(
    {
      "a.ts": `${imports}export const a = webhook({ on: ['repo', 'discussion:create'], mode: 'background', settings: z.object({ LIMIT: z.coerce.number(), OTHER: z.string().default('d') }) }, () => {});`,
    },
    { LIMIT: "7", UNRELATED: "x" },
  );
  it("brings what its webhooks say, and their settings read", () => {
    expect(described().endpoints).toMatchObject([
      { name: "a", mode: "background", on: ["repo", "discussion:create"], settings: { LIMIT: 7, OTHER: "d" } },
    ]);
  });

  const empty = shelf.folder({ "README.md": "nothing here" });
  it("without a handler is a problem that says what to write", () => {
    const { broken, endpoints, folder } = empty();
    expect([endpoints, broken]).toEqual([
      [],
      [{ file: folder, problem: expect.stringMatching(/found no handler.*\.ts, \.js or \.mjs/) }],
    ]);
  });

  it("in a folder that no package.json makes modules works too", async () => {
    await using folder = await folderWith({
      "a.ts": good,
      "b.js": good,
      "c.ts": "const x = 1;",
      "d.js": "exports.x = () => 1;",
    });
    const [loaded] = await load([{ folder: folder.path }]);
    expect(loaded?.endpoints.map(({ name }) => name)).toEqual(["fine", "x"]);
    expect(loaded?.broken).toMatchObject([
      { file: join(folder.path, "b.js"), problem: expect.stringContaining("second handler") },
      { file: join(folder.path, "c.ts"), problem: expect.stringContaining("found no export") },
    ]);
  });

  it("that is not there, is a file, or cannot be read is a problem that says what to do", async () => {
    await using folder = await folderWith({ "file.ts": good, "closed/a.ts": good });
    const file = join(folder.path, "file.ts");
    const missing = join(folder.path, "missing");
    const closed = join(folder.path, "closed");
    await chmod(closed, 0o000);
    const [one, two, three] = await load([{ folder: missing }, { folder: file }, { folder: closed }]);
    await chmod(closed, 0o700);
    expect(one?.broken).toEqual([{ file: missing, problem: expect.stringMatching(/does not exist.*HANDLERS_DIR/) }]);
    expect(two?.broken).toEqual([{ file, problem: expect.stringMatching(/is a file.*HANDLERS_DIR/) }]);
    // Root may read everything.
    if (process.getuid?.() !== 0)
      expect(three?.broken).toEqual([
        { file: closed, problem: expect.stringMatching(/cannot be read.*right to read/) },
      ]);
  });
});
