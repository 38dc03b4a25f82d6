/** The catalog: how long it takes to find everything that is wrong with a large one, and what that holds in memory. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { jsonSchema } from "../../src/catalog/json-schema.ts";
import { damaged, largeCatalog, writeCatalog } from "./catalog-file.ts";
import { searching } from "./catalog-search.ts";
import { median } from "./load.ts";
import { against, type Measure } from "./report.ts";

const RESOURCES = Number(process.env.BENCH_RESOURCES ?? 100_000);
const TIMES = 5;
const CHILD = fileURLToPath(new URL("catalog-child.ts", import.meta.url));
const PYTHON = fileURLToPath(new URL("catalog-python.py", import.meta.url));
const run = promisify(execFile);

/** Each part of the catalog gives its own measures. */
export async function benchCatalog(): Promise<Measure[]> {
  return [...(await validation()), ...searching(RESOURCES)];
}

interface Took {
  ms: number;
  /** Of all its threads. */
  cpuMs: number;
  /** Megabytes at most. */
  rss: number;
}

async function validation(): Promise<Measure[]> {
  const folder = mkdtempSync(join(tmpdir(), "hubhook-bench-catalog-"));
  try {
    const clean = join(folder, "clean.json");
    const wrong = join(folder, "wrong.json");
    const catalog = largeCatalog(RESOURCES);
    writeCatalog(clean, catalog);
    writeCatalog(wrong, damaged(catalog));
    const count = `${RESOURCES.toLocaleString("en")} resources`;
    return [
      ...(await compared(clean, count)),
      ...(await compared(wrong, `${count}, 1 % wrong`)),
      ...(await python(clean, count, folder)),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function compared(file: string, what: string): Promise<Measure[]> {
  const took: Record<string, Took[]> = { parse: [], ajv: [], hubhook: [] };
  for (let time = 0; time < TIMES; time++)
    for (const [way, all] of Object.entries(took)) all.push(await one(way, file));
  // The quickest: what else the machine does only adds to it.
  const ms = (way: string) => Math.min(...(took[way] ?? []).map((each) => each.ms));
  const rss = (way: string) => median((took[way] ?? []).map((each) => each.rss));
  return [
    { name: `JSON.parse and ajv, ${what}`, value: ms("ajv"), unit: "ms" },
    against({ name: `hubhook, ${what}`, value: ms("hubhook"), unit: "ms" }, "JSON.parse and ajv", ms("ajv"), {
      most: 3,
    }),
    { name: `JSON.parse, peak memory, ${what}`, value: rss("parse"), unit: "MB" },
    against({ name: `hubhook, peak memory, ${what}`, value: rss("hubhook"), unit: "MB" }, "JSON.parse", rss("parse"), {
      most: 2.5,
    }),
  ];
}

async function one(way: string, file: string): Promise<Took> {
  const { stdout } = await run(process.execPath, [CHILD, way, file]);
  return JSON.parse(stdout) as Took;
}

/**
 * How much longer Python's jsonschema takes, once: it takes long. Processor time stands beside it, since other work on
 * the machine would fall on one of the two, and since V8 collects garbage on a second core. Formats are checked too,
 * where what that needs can be installed.
 */
async function python(file: string, what: string, folder: string): Promise<Measure[]> {
  const ours = await times(TIMES, () => one("hubhook", file));
  const least = (figure: (took: Took) => number) => Math.min(...ours.map(figure));
  const command = await pythonWithJsonschema(folder);
  if (command === null) {
    process.stderr.write("  Python's jsonschema: not present\n");
    return [];
  }
  const schema = join(folder, "schema.json");
  writeFileSync(schema, JSON.stringify(jsonSchema("platform")));
  const { stdout } = await run(command, [PYTHON, schema, file]);
  const [elapsed = Number.NaN, processor = Number.NaN] = stdout.split(" ").map((seconds) => Number(seconds) * 1000);
  const theirs = (name: string, value: number) => ({ name: `Python's jsonschema, ${name}${what}`, value, unit: "ms" });
  return [
    against(
      theirs("", elapsed),
      "hubhook",
      least(({ ms }) => ms),
      { least: 20 },
    ),
    against(
      theirs("processor time, ", processor),
      "hubhook",
      least(({ cpuMs }) => cpuMs),
    ),
  ];
}

async function times<Result>(count: number, make: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let time = 0; time < count; time++) results.push(await make());
  return results;
}

async function pythonWithJsonschema(folder: string): Promise<string | null> {
  const venv = join(folder, "venv");
  const ready = await run("python3", ["-m", "venv", venv])
    .then(() => run(join(venv, "bin", "pip"), ["install", "--quiet", "jsonschema[format]"]))
    .then(
      () => join(venv, "bin", "python"),
      () => "python3",
    );
  return run(ready, ["-c", "import jsonschema"]).then(
    () => ready,
    () => null,
  );
}
