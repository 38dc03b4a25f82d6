import { describe, expect, it } from "@jest/globals";
import { testClock } from "../../support/clock.ts";
import { activityOf, addWebhook, publish, startTestHub, type TestHub, WEBHOOKS } from "../../support/hub.ts";
import { visitorOf } from "../../support/hub-page-visitor.ts";
import { startTarget } from "../../support/target.ts";

const SETTINGS = "/settings/webhooks";
const FORM = { target: "url", url: "https://example.com/hook", watched: "user:me", domains: ["repo", "discussion"] };

async function open(settings?: Parameters<typeof startTestHub>[0], more?: Parameters<typeof startTestHub>[1]) {
  const test = await startTestHub(settings, more);
  const visitor = visitorOf(test.hub.url);
  const shown = async (path: string) => (await visitor.get(path)).text;
  const problems = async (form: Record<string, string | string[]>) => {
    const { body } = await visitor.submit(`${SETTINGS}/check`, form);
    return body.problems as { field: string; item?: number; message: string }[];
  };
  return { ...test, visitor, shown, problems };
}

const webhookOf = async ({ api }: Pick<TestHub, "api">, id: string) =>
  (await api.get(`${WEBHOOKS}/${id}`)).body.webhook;

describe("the list", () => {
  it("says what to do while it is empty, with a command that names this hub", async () => {
    const { shown, hub } = await open();
    const text = await shown(SETTINGS);
    expect(text).toContain("No webhooks yet");
    expect(text).toContain(`HF_ENDPOINT=${hub.url} HF_TOKEN=any npx hubhook webhooks create`);
  });

  it("shows target, state, items, last delivery and quota, the newest first, in pages", async () => {
    await using target = await startTarget({ status: 418 });
    const { shown, visitor, api, hub } = await open({ scheduleMs: [], quota: 5 });
    for (let n = 0; n < 51; n++)
      await addWebhook(api, { url: `${target.url}/number-${n}-`, watched: [{ type: "user", name: `u${n}` }] });
    await publish(api, "repo:update", "model:u50/m");
    await hub.idle();
    const first = await shown(SETTINGS);
    expect(first).toContain("51 webhooks");
    expect(first).toContain("Page 1 of 2");
    expect(first).toContain("number-50-");
    expect(first).not.toContain("number-0-");
    expect(first).toMatch(/user:u50[\s\S]*failed[\s\S]*418[\s\S]*1 of 5 in 24 h/);
    expect(await shown(`${SETTINGS}?page=2`)).toContain("number-0-");
    for (const page of ["-1", "x", "0.5"]) expect(await shown(`${SETTINGS}?page=${page}`)).toContain("Page 1 of 2");
    for (const page of ["3", "1e99"])
      expect((await visitor.get(`${SETTINGS}?page=${page}`)).headers.location).toBe(`${SETTINGS}?page=2`);
  });
});

describe("the form", () => {
  it("creates a webhook", async () => {
    const { visitor, api, shown } = await open();
    const { status, headers } = await visitor.submit(SETTINGS, {
      ...FORM,
      watched: " dataset:me/data \r\n\r\norg:acme\n",
      domains: "discussion",
      secret: "s3cret",
    });
    expect([status, headers.location]).toEqual([
      303,
      expect.stringMatching(/^\/settings\/webhooks\/\w{24}\?done=created$/),
    ]);
    expect((await api.get(WEBHOOKS)).body).toMatchObject([
      {
        url: FORM.url,
        watched: [
          { type: "dataset", name: "me/data" },
          { type: "org", name: "acme" },
        ],
        domains: ["discussion"],
        hasSecret: true,
        disabled: false,
      },
    ]);
    const page = await shown(headers.location ?? "");
    expect(page).toContain("The webhook is created");
    expect(page).not.toContain("s3cret");
  });

  it("comes back with every problem beside its field, with what was written but for the secret", async () => {
    const { visitor, api } = await open();
    const { status, text } = await visitor.submit(SETTINGS, {
      target: "url",
      url: "ftp://x",
      watched: "model:me//x\nnonsense",
      secret: "ümlaut",
    });
    expect(status).toBe(400);
    expect(text).toContain("4 fields need another look");
    for (const part of [
      "expected a whole address",
      "Item 1: &quot;me//x&quot;: expected a name as owner/name",
      "Item 2: &quot;nonsense&quot;: write type:name",
      "tick at least one",
      "use visible ASCII characters only",
      'value="ftp://x"',
      "\nmodel:me//x\nnonsense</textarea>",
    ])
      expect(text).toContain(part);
    expect(text).not.toContain("ümlaut");
    expect((await api.get(WEBHOOKS)).body).toEqual([]);
  });

  it("is checked while it is filled in, by the rules of the API", async () => {
    const { problems, api } = await open();
    expect(await problems(FORM)).toEqual([]);
    expect(await problems({ ...FORM, url: "" })).toEqual([
      { field: "url", message: expect.stringContaining("expected a whole address") },
    ]);
    expect(await problems({ ...FORM, watched: "" })).toMatchObject([{ field: "watched" }]);
    expect(await problems({ ...FORM, watched: "user:me\nfoo:bar\nbucket:b\nmodel:" })).toMatchObject([
      { field: "watched", item: 1, message: expect.stringContaining("expected one of model") },
      { field: "watched", item: 2 },
      { field: "watched", item: 3 },
    ]);
    expect(await problems({ ...FORM, target: "job", job: "" })).toMatchObject([{ field: "job" }]);
    expect(await problems({ ...FORM, target: "job", job: "0".repeat(24) })).toMatchObject([
      { field: "job", message: expect.stringContaining("there is no Job") },
    ]);
    const many = Array.from({ length: 1_001 }, (_, n) => `model:me/${n}`).join("\n");
    expect(await problems({ ...FORM, watched: many })).toMatchObject([
      { field: "watched", message: expect.stringContaining("1000") },
    ]);
    // Not a sentence for each of them.
    expect((await problems({ ...FORM, watched: "x\n".repeat(100_000) })).length).toBeLessThan(1_100);
    expect((await api.get(WEBHOOKS)).body).toEqual([]);
  });

  it("edits: what is left alone stays, the secret too", async () => {
    const test = await open();
    const { visitor, api, shown } = test;
    const id = await addWebhook(api, { url: "https://example.com/a?x=1&y=2", secret: "kept", domains: ["repo"] });
    const form = await shown(`${SETTINGS}/${id}/edit`);
    expect(form).toContain('value="https://example.com/a?x=1&amp;y=2"');
    expect(form).toContain("\nuser:me</textarea>");
    expect(form).not.toContain("kept");
    const path = `${SETTINGS}/${id}`;
    expect((await visitor.submit(path, { ...FORM, domains: "repo" })).headers.location).toBe(`${path}?done=saved`);
    expect(await webhookOf(test, id)).toMatchObject({ url: FORM.url, hasSecret: true, domains: ["repo"] });
    expect((await visitor.submit(path, { ...FORM, secret: "x", remove_secret: "yes" })).status).toBe(400);
    await visitor.submit(path, { ...FORM, remove_secret: "yes" });
    expect(await webhookOf(test, id)).toMatchObject({ hasSecret: false, domains: ["repo", "discussion"] });
    // What the API takes for "keep" is no way to empty the list here.
    expect((await visitor.submit(path, { ...FORM, watched: "" })).text).toContain("name at least one item");
    expect((await webhookOf(test, id)).watched).toEqual([{ type: "user", name: "me" }]);
  });

  it("makes a webhook of a Job, and keeps that Job while it is edited", async () => {
    const test = await open({ jobs: "process" });
    const { visitor, api, shown, hub } = test;
    const { id: job } = (await api.post("/api/jobs/me", { dockerImage: "python:3.12", command: ["true"] }).expect(200))
      .body;
    await hub.idle();
    expect(await shown(`${SETTINGS}/new`)).toContain(`<option value="${job}">true</option>`);
    const { headers } = await visitor.submit(SETTINGS, { ...FORM, target: "job", job, url: "not looked at" });
    const path = headers.location?.split("?")[0] ?? "";
    const id = path.split("/").at(-1) ?? "";
    expect(await shown(path)).toContain("python:3.12");
    expect((await visitor.submit(path, { ...FORM, target: "job", job: "", watched: "user:you" })).status).toBe(303);
    expect(await webhookOf(test, id)).toMatchObject({ job: { command: ["true"] }, watched: [{ name: "you" }] });
    await visitor.submit(path, FORM);
    expect(await webhookOf(test, id)).toMatchObject({ url: FORM.url });
  });

  it("says that Jobs are off where they are", async () => {
    const { shown } = await open();
    expect(await shown(`${SETTINGS}/new`)).toContain("HUB_JOBS=process");
  });

  it("is no larger than it may be", async () => {
    const { visitor } = await open();
    expect((await visitor.submit(SETTINGS, { ...FORM, watched: "x".repeat(600_000) })).status).toBe(413);
    const many = Array.from({ length: 200 }, () => "repo");
    expect((await visitor.submit(SETTINGS, { ...FORM, domains: many })).status).toBe(413);
  });
});

describe("one webhook", () => {
  it("is disabled, enabled, and deleted after a question", async () => {
    const test = await open();
    const { visitor, api, shown } = test;
    const id = await addWebhook(api, { url: "https://example.com" });
    const path = `${SETTINGS}/${id}`;
    expect((await visitor.submit(`${path}/disable`)).headers.location).toBe(`${path}?done=disabled`);
    expect(await webhookOf(test, id)).toMatchObject({ disabled: true });
    expect(await shown(path)).toMatch(/Disabled since[\s\S]*Events pass it by/);
    expect((await visitor.submit(`${path}/enable`)).headers.location).toBe(`${path}?done=enabled`);
    expect(await webhookOf(test, id)).toMatchObject({ disabled: false });
    expect(await shown(`${path}/delete`)).toContain("Delete this webhook?");
    expect(await webhookOf(test, id)).toMatchObject({ id });
    expect((await visitor.submit(`${path}/delete`)).headers.location).toBe(`${SETTINGS}?done=deleted`);
    expect((await visitor.get(path)).status).toBe(404);
    expect(await shown(`${SETTINGS}?done=deleted`)).toContain("The webhook is deleted.");
    expect(await shown(`${SETTINGS}?done=constructor`)).not.toContain("callout--good");
  });

  it("says why and since when it is suspended, and that the quota was used up", async () => {
    await using target = await startTarget({ status: 500, body: "the cluster is <full>" });
    const clock = testClock();
    const { api, hub, shown } = await open(
      { suspendFailures: 2, suspendAfterMs: 0, scheduleMs: [], quota: 2 },
      { clock },
    );
    const id = await addWebhook(api, { url: target.url });
    for (let n = 0; n < 3; n++) {
      await publish(api, "repo:update");
      if (n < 1) await hub.idle();
    }
    await hub.idle();
    const page = await shown(`${SETTINGS}/${id}`);
    expect(page).toContain("Suspended after failures");
    expect(page).toContain("2 attempts in a row failed since 2026-06-01T00:00:00.000Z; the last one: answered 500");
    expect(page).toContain('datetime="2026-06-01T00:00:00.000Z"');
    expect(page).toContain("Enable again");
    // It would be refused.
    expect(page).not.toContain("/replay/");
    expect(page).toContain("1 event was not delivered: the quota was used up.");
    expect(await shown(SETTINGS)).toContain("suspended");
  });

  it("sends a test event for what it watches, and only what does no harm", async () => {
    await using target = await startTarget({ status: 200 });
    const { visitor, api, hub } = await open();
    const id = await addWebhook(api, {
      url: target.url,
      watched: [
        { type: "org", name: "acme" },
        { type: "bucket", name: "me/b" },
      ],
    });
    const path = `${SETTINGS}/${id}`;
    const send = (item: string, event: string) => visitor.submit(`${path}/test`, { item, event });
    expect((await send("org:acme", "discussion.comment:create")).headers.location).toBe(
      `${path}?done=tested#activity-title`,
    );
    expect((await send("bucket:me/b", "repo.content:update")).status).toBe(303);
    for (const event of ["repo:move", "repo:delete", "x", "repo.content.new:update", "__proto__:x"])
      expect([400, (await send("org:acme", event)).status]).toEqual([400, 400]);
    expect((await send("nonsense", "repo:update")).status).toBe(400);
    await hub.idle();
    expect((await activityOf(api, id)).map(({ payload }) => payload.repo.name)).toEqual(["me/b", "acme/test"]);
  });

  it.each(["nothing", "%00", "..%2f..", "constructor", "0".repeat(24)])("is not found under %s", async (id) => {
    const { visitor } = await open();
    for (const path of ["", "/edit", "/delete", "/activity/1"]) {
      const { status, type } = await visitor.get(`${SETTINGS}/${id}${path}`);
      expect([status, type]).toEqual([404, "text/html"]);
    }
    expect((await visitor.get("/settings/nothing")).status).toBe(404);
  });
});

describe("the activity", () => {
  it("comes in pages and by state, and each delivery has a page of its own", async () => {
    await using target = await startTarget({ status: 500, body: "no" }, { status: 200, body: '{"ok":1}' });
    const { api, hub, shown, visitor } = await open({ scheduleMs: [] });
    const id = await addWebhook(api, { url: `${target.url}/it's?a=1`, secret: "s3cret" });
    for (let n = 0; n < 22; n++) {
      await publish(api, "repo:update", `model:me/m${n}`);
      if (n === 0) await hub.idle();
    }
    await hub.idle();
    const path = `${SETTINGS}/${id}`;
    const first = await shown(path);
    expect(first.match(/id="delivery-/g)).toHaveLength(20);
    const older = /href="([^"]+)"[^>]*>Older/.exec(first)?.[1]?.replaceAll("&amp;", "&") ?? "";
    expect((await shown(older.split("#")[0] ?? "")).match(/id="delivery-/g)).toHaveLength(2);
    const failed = await shown(`${path}?state=failed`);
    expect(failed.match(/id="delivery-/g)).toHaveLength(1);
    expect(failed).toContain("model:me/m0");
    expect(await shown(`${path}?state=nonsense`)).toContain("model:me/m21");
    expect((await visitor.get(`${path}?cursor=nonsense`)).status).toBeLessThan(500);

    const [delivery] = await activityOf(api, id, "?state=failed");
    const page = await shown(`${path}/activity/${delivery?.id}`);
    for (const part of ["answered 500", ">no</pre>", delivery?.webhookId ?? "", "&quot;me/m0&quot;"])
      expect(page).toContain(part);
    expect(page).toContain("/it&#39;\\&#39;&#39;s?a=1&#39; \\");
    expect(page).toContain("$WEBHOOK_SECRET");
    expect(page).not.toContain("s3cret");
    const raw = await visitor.get(`${path}/activity/${delivery?.id}/payload.json`);
    expect([raw.type, raw.body]).toEqual(["application/json", delivery?.payload]);
  });

  it("shows no secret of an address, but where it is edited", async () => {
    await using target = await startTarget({ status: 200 });
    const { api, hub, shown } = await open();
    const id = await addWebhook(api, { url: `${target.url}/x?secret=s3cret&y=1` });
    await publish(api, "repo:update");
    await hub.idle();
    const [delivery] = await activityOf(api, id);
    const path = `${SETTINGS}/${id}`;
    for (const page of [SETTINGS, path, `${path}/delete`, `${path}/activity/${delivery?.id}`]) {
      const text = await shown(page);
      expect(text).toContain("x?secret=***&amp;y=1");
      expect(text).not.toContain("s3cret");
    }
    expect(await shown(`${path}/edit`)).toContain(`value="${target.url}/x?secret=s3cret&amp;y=1"`);
  });

  it("sends a delivery again and shows what was answered, and of which it is the replay", async () => {
    await using target = await startTarget({ status: 500 }, { status: 200 });
    const { api, hub, shown, visitor } = await open({ scheduleMs: [] });
    const id = await addWebhook(api, { url: target.url });
    await publish(api, "repo:update");
    await hub.idle();
    const [old] = await activityOf(api, id);
    const path = `${SETTINGS}/${id}`;
    const { headers } = await visitor.submit(`${path}/replay/${old?.id}`);
    const [replayed] = await activityOf(api, id);
    expect(headers.location).toBe(`${path}/activity/${replayed?.id}?done=replayed`);
    const page = await shown(headers.location ?? "");
    expect(page).toContain("It was sent again");
    expect(page).toContain(`href="${path}/activity/${old?.id}"`);
    await visitor.submit(`${path}/disable`);
    expect(await shown(`${path}/activity/${old?.id}`)).toContain("enable the webhook first");
    expect((await visitor.submit(`${path}/replay/${old?.id}`)).status).toBe(409);
    expect((await visitor.submit(`${path}/replay/nonsense`)).status).toBe(404);
  });

  it("shows hostile text as text", async () => {
    const script = "</script><script>alert(1)</script>\u202e<img src=x onerror=alert(1)>";
    await using target = await startTarget({ status: 200, body: script });
    const { api, hub, shown } = await open();
    const id = await addWebhook(api, { url: `${target.url}/"><script>alert(1)</script>` });
    await publish(api, "discussion:create", "model:me/m", {
      discussion: { title: script },
      [script]: { [script]: script },
    });
    await hub.idle();
    const [delivery] = await activityOf(api, id);
    for (const path of ["", `/${id}`, `/${id}/edit`, `/${id}/delete`, `/${id}/activity/${delivery?.id}`]) {
      const page = await shown(SETTINGS + path);
      const ours = page.replaceAll(/<script type="module" src="\/settings\/assets\/\w+\.js"><\/script>/g, "");
      expect(ours).not.toMatch(/<script|<img src=x|\u202e/);
    }
  });

  it("bears a payload that is large or deep", async () => {
    await using target = await startTarget({ status: 200 });
    const { api, hub, shown, visitor } = await open();
    const id = await addWebhook(api, { url: target.url });
    let deep: unknown = "the bottom";
    for (let n = 0; n < 500; n++) deep = [deep];
    const large = Array.from({ length: 20_000 }, (_, n) => `number ${n}`);
    await publish(api, "repo:update", "model:me/m", { deep, large, long: "x".repeat(100_000) }).expect(202);
    await hub.idle();
    const [delivery] = await activityOf(api, id);
    const path = `${SETTINGS}/${id}/activity/${delivery?.id}`;
    const page = await shown(path);
    expect(page.length).toBeLessThan(300_000);
    expect(page).toContain("Not all of it is shown here");
    expect(page).toContain("more are in the text");
    const whole = await visitor.get(`${path}/payload.json`);
    expect(whole.body.large).toHaveLength(20_000);
  });
});
