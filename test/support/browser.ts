/**
 * A real browser for the tests of pages. Which one: `CHROMIUM_PATH`, else the Chromium that comes in
 * `@sparticuz/chromium` (Linux on x64), else an installed Chrome.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Browser, type BrowserContextOptions, chromium, type LaunchOptions, type Page } from "playwright-core";

const run = promisify(execFile);
const resolve = createRequire(import.meta.url).resolve;

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-domain-reliability",
  "--no-pings",
  "--no-zygote",
  "--font-render-hinting=none",
];

/** Starts the browser; close it at the end of the test file. */
export async function launchBrowser(): Promise<Browser> {
  try {
    return await chromium.launch({ headless: true, args: flags, ...(await whichBrowser()) });
  } catch (error) {
    throw new Error("no browser could be started: set CHROMIUM_PATH to a Chromium or Chrome", { cause: error });
  }
}

export interface WatchedPage {
  page: Page;
  /** Console errors, uncaught errors, failed requests and answers from 400 on, in order; empty it when expected. */
  troubles: string[];
  /** Closes the page and its context; throws if there were troubles. */
  close(): Promise<void>;
}

/** A page in a fresh context that takes note of whatever goes wrong in it. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on("console", (message) => message.type() === "error" && troubles.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(`uncaught: ${error.message}`));
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText;
    // What the page itself calls off, or leaves behind, has not failed.
    if (why !== "net::ERR_ABORTED") troubles.push(`failed: ${request.url()} ${why}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) troubles.push(`${response.status()}: ${response.url()}`);
  });
  const watched: WatchedPage = {
    page,
    troubles,
    async close() {
      await context.close();
      if (troubles.length) throw new Error(`the page had troubles:\n${troubles.join("\n")}`);
    },
  };
  await page.goto(url);
  return watched;
}

async function whichBrowser(): Promise<LaunchOptions> {
  if (process.env.CHROMIUM_PATH) return { executablePath: process.env.CHROMIUM_PATH };
  if (process.platform !== "linux" || process.arch !== "x64") return { channel: "chrome" };
  const folder = await unpacked();
  const executablePath = join(folder, "chromium");
  const { stdout } = await run("ldd", [executablePath]).catch(() => ({ stdout: "" }));
  return {
    executablePath,
    env: {
      ...process.env,
      // A bare machine lacks these; where they are there, its own fit it better.
      ...(stdout.includes("not found") && { LD_LIBRARY_PATH: join(folder, "al2023", "lib") }),
      ...(!existsSync("/etc/fonts/fonts.conf") && { FONTCONFIG_FILE: join(folder, "fonts.conf") }),
    },
  };
}

/**
 * The folder with the unpacked Chromium, kept from run to run. Test files run side by side, and the package takes a
 * half-written file for a whole one: so it unpacks into a folder of its own, which then takes its place at once.
 */
async function unpacked(): Promise<string> {
  const { version } = JSON.parse(
    await readFile(join(dirname(resolve("@sparticuz/chromium")), "../package.json"), "utf8"),
  ) as { version: string };
  const cache = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));
  const folder = join(cache, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, "unpacking-"));
  try {
    const script = fileURLToPath(new URL("./unpack-chromium.ts", import.meta.url));
    await run(process.execPath, [script], { env: { ...process.env, TMPDIR: draft } });
    await rename(draft, folder).catch((error: NodeJS.ErrnoException) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}
