/**
 * A folder of modules becomes endpoints: every exported function, and every `webhook()`, is one.
 * All that is wrong in the folder is found in one go, each with file, what was found and what was expected.
 */
import { spawnSync } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { StartError, toError } from "../errors.ts";
import { type Endpoint, kindOf, makeEndpoint } from "./endpoint.ts";
import { isDefinedWebhook } from "./webhook.ts";

export interface BrokenHandler {
  file: string;
  problem: string;
}

export interface LoadedHandlers {
  endpoints: Endpoint[];
  broken: BrokenHandler[];
}

/** A module that never finishes loading (a top-level await on something dead) must not hold up the start for ever. */
const IMPORT_TIMEOUT_MS = 30_000;

/**
 * Loads `*.ts`, `*.js` and `*.mjs` directly in the folder, in sorted order; not `.d.ts`, `.test.*` and `_*`.
 * Never throws for what stands in the folder: the broken ones come back beside the good ones.
 */
export async function loadHandlers(
  folder: string,
  env: Record<string, string | undefined>,
  importTimeoutMs = IMPORT_TIMEOUT_MS,
): Promise<LoadedHandlers> {
  let files: string[];
  try {
    files = (await readdir(folder, { withFileTypes: true }))
      .filter((entry) => !entry.isDirectory() && isHandlerFile(entry.name))
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    return { endpoints: [], broken: [{ file: folder, problem: folderProblem(error) }] };
  }
  if (files.length === 0) {
    const problem = "found no handler: expected at least one .ts, .js or .mjs file here that exports a function";
    return { endpoints: [], broken: [{ file: folder, problem }] };
  }

  const endpoints = new Map<string, Endpoint>();
  const broken: BrokenHandler[] = [];
  for (const name of files) {
    const file = join(folder, name);
    const found = await loadFile(file, env, importTimeoutMs);
    for (const problem of found.problems) broken.push({ file, problem });
    for (const endpoint of found.endpoints) {
      const taken = endpoints.get(endpoint.name);
      if (taken) broken.push({ file, problem: duplicateProblem(endpoint, taken) });
      else endpoints.set(endpoint.name, endpoint);
    }
  }
  return { endpoints: [...endpoints.values()], broken };
}

/** Stops a start that found broken handlers; lists them all. */
export function refuseBroken(broken: BrokenHandler[]): void {
  if (broken.length === 0) return;
  const problems = broken.map(({ file, problem }) => `${file}\n    ${problem.replaceAll("\n", "\n    ")}`);
  const headline = "The handlers have problems (HANDLERS_ON_ERROR=skip starts with the good ones):";
  throw new StartError(headline, problems);
}

export function isHandlerFile(name: string): boolean {
  return /\.(ts|js|mjs)$/.test(name) && !/^[_.]|\.d\.ts$|\.test\.\w+$/.test(name);
}

async function loadFile(file: string, env: Record<string, string | undefined>, importTimeoutMs: number) {
  const endpoints: Endpoint[] = [];
  let module: Record<string, unknown>;
  try {
    module = await importInTime(file, importTimeoutMs);
  } catch (error) {
    return { endpoints, problems: [importProblem(error, file)] };
  }
  const problems: string[] = [];
  const fileName = file.replace(/^.*[\\/]/, "").replace(/\.\w+$/, "");
  const candidates = Object.entries(module).filter(
    ([, value]) => typeof value === "function" || isDefinedWebhook(value),
  );
  if (candidates.length === 0) problems.push(noHandlerProblem(module));
  for (const [exportName, value] of candidates) {
    const fallbackName = exportName === "default" ? fileName : exportName;
    const { options, handler } = isDefinedWebhook(value) ? value : { options: {}, handler: value };
    const made = makeEndpoint({ options, handler, fallbackName, file, env });
    if ("endpoint" in made) endpoints.push(made.endpoint);
    else problems.push(...made.problems.map((problem) => `export \`${exportName}\`: ${problem}`));
  }
  return { endpoints, problems };
}

async function importInTime(file: string, timeoutMs: number): Promise<Record<string, unknown>> {
  const timeout = Promise.withResolvers<never>();
  const seconds = timeoutMs / 1000;
  const timer = setTimeout(
    () => timeout.reject(new Error(`did not finish loading within ${seconds} s: it awaits something at its top level`)),
    timeoutMs,
  );
  try {
    return await Promise.race([import(pathToFileURL(file).href), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function folderProblem(error: unknown): string {
  const { code, message } = toError(error) as NodeJS.ErrnoException;
  if (code === "ENOENT")
    return "this folder does not exist: make it, or set HANDLERS_DIR to the folder of your handlers";
  if (code === "ENOTDIR") return "this is a file: HANDLERS_DIR takes the folder of your handlers";
  return `this folder cannot be read (${message}): give the process the right to read it, or change HANDLERS_DIR`;
}

function importProblem(thrown: unknown, file: string): string {
  const error = toError(thrown);
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX")
    return `found TypeScript that must be compiled (${error.message}): Node only strips types, so use no enum, namespace or parameter property${placeOf(error)}`;
  if (error.name === "SyntaxError")
    return `found a syntax error: ${error.message}${placeOf(error) || checkedPlace(file, error.message)}`;
  if (code === "ERR_MODULE_NOT_FOUND")
    return `imports what is not there: ${error.message}${missingModuleHint(error.message)}`;
  // Where no Error was thrown the stack is our own, and leads nowhere.
  const frame = error === thrown && (error.stack ?? "").split("\n").find(isFrameOfTheirs);
  return `threw while it was loaded: ${error.name}: ${error.message}${frame ? `\n${frame.trim()}` : ""}`;
}

/** Node puts the place and the line itself in front of the stack of most syntax errors. */
function placeOf({ stack = "" }: Error): string {
  const [, place] = /^((?:file:|\/|[A-Za-z]:\\).*?)\n+\w*Error\b/s.exec(stack) ?? [];
  return place === undefined ? "" : `\n${place}`;
}

/** For plain JavaScript Node keeps the place to itself, but tells it when it is asked to check the file. */
function checkedPlace(file: string, message: string): string {
  const { stderr } = spawnSync(process.execPath, ["--check", file], { encoding: "utf8", timeout: 5000 });
  const end = stderr?.indexOf("\nSyntaxError") ?? -1;
  if (end < 0 || !stderr.includes(message)) return " (in this file, or in one that it imports)";
  return `\n${stderr.slice(0, end).trimEnd()}`;
}

const isFrameOfTheirs = (line: string) =>
  line.trimStart().startsWith("at ") && !line.includes("node:") && !line.includes(import.meta.url);

function missingModuleHint(message: string): string {
  const [, name] = /Cannot find package '([^']+)'/.exec(message) ?? [];
  return name === undefined ? " (imports name the whole file, and end in .ts)" : ` (npm install ${name})`;
}

function noHandlerProblem(module: Record<string, unknown>): string {
  // A file without import and export, where no package.json says otherwise, is a CommonJS module that exports `{}`.
  const exports = Object.entries("module.exports" in module ? Object(module["module.exports"]) : module);
  const found = exports.map(([name, value]) => `${name} (${kindOf(value)})`);
  const list = found.length > 0 ? `only ${found.join(", ")}` : "no export";
  return `found ${list}: expected an exported function, as \`export async function my_webhook(payload) { … }\``;
}

function duplicateProblem(endpoint: Endpoint, taken: Endpoint): string {
  return `found a second handler for POST ${endpoint.path}: ${taken.file} has it already; rename one function, or give one a \`name\` by webhook()`;
}
