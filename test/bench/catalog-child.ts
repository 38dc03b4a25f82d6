/** One way to read a catalog, once, in a process of its own: `catalog-child.ts <way> <file>` prints what it took. */
import { readFileSync } from "node:fs";
import { MARKERS } from "../support/catalog.ts";

const [way = "", file = ""] = process.argv.slice(2);

/** Each is made ready first: libraries are loaded and schemas compiled before the clock runs. */
const ways: Record<string, () => Promise<() => number>> = {
  async parse() {
    return () => (JSON.parse(readFileSync(file, "utf8")) as { resources: unknown[] }).resources.length;
  },
  async ajv() {
    const { Ajv2020 } = await import("ajv/dist/2020.js");
    const { default: addFormats } = await import("ajv-formats");
    const { jsonSchema } = await import("../../src/catalog/json-schema.ts");
    const ajv = new Ajv2020({ allErrors: true, strict: true });
    addFormats.default(ajv);
    const validate = ajv.compile(jsonSchema("platform"));
    return () => {
      validate(JSON.parse(readFileSync(file, "utf8")));
      return validate.errors?.length ?? 0;
    };
  },
  async hubhook() {
    const { validateCatalog } = await import("../../src/catalog/validate.ts");
    return () => validateCatalog(readFileSync(file), { markers: MARKERS }).problems.length;
  },
};

const run = await ways[way]?.();
if (!run) throw new Error(`no way ${way}`);
const begun = performance.now();
const idle = process.cpuUsage();
const found = run();
const ms = performance.now() - begun;
const { user, system } = process.cpuUsage(idle);
// The most that the process ever held, in kilobytes.
process.stdout.write(
  JSON.stringify({ ms, cpuMs: (user + system) / 1000, found, rss: process.resourceUsage().maxRSS / 1000 }),
);
