import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { PermanentError } from "../../src/errors.ts";
import { samplePayload } from "../../src/protocol/sample.ts";
import { type BackgroundReceiver, pushTo, startBackground } from "../support/background.ts";
import { launchBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { onCleanup } from "../support/cleanup.ts";
import { gate, temporaryFolder } from "../support/deliveries.ts";

const SECRET = "open-sesame";
const clipboard = { permissions: ["clipboard-read", "clipboard-write"] };

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);
afterAll(() => browser?.close());

async function visit(receiver: { url: string }, path = "/inspect", options?: BrowserContextOptions) {
  const watched = await openPage(browser, receiver.url + path, options);
  // A page that had troubles fails its test.
  onCleanup(() => watched.close());
  return watched;
}

/** The inspector with its list, live. */
async function inspect(receiver: BackgroundReceiver, path = "/inspect", options?: BrowserContextOptions) {
  const watched = await visit(receiver, path, options);
  await watched.page.getByText("Live", { exact: true }).waitFor();
  return watched.page;
}

/** A handler that fails for good on repos whose name holds `bad`, and says what it did. */
const handlers = {
  train: (payload: { repo: { name?: string } }, { log }: { log: { info(message: string, fields?: object): void } }) => {
    log.info("training started", { repo: payload.repo.name });
    if (payload.repo.name?.includes("bad")) throw new PermanentError("the cluster is full");
    return { job: "train-42" };
  },
  greet: () => undefined,
};

const rowsOf = (page: Page) => page.locator("tbody tr[data-id]");
const rowOf = (page: Page, text: string) => rowsOf(page).filter({ hasText: text });
const panelOf = (page: Page) => page.locator("#panel");
const countOf = (page: Page, state: string) =>
  page.getByRole("region", { name: "Deliveries by state" }).getByRole("button", { name: state });

async function textOf(locator: Locator): Promise<string> {
  return (await locator.textContent()) ?? "";
}

/** What a person gets who pastes. */
async function pasted(page: Page): Promise<string> {
  return page.evaluate<string>("navigator.clipboard.readText()");
}

async function openDelivery(page: Page, text: string): Promise<Locator> {
  await rowOf(page, text).first().click();
  await page.locator('#panel[aria-busy="false"]').waitFor();
  return panelOf(page);
}

describe("the list", () => {
  it("shows a delivery the moment it arrives, and what becomes of it", async () => {
    const held = gate();
    const receiver = await startBackground({ train: () => held.promise });
    const page = await inspect(receiver);
    await page.getByRole("heading", { name: "No deliveries yet" }).waitFor();
    await receiver.send("train", pushTo("me/data"), { "webhook-id": "1" });

    const row = rowOf(page, "dataset:me/data");
    await row.filter({ hasText: "running" }).waitFor();
    expect(await textOf(row)).toContain("repo.content:update");
    expect(await page.getByRole("heading", { name: "No deliveries yet" }).count()).toBe(0);
    await countOf(page, "running").filter({ hasText: "1" }).waitFor();
    held.open();
    await row.filter({ hasText: "succeeded" }).waitFor();
    await countOf(page, "succeeded").filter({ hasText: "1" }).waitFor();
    expect(await rowsOf(page).count()).toBe(1);
  });

  it("tells who has sent nothing yet how to send the first", async () => {
    const receiver = await startBackground({
      train: { options: { on: "discussion:create", repos: "space:me/*" }, handler: () => undefined },
    });
    const page = await inspect(receiver, "/inspect", clipboard);
    await page.getByRole("button", { name: "Copy command that sends an event" }).click();
    await page.getByRole("status").filter({ hasText: "Copied" }).waitFor();
    const words = await wordsOf("npx", await pasted(page));
    expect(words).toEqual(["hubhook", "trigger", "discussion:create", "--repo", "space:me/name", "--to", "train"]);
  });

  it("is narrowed by state, endpoint, repo and time, and keeps that in the address", async () => {
    const receiver = await startBackground(handlers);
    for (const name of ["one", "bad-two", "three"]) await receiver.send("train", pushTo(`me/${name}`));
    await receiver.send("greet", pushTo("you/one"));
    await receiver.idle();
    const page = await inspect(receiver);
    await rowsOf(page).nth(3).waitFor();

    await countOf(page, "failed").click();
    await shows(page, ["bad-two"]);
    expect(await countOf(page, "failed").getAttribute("aria-pressed")).toBe("true");
    await countOf(page, "failed").click();
    await shows(page, ["you/one", "three", "bad-two", "me/one"]);
    await page.getByLabel("Endpoint").selectOption("train");
    await shows(page, ["three", "bad-two", "me/one"]);
    await page.getByRole("searchbox", { name: "Repo" }).fill("ONE");
    await shows(page, ["me/one"]);
    expect(page.url()).toMatch(/\?endpoint=train&repo=ONE$/);
    await page.reload();
    await shows(page, ["me/one"]);
    await page.getByRole("searchbox", { name: "Repo" }).fill("nowhere");
    await page.getByRole("heading", { name: "No delivery matches" }).waitFor();
    await page.getByRole("button", { name: "Show all deliveries" }).click();
    await shows(page, ["you/one", "three", "bad-two", "me/one"]);
    expect(page.url()).toBe(`${receiver.url}/inspect`);

    await page.getByLabel("Arrived").selectOption("between…");
    await page.getByLabel("To", { exact: true }).fill("2020-01-01T00:00");
    await page.getByRole("heading", { name: "No delivery matches" }).waitFor();
    await page.getByLabel("To", { exact: true }).fill("");
    await page.getByLabel("From").fill("2020-01-01T00:00");
    await shows(page, ["you/one", "three", "bad-two", "me/one"]);
    await page.getByLabel("Arrived").selectOption("last hour");
    await shows(page, ["you/one", "three", "bad-two", "me/one"]);
  });

  it("takes in only what matches while it is narrowed, and lets go what does so no more", async () => {
    const held = gate();
    const receiver = await startBackground({ train: () => held.promise, greet: () => undefined });
    const page = await inspect(receiver, "/inspect?state=running");
    await receiver.send("greet", pushTo("me/other"));
    await receiver.send("train", pushTo("me/slow"));
    await shows(page, ["me/slow"]);
    held.open();
    await page.getByRole("heading", { name: "No delivery matches" }).waitFor();
  });

  it("shows 10,000 deliveries with few rows at a time, and reaches the oldest", async () => {
    const receiver = await startBackground();
    await receiver.sendMany("train", 10_000, (index) => pushTo(`me/${String(index).padStart(5, "0")}`));
    await receiver.idle();
    const page = await inspect(receiver);
    await countOf(page, "all").filter({ hasText: "10,000" }).waitFor();
    expect(await rowsOf(page).count()).toBeLessThan(100);
    for (;;) {
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
      if (await rowOf(page, "me/00000").count()) break;
      await page.evaluate("new Promise(requestAnimationFrame)");
    }
    expect(await rowsOf(page).count()).toBeLessThan(100);
    const last = rowsOf(page).last();
    expect(await last.getAttribute("aria-rowindex")).toBe("10001");

    // What arrives now moves nothing that is being read.
    const before = await last.boundingBox();
    await receiver.send("train", pushTo("me/new"));
    await page.getByRole("button", { name: "1 new" }).waitFor();
    const after = await rowOf(page, "me/00000").boundingBox();
    expect(Math.abs((after?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(2);
    await page.getByRole("button", { name: "1 new" }).click();
    await rowOf(page, "me/new").waitFor();
  }, 60_000);

  it("keeps up with a storm of deliveries", async () => {
    const receiver = await startBackground();
    const page = await inspect(receiver);
    await receiver.sendMany("train", 2_000, (index) => pushTo(`me/${index}`));
    await receiver.idle();
    await countOf(page, "succeeded").filter({ hasText: "2,000" }).waitFor();
    expect(await rowsOf(page).filter({ hasText: "succeeded" }).count()).toBe(await rowsOf(page).count());
    expect(await rowsOf(page).count()).toBeLessThan(100);
  });
});

describe("one delivery", () => {
  it("is shown with payload, headers and attempts, under an address of its own", async () => {
    const receiver = await startBackground(handlers);
    const payload = samplePayload("repo.content:update", { repo: "dataset:me/bad-data" });
    const id = await receiver.send("train", payload, { "webhook-id": "of-the-hub", "x-custom": "kept" });
    await receiver.send("greet", pushTo("me/other"));
    await receiver.idle();
    const page = await inspect(receiver);
    const panel = await openDelivery(page, "me/bad-data");
    expect(page.url()).toBe(`${receiver.url}/inspect#${id}`);
    expect(await page.evaluate("document.activeElement.id")).toBe("panel-title");

    const text = await textOf(panel);
    for (const part of ["repo.content:update", "dataset:me/bad-data", "failed", "train", "of-the-hub", id])
      expect(text).toContain(part);
    const attempt = panel.getByRole("listitem").filter({ hasText: "Attempt 1" });
    expect(await textOf(attempt)).toContain("the cluster is full");
    expect(await textOf(attempt)).toContain("info training started { repo: 'me/bad-data' }");
    await panel.getByText("headSha").waitFor();
    await panel.getByRole("button", { name: "Text" }).click();
    expect(JSON.parse(await textOf(panel.locator("pre.raw")))).toEqual(payload);
    await panel.getByText("Headers").click();
    await panel.getByText("x-custom").waitFor();

    await page.goBack();
    await panel.waitFor({ state: "hidden" });
    await page.goForward();
    await panel.waitFor();
    await page.reload();
    await panel.getByText("the cluster is full").waitFor();
    await panel.getByRole("button", { name: "Close" }).click();
    await panel.waitFor({ state: "hidden" });
    expect(page.url()).toBe(`${receiver.url}/inspect`);
  });

  it("is followed while its attempts go on", async () => {
    const again = gate();
    const receiver = await startBackground({
      train: (_payload, { attempt }) => {
        if (attempt === 1) throw Object.assign(new Error("busy"), { retryAfter: 0 });
        return again.promise;
      },
    });
    await receiver.send("train", pushTo("me/data"));
    const page = await inspect(receiver);
    const panel = await openDelivery(page, "me/data");
    await panel.getByText("busy").waitFor();
    await panel.getByText("running").first().waitFor();
    again.open();
    await panel.getByRole("listitem").filter({ hasText: "Attempt 2" }).filter({ hasText: "succeeded" }).waitFor();
  });

  it("gives its payload as JSON, as a file, and as a curl command that its endpoint takes", async () => {
    const seen: unknown[] = [];
    const receiver = await startBackground({ train: (payload) => void seen.push(payload) }, { WEBHOOK_SECRET: SECRET });
    const payload = {
      ...samplePayload("discussion.comment:create"),
      repo: { type: "model", name: "it's/me" },
      quotes: `'"$HOME\`id\`!!\\ $(id) \u202e \u009b end`,
    };
    const id = await receiver.send("train", payload);
    await receiver.idle();
    const watched = await visit(receiver, `/inspect#${id}`, { ...clipboard, acceptDownloads: true });
    await logIn(watched);
    const { page } = watched;
    const panel = panelOf(page);

    await panel.getByRole("button", { name: "Copy JSON" }).click();
    await panel.getByRole("button", { name: "Copied" }).waitFor();
    expect(JSON.parse(await pasted(page))).toEqual(payload);

    await panel.getByRole("button", { name: "Copy as curl" }).click();
    await page.getByRole("status").filter({ hasText: "curl command" }).waitFor();
    const command = await pasted(page);
    expect(command).not.toContain(SECRET);
    expect(command).not.toMatch(/[\u202e\u009b]/);
    await runCurl(command);
    await receiver.idle();
    expect(seen).toEqual([payload, payload]);

    const [download] = await Promise.all([
      page.waitForEvent("download"),
      panel.getByRole("button", { name: "Save as fixture" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("discussion.comment-create-model-it-s-me.json");
    expect(JSON.parse(await readFile(await download.path(), "utf8"))).toEqual(payload);
  });

  it("gives a curl command for a payload that is too long for a word of a shell", async () => {
    const seen: unknown[] = [];
    const receiver = await startBackground({ train: (payload) => void seen.push(payload) });
    const payload = pushTo("me/data", { long: "it's long ".repeat(30_000) });
    await receiver.send("train", payload);
    await receiver.idle();
    const page = await inspect(receiver, "/inspect", clipboard);
    const panel = await openDelivery(page, "me/data");
    await panel.getByRole("button", { name: "Copy as curl" }).click();
    await page.getByRole("status").filter({ hasText: "curl command" }).waitFor();
    await runCurl(await pasted(page));
    await receiver.idle();
    expect(seen).toEqual([payload, payload]);
  });

  it("is replayed after a question, and the new one leads to the old one", async () => {
    const receiver = await startBackground(handlers);
    const id = await receiver.send("train", pushTo("me/data"));
    await receiver.idle();
    const page = await inspect(receiver);
    const panel = await openDelivery(page, "me/data");
    await panel.getByRole("button", { name: "Replay" }).click();
    const question = page.getByRole("dialog", { name: "Replay this delivery?" });
    expect(await textOf(question)).toContain("It has succeeded before.");
    await question.getByRole("button", { name: "Cancel" }).click();
    await question.waitFor({ state: "hidden" });
    expect(await rowsOf(page).count()).toBe(1);

    await panel.getByRole("button", { name: "Replay" }).click();
    await question.getByRole("button", { name: "Replay" }).click();
    const link = panel.getByRole("link", { name: id });
    await link.waitFor();
    expect(page.url()).not.toContain(id);
    await rowsOf(page).nth(1).waitFor();
    await link.click();
    await panel.getByText("Replay of").waitFor({ state: "hidden" });
    expect(page.url()).toContain(id);
  });

  it("that is gone is said to be gone", async () => {
    const receiver = await startBackground(handlers);
    await receiver.send("train", pushTo("me/data"));
    const watched = await visit(receiver, "/inspect#01abcdefghi");
    await watched.page.getByRole("heading", { name: "No such delivery" }).waitFor();
    await watched.page.getByText("past its retention").waitFor();
    expect(watched.troubles.splice(0).join()).toContain("404");
  });
});

describe("replaying what the list shows", () => {
  it("says how many first, and replays those", async () => {
    const receiver = await startBackground(handlers);
    for (const name of ["bad-1", "good", "bad-2"]) await receiver.send("train", pushTo(`me/${name}`));
    await receiver.idle();
    const page = await inspect(receiver, "/inspect?state=failed");
    await shows(page, ["bad-2", "bad-1"]);
    await page.getByRole("button", { name: "Replay these…" }).click();
    const question = page.getByRole("dialog", { name: "Replay 2 deliveries?" });
    expect(await textOf(question)).toContain("With state failed");
    // Enter alone says no to so much.
    await page.keyboard.press("Enter");
    await question.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Replay these…" }).click();
    await question.getByRole("button", { name: "Replay 2" }).click();
    await page.getByRole("dialog", { name: "2 deliveries replayed" }).waitFor();
    await page.keyboard.press("Escape");
    await shows(page, ["bad-2", "bad-1", "bad-2", "bad-1"]);
  });
});

describe("hostile payloads", () => {
  it("are text and nothing else", async () => {
    const attack = '<img src=x onerror="window.intruder=1"><script>window.intruder=1</script>';
    const reversed = "safe\u202egnp.exe";
    const receiver = await startBackground({
      train: (_payload, { log }) => {
        log.info(attack);
        throw new PermanentError(`${attack}${reversed}`);
      },
    });
    const payload = {
      event: { scope: attack, action: reversed },
      repo: { type: "model", name: attack },
      [attack]: {
        [reversed]: reversed,
        long: "x".repeat(200_000),
        deep: JSON.parse("[".repeat(500) + "]".repeat(500)),
      },
      many: Array.from({ length: 5_000 }, (_, index) => index),
    };
    await receiver.send("train", payload, { "x-attack": attack });
    await receiver.idle();
    const page = await inspect(receiver);
    const panel = await openDelivery(page, "onerror");
    await panel.getByText("Headers").click();
    expect(await textOf(panel)).toContain("safe\\u202egnp.exe");
    expect(await textOf(page.locator("body"))).not.toContain("\u202e");
    expect(await page.locator("img[src=x]").count()).toBe(0);

    const tree = panel.locator(".payload .tree");
    await tree.getByText("many").click();
    await tree.getByRole("button", { name: "Show 100 more of 4,900" }).click();
    await tree.getByRole("button", { name: "Show 100 more of 4,800" }).waitFor();
    await tree.locator("summary").filter({ hasText: "onerror" }).click();
    await tree.getByRole("button", { name: "Show all 200,002 characters" }).click();
    expect((await textOf(tree)).length).toBeGreaterThan(200_000);
    await panel.getByRole("button", { name: "Text" }).click();
    await panel.getByRole("button", { name: /^Show all [\d,]+ characters$/ }).click();
    expect(await page.evaluate("window.intruder")).toBeUndefined();
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
  });
});

describe("who may look", () => {
  it("is asked for the secret, told when it is wrong, and let in when it is right", async () => {
    const receiver = await startBackground(handlers, { WEBHOOK_SECRET: SECRET });
    await receiver.send("train", pushTo("me/data"));
    const watched = await visit(receiver);
    const { page } = watched;
    const input = page.getByLabel("Webhook secret", { exact: true });
    await input.fill("guess");
    await input.press("Enter");
    await page.getByText("That is not the receiver's secret.").waitFor();
    expect(await rowsOf(page).count()).toBe(0);
    await input.fill(SECRET);
    await page.getByRole("button", { name: "Open the inspector" }).click();
    await rowOf(page, "me/data").waitFor();
    expect(page.url()).not.toContain(SECRET);
    expect(await page.evaluate("document.cookie")).toBe("");
    watched.troubles.length = 0;
    await page.reload();
    await rowOf(page, "me/data").waitFor();

    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("heading", { name: "You are logged out" }).waitFor();
    await page.reload();
    await input.waitFor();
    watched.troubles.length = 0;
  });

  it("is told how long to wait after too many wrong secrets", async () => {
    const receiver = await startBackground(handlers, { WEBHOOK_SECRET: SECRET });
    for (let tries = 0; tries < 10; tries++)
      await fetch(`${receiver.url}/api/deliveries`, { headers: { Authorization: "Bearer guess" } });
    const watched = await visit(receiver);
    await watched.page.getByLabel("Webhook secret", { exact: true }).fill(SECRET);
    await watched.page.getByLabel("Webhook secret", { exact: true }).press("Enter");
    await watched.page.getByText(/Too many wrong secrets from this address\. Try again in \d+ s\./).waitFor();
    expect(await watched.page.getByRole("button", { name: "Open the inspector" }).getAttribute("aria-disabled")).toBe(
      "true",
    );
    watched.troubles.length = 0;
  });

  it("is told what to set where the receiver has no secret and is not asked as localhost", async () => {
    const receiver = await startBackground(handlers, { HOST: "0.0.0.0" });
    const watched = await visit(receiver);
    await watched.page.getByRole("heading", { name: "This receiver has no secret" }).waitFor();
    await watched.page.getByText("WEBHOOK_SECRET").first().waitFor();
    watched.troubles.length = 0;
  });

  it("is asked again when the session ends while the page is open", async () => {
    const receiver = await startBackground(handlers, { WEBHOOK_SECRET: SECRET });
    await receiver.send("train", pushTo("me/data"));
    const watched = await visit(receiver);
    await logIn(watched);
    await watched.page.context().clearCookies();
    // A live update may be refused before it: then the question already stands in the way of the click.
    await countOf(watched.page, "failed")
      .click({ timeout: 3_000 })
      .catch(() => {});
    await watched.page.getByLabel("Webhook secret", { exact: true }).waitFor();
    watched.troubles.length = 0;
  });
});

describe("a receiver that", () => {
  it("runs nothing in the background: the page says what that is", async () => {
    const receiver = await startBackground({ reply: { options: { mode: "reply" }, handler: () => undefined } });
    const { page } = await visit(receiver);
    await page.getByRole("heading", { name: "No handler runs in the background" }).waitFor();
    await page.getByText('mode: "background"').waitFor();
  });

  it("cuts the stream: the page says so, asks again and again, and is live again when it may", async () => {
    const receiver = await startBackground();
    const watched = await visit({ url: "about:blank" }, "");
    const { page } = watched;
    let cut = true;
    await page.route("**/api/deliveries/stream", (route) => (cut ? route.fulfill({ status: 503 }) : route.continue()));
    await page.goto(`${receiver.url}/inspect`);
    await page.getByText("Live updates are cut", { exact: true }).waitFor();
    await receiver.send("train", pushTo("me/data"));
    await rowOf(page, "me/data").waitFor();
    cut = false;
    await page.getByText("Live", { exact: true }).waitFor();
    expect(await page.getByText("Live updates are cut", { exact: true }).count()).toBe(0);
    watched.troubles.length = 0;
  }, 40_000);

  it("is gone: what was known stays, and is said to be old; and it is found again when it is back", async () => {
    const port = await freePort();
    const first = await startBackground(handlers, { PORT: String(port) });
    await first.send("train", pushTo("me/before"));
    await first.idle();
    const watched = await visit(first);
    const { page } = watched;
    await rowOf(page, "me/before").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    await first.close();
    await page.getByText("The receiver does not answer").first().waitFor();
    expect(await rowOf(page, "me/before").count()).toBe(1);
    const second = await startBackground(handlers, { PORT: String(port) });
    await second.send("train", pushTo("me/after"));
    await rowOf(page, "me/after").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    watched.troubles.length = 0;
    await watched.close();
  }, 60_000);

  it("never answers the first time: the page says so, and tries again when it is told to", async () => {
    const receiver = await startBackground();
    const watched = await visit({ url: "about:blank" }, "");
    const { page } = watched;
    await page.route("**/api/deliveries?**", (route) => route.abort());
    await page.goto(`${receiver.url}/inspect`);
    await page.getByRole("alert").filter({ hasText: "The receiver does not answer" }).waitFor();
    await page.unroute("**/api/deliveries?**");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "No deliveries yet" }).waitFor();
    watched.troubles.length = 0;
  });
});

describe("the page everywhere", () => {
  async function withDeliveries(): Promise<BackgroundReceiver> {
    const receiver = await startBackground(handlers);
    for (let index = 0; index < 30; index++)
      await receiver.send(
        index % 5 ? "train" : "greet",
        samplePayload("repo.content:update", { repo: `dataset:me/${index % 7 ? "data" : "bad"}-${index}` }),
      );
    await receiver.send("train", pushTo(`me/${"a-very-long-name-without-any-end".repeat(6)}`));
    await receiver.idle();
    return receiver;
  }

  it("is used by keyboard alone", async () => {
    const receiver = await withDeliveries();
    const page = await inspect(receiver);
    await rowsOf(page).first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    expect(await focusedRow(page)).toBe("3");
    await page.keyboard.press("Enter");
    const panel = panelOf(page);
    await panel.waitFor();
    await page.locator('#panel[aria-busy="false"]').waitFor();
    const first = page.url();
    await page.keyboard.press("j");
    expect(page.url()).not.toBe(first);
    await page.keyboard.press("k");
    expect(page.url()).toBe(first);
    await page.locator('#panel[aria-busy="false"]').waitFor();
    await page.keyboard.press("r");
    await page.getByRole("dialog", { name: "Replay this delivery?" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await panel.isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "hidden" });
    expect(await focusedRow(page)).toBe("3");
    await page.keyboard.press("/");
    await page.keyboard.type("bad-7");
    await shows(page, ["bad-7"]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
  });

  it("lets the keys of a browser be", async () => {
    const receiver = await withDeliveries();
    const page = await inspect(receiver);
    await page.keyboard.press("Control+j");
    expect(await focusedRow(page)).toBeNull();
    await page.getByRole("searchbox", { name: "Repo" }).focus();
    await page.keyboard.type("jr?");
    expect(await page.getByRole("searchbox", { name: "Repo" }).inputValue()).toBe("jr?");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  it.each([320, 360, 768, 1440])("fits a window of %i px, with a delivery open too", async (width) => {
    const receiver = await withDeliveries();
    const page = await inspect(receiver, "/inspect", { viewport: { width, height: 800 } });
    const overflow = () => page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(await overflow()).toBeLessThanOrEqual(0);
    const panel = await openDelivery(page, "without-any-end");
    expect(await overflow()).toBeLessThanOrEqual(0);
    expect(await page.evaluate("panel.scrollWidth - panel.clientWidth")).toBeLessThanOrEqual(0);
    if (width > 360) return;
    // The delivery covers the list, and the list is out of reach until it is closed.
    expect(await page.locator("#page").getAttribute("inert")).not.toBeNull();
    await panel.getByRole("button", { name: "Close" }).click();
    await rowsOf(page).first().click();
    await panel.waitFor();
  });

  it.each(["light", "dark"] as const)(
    "has no accessibility finding, contrast included, in %s",
    async (colorScheme) => {
      const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
      const receiver = await withDeliveries();
      const findings: unknown[] = [];
      const look = async (page: Page) => {
        await page.evaluate(axe);
        findings.push(
          ...(await page.evaluate<unknown[]>(
            `axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html, failureSummary }) => html.slice(0, 200) + failureSummary)]))`,
          )),
        );
      };
      for (const width of [1440, 360]) {
        const page = await inspect(receiver, "/inspect", { colorScheme, viewport: { width, height: 800 } });
        await rowsOf(page).first().waitFor();
        await look(page);
        const panel = await openDelivery(page, "bad");
        await panel.getByText("Headers").click();
        await look(page);
        await page.keyboard.press("r");
        await page.getByRole("dialog").waitFor();
        await look(page);
      }
      const locked = await visit(await startBackground(handlers, { WEBHOOK_SECRET: SECRET }), "/inspect", {
        colorScheme,
      });
      await locked.page.getByLabel("Webhook secret", { exact: true }).waitFor();
      await look(locked.page);
      locked.troubles.length = 0;
      expect(findings).toEqual([]);
    },
    60_000,
  );

  it("is a table to screen readers, also where it is laid out as cards", async () => {
    const receiver = await withDeliveries();
    for (const width of [1440, 320]) {
      const page = await inspect(receiver, "/inspect", { viewport: { width, height: 800 } });
      const table = page.getByRole("table", { name: "Deliveries, the newest first" });
      await table.getByRole("row").nth(5).waitFor();
      expect(await table.getAttribute("aria-rowcount")).toBe("32");
      const cells = await table.getByRole("row").nth(2).getByRole("cell").allTextContents();
      expect(cells.join(" ")).toContain("repo.content:update");
    }
  });

  it("says to screen readers how many have arrived, not each of them", async () => {
    const receiver = await startBackground();
    const page = await inspect(receiver);
    await receiver.sendMany("train", 20, (index) => pushTo(`me/${index}`));
    await page.getByRole("status").filter({ hasText: "20 deliveries arrived" }).waitFor({ state: "attached" });
  });

  it("is led to by the landing page where there is a background handler, and leads back", async () => {
    const receiver = await startBackground();
    const { page } = await visit(receiver, "/");
    const link = page.getByRole("link", { name: "Deliveries (opens in a new tab)" });
    expect([await link.getAttribute("target"), await link.getAttribute("rel")]).toEqual(["_blank", "noopener"]);
    await page.goto(new URL((await link.getAttribute("href")) ?? "", page.url()).href);
    await page.getByRole("link", { name: "Endpoints" }).click();
    await page.getByRole("article").first().waitFor();

    const other = await startBackground({ reply: { options: { mode: "reply" }, handler: () => undefined } });
    const { page: without } = await visit(other, "/");
    await without.getByRole("article").first().waitFor();
    expect(await without.getByRole("link", { name: "Deliveries" }).count()).toBe(0);
  });

  it("follows the scheme of the system", async () => {
    const receiver = await startBackground();
    const paper = async (colorScheme: "light" | "dark") => {
      const page = await inspect(receiver, "/inspect", { colorScheme });
      return page.evaluate<string>("getComputedStyle(document.querySelector('.rows')).backgroundColor");
    };
    expect(await paper("light")).toBe("rgb(255, 255, 255)");
    expect(await paper("dark")).toBe("rgb(21, 24, 27)");
  });
});

/** Waits until the rows in sight are these, told by a part of their repo. */
async function shows(page: Page, wanted: string[]): Promise<void> {
  let shown: string[] = [];
  for (let frames = 0; frames < 600; frames++) {
    shown = await page.locator("tbody tr[data-id] .cell-repo").allTextContents();
    if (shown.length === wanted.length && shown.every((text, index) => text.includes(wanted[index] ?? ""))) return;
    await page.evaluate("new Promise(requestAnimationFrame)");
  }
  expect(shown).toEqual(wanted);
}

function focusedRow(page: Page): Promise<string | null> {
  return page.evaluate("document.activeElement.closest('tr')?.getAttribute('aria-rowindex') ?? null");
}

async function logIn({ page, troubles }: WatchedPage): Promise<void> {
  await page.getByLabel("Webhook secret", { exact: true }).fill(SECRET);
  await page.getByLabel("Webhook secret", { exact: true }).press("Enter");
  await rowsOf(page).first().waitFor();
  troubles.length = 0;
}

/** Lets a shell take the command apart, so that its quoting counts, and does what its `curl` was told. */
async function runCurl(command: string): Promise<void> {
  const [url = "", ...rest] = await wordsOf("curl", command, { stdin: true });
  const input = rest.pop() ?? "";
  const headers = new Headers();
  let body = "";
  for (let index = 0; index < rest.length; index += 2) {
    const value = rest[index + 1] ?? "";
    if (rest[index] === "-d") body = value;
    else if (rest[index] === "--data-binary" && value === "@-") body = input;
    else if (rest[index] === "-H") headers.append(...(value.split(": ") as [string, string]));
    else throw new Error(`unknown option ${rest[index]}`);
  }
  const response = await fetch(url, { method: "POST", headers, body });
  if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
}

/** The words that a shell makes of a command's arguments; with `stdin`, what it was given there comes last. */
async function wordsOf(name: string, command: string, { stdin = false } = {}): Promise<string[]> {
  const read = stdin ? ".concat(process.argv.includes('@-') ? require('fs').readFileSync(0, 'utf8') : '')" : "";
  const script = `${name}() { "$NODE" -e "console.log(JSON.stringify(process.argv.slice(1)${read}))" -- "$@"; }\n${command}`;
  const env = { NODE: process.execPath, WEBHOOK_SECRET: SECRET };
  const file = join(temporaryFolder(), "command.sh");
  await writeFile(file, script);
  const { stdout } = await promisify(execFile)("sh", [file], { env, maxBuffer: 10_000_000 });
  return JSON.parse(stdout) as string[];
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
