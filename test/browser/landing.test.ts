import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { type RunningReceiver, startReceiver } from "../../src/app.ts";
import { loadConfig } from "../../src/config.ts";
import { createSilentLogger } from "../../src/logger.ts";
import { documentedEventNames } from "../../src/protocol/events.ts";
import { makeEndpoint } from "../../src/receiver/endpoint.ts";
import { BUILT_IN_PUBLIC } from "../../src/receiver/pages.ts";
import { Registry } from "../../src/receiver/registry.ts";
import type { WebhookOptions } from "../../src/receiver/webhook.ts";
import { launchBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import {
  endpointAnswer,
  endpointsAnswer,
  type Scripted,
  startScriptedPageServer,
} from "../support/scripted-page-server.ts";

const SECRET = "open-sesame";
const two: Record<string, WebhookOptions> = {
  trigger_training: { description: "Answers dataset and model updates" },
  "discussion-greeter": { on: "discussion:create", description: "Greets whoever opens a discussion" },
};

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);
afterAll(() => browser?.close());

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  const failures: unknown[] = [];
  for (const end of ends.splice(0).reverse()) await end().catch((error: unknown) => failures.push(error));
  // A page that had troubles fails its test.
  if (failures.length > 0) throw failures[0];
});

async function receiverWith(
  handlers: Record<string, WebhookOptions>,
  { secret = SECRET, broken = [] }: { secret?: string; broken?: { file: string; problem: string }[] } = {},
): Promise<RunningReceiver> {
  const registry = new Registry();
  registry.broken.push(...broken);
  for (const [name, options] of Object.entries(handlers)) {
    const handler = () => ({ by: name });
    const made = makeEndpoint({ options: { name, ...options }, handler, fallbackName: "", file: null, env: {} });
    if ("problems" in made) throw new Error(made.problems.join("\n"));
    registry.add(made.endpoint);
  }
  const config = loadConfig({ PORT: "0", WEBHOOK_SECRET: secret });
  const receiver = await startReceiver({ config, log: createSilentLogger(), registry, ui: BUILT_IN_PUBLIC });
  ends.push(() => receiver.close());
  return receiver;
}

async function scripted(answer: Scripted, options?: { mount: string }) {
  const server = await startScriptedPageServer(answer, options);
  ends.push(() => server.close());
  return server;
}

async function visit(url: string, options?: BrowserContextOptions): Promise<WatchedPage> {
  const watched = await openPage(browser, url, options);
  ends.push(() => watched.close());
  await watched.page.waitForSelector('#endpoints[aria-busy="false"]');
  return watched;
}

function cardOf(page: Page, name: string) {
  return page.getByRole("article").filter({ has: page.getByRole("heading", { name, exact: false }) });
}

/** What a person gets who pastes. */
async function pasted(page: Page): Promise<string> {
  return page.evaluate<string>("navigator.clipboard.readText()");
}

async function textOf(locator: Locator): Promise<string> {
  return (await locator.textContent()) ?? "";
}

const clipboard = { permissions: ["clipboard-read", "clipboard-write"] };

describe("the page of a running receiver", () => {
  it("shows each endpoint with its URL, filter, mode and description", async () => {
    const receiver = await receiverWith({
      ...two,
      weights: { on: ["repo.content:update"], repos: "model:me/*", refs: "refs/heads/main" },
    });
    const { page } = await visit(receiver.url);

    expect(await page.getByRole("article").count()).toBe(3);
    const greeter = await textOf(cardOf(page, "discussion-greeter"));
    expect(greeter).toContain(`${receiver.url}/webhooks/discussion-greeter`);
    expect(greeter).toContain("Greets whoever opens a discussion");
    expect(greeter).toContain("discussion:create");
    expect(greeter).toContain("reply: runs inside the request");
    expect(await textOf(cardOf(page, "trigger_training"))).toContain("every event");
    const weights = await textOf(cardOf(page, "weights"));
    expect(weights).toContain("model:me/*");
    expect(weights).toContain("refs/heads/main");
  });

  it("says that the receiver runs, and that the secret is set", async () => {
    const { page } = await visit((await receiverWith(two)).url);
    const board = await textOf(page.getByRole("region", { name: "State of the receiver" }));
    expect(board).toContain("Running");
    expect(board).toContain("Every request must carry it");
    expect(await page.getByText("open to everyone").filter({ visible: true }).count()).toBe(0);
  });

  it("warns that the endpoints are open to everyone where no secret is set", async () => {
    const { page } = await visit((await receiverWith(two, { secret: "" })).url);
    await page.getByText("The endpoints are open to everyone").waitFor();
    await page.getByText("trigger_training").first().waitFor();
    expect(await textOf(page.locator("#command"))).not.toContain("--secret");
  });

  it("copies a URL to the clipboard and says so", async () => {
    const receiver = await receiverWith(two);
    const { page } = await visit(receiver.url, clipboard);
    await page.getByRole("button", { name: "Copy URL of trigger_training" }).click();
    await page.getByRole("status").filter({ hasText: "Copied: URL of trigger_training" }).waitFor();
    expect(await pasted(page)).toBe(`${receiver.url}/webhooks/trigger_training`);
  });

  it("is used by keyboard alone: the first Tab skips, and Enter copies", async () => {
    const receiver = await receiverWith({ only: {} });
    const { page } = await visit(receiver.url, clipboard);
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the endpoints");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.keyboard.press("Enter");
    await page.getByRole("status").filter({ hasText: "Copied" }).waitFor();
    expect(await pasted(page)).toBe(`${receiver.url}/webhooks/only`);
  });

  it("tells how to register the endpoint that is chosen", async () => {
    const receiver = await receiverWith(two);
    const { page } = await visit(receiver.url);
    await cardOf(page, "discussion-greeter").getByRole("link", { name: "Register" }).click();
    expect(await page.evaluate("document.activeElement.id")).toBe("which");
    const command = await textOf(page.locator("#command"));
    expect(command).toContain(`--url ${receiver.url}/webhooks/discussion-greeter`);
    expect(command).toContain("--domain discussions");
    expect(command).toContain('--secret "$WEBHOOK_SECRET"');
    const settings = page.getByRole("link", { name: "your webhook settings" });
    expect(await settings.getAttribute("href")).toBe("https://huggingface.co/settings/webhooks");
    expect(await settings.getAttribute("rel")).toBe("noopener");
    await page.getByText("the Hub cannot reach it").waitFor();
  });

  it("gives a curl command that the endpoint takes, for every documented event and kind of filter", async () => {
    const receiver = await receiverWith({
      anything: {},
      ...Object.fromEntries(documentedEventNames.map((on) => [on.replace(":", "-"), { on }])),
      discussion: { on: "discussion" },
      "new-scope": { on: "repo.content.lfs" as "repo" },
      glob: { repos: "*:me/*" },
      choice: { repos: "{space,model}:some-one/bert-{base,large}-*", on: "repo" },
      "all-but": { repos: ["!model:me/*", "bucket:me/b?d"] },
      ref: { refs: ["refs/pr/*"] },
      "ref-and-scope": { refs: ["refs/heads/[a-m]*"], on: ["discussion", "repo.content"], repos: "model:it's/me" },
    });
    const { page } = await visit(receiver.url);
    const answers: Record<string, unknown> = {};
    for (const card of await page.getByRole("article").all()) {
      await card.getByText("Try it with curl").click();
      const { url, ...request } = await asShellReads(await textOf(card.locator("pre")));
      const response = await fetch(url, request);
      answers[await textOf(card.locator(".name"))] = await response.json();
    }
    expect(Object.keys(answers).length).toBe(documentedEventNames.length + 8);
    for (const [name, answer] of Object.entries(answers)) expect(answer).toEqual({ by: name });
  });

  it("lists what is wrong with the handlers as plain text", async () => {
    const problem =
      'found a syntax error: <img src=x onerror="alert(1)">\n  3 | export function (\n    |                 ^';
    const receiver = await receiverWith(two, { broken: [{ file: "/srv/handlers/training.ts", problem }] });
    const { page } = await visit(receiver.url);
    const region = page.getByRole("region", { name: "1 problem with the handlers" });
    expect(await region.getByRole("heading", { name: "training.ts" }).count()).toBe(1);
    expect(await textOf(region.locator("pre"))).toBe(problem);
    expect(await page.getByRole("article").count()).toBe(2);
  });

  it("shows who has no handler yet how to write the first", async () => {
    const { page } = await visit((await receiverWith({})).url, clipboard);
    await page.getByRole("heading", { name: "No handlers yet" }).waitFor();
    await page.getByRole("button", { name: "Copy example handler" }).click();
    await page.getByRole("status").filter({ hasText: "Copied" }).waitFor();
    expect(await pasted(page)).toContain("export async function trigger_training(payload: WebhookPayload)");
  });

  it("lives in a page of the Hub, where it may not use the clipboard but copies all the same", async () => {
    const receiver = await receiverWith(two);
    const watched = await openPage(browser, "about:blank", {
      permissions: ["local-network-access"],
    });
    ends.push(() => watched.close());
    const { page } = watched;
    const html = `<!doctype html><title>Space</title><link rel="icon" href="data:,"><textarea></textarea>
      <iframe src="${receiver.url}" width="900" height="700"></iframe>`;
    await page.route("https://huggingface.co/spaces/me/hubhook", (route) =>
      route.fulfill({ contentType: "text/html", body: html }),
    );
    await page.goto("https://huggingface.co/spaces/me/hubhook");
    await page.frameLocator("iframe").getByRole("button", { name: "Copy URL of trigger_training" }).click();
    await page.frameLocator("iframe").getByRole("status").filter({ hasText: "Copied" }).waitFor();
    await page.locator("textarea").click();
    await page.keyboard.press("ControlOrMeta+v");
    expect(await page.locator("textarea").inputValue()).toBe(`${receiver.url}/webhooks/trigger_training`);
    expect(watched.troubles.splice(0).join()).toContain("The Clipboard API has been blocked");
  });

  it("runs no script that is not a file of ours", async () => {
    const receiver = await receiverWith(two);
    const watched = await visit(receiver.url);
    await watched.page.evaluate(
      "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.intruder = 1' }))",
    );
    expect(await watched.page.evaluate("window.intruder")).toBeUndefined();
    const complaint = watched.troubles.splice(0);
    expect(complaint.join()).toContain("Content Security Policy");
  });

  it("says without JavaScript where the same facts are", async () => {
    const receiver = await receiverWith(two);
    const watched = await openPage(browser, receiver.url, { javaScriptEnabled: false });
    ends.push(() => watched.close());
    expect(await watched.page.locator("noscript").isVisible()).toBe(true);
    expect(await watched.page.locator("#list").isVisible()).toBe(false);
    // The browser counts the scripts that it may not run as failed requests.
    watched.troubles.length = 0;
  });
});

describe("the page of a receiver in trouble", () => {
  it("says that the receiver does not answer, and finds it again on retry", async () => {
    const server = await scripted("hang up");
    const watched = await visit(server.url);
    await watched.page.getByRole("alert").filter({ hasText: "The receiver does not answer" }).waitFor();
    watched.troubles.length = 0;
    server.script.answer = 503;
    await watched.page.getByRole("button", { name: "Try again" }).click();
    await watched.page.getByText("it answered with status 503").waitFor();
    watched.troubles.length = 0;
    server.script.answer = endpointsAnswer();
    await watched.page.getByRole("button", { name: "Try again" }).press("Enter");
    await cardOf(watched.page, "trigger_training").waitFor();
    expect(await watched.page.getByRole("alert").count()).toBe(0);
  });

  it("says until when a temporary address leads here, and shows notices", async () => {
    const server = await scripted(
      endpointsAnswer({ urlExpiresAt: "2030-05-17T12:00:00Z", notices: ["Deliveries are lost at <b>restart</b>."] }),
    );
    const { page } = await visit(server.url, { timezoneId: "UTC" });
    expect(await textOf(page.locator("#address-more"))).toBe("Until 17 May 2030 at 12:00");
    await page.getByText("Deliveries are lost at <b>restart</b>.").waitFor();
  });

  it("waits without a jump: what is below stays where it is", async () => {
    const server = await scripted("never answer");
    const watched = await openPage(browser, server.url, { viewport: { width: 1280, height: 900 } });
    ends.push(() => watched.close());
    const place = async (of: string) => (await watched.page.locator(of).boundingBox())?.y;
    const before = [await place(".columns"), await place(".or"), await place("#share-secret")];
    const other = await visit((await scripted(endpointsAnswer())).url, { viewport: { width: 1280, height: 900 } });
    const after = await Promise.all(
      [".columns", ".or", "#share-secret"].map(async (of) => (await other.page.locator(of).boundingBox())?.y),
    );
    for (const [index, y] of before.entries()) expect(Math.abs((y ?? 0) - (after[index] ?? 0))).toBeLessThan(24);
    watched.troubles.length = 0;
  });
});

describe("the page everywhere", () => {
  const many = Array.from({ length: 200 }, (_, index) =>
    endpointAnswer(`handler_${index}`, { description: index === 42 ? "The answer" : null }),
  );

  it("finds one of 200 endpoints", async () => {
    const { page } = await visit((await scripted(endpointsAnswer({ endpoints: many }))).url);
    await page.getByRole("searchbox", { name: "Find an endpoint" }).fill("answer");
    expect(await page.getByRole("article").filter({ visible: true }).count()).toBe(1);
    expect(await textOf(page.getByRole("heading", { level: 2 }).first())).toContain("1 of 200");
    await page.getByRole("searchbox").fill("nothing of the kind");
    await page.getByText("No endpoint has that").waitFor();
  });

  it("weighs less than 40 kB, before any compression", async () => {
    const { page } = await visit((await receiverWith(two)).url);
    const urls = await page.evaluate<string[]>(
      "performance.getEntriesByType('resource').map(({ name }) => name).filter((url) => !url.includes('/api/'))",
    );
    const sizes = await Promise.all(
      [page.url(), ...urls].map(async (url) => (await (await fetch(url)).arrayBuffer()).byteLength),
    );
    expect(new Set(urls).size).toBeGreaterThanOrEqual(5);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(40_000);
  });

  it("works under any mount, relative to itself", async () => {
    const { page } = await visit((await scripted(endpointsAnswer(), { mount: "/some/where/" })).url);
    await cardOf(page, "trigger_training").waitFor();
  });

  const long = "a-very-long-name-without-any-end-that-somebody-may-well-write-one-day";
  const full = endpointsAnswer({
    secret: false,
    endpoints: [
      endpointAnswer(long, { repos: [`model:me/${long}${long}`], refs: ["refs/heads/main"], mode: "background" }),
      ...many.slice(0, 10),
    ],
    broken: [{ file: `${long}.ts`, problem: `${long} ${long}\n${long}` }],
    notices: [`${long}${long}`],
    urlExpiresAt: "2030-05-17T12:00:00Z",
  });

  it.each([320, 360, 768, 1440])("fits a window of %i px, with all that can be shown", async (width) => {
    const { page } = await visit((await scripted(full)).url, { viewport: { width, height: 800 } });
    for (const details of await page.locator("summary").all()) await details.click();
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
  });

  it.each(["light", "dark"] as const)("has no accessibility finding, contrast included, in %s", async (colorScheme) => {
    const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    const states: Scripted[] = [full, endpointsAnswer(), endpointsAnswer({ endpoints: [] })];
    const findings: unknown[] = [];
    for (const answer of states) {
      const { page } = await visit((await scripted(answer)).url, { colorScheme });
      await page
        .locator("summary")
        .first()
        .click({ trial: false, timeout: 1000 })
        .catch(() => {});
      await page.evaluate(axe);
      findings.push(
        ...(await page.evaluate<unknown[]>(
          `axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html, failureSummary }) => html.slice(0, 200) + failureSummary)]))`,
        )),
      );
    }
    expect(findings).toEqual([]);
  });

  it("follows the scheme of the system", async () => {
    const { url } = await scripted(endpointsAnswer());
    const paper = async (colorScheme: "light" | "dark") => {
      const { page } = await visit(url, { colorScheme });
      return page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    };
    expect(await paper("light")).toBe("rgb(250, 250, 247)");
    expect(await paper("dark")).toBe("rgb(14, 16, 18)");
  });
});

/** Lets a shell take the command apart, so that its quoting counts; `curl` need not be installed. */
async function asShellReads(command: string) {
  const script = `curl() { "$NODE" -e 'console.log(JSON.stringify(process.argv.slice(1)))' -- "$@"; }\n${command}`;
  const env = { NODE: process.execPath, WEBHOOK_SECRET: SECRET };
  const { stdout } = await promisify(execFile)("sh", ["-c", script], { env });
  const [url = "", ...rest] = JSON.parse(stdout) as string[];
  const headers = new Headers();
  let body = "";
  for (let index = 0; index < rest.length; index += 2) {
    const value = rest[index + 1] ?? "";
    if (rest[index] === "-d") body = value;
    else if (rest[index] === "-H") headers.append(...(value.split(": ") as [string, string]));
    else throw new Error(`unknown option ${rest[index]}`);
  }
  return { url, method: "POST", headers, body };
}
