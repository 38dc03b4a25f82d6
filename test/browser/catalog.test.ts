import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { Catalog } from "../../src/catalog/schema.ts";
import { launchBrowser, openPage } from "../support/browser.ts";
import { onCleanup } from "../support/cleanup.ts";
import { startTestReceiver } from "../support/receiver.ts";
import { catalog, catalogFile, manyResources, resource } from "../support/served-catalog.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);
afterAll(() => browser?.close());

const pashto = resource("grammar", {
  title: "د پښتو ژبې ګرامر",
  summary: "د ژبې جوړښت او قواعد د زده‌کوونکو لپاره",
  category: "project",
  source: "github",
  status: "candidate",
  tags: ["ګرامر", "grammar"],
  license: "CC-BY-4.0",
  pashto_evidence: {
    evidence_text: "دا کتاب په پښتو ژبه دی",
    evidence_url: "https://example.org/grammar/evidence",
    markers: ["پښتو"],
  },
});
const some = [
  resource("common-voice", {
    title: "Common Voice Pashto",
    tags: ["asr", "speech"],
    tasks: ["speech-recognition"],
    source: "mozilla",
  }),
  resource("fleurs", {
    title: "FLEURS",
    summary: "Parallel speech in many languages",
    tags: ["asr"],
    license: "CC-BY-4.0",
  }),
  resource("spelling", {
    title: "A spelling dictionary",
    category: "tool",
    status: "candidate",
    tags: ["lexicon"],
    license: "MIT",
  }),
  pashto,
];

async function serve(content: Catalog | string = catalog(some)) {
  const file = await catalogFile(content);
  const receiver = await startTestReceiver({ env: { CATALOG: file.path } });
  return { ...file, receiver, url: receiver.url };
}

async function visit(url: string, path = "/catalog", options?: BrowserContextOptions) {
  const watched = await openPage(browser, url + path, options);
  // A page that had troubles fails its test: a script that the policy forbids, a request that failed.
  onCleanup(() => watched.close());
  return watched;
}

/** The page with its results. */
async function look(content?: Catalog, path?: string, options?: BrowserContextOptions) {
  const served = await serve(content);
  const { page } = await visit(served.url, path, options);
  await cards(page).first().waitFor();
  return { ...served, page };
}

const cards = (page: Page) => page.locator(".resource");
const searchBox = (page: Page) => page.getByRole("searchbox");
const panelOf = (page: Page) => page.locator("#panel");
const titles = (page: Page) => cards(page).locator("h3").allTextContents();

/** Waits until these are all that is shown. */
async function shows(page: Page, expected: string[]) {
  while (JSON.stringify(await titles(page)) !== JSON.stringify(expected)) await nextFrame(page);
}

const nextFrame = (page: Page) => page.evaluate("new Promise(requestAnimationFrame)");

const filter = (page: Page, group: string, value: string) =>
  page.getByRole("group", { name: group }).getByRole("checkbox", { name: value });
const ALL = some.map(({ title }) => title);

describe("the search", () => {
  it("narrows while one types, says how many are left, and is kept in the address", async () => {
    const { page, url } = await look();
    await page.getByRole("heading", { name: "4 resources", exact: true }).waitFor();
    await page.getByText("updated 31 January 2026").waitFor();
    const schema = await page.getByRole("link", { name: "JSON Schema" }).getAttribute("href");
    expect(schema).toBe("schemas/catalog.schema.json?sources=platform");
    await searchBox(page).pressSequentially("speech");
    await shows(page, ["Common Voice Pashto", "FLEURS"]);
    await page.getByRole("heading", { name: "2 of 4 resources" }).waitFor();
    expect(page.url()).toBe(`${url}/catalog?q=speech`);
    await page.getByRole("status").filter({ hasText: "2 resources found" }).waitFor();
    await searchBox(page).fill("speach ");
    await shows(page, ["Common Voice Pashto", "FLEURS"]);
    await searchBox(page).fill("گرامر");
    await shows(page, [pashto.title]);
    await searchBox(page).fill("nowhere");
    await page.getByRole("heading", { name: "Nothing found" }).waitFor();
    await page.getByRole("button", { name: "Show all resources" }).click();
    await shows(page, ALL);
    expect(page.url()).toBe(`${url}/catalog`);
  });

  it("goes back one step for all that was typed in one go, and one for each filter", async () => {
    const { page, url } = await look();
    await searchBox(page).pressSequentially("speech");
    await shows(page, ["Common Voice Pashto", "FLEURS"]);
    await filter(page, "License", "CC-BY-4.0").check();
    await shows(page, ["FLEURS"]);
    expect(page.url()).toBe(`${url}/catalog?q=speech&license=CC-BY-4.0`);
    await page.goBack();
    await shows(page, ["Common Voice Pashto", "FLEURS"]);
    expect(await filter(page, "License", "CC-BY-4.0").isChecked()).toBe(false);
    await page.goBack();
    await shows(page, ALL);
    expect(await searchBox(page).inputValue()).toBe("");
    await page.goForward();
    await shows(page, ["Common Voice Pashto", "FLEURS"]);
    expect(await searchBox(page).inputValue()).toBe("speech");
  });

  it("opens as it was linked to", async () => {
    const { page } = await look(
      undefined,
      "/catalog?q=a&category=dataset&category=tool&status=candidate&unknown=1#spelling",
    );
    await shows(page, ["A spelling dictionary"]);
    await panelOf(page).getByRole("heading", { name: "A spelling dictionary" }).waitFor();
    expect(await searchBox(page).inputValue()).toBe("a");
    await panelOf(page).getByRole("button", { name: "Close" }).click();
    const inUse = page.getByRole("list", { name: "Filters in use" });
    expect(await inUse.getByRole("button").allTextContents()).toEqual([
      "Remove filter Status: Candidate×",
      "Remove filter Category: Dataset×",
      "Remove filter Category: Tool×",
      "Clear all",
    ]);
  });

  it("takes back a filter that the catalog does not know", async () => {
    const { page } = await visit((await serve()).url, "/catalog?tag=gone");
    await page.getByRole("heading", { name: "Nothing found" }).waitFor();
    await page.getByRole("button", { name: "Remove filter Tag: gone" }).click();
    await shows(page, ALL);
  });

  it("says what it does not understand in a link", async () => {
    const served = await serve();
    const watched = await visit(served.url, "/catalog?category=datset");
    await watched.page.getByText(/expected one of dataset, model/).waitFor();
    expect(watched.troubles.splice(0).every((one) => one.includes("400"))).toBe(true);
    await watched.page.getByRole("button", { name: /all resources/ }).click();
    await shows(watched.page, ALL);
  });
});

describe("the filters", () => {
  it("count what each would leave, under all the others", async () => {
    const { page } = await look();
    const line = (group: string, value: string) =>
      page.getByRole("group", { name: group }).locator("label").filter({ hasText: value });
    const count = async (group: string, value: string) => line(group, value).locator(".choice-count").textContent();
    expect(await count("Status", "Verified")).toBe("2");
    await filter(page, "Category", "Dataset").check();
    await shows(page, ["Common Voice Pashto", "FLEURS"]);
    expect(await count("Category", "Tool")).toBe("1");
    expect(await line("Status", "Candidate").count()).toBe(0);
    // Which box was used last is where the keyboard goes on.
    expect(await page.evaluate("document.activeElement.value")).toBe("dataset");
    await filter(page, "Category", "Tool").check();
    await shows(page, ["Common Voice Pashto", "FLEURS", "A spelling dictionary"]);
    await page.getByRole("button", { name: "Clear all" }).click();
    await shows(page, ALL);
  });

  it("show more of many values when asked to", async () => {
    const { page } = await look(
      catalog(Array.from({ length: 30 }, (_, at) => resource(`r${at}`, { tags: [`tag-${at}`] }))),
    );
    const tags = page.getByRole("group", { name: "Tag" });
    expect(await tags.getByRole("checkbox").count()).toBe(8);
    await tags.getByRole("button", { name: "Show 22 more" }).click();
    expect(await tags.getByRole("checkbox").count()).toBe(30);
    await tags.getByRole("button", { name: "Show fewer" }).click();
    expect(await tags.getByRole("checkbox").count()).toBe(8);
  });
});

describe("one resource", () => {
  it("is shown with its evidence, under an address of its own", async () => {
    const { page, url } = await look();
    await page.getByRole("link", { name: "FLEURS", exact: true }).click();
    const panel = panelOf(page);
    await panel.getByText("Parallel speech in many languages").waitFor();
    expect(page.url()).toBe(`${url}/catalog#fleurs`);
    expect(await page.evaluate("document.activeElement.id")).toBe("panel-title");
    expect(await panel.getByText("The card names Pashto").count()).toBe(1);
    for (const [name, href] of [
      ["Open resource", "https://example.org/fleurs"],
      ["example.org", "https://example.org/fleurs/card"],
    ] as const) {
      const link = panel.getByRole("link", { name, exact: false }).last();
      expect([await link.getAttribute("href"), await link.getAttribute("rel")]).toEqual([
        name === "Open resource" ? href : expect.stringMatching(/^https:\/\/example\.org\/fleurs/),
        "noopener noreferrer",
      ]);
    }
    await page.goBack();
    await panel.waitFor({ state: "hidden" });
    await page.goForward();
    await panel.waitFor();
    await page.reload();
    await panel.getByText("Parallel speech in many languages").waitFor();
    await panel.getByRole("button", { name: "Close" }).click();
    await panel.waitFor({ state: "hidden" });
    expect(page.url()).toBe(`${url}/catalog`);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("FLEURS");
  });

  it("goes when one searches on", async () => {
    const { page, url } = await look(undefined, "/catalog#fleurs");
    await panelOf(page).waitFor();
    await searchBox(page).fill("spelling");
    await shows(page, ["A spelling dictionary"]);
    expect(await panelOf(page).isVisible()).toBe(false);
    expect(page.url()).toBe(`${url}/catalog?q=spelling`);
  });

  it("leads to all that share a value with it", async () => {
    const { page, url } = await look(undefined, "/catalog?q=fleurs#fleurs");
    await panelOf(page).getByRole("button", { name: "License: show all with CC-BY-4.0" }).click();
    await shows(page, ["FLEURS", pashto.title]);
    expect(page.url()).toBe(`${url}/catalog?license=CC-BY-4.0`);
  });

  it("is found by its link though the list does not show it, and told of when there is none", async () => {
    const many = catalog(manyResources(300));
    const served = await serve(many);
    const { page } = await visit(served.url, "/catalog#resource-299");
    await panelOf(page).getByText("number 299").waitFor();
    const other = await visit(served.url, "/catalog#no-such-one");
    await panelOf(other.page).getByRole("heading", { name: "No such resource" }).waitFor();
    expect(other.troubles.splice(0).every((one) => one.includes("404"))).toBe(true);
  });

  it("is copied as JSON and as a link", async () => {
    const { page, url } = await look(undefined, "/catalog#fleurs", {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const pasted = () => page.evaluate<string>("navigator.clipboard.readText()");
    await panelOf(page).getByRole("button", { name: "Copy JSON" }).click();
    await page.getByRole("status").filter({ hasText: "Copied" }).waitFor();
    expect(JSON.parse(await pasted())).toEqual(some[1]);
    await panelOf(page).getByRole("button", { name: "Copy link" }).click();
    await page.getByRole("status").filter({ hasText: "link" }).waitFor();
    expect(await pasted()).toBe(`${url}/catalog#fleurs`);
  });
});

describe("text from right to left", () => {
  it("runs so, each piece by itself, and leaves what is beside it alone", async () => {
    const { page } = await look(undefined, "/catalog#grammar");
    await panelOf(page).getByRole("heading", { name: pashto.title }).waitFor();
    const direction = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).direction`);
    const card = '.resource[data-id="grammar"]';
    for (const part of [".resource-link", ".resource-summary", "blockquote"])
      expect([part, await direction(`${card} ${part}`)]).toEqual([part, "rtl"]);
    // The card runs as its title does, but not the cards beside it.
    expect([await direction(card), await direction(`${card} .resource-facts`)]).toEqual(["rtl", "rtl"]);
    expect(await direction('.resource[data-id="fleurs"]')).toBe("ltr");
    expect(await direction("#page")).toBe("ltr");
    for (const part of ["#panel-title", ".panel-text", ".evidence blockquote"])
      expect([part, await direction(part)]).toEqual([part, "rtl"]);
    expect(await direction('.resource[data-id="fleurs"] .resource-link')).toBe("ltr");
    await searchBox(page).fill("پښتو");
    expect(await direction("#q")).toBe("rtl");
  });

  it("shows signs that turn letters around in place of obeying them, and nothing as HTML", async () => {
    const { page } = await look(
      catalog([resource("odd", { title: "abc \u202egnp.exe <img src=x onerror=alert(1)>", tags: ["</li><b>bold"] })]),
    );
    expect(await titles(page)).toEqual(["abc \\u202egnp.exe <img src=x onerror=alert(1)>"]);
    expect(await page.locator("#list img, #list b").count()).toBe(0);
  });
});

describe("5,000 resources", () => {
  it("are a list with few elements, whose last one can be reached", async () => {
    const { page } = await look(catalog(manyResources(5000)));
    await page.getByRole("heading", { name: "5,000 resources" }).waitFor();
    expect(await cards(page).count()).toBe(50);
    for (;;) {
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
      if (await page.locator('[data-id="resource-4999"]').count()) break;
      await nextFrame(page);
    }
    expect(await cards(page).count()).toBeLessThan(300);
    // What was let go comes back.
    await page.evaluate("scrollTo(0, 0)");
    await page.locator('[data-id="resource-0"]').waitFor();
    await searchBox(page).fill("4321");
    await shows(page, [manyResources(5000)[4321]?.title ?? ""]);
  }, 60_000);

  it("are searched key by key, each answer belonging to what is typed", async () => {
    const { page } = await look(catalog(manyResources(5000)));
    await searchBox(page).pressSequentially("grammar collection 12");
    const fits = (text: string) => /grammar/.test(text) && /12/.test(text);
    for (;;) {
      const all = await cards(page).allTextContents();
      if (all.length > 1 && all.every(fits)) break;
      await nextFrame(page);
    }
    expect(new URL(page.url()).searchParams.get("q")).toBe("grammar collection 12");
  }, 60_000);
});

describe("by keyboard alone", () => {
  it("one searches, walks the results, opens one and comes back", async () => {
    const { page } = await look();
    const focused = () => page.evaluate("document.activeElement.textContent || document.activeElement.id");
    await page.keyboard.press("/");
    expect(await focused()).toBe("q");
    await page.keyboard.type("speech/");
    await shows(page, ["Common Voice Pashto", "FLEURS"]);
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toBe("Common Voice Pashto");
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toBe("FLEURS");
    await page.keyboard.press("Enter");
    await panelOf(page).getByRole("heading", { name: "FLEURS" }).waitFor();
    await page.keyboard.press("Escape");
    await panelOf(page).waitFor({ state: "hidden" });
    expect(await focused()).toBe("FLEURS");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    expect(await focused()).toBe("q");
    await page.keyboard.press("Escape");
    await shows(page, ALL);
  });

  it("one skips to the results", async () => {
    const { page } = await look();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("Results");
    expect(await panelOf(page).isVisible()).toBe(false);
  });
});

describe("the landing page", () => {
  it("leads to the catalog where there is one", async () => {
    const { page } = await visit((await serve()).url, "/");
    await page.getByRole("link", { name: "Catalog" }).click();
    await shows(page, ALL);
    await page.getByRole("link", { name: "Endpoints" }).click();
    await page.getByRole("heading", { name: "Endpoints" }).waitFor();
    const without = await visit((await startTestReceiver()).url, "/");
    await without.page.getByRole("heading", { name: "Endpoints 1" }).waitFor();
    expect(await without.page.getByRole("link", { name: "Catalog" }).count()).toBe(0);
  });
});

describe("what can be amiss", () => {
  it("tells of a file with errors, and shows it once it is mended", async () => {
    const served = await serve(JSON.stringify({ ...catalog(some), version: "1.0" }));
    const watched = await visit(served.url);
    const alert = watched.page.getByRole("alert");
    await alert.getByText("The catalog cannot be shown").waitFor();
    await alert.getByText(/line 1, column \d+, version/).waitFor();
    expect(watched.troubles.splice(0).every((one) => one.includes("503"))).toBe(true);
    await served.write(catalog(some));
    while ((await fetch(`${served.url}/api/catalog`)).status !== 200);
    await alert.getByRole("button", { name: "Try again" }).click();
    await shows(watched.page, ALL);
  });

  it("tells that a newer version is not shown", async () => {
    const served = await serve();
    await fetch(`${served.url}/api/catalog`);
    await served.write("{");
    for (;;) {
      const answer = (await (await fetch(`${served.url}/api/catalog`)).json()) as { refused?: object };
      if (answer.refused) break;
    }
    const { page } = await visit(served.url);
    await page.getByText("A newer version is not shown").waitFor();
    await shows(page, ALL);
  });

  it("tells how to serve a catalog where there is none, or an empty one", async () => {
    const receiver = await startTestReceiver();
    const watched = await visit(receiver.url);
    await watched.page.getByRole("heading", { name: "No catalog is served here" }).waitFor();
    expect(watched.troubles.splice(0).every((one) => one.includes("404"))).toBe(true);
    const empty = await visit((await serve(catalog([]))).url);
    await empty.page.getByRole("heading", { name: "The catalog is empty" }).waitFor();
  });

  it("keeps what it shows when the receiver goes away", async () => {
    const served = await serve();
    const watched = await visit(served.url);
    await shows(watched.page, ALL);
    await served.receiver.close();
    await searchBox(watched.page).fill("speech");
    await watched.page.getByRole("alert").getByText("The receiver does not answer").waitFor();
    expect(await titles(watched.page)).toEqual(ALL);
    watched.troubles.length = 0;
  });
});

describe("to everybody", () => {
  it.each(["light", "dark"] as const)(
    "has no accessibility finding, contrast included, in %s",
    async (colorScheme) => {
      const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
      const findings: unknown[] = [];
      const check = async (page: Page) => {
        await page.evaluate(axe);
        findings.push(
          ...(await page.evaluate<unknown[]>(
            `axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html, failureSummary }) => html.slice(0, 200) + failureSummary)]))`,
          )),
        );
      };
      const served = await serve(catalog([...some, ...manyResources(80)]));
      for (const width of [1440, 360]) {
        const { page } = await visit(served.url, "/catalog?status=verified&license=MIT&q=a", {
          colorScheme,
          viewport: { width, height: 800 },
        });
        await cards(page).first().waitFor();
        if (width === 360) await page.getByText("Filters", { exact: true }).click();
        await check(page);
        await cards(page).first().getByRole("link").first().click();
        await panelOf(page).getByText("Primary use").waitFor();
        await check(page);
        await page.keyboard.press("Escape");
        await searchBox(page).fill("nowhere");
        await page.getByRole("heading", { name: "Nothing found" }).waitFor();
        await check(page);
      }
      expect(findings).toEqual([]);
    },
    60_000,
  );

  it.each([360, 768, 1024, 1600])("fits %i pixels without scrolling sideways", async (width) => {
    const long = "x".repeat(150);
    const { page } = await look(
      catalog([
        resource(long, {
          title: long,
          url: `https://example.org/${long}`,
          summary: long,
          tags: [long, "a"],
          license: long,
        }),
        ...some,
      ]),
      `/catalog?q=x`,
      { viewport: { width, height: 800 } },
    );
    const wide = () => page.evaluate("document.documentElement.scrollWidth > innerWidth");
    expect(await wide()).toBe(false);
    await cards(page).first().getByRole("link").first().click();
    await panelOf(page).getByText("Primary use").waitFor();
    expect(await wide()).toBe(false);
    expect(await panelOf(page).evaluate((panel) => panel.scrollWidth > panel.clientWidth)).toBe(false);
  });
});
