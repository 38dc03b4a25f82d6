import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launchBrowser, openPage } from "../support/browser.ts";
import { onCleanup } from "../support/cleanup.ts";
import { testClock } from "../support/clock.ts";
import { activityOf, addWebhook, publish, startTestHub, type TestHub, WEBHOOKS } from "../support/hub.ts";
import { startTarget } from "../support/target.ts";

const SETTINGS = "/settings/webhooks";
const USERS = [
  { name: "alice", token: "hf_alice" },
  { name: "bob", token: "hf_bob" },
];
const withoutScripts = { javaScriptEnabled: false };

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);
afterAll(() => browser?.close());

/** Opens a page; whatever goes wrong in it, a violation of the CSP too, fails the test. */
async function visit({ hub }: Pick<TestHub, "hub">, path = SETTINGS, options?: BrowserContextOptions) {
  const watched = await openPage(browser, hub.url + path, options);
  onCleanup(() => watched.close());
  return watched;
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const link = (page: Page, name: string) => page.getByRole("link", { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true });
const urlField = (page: Page) => page.getByRole("textbox", { name: "URL" });
const rowsOf = (page: Page) => page.locator("tbody tr");
const liveOf = (page: Page) => page.getByText("Live", { exact: true });

/** What is wrong with the field, as it is told to who cannot see. */
const problemOf = (page: Page, id: string) => page.locator(`#${id}-problem`);

describe("a webhook's life, in a browser", () => {
  it.each([
    ["with scripts", {}],
    ["without", withoutScripts],
  ])("goes from an empty list to its deletion (%s)", async (_, options) => {
    const scripts = options !== withoutScripts;
    await using target = await startTarget(
      { status: 500, body: "the cluster is full" },
      { status: 200, body: '{"job":42}' },
    );
    const test = await startTestHub({ scheduleMs: [] });
    const { api, hub } = test;
    const { page } = await visit(test, "/", options);
    await link(page, "Webhook settings").click();
    await heading(page, "No webhooks yet").waitFor();
    await link(page, "New webhook").click();

    await urlField(page).fill(`${target.url}/webhooks/train`);
    if (scripts) {
      await page.getByLabel("Type of item 1").selectOption("dataset");
      await page.getByLabel("Name of item 1").fill("me/data");
      await button(page, "Add an item").click();
      await page.getByLabel("Type of item 2").selectOption("org");
      await page.getByLabel("Name of item 2").fill("acme");
    } else await page.getByLabel("One a line, as type:name").fill("dataset:me/data\norg:acme");
    await page.getByRole("checkbox", { name: "discussion" }).uncheck();
    await page.getByLabel("Secret").fill("open-sesame");
    await button(page, "Create webhook").click();
    await page.getByRole("status").filter({ hasText: "The webhook is created, and enabled." }).waitFor();
    expect((await api.get(WEBHOOKS)).body).toMatchObject([
      { watched: [{ name: "me/data" }, { type: "org", name: "acme" }], domains: ["repo"], hasSecret: true },
    ]);

    await publish(api, "repo.content:update", "dataset:me/data");
    await hub.idle();
    // With scripts it appears by itself.
    if (!scripts) await page.reload();
    await rowsOf(page).filter({ hasText: "failed" }).waitFor();
    expect(target.requests[0]?.headers["x-webhook-secret"]).toBe("open-sesame");
    await link(page, "repo.content:update").click();
    await page.getByText("answered 500", { exact: true }).waitFor();
    await page.getByText("the cluster is full").waitFor();
    await page.locator(".tree").getByText('"me/data"').first().waitFor();
    await page.getByText("As text").click();
    await page.getByText('"scope": "repo.content"').waitFor();
    await button(page, "Replay").click();
    await page.getByText("It was sent again").waitFor();
    await page.getByText('{"job":42}').waitFor();
    expect(target.requests[1]?.body).toBe(target.requests[0]?.body);
    await page.getByRole("main").getByRole("link", { name: "train" }).click();
    await rowsOf(page).nth(1).waitFor();
    expect(await rowsOf(page).first().textContent()).toMatch(/succeeded.*repo\.content:update.*replay/s);

    await button(page, "Disable").click();
    await page.getByText("Events pass it by").waitFor();
    await button(page, "Enable").click();
    await page.getByText("The webhook is enabled.").waitFor();
    await button(page, "Send test event").click();
    await page.getByText("The test event has happened.").waitFor();
    await target.received(3);
    expect(JSON.parse(target.requests[2]?.body ?? "")).toMatchObject({ repo: { name: "me/data" } });

    await link(page, "Edit").click();
    await page.getByRole("checkbox", { name: "Remove the secret" }).check();
    await button(page, "Save").click();
    await page.getByText("The changes are saved.").waitFor();
    expect((await api.get(WEBHOOKS)).body).toMatchObject([{ watched: [{}, {}], domains: ["repo"], hasSecret: false }]);
    await link(page, "Delete…").click();
    await link(page, "Keep it").click();
    await link(page, "Delete…").click();
    await button(page, "Delete webhook").click();
    await heading(page, "No webhooks yet").waitFor();
    expect((await api.get(WEBHOOKS)).body).toEqual([]);
  });

  it("tells who has no scripts all that is wrong with the form, and keeps what was written", async () => {
    const test = await startTestHub();
    const { page, troubles } = await visit(test, `${SETTINGS}/new`, withoutScripts);
    await urlField(page).fill("nowhere");
    await page.getByLabel("One a line").fill("model:me/m\nnonsense");
    await button(page, "Create webhook").click();
    await page.getByRole("alert").filter({ hasText: "2 fields need another look" }).waitFor();
    expect(await problemOf(page, "watched").textContent()).toContain('Item 2: "nonsense"');
    expect(await urlField(page).inputValue()).toBe("nowhere");
    await link(page, "URL").click();
    expect(await page.evaluate("location.hash")).toBe("#url");
    troubles.length = 0;
    await urlField(page).fill("https://example.com");
    await page.getByLabel("One a line").fill("model:me/m");
    await button(page, "Create webhook").click();
    await page.getByText("The webhook is created").waitFor();
  });
});

describe("the form, while it is filled in", () => {
  it("says what is wrong with a field once one has been there, and takes it back", async () => {
    const { page } = await visit(await startTestHub(), `${SETTINGS}/new`);
    await urlField(page).fill("example.com");
    await page.getByLabel("Name of item 1").fill("no slash");
    await problemOf(page, "url").getByText("expected a whole address").waitFor();
    expect(await urlField(page).getAttribute("aria-invalid")).toBe("true");
    // Of the other fields nothing is said yet.
    expect(await problemOf(page, "domains").textContent()).toBe("");
    await page.getByLabel("Secret").focus();
    await problemOf(page, "item-0").getByText("expected a name as owner/name").waitFor();
    await page.getByLabel("Type of item 1").selectOption("user");
    await problemOf(page, "item-0").getByText("expected a name without a slash").waitFor();
    await page.getByLabel("Name of item 1").fill("me");
    await problemOf(page, "item-0").getByText("expected").waitFor({ state: "detached" });
    await urlField(page).fill("https://user:word@example.com");
    await problemOf(page, "url").getByText("may not hold a name or a password").waitFor();
    await urlField(page).fill("https://example.com");
    await problemOf(page, "url").getByText("may not").waitFor({ state: "detached" });
    expect(await urlField(page).getAttribute("aria-invalid")).toBeNull();
    await page.getByRole("checkbox", { name: "repo" }).uncheck();
    await page.getByRole("checkbox", { name: "discussion" }).uncheck();
    await problemOf(page, "domains").getByText("tick at least one").waitFor();
    await page.getByRole("radio", { name: "Start a Job" }).check();
    await page.getByLabel("Job id").fill("nonsense");
    await page.keyboard.press("Tab");
    await problemOf(page, "job").getByText("there is no Job nonsense").waitFor();
    expect(await urlField(page).isVisible()).toBe(false);
  });

  it("makes rows of lines that are pasted, and takes rows away", async () => {
    const test = await startTestHub();
    const { page } = await visit(test, `${SETTINGS}/new`, { permissions: ["clipboard-read", "clipboard-write"] });
    await urlField(page).fill("https://example.com");
    await page.evaluate("navigator.clipboard.writeText('dataset:me/a\\nspace:me/b\\nfoo:c')");
    await page.getByLabel("Name of item 1").focus();
    await page.keyboard.press("Control+v");
    await page.getByLabel("Name of item 3").waitFor();
    expect(await page.getByLabel("Type of item 2").inputValue()).toBe("space");
    await problemOf(page, "item-2").getByText('"foo:c": expected a name').waitFor();
    await page.getByLabel("Remove item 3").click();
    await page.getByLabel("Remove item 1").click();
    expect(await page.getByLabel("Name of item 1").inputValue()).toBe("me/b");
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Name of item 1");
    await page.keyboard.press("Enter");
    await page.getByText("The webhook is created").waitFor();
    expect((await test.api.get(WEBHOOKS)).body).toMatchObject([{ watched: [{ type: "space", name: "me/b" }] }]);
  });

  it("shows what is wrong in each row after it was sent all the same", async () => {
    const { page, troubles } = await visit(await startTestHub(), `${SETTINGS}/new`);
    await page.getByLabel("Name of item 1").fill("me//m");
    await button(page, "Create webhook").click();
    await page.getByRole("alert").filter({ hasText: "2 fields need another look" }).waitFor();
    troubles.length = 0;
    expect(await page.evaluate("document.activeElement.textContent")).toContain("2 fields need another look");
    await link(page, "Watched items").click();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Type of item 1");
    await problemOf(page, "item-0").getByText("expected a name as owner/name").waitFor();
    await problemOf(page, "watched").getByText("Item 1").waitFor({ state: "detached" });
  });
});

describe("the activity, live", () => {
  it("comes by itself, and takes the focus from nobody", async () => {
    await using target = await startTarget({ status: 200 });
    const test = await startTestHub();
    const id = await addWebhook(test.api, { url: target.url });
    await publish(test.api, "repo:create");
    await test.hub.idle();
    const { page } = await visit(test, `${SETTINGS}/${id}`);
    await liveOf(page).waitFor();
    await link(page, "repo:create").focus();
    await publish(test.api, "repo:update");
    await test.hub.idle();
    await link(page, "repo:update").waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("repo:create");
    await page.getByText("2 of 1,000 in 24 h").last().waitFor();
    await page.getByRole("status").filter({ hasText: "1 new in the activity" }).waitFor({ state: "attached" });
    await page.getByRole("navigation", { name: "Deliveries by state" }).getByRole("link", { name: "failed" }).click();
    await page.getByText("No delivery is failed.").waitFor();
  });

  it("says when the hub is gone, and goes on when it is back", async () => {
    const test = await startTestHub();
    const id = await addWebhook(test.api, { url: "https://example.com" });
    const { port } = test.hub;
    const { page, troubles } = await visit(test, `${SETTINGS}/${id}`);
    await liveOf(page).waitFor();
    await test.hub.close();
    await page.getByText("The hub does not answer").waitFor();
    await test.restart({ settings: { port } });
    await liveOf(page).waitFor();
    troubles.length = 0;
  });

  it("shows the suspension the moment it comes, with its reason, and ends it", async () => {
    await using target = await startTarget({ status: 500 }, { status: 500 }, { status: 200 });
    const clock = testClock();
    const test = await startTestHub({ suspendFailures: 2, suspendAfterMs: 3_600_000, scheduleMs: [] }, { clock });
    const id = await addWebhook(test.api, { url: target.url });
    const { page } = await visit(test, `${SETTINGS}/${id}`);
    await liveOf(page).waitFor();
    await publish(test.api, "repo:update");
    await test.hub.idle();
    clock.advance(3_600_000);
    await publish(test.api, "repo:update");
    await test.hub.idle();
    const banner = page.getByRole("alert").filter({ hasText: "Suspended after failures since" });
    await banner.getByText("2 attempts in a row failed since 2026-06-01T00:00:00.000Z").waitFor();
    await link(page, "Webhooks").first().click();
    await page.getByText("suspended", { exact: true }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "127.0.0.1" }).click();
    await button(page, "Enable again").click();
    await page.getByText("The webhook is enabled.").waitFor();
    expect(await banner.count()).toBe(0);
    await publish(test.api, "repo:update");
    await rowsOf(page).filter({ hasText: "succeeded" }).waitFor();
  });

  it("copies the payload and the command that sends it", async () => {
    await using target = await startTarget({ status: 200 });
    const test = await startTestHub();
    const id = await addWebhook(test.api, { url: target.url, secret: "s3cret" });
    await publish(test.api, "repo:update");
    await test.hub.idle();
    const [delivery] = await activityOf(test.api, id);
    const permissions = { permissions: ["clipboard-read", "clipboard-write"] };
    const { page } = await visit(test, `${SETTINGS}/${id}/activity/${delivery?.id}`, permissions);
    const pasted = () => page.evaluate<string>("navigator.clipboard.readText()");
    await page.getByRole("button", { name: "Copy the payload" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(JSON.parse(await pasted())).toEqual(delivery?.payload);
    await page.getByText("As curl").click();
    await page.getByRole("button", { name: "Copy curl command" }).click();
    await page.getByRole("button", { name: "Copied curl command" }).waitFor();
    expect(await pasted()).toMatch(
      new RegExp(`^curl '${target.url}/' \\\\\\n.*X-Webhook-Secret: \\$WEBHOOK_SECRET`, "s"),
    );
  });
});

describe("a login", () => {
  it("is asked for where tokens are set, leads on, and ends", async () => {
    const test = await startTestHub({ users: USERS });
    const id = await addWebhook(test.as("hf_alice"), { url: "https://example.com/of-alice" });
    const { page, troubles } = await visit(test, `${SETTINGS}/${id}`);
    await page.getByLabel("Token").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByText("This hub knows no such token.").waitFor();
    troubles.length = 0;
    await page.getByLabel("Token").fill("hf_alice");
    await page.keyboard.press("Enter");
    await heading(page, "https://example.com/of-alice").waitFor();
    await page.getByText("alice", { exact: true }).waitFor();
    await button(page, "Disable").click();
    await page.getByText("Events pass it by").waitFor();
    await button(page, "Log out").click();
    await page.getByLabel("Token").fill("hf_bob");
    await button(page, "Log in").click();
    await heading(page, "No webhooks yet").waitFor();
    await page.goto(`${test.hub.url}${SETTINGS}/${id}`);
    await heading(page, "There is nothing here").waitFor();
    troubles.length = 0;
  });
});

describe("a page of another site", () => {
  /** At another site than the hub, to a browser: `localhost`. */
  async function hostile(body: string) {
    const target = await startTarget({ status: 200, headers: { "content-type": "text/html" }, body });
    onCleanup(async () => target[Symbol.asyncDispose]());
    return `http://localhost:${target.port}/`;
  }

  it("cannot act by a form, in the name of whoever is logged in", async () => {
    const test = await startTestHub({ users: USERS });
    const id = await addWebhook(test.as("hf_alice"), { url: "https://example.com" });
    const { page, troubles } = await visit(test);
    await page.getByLabel("Token").fill("hf_alice");
    await page.keyboard.press("Enter");
    await heading(page, "Webhooks").waitFor();
    const csrf = await page.locator('[name="csrf"]').first().getAttribute("value");
    await page.goto(
      await hostile(`<form method="post" action="${test.hub.url}${SETTINGS}/${id}/delete">
        <input name="csrf" value="${csrf}"><button>Win a prize</button></form>`),
    );
    await page.evaluate(
      ([url, token]) =>
        fetch(url ?? "", {
          method: "POST",
          mode: "no-cors",
          credentials: "include",
          body: new URLSearchParams({ csrf: token ?? "" }),
        }).catch(() => {}),
      [`${test.hub.url}${SETTINGS}/${id}/delete`, csrf],
    );
    await button(page, "Win a prize").click();
    await page.getByText("A page of another site may not do this.").waitFor();
    expect((await test.as("hf_alice").get(WEBHOOKS)).body).toMatchObject([{ id }]);
    // And whoever was logged in still is.
    await page.goto(test.hub.url + SETTINGS);
    await heading(page, "Webhooks").waitFor();
    troubles.length = 0;
  });

  it("cannot show them in a frame", async () => {
    const test = await startTestHub();
    const { page, troubles } = await visit(test);
    await page.goto(await hostile(`<h1>Prizes</h1><iframe src="${test.hub.url}${SETTINGS}"></iframe>`));
    await heading(page, "Prizes").waitFor();
    expect(await page.frameLocator("iframe").getByRole("heading", { name: "Webhooks" }).count()).toBe(0);
    expect(troubles.join("\n")).toMatch(/frame-ancestors|X-Frame-Options|ERR_BLOCKED_BY_RESPONSE/);
    troubles.length = 0;
  });

  it("may link to them: whoever is logged in arrives so", async () => {
    const test = await startTestHub({ users: USERS });
    const { page } = await visit(test);
    await page.getByLabel("Token").fill("hf_alice");
    await page.keyboard.press("Enter");
    await heading(page, "Webhooks").waitFor();
    await page.goto(
      await hostile(`<link rel="icon" href="data:,"><a href="${test.hub.url}${SETTINGS}/new">Settings</a>`),
    );
    await link(page, "Settings").click();
    await heading(page, "New webhook").waitFor();
  });
});

describe("the pages everywhere", () => {
  const unfold = (page: Page) =>
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true");

  async function populated() {
    const target = await startTarget({ status: 500, body: "no" }, { status: 200, body: "yes" });
    onCleanup(async () => target[Symbol.asyncDispose]());
    const test = await startTestHub({ scheduleMs: [], suspendFailures: 1, suspendAfterMs: 0, quota: 2 });
    const suspended = await addWebhook(test.api, {
      url: `${target.url}/${"a-very-long-path-without-any-end".repeat(8)}`,
      watched: [{ type: "org", name: "acme" }],
    });
    await publish(test.api, "repo.content:update", `model:acme/${"very-long-".repeat(8)}name`);
    await test.hub.idle();
    const watched = Array.from({ length: 12 }, (_, n) => ({ type: "dataset", name: `me/${n}` }));
    const enabled = await addWebhook(test.api, { url: `${target.url}/webhooks/train`, watched, secret: "s" });
    for (let n = 0; n < 3; n++) await publish(test.api, "repo.content:update", `dataset:me/${n}`);
    await test.hub.idle();
    const [failed] = await activityOf(test.api, suspended);
    const [succeeded] = await activityOf(test.api, enabled);
    const paths = [
      "/",
      SETTINGS,
      `${SETTINGS}/new`,
      `${SETTINGS}/${enabled}`,
      `${SETTINGS}/${enabled}?done=saved`,
      `${SETTINGS}/${suspended}`,
      `${SETTINGS}/${enabled}/edit`,
      `${SETTINGS}/${enabled}/delete`,
      `${SETTINGS}/${suspended}/activity/${failed?.id}`,
      `${SETTINGS}/${enabled}/activity/${succeeded?.id}`,
    ];
    return { test, paths };
  }

  it.each([320, 360, 768, 1280])("fit a window of %i px", async (width) => {
    const { test, paths } = await populated();
    const { page } = await visit(test, "/", { viewport: { width, height: 800 } });
    const found: unknown[] = [];
    for (const path of paths) {
      await page.goto(test.hub.url + path);
      await unfold(page);
      const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      if (overflow > 0) found.push([path, overflow]);
    }
    expect(found).toEqual([]);
  });

  it.each(["light", "dark"] as const)(
    "have no accessibility finding, contrast included, in %s",
    async (colorScheme) => {
      const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
      const { test, paths } = await populated();
      const findings: unknown[] = [];
      const look = async (page: Page) => {
        await page.evaluate(axe);
        const found = await page.evaluate<unknown[]>(
          `axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => [id, location.pathname, ...nodes.map(({ html, failureSummary }) => html.slice(0, 200) + failureSummary)]))`,
        );
        findings.push(...found);
      };
      for (const width of [1280, 360]) {
        const { page, troubles } = await visit(test, "/", { colorScheme, viewport: { width, height: 800 } });
        for (const path of paths) {
          await page.goto(test.hub.url + path);
          await unfold(page);
          await look(page);
        }
        await page.goto(`${test.hub.url}${SETTINGS}/new`);
        await page.getByLabel("Name of item 1").fill("me//m");
        for (const name of ["repo", "discussion"]) await page.getByRole("checkbox", { name }).uncheck();
        await button(page, "Create webhook").click();
        await page.getByRole("alert").filter({ hasText: "3 fields need another look" }).waitFor();
        await problemOf(page, "item-0").getByText("expected").waitFor();
        await look(page);
        await page.goto(`${test.hub.url}/settings/nothing`);
        await look(page);
        troubles.length = 0;
      }
      const { page } = await visit(await startTestHub({ users: USERS }), SETTINGS, { colorScheme });
      await look(page);
      expect(findings).toEqual([]);
    },
    60_000,
  );

  it("are used by keyboard alone", async () => {
    const test = await startTestHub();
    const { page } = await visit(test);
    const focused = () => page.evaluate<string>("document.activeElement.textContent.trim()");
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 30 && (await focused()) !== name; presses++) await page.keyboard.press("Tab");
      expect(await focused()).toBe(name);
      await page.keyboard.press("Enter");
    };
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to the content");
    await tabTo("New webhook");
    await heading(page, "New webhook").waitFor();
    await urlField(page).focus();
    await page.keyboard.type("https://example.com");
    await page.keyboard.press("Tab");
    await page.keyboard.type("u");
    await page.keyboard.press("Tab");
    await page.keyboard.type("me");
    await tabTo("Create webhook");
    await page.getByText("The webhook is created").waitFor();
    expect((await test.api.get(WEBHOOKS)).body).toMatchObject([{ watched: [{ type: "user", name: "me" }] }]);
    await tabTo("Delete…");
    await heading(page, "Delete this webhook?").waitFor();
    await tabTo("Delete webhook");
    await heading(page, "No webhooks yet").waitFor();
  });

  it("take their times from the reader's own zone", async () => {
    const test = await startTestHub({}, { clock: testClock(Date.UTC(2026, 0, 31, 23, 30)) });
    const id = await addWebhook(test.api, { url: "https://example.com" });
    const { page } = await visit(test, `${SETTINGS}/${id}`, { timezoneId: "Asia/Tokyo" });
    await page.getByText("1 Feb 2026, 08:30:00").waitFor();
    const { page: plain } = await visit(test, `${SETTINGS}/${id}`, withoutScripts);
    await plain.getByText("2026-01-31 23:30:00 UTC").waitFor();
  });
});
