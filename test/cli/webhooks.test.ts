import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "@jest/globals";
import { atTerminal, onTerminal } from "../support/at-terminal.ts";
import { hubhook } from "../support/cli.ts";
import { activityOf, addWebhook, publish, startTestHub, type TestHub, WEBHOOKS } from "../support/hub.ts";
import { type Behaviour, startTarget } from "../support/target.ts";

const NOBODY = { HF_TOKEN_PATH: "/nowhere" };
const SECRET = "s3cret-of-the-receiver";
const URL_A = "https://example.com/webhooks/a";

const at = (url: string) => ({ ...NOBODY, HF_ENDPOINT: url });
const run = ({ hub }: TestHub, args: string[], more: { env?: Record<string, string>; input?: string } = {}) =>
  hubhook(["webhooks", ...args], { ...more, env: { ...at(hub.url), ...more.env } });
const webhooksOf = async ({ api }: TestHub) => (await api.get(WEBHOOKS).expect(200)).body;
/** Ids and addresses of this run, as they are the same in every run. */
const steady = (text: string, ids: string[]) =>
  ids
    .reduce((sum, id, index) => sum.replaceAll(id, `id${index}`.padEnd(24, "_")), text)
    .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT");

describe("hubhook webhooks ls", () => {
  const withTwo = async () => {
    const test = await startTestHub();
    const watched = [
      { type: "dataset", name: "me/a-dataset-with-a-long-name" },
      { type: "org", name: "acme" },
    ];
    const url = "https://me-hubhook.hf.space/webhooks/trigger_training?secret=in-the-address";
    const ids = [
      await addWebhook(test.api, { url, watched, secret: SECRET }),
      await addWebhook(test.api, { url: URL_A }),
    ];
    await run(test, ["disable", ids[1] ?? ""]);
    return { ...test, ids };
  };

  it("is a table, as wide as it needs to be in a pipe", async () => {
    const { ids, ...test } = await withTwo();
    const { code, stdout, stderr } = await run(test, ["ls"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(steady(stdout, ids).split("\n")).toEqual([
      `ID                        STATUS    ${"URL OR JOB".padEnd(64)}  ${"WATCHED".padEnd(47)}  DOMAINS`,
      "id0_____________________  enabled   https://me-hubhook.hf.space/webhooks/trigger_training?secret=***  dataset:me/a-dataset-with-a-long-name, org:acme  repo, discussion",
      `id1_____________________  disabled  ${URL_A.padEnd(64)}  ${"user:me".padEnd(47)}  repo, discussion`,
      "",
    ]);
  });

  onTerminal("fits a terminal of 80 columns, in colour", async () => {
    const { ids, ...test } = await withTwo();
    const { screen, code } = await atTerminal(["webhooks", "ls"], { env: at(test.hub.url) });
    expect(code).toBe(0);
    expect(screen).toContain("\u001b[32menabled");
    expect(steady(stripVTControlCharacters(screen), ids).split("\n")).toEqual([
      "ID                        STATUS    URL OR JOB        WATCHED       DOMAINS",
      "id0_____________________  enabled   https://me-hubh…  dataset:me/…  repo, discu…",
      "id1_____________________  disabled  https://example…  user:me       repo, discu…",
      "",
    ]);
  });

  it("is told to programs as a list, and as bare ids", async () => {
    const { ids, ...test } = await withTwo();
    const { stdout } = await run(test, ["list", "--format", "json"]);
    expect(JSON.parse(stdout)).toEqual([
      {
        id: ids[0],
        url: "https://me-hubhook.hf.space/webhooks/trigger_training?secret=***",
        job: null,
        watched: [
          { type: "dataset", name: "me/a-dataset-with-a-long-name" },
          { type: "org", name: "acme" },
        ],
        domains: ["repo", "discussion"],
        disabled: false,
        status: "enabled",
        hasSecret: true,
        failures: 0,
        quota: { limit: 1000, used: 0, over: 0 },
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
      expect.objectContaining({ id: ids[1], disabled: true, status: "disabled", disabledAt: expect.any(String) }),
    ]);
    expect(stdout).not.toMatch(/in-the-address|s3cret/);
    expect((await run(test, ["ls", "--format", "quiet"])).stdout).toBe(`${ids.join("\n")}\n`);
  });

  it("says what to do when there is none", async () => {
    const test = await startTestHub();
    const create = "`hubhook webhooks create --url https://example.com/webhooks/retrain --watch dataset:me/data`";
    const sentence = `No webhooks on ${test.hub.url} yet: ${create} makes one.\n`;
    expect(await run(test, ["ls"])).toEqual({ code: 0, stdout: "", stderr: sentence });
    expect(await run(test, ["ls", "--format", "json"])).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
    const there = await hubhook(["webhooks", "ls", "--endpoint", test.hub.url], { env: NOBODY });
    expect(there.stderr).toContain(`dataset:me/data --endpoint ${test.hub.url}\` makes one`);
  });

  it("does not let a hub steer the terminal", async () => {
    const evil = "\u001b]0;title\u0007\u001b[2J\u009b2J\u007f\u200fevil\u202e";
    const webhook = { id: evil, url: `https://x/${evil}`, watched: [{ type: evil, name: evil }], domains: [evil] };
    await using target = await startTarget({
      status: 200,
      body: JSON.stringify([{ ...webhook, disabledReason: evil }]),
    });
    await using one = await startTarget({ status: 200, body: JSON.stringify({ webhook }) });
    const shown = [
      await hubhook(["webhooks", "ls"], { env: at(target.url) }),
      await hubhook(["webhooks", "ls", "--format", "quiet"], { env: at(target.url) }),
      await hubhook(["webhooks", "ls", "--format", "json"], { env: at(target.url) }),
      await hubhook(["webhooks", "info", "0123456789abcdef01234567"], { env: at(one.url) }),
      await hubhook(["webhooks", "enable", "0123456789abcdef01234567"], { env: at(one.url) }),
    ];
    for (const { stdout, stderr } of shown) {
      expect(stdout).toContain("evil");
      expect((stdout + stderr).replace(/[^\p{Cc}\p{Cf}]|\n/gu, "")).toBe("");
    }
  });
});

describe("hubhook webhooks info", () => {
  it("shows all but the secret", async () => {
    await using target = await startTarget({ status: 500 });
    const test = await startTestHub({ suspendFailures: 1, suspendAfterMs: 0, scheduleMs: [] });
    const watched = [
      { type: "user", name: "me" },
      { type: "org", name: "acme" },
    ];
    const id = await addWebhook(test.api, { url: `${target.url}/x`, watched, secret: SECRET, domains: ["repo"] });
    await publish(test.api, "repo:update").expect(202);
    await test.hub.idle();
    const { code, stdout, stderr } = await run(test, ["info", id]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(steady(stdout, [id]).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")).toBe(
      [
        "Id           id0_____________________",
        "Status       suspended",
        "Reason       1 attempts in a row failed since TIME; the last one: answered 500",
        "Since        TIME",
        "URL          http://127.0.0.1:PORT/x",
        "Watched      user:me",
        "             org:acme",
        "Domains      repo",
        "Secret       yes (never shown)",
        "Quota        1 of 1000 deliveries in 24 hours",
        "Failures     1 in a row",
        "Created      TIME",
        "Updated      TIME",
        "",
      ].join("\n"),
    );
    const json = await run(test, ["info", id.slice(0, 6), "--format", "json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ id, hasSecret: true, status: "suspended" });
    expect(stdout + json.stdout).not.toContain(SECRET);
  });

  it("shows a Job", async () => {
    const test = await startTestHub({ jobs: "process" });
    const { body } = await test.api.post("/api/jobs/me", {
      dockerImage: "alpine",
      command: ["true"],
      flavor: "cpu-basic",
      timeoutSeconds: 60,
    });
    const args = [
      "create",
      "--job-id",
      body.id,
      "--watch",
      "user:me",
      "--secrets",
      "TOKEN=hidden",
      "--secrets",
      "HERE",
    ];
    const made = await run(test, [...args, "--format", "quiet"], { env: { HERE: "hidden" } });
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const { stdout } = await run(test, ["info", made.stdout.trim()]);
    expect(stdout).toMatch(/^Job +alpine true\nFlavor +cpu-basic\nTime limit +60 s\nJob secrets +TOKEN, HERE\n/m);
    expect(stdout).not.toContain("hidden");
    expect((await run(test, ["ls"])).stdout).toContain("Job: alpine true");
  });
});

describe("an id", () => {
  it("may be given by how it begins, where only one begins so", async () => {
    const test = await startTestHub();
    const ids = [await addWebhook(test.api, { url: URL_A }), await addWebhook(test.api, { url: `${URL_A}2` })];
    const [one = "", two = ""] = ids;
    let same = 0;
    while (one[same] === two[same]) same++;
    const found = await run(test, ["disable", two.slice(0, same + 1).toUpperCase(), "--format", "quiet"]);
    expect(found).toEqual({ code: 0, stdout: `${two}\n`, stderr: "" });
    const several = await run(test, ["delete", one.slice(0, same), "--yes"]);
    expect(several).toMatchObject({ code: 1, stdout: "" });
    expect(several.stderr).toBe(
      `hubhook: several webhooks begin with ${one.slice(0, same)}: write more of the id that is meant\n` +
        `  ${one}  ${URL_A} watches user:me\n  ${two}  ${URL_A}2 watches user:me\n`,
    );
    expect(await webhooksOf(test)).toHaveLength(2);
  });

  it.each(["zz", "0123456789abcdef01234567"])("%s may be none", async (id) => {
    const { code, stdout, stderr } = await run(await startTestHub(), ["info", id]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(
      /^hubhook: (no webhook's id is|there is no webhook) .*`hubhook webhooks ls` lists the ids\n$/,
    );
  });
});

describe("hubhook webhooks create", () => {
  it("makes a webhook and says so", async () => {
    const test = await startTestHub();
    const args = ["create", "--url", URL_A, "--watch", "dataset:me/data", "--watch", "org:acme"];
    const { code, stdout, stderr } = await run(test, [...args, "--domain", "discussions", "--secret", SECRET]);
    const [made] = await webhooksOf(test);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(`✓ Webhook ${made.id} is made: ${URL_A} watches dataset:me/data, org:acme\n`);
    expect(made).toMatchObject({ url: URL_A, domains: ["discussion"], hasSecret: true });
    const json = await run(test, [...args, "--format", "json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ url: URL_A, hasSecret: false, domains: ["repo", "discussion"] });
    expect((await run(test, [...args, "--format", "quiet"])).stdout).toMatch(/^[0-9a-f]{24}\n$/);
  });

  it("reads the secret from standard input", async () => {
    await using target = await startTarget({ status: 200 });
    const test = await startTestHub();
    const args = ["create", "--url", target.url, "--watch", "user:me", "--secret-stdin"];
    const made = await run(test, args, { input: `${SECRET}\n` });
    expect(made).toMatchObject({ code: 0, stderr: "" });
    await publish(test.api, "repo:update");
    await target.received(1);
    expect(target.requests[0]?.headers["x-webhook-secret"]).toBe(SECRET);
  });

  onTerminal.each<[string, string, number, boolean]>([
    ["a secret", `${SECRET}\n`, 0, true],
    ["nothing", "\n", 1, false],
    ["Ctrl-C", "\u0003", 1, false],
  ])("asks for the secret at a terminal, and does not show it: %s", async (_, answer, code, made) => {
    const test = await startTestHub();
    const args = ["webhooks", "create", "--url", URL_A, "--watch", "user:me", "--secret"];
    const ended = await atTerminal(args, { env: at(test.hub.url), answers: [["not shown", answer]] });
    expect(ended.code).toBe(code);
    expect(ended.screen).not.toContain(SECRET);
    expect((await webhooksOf(test)).map(({ hasSecret }: { hasSecret: boolean }) => hasSecret)).toEqual(
      made ? [true] : [],
    );
    if (!made) expect(ended.screen).toContain("no secret was typed: nothing was changed");
  });
});

describe("hubhook webhooks update, enable, disable", () => {
  it.each<[string[], object]>([
    [["--url", `${URL_A}2`], { url: `${URL_A}2` }],
    [
      ["--watch", "bucket:me/files", "--watch", "space:me/app"],
      {
        watched: [
          { type: "bucket", name: "me/files" },
          { type: "space", name: "me/app" },
        ],
      },
    ],
    [["--domain", "repo"], { domains: ["repo"] }],
    [["--secret", "other"], { hasSecret: true }],
    [["--no-secret"], { hasSecret: false }],
  ])("%j changes that and nothing else", async (flags, changed) => {
    const test = await startTestHub();
    const id = await addWebhook(test.api, { url: URL_A, secret: SECRET });
    const [before] = await webhooksOf(test);
    const { code, stdout, stderr } = await run(test, ["update", id, ...flags]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`✓ Webhook ${id} is changed`);
    expect(await webhooksOf(test)).toEqual([{ ...before, updatedAt: expect.any(String), ...changed }]);
  });

  it("switches off and on", async () => {
    const test = await startTestHub();
    const id = await addWebhook(test.api, { url: URL_A });
    expect((await run(test, ["disable", id])).stdout).toContain("is disabled");
    expect(await webhooksOf(test)).toMatchObject([{ disabled: true }]);
    expect(JSON.parse((await run(test, ["enable", id, "--format", "json"])).stdout)).toMatchObject({
      status: "enabled",
    });
  });
});

describe("hubhook webhooks delete", () => {
  it("does as it is told by --yes", async () => {
    const test = await startTestHub();
    const ids = [await addWebhook(test.api, { url: URL_A }), await addWebhook(test.api, { url: URL_A })];
    const [one = "", two = ""] = ids;
    expect(await run(test, ["delete", one, "-y"])).toEqual({
      code: 0,
      stdout: `✓ Webhook ${one} is deleted\n`,
      stderr: "",
    });
    const json = await run(test, ["delete", two, "--yes", "--format", "json"]);
    expect(JSON.parse(json.stdout)).toEqual({ id: two, deleted: true });
    expect(await webhooksOf(test)).toEqual([]);
  });

  onTerminal.each([
    ["y\n", 0],
    ["n\n", 1],
    ["\u0003", 1],
  ])("asks at a terminal, and %j is an answer", async (answer, code) => {
    const test = await startTestHub();
    const id = await addWebhook(test.api, { url: URL_A });
    const ended = await atTerminal(["webhooks", "delete", id.slice(0, 8)], {
      env: at(test.hub.url),
      answers: [["[y/N]", answer]],
    });
    expect(ended.screen).toContain(`Delete webhook ${id} (${URL_A} watches user:me) on ${test.hub.url}?`);
    expect(ended.code).toBe(code);
    if (code > 0) expect(stripVTControlCharacters(ended.screen)).toMatch(/\nhubhook: nothing was deleted\n$/);
    expect(await webhooksOf(test)).toHaveLength(code);
  });
});

describe("hubhook webhooks activity, replay, test", () => {
  const withTarget = async (...script: [Behaviour, ...Behaviour[]]) => {
    const target = await startTarget(...script);
    const test = await startTestHub({ scheduleMs: [] });
    const id = await addWebhook(test.api, { url: target.url, watched: [{ type: "dataset", name: "me/data" }] });
    return { ...test, target, id, [Symbol.asyncDispose]: () => target[Symbol.asyncDispose]() };
  };

  it("lists what was sent and answered", async () => {
    await using test = await withTarget({ status: 200 }, { status: 500 });
    const { id } = test;
    for (const _ of [1, 2]) await publish(test.api, "repo:update", "dataset:me/data").expect(202);
    await test.hub.idle();
    const { code, stdout, stderr } = await run(test, ["activity", id]);
    expect([code, stderr]).toEqual([0, ""]);
    const [head, first, second] = stdout.split("\n");
    expect(head).toMatch(/^ID +STATE +EVENT +REPO +TRIES +ANSWER +AGE$/);
    expect(first).toMatch(/ failed +repo:update +dataset:me\/data +1 +500 +(now|\d+ s)$/);
    expect(second).toMatch(/ succeeded +repo:update +dataset:me\/data +1 +200 +(now|\d+ s)$/);
    const all = (await activityOf(test.api, id)).map((delivery) => delivery.id);
    expect((await run(test, ["activity", id, "--format", "quiet"])).stdout).toBe(`${all.join("\n")}\n`);
    expect((await run(test, ["activity", id, "--state", "failed", "--format", "quiet"])).stdout).toBe(`${all[0]}\n`);
    const json = JSON.parse((await run(test, ["activity", id, "--since", "1h", "--format", "json"])).stdout);
    expect(json).toMatchObject([
      { id: all[0], attempts: [{ status: 500 }], payload: { webhook: { id } } },
      { id: all[1] },
    ]);
    expect((await run(test, ["activity", id, "--limit", "1"])).stderr).toContain("--limit 5 shows more");
    expect((await run(test, ["activity", id, "--state", "pending"])).stderr).toContain("leave out an option");
  });

  it("says how to see something where nothing was sent", async () => {
    await using test = await withTarget({ status: 200 });
    const { stderr } = await run(test, ["activity", test.id]);
    expect(stderr).toBe(`Nothing was sent yet: \`hubhook webhooks test ${test.id}\` sends something.\n`);
  });

  it("sends an old one again", async () => {
    await using test = await withTarget({ status: 200 }, { status: 200 }, { status: 503 });
    const { id } = test;
    await publish(test.api, "repo:update", "dataset:me/data").expect(202);
    await test.hub.idle();
    const [old] = await activityOf(test.api, id);
    const good = await run(test, ["replay", id, old?.id ?? ""]);
    expect(good).toEqual({ code: 0, stdout: "200 from the receiver\n", stderr: "" });
    const bad = await run(test, ["replay", id, old?.id ?? "", "--format", "json"]);
    expect([bad.code, JSON.parse(bad.stdout).status]).toEqual([1, 503]);
    expect(bad.stderr).toContain("the replay did not succeed");
    const gone = await run(test, ["activity", "0123456789abcdef01234567"]);
    expect(gone.stderr).toContain("there is no webhook 0123456789abcdef01234567: `hubhook webhooks ls` lists the ids");
    const none = await run(test, ["replay", id, "01abcdefghi"]);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("has no delivery 01abcdefghi")]);
  });

  it("tests a webhook, and shows the receiver's answer", async () => {
    await using test = await withTarget({ status: 200, body: "thanks" }, { status: 500 });
    const { id, target } = test;
    const good = await run(test, ["test", id]);
    expect([good.code, good.stderr]).toEqual([0, ""]);
    expect(good.stdout).toMatch(
      /^repo\.content:update of dataset:me\/data went to http:\/\/127.*\n200 in [\d.]+ m?s \(delivery [0-9a-v]{11}\)\nthanks\n$/,
    );
    expect(JSON.parse(target.requests[0]?.body ?? "")).toMatchObject({ repo: { name: "me/data" }, webhook: { id } });
    const bad = await run(test, ["test", id, "--format", "json"]);
    expect([bad.code, JSON.parse(bad.stdout)]).toMatchObject([1, { state: "failed", attempts: [{ status: 500 }] }]);
    expect(bad.stderr).toContain("the test did not succeed");
  });

  it.each<[string, object, string]>([
    ["a user", { watched: [{ type: "user", name: "me" }] }, "repo.content:update of model:me/hubhook-test"],
    ["a bucket", { watched: [{ type: "bucket", name: "me/b" }] }, "repo.content:update of bucket:me/b"],
    ["discussions", { domains: ["discussion"] }, "discussion:create of dataset:me/data"],
  ])("tests one that watches %s", async (_, webhook, line) => {
    await using test = await withTarget({ status: 200 });
    const id = await addWebhook(test.api, {
      url: test.target.url,
      watched: [{ type: "dataset", name: "me/data" }],
      ...webhook,
    });
    const { code, stdout } = await run(test, ["test", id]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(line)]);
  });

  it("says which others got the event too, and tests none that is disabled", async () => {
    await using test = await withTarget({ status: 200 });
    const other = await addWebhook(test.api, { url: test.target.url });
    expect((await run(test, ["test", test.id])).stderr).toContain("1 more of the hub's webhooks");
    await run(test, ["disable", other]);
    const { code, stderr } = await run(test, ["test", other]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`is disabled, so nothing is sent: \`hubhook webhooks enable ${other}`),
    ]);
  });

  it("says on another hub where to look and what to do", async () => {
    const id = "654bbbc16f2ec14d77f109cc";
    const webhook = {
      id,
      url: URL_A,
      watched: [{ type: "dataset", name: "me/data" }],
      domains: ["repo"],
      disabled: false,
    };
    const page = { status: 404, headers: { "content-type": "text/html" }, body: "<!doctype html>" };
    const known = { status: 200, body: JSON.stringify({ webhook }) };
    await using hub = await startTarget(known, page, page, known);
    const tested = await hubhook(["webhooks", "test", id], { env: at(hub.url) });
    expect([tested.code, tested.stdout]).toEqual([1, ""]);
    expect(tested.stderr).toContain(`press Replay beside an old delivery on ${hub.url}/settings/webhooks/${id}`);
    expect(tested.stderr).toContain(
      `hubhook trigger repo.content:update --repo dataset:me/data --to ${URL_A} --secret …`,
    );
    const activity = await hubhook(["webhooks", "activity", id], { env: at(hub.url) });
    expect([activity.code, activity.stderr]).toEqual([
      1,
      expect.stringContaining(`${hub.url}/settings/webhooks/${id}`),
    ]);
  });
});
