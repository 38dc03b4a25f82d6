import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { documentedEventNames } from "../../src/protocol/events.ts";
import { documentedEvents } from "../../src/protocol/payload.ts";
import { folderWith, hubhook, type Served, serve, spawnHubhook } from "../support/cli.ts";
import { startTarget } from "../support/target.ts";

const OK = { status: 200, headers: { "content-type": "application/json" }, body: '{"message":"training"}' };
const HOOK = "/webhooks/greet";

describe("what hubhook trigger sends", () => {
  it("is a complete payload with the Hub's headers", async () => {
    await using target = await startTarget(OK);
    const args = ["trigger", "repo.content:update", "--repo", "dataset:me/data", "--to", `${target.url}${HOOK}`];
    const { code, stdout, stderr } = await hubhook(args);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^200 OK in [\d.]+ ms from http:\S+\/webhooks\/greet\n\{"message":"training"\}\n$/);
    expect(target.requests).toHaveLength(1);
    const [request] = target.requests;
    expect(request).toMatchObject({ method: "POST", url: HOOK });
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(request?.body ?? "")),
      "user-agent": expect.stringMatching(/^hubhook\/\d+\.\d+\.\d+$/),
      "webhook-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(request?.headers).not.toHaveProperty("x-webhook-secret");
    const payload = JSON.parse(request?.body ?? "");
    expect(documentedEvents["repo.content:update"].parse(payload).repo).toMatchObject({
      type: "dataset",
      name: "me/data",
    });
  });

  it("is told to programs as JSON", async () => {
    await using target = await startTarget(OK, { status: 500, body: "no JSON" });
    const args = ["trigger", "repo:update", "--to", target.url, "--format", "json"];
    const good = await hubhook(args);
    expect([good.code, JSON.parse(good.stdout)]).toEqual([
      0,
      {
        event: "repo:update",
        to: `${target.url}/`,
        deliveryId: target.requests[0]?.headers["webhook-id"],
        status: 200,
        ms: expect.any(Number),
        reply: { message: "training" },
        error: null,
      },
    ]);
    const bad = await hubhook(args);
    expect([bad.code, JSON.parse(bad.stdout)]).toMatchObject([1, { status: 500, reply: "no JSON" }]);
  });

  it("has a new id for each delivery of --count, and is told in sum", async () => {
    await using target = await startTarget(OK);
    const { code, stdout } = await hubhook(["trigger", "repo:update", "--to", target.url, "--count", "50"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^200 × 50\nmedian [\d.]+ ms, p99 [\d.]+ ms from /);
    expect(new Set(target.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(50);
  });

  it("counts what failed apart", async () => {
    await using target = await startTarget(OK, { status: 503 }, "reset", OK);
    const args = ["trigger", "repo:update", "--to", target.url, "--count", "20", "--format", "json"];
    const { code, stdout, stderr } = await hubhook(args);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { count: 20, outcomes: { 200: 18, 503: 1, ECONNRESET: 1 } }]);
    expect(stderr).toContain("2 of 20 deliveries failed; the first: ");
  });
});

describe("the secret", () => {
  const WEBHOOK_SECRET = "s3cret-of-mine";

  it("of the environment goes to this machine", async () => {
    await using target = await startTarget(OK);
    for (const host of ["127.0.0.1", "localhost"])
      await hubhook(["trigger", "repo:update", "--to", `http://${host}:${target.port}`], { env: { WEBHOOK_SECRET } });
    expect(target.requests.map(({ headers }) => headers["x-webhook-secret"])).toEqual([WEBHOOK_SECRET, WEBHOOK_SECRET]);
  });

  it("of the environment goes nowhere else, and that is said", async () => {
    for (const host of ["0.0.0.0", "127.0.0.1.invalid", "localhost.invalid"]) {
      const args = ["trigger", "repo:update", "--to", `http://${host}:1/`];
      const { code, stderr } = await hubhook(args, { env: { WEBHOOK_SECRET } });
      expect(code).toBe(1);
      expect(stderr).toContain(`WEBHOOK_SECRET was not sent, since ${host} is not this machine`);
      expect(stderr).not.toContain(WEBHOOK_SECRET);
    }
  });

  it("given as an option goes where it is told, and wins", async () => {
    await using target = await startTarget(OK);
    const args = ["trigger", "repo:update", "--to", target.url, "--secret", "other"];
    await hubhook(args, { env: { WEBHOOK_SECRET } });
    expect(target.requests[0]?.headers["x-webhook-secret"]).toBe("other");
  });

  it("in an address is sent and never shown", async () => {
    await using target = await startTarget(OK, { status: 403 });
    const args = ["trigger", "repo:update", "--to", `${target.url}/?secret=hidden-one`, "--verbose"];
    for (const run of [await hubhook(args), await hubhook(args)]) {
      expect(run.stdout + run.stderr).not.toContain("hidden-one");
      expect(run.stdout).toContain("/?…");
    }
    expect(target.requests[0]?.url).toBe("/?secret=hidden-one");
  });

  it("that no header can hold is refused", async () => {
    const { code, stderr } = await hubhook(["trigger", "repo:update", "--to", "http://127.0.0.1:1", "--secret", "é x"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("visible ASCII characters only")]);
  });
});

describe("a delivery that fails", () => {
  it.each([
    [401, "wants a secret"],
    [403, "another secret"],
    [404, "no such endpoint"],
    [422, "a failed delivery"],
    [500, "a failed delivery"],
  ])("by %i ends with code 1 and a word on what to do", async (status, sentence) => {
    await using target = await startTarget({ status, body: '{"error":"the reply"}' });
    const { code, stdout, stderr } = await hubhook(["trigger", "repo:update", "--to", target.url]);
    expect(code).toBe(1);
    expect(stdout).toContain('{"error":"the reply"}');
    expect(stderr).toContain(sentence);
    expect(stderr).toContain(`answered ${status}`);
  });

  it("by a redirect is not followed", async () => {
    await using elsewhere = await startTarget(OK);
    await using target = await startTarget({ status: 307, headers: { location: elsewhere.url } });
    const { code, stderr } = await hubhook(["trigger", "repo:update", "--to", target.url]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`redirects to ${elsewhere.url}, and the Hub does not follow`),
    ]);
    expect(elsewhere.requests).toEqual([]);
  });

  it.each(["reset", "cut"] as const)("by a connection that is %s says so", async (behaviour) => {
    await using target = await startTarget(behaviour);
    const { code, stderr } = await hubhook(["trigger", "repo:update", "--to", target.url]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("the connection was cut")]);
  });

  it("since nothing listens asks whether it is running", async () => {
    const { port } = await startTarget(OK).then(async (target) => {
      await target[Symbol.asyncDispose]();
      return target;
    });
    const { code, stdout, stderr } = await hubhook(["trigger", "repo:update", "--to", `http://127.0.0.1:${port}/`]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(`hubhook: nothing listens on 127.0.0.1:${port}: is it running? Start it by \`npm start\`\n`);
  });

  it("by an answer without end is read up to a limit", async () => {
    await using target = await startTarget("huge");
    const { code, stdout } = await hubhook(["trigger", "repo:update", "--to", target.url]);
    expect(code).toBe(0);
    expect(stdout.length).toBeLessThan(1_001_000);
    expect(stdout).toContain("the rest of the reply was not read");
  });

  it("cannot steer the terminal by its reply", async () => {
    await using target = await startTarget({ status: 500, body: "\u001b[2Jgone\u0007\u009b1m" });
    const { stdout } = await hubhook(["trigger", "repo:update", "--to", target.url]);
    expect(stdout).toContain("[2Jgone1m\n");
    for (const control of ["\u001b", "\u0007", "\u009b"]) expect(stdout).not.toContain(control);
  });

  it("to come is stopped by Ctrl-C with code 130 and no stack", async () => {
    await using target = await startTarget("hang");
    const child = spawnHubhook(["trigger", "repo:update", "--to", target.url]);
    let stderr = "";
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    await target.received(1);
    child.kill("SIGINT");
    expect([await once(child, "close"), stderr]).toEqual([[130, null], ""]);
  });
});

describe("the payload", () => {
  it.each(["repo:move", "discussion.comment:update"] as const)("of %s is complete, and only printed", async (event) => {
    const { code, stdout, stderr } = await hubhook(["trigger", event, "--print"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(documentedEvents[event].safeParse(JSON.parse(stdout)).error).toBeUndefined();
  });

  it("is changed by --set, and what is filled in agrees with it", async () => {
    const sets = ["--set", "discussion.isPullRequest=true", "--set", "discussion.num=7", "--set", "extra.0.deep={}"];
    const { stdout } = await hubhook(["trigger", "discussion:create", "--print", "--format", "json", ...sets]);
    expect(stdout.split("\n")).toHaveLength(2);
    expect(JSON.parse(stdout)).toMatchObject({
      discussion: {
        num: 7,
        changes: { base: "refs/heads/main" },
        url: { web: expect.stringMatching(/discussions\/7$/) },
      },
      extra: [{ deep: {} }],
    });
  });

  it("may be wrong on purpose", async () => {
    const sets = ["repo=null", "event=5", "webhook.version=x"].flatMap((set) => ["--set", set]);
    const { stdout } = await hubhook(["trigger", "repo:update", "--print", ...sets]);
    expect(JSON.parse(stdout)).toMatchObject({ repo: null, event: 5, webhook: { version: "x" } });
  });

  it("of an undocumented narrower scope is made, with a word about it", async () => {
    const { code, stdout, stderr } = await hubhook(["trigger", "repo.config.doi:update", "--print"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).event).toEqual({ scope: "repo.config.doi", action: "update" });
    expect(stderr).toContain("repo.config.doi:update is not documented");
  });

  it("of an unknown event is not made: all events are listed", async () => {
    const { code, stdout, stderr } = await hubhook(["trigger", "repo:updat", "--print"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain('"repo:updat" is no event of the Hub: did you mean repo:update? The events are:');
    for (const name of documentedEventNames) expect(stderr).toContain(`  ${name}\n`);
  });

  it.each([
    [["--repo", "me/data"], "write type:owner/name"],
    [["--set", "title"], "write path=value"],
    [["--to", "localhost:7860/webhooks/x"], "begins with http:// or https://"],
    [["--to", "http://"], "is no address"],
  ])("with %p is refused", async (args, sentence) => {
    const { code, stderr } = await hubhook(["trigger", "repo:update", ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
  });

  it("may be read in part only", async () => {
    const child = spawnHubhook(["trigger", "discussion:create", "--print"]);
    child.stdout.destroy();
    let stderr = "";
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    expect([await once(child, "close"), stderr]).toEqual([[0, null], ""]);
  });
});

describe("without an address, trigger asks the receiver of this machine", () => {
  let two: Served;
  let env: { PORT: string };
  let folder: Awaited<ReturnType<typeof folderWith>>;

  beforeAll(async () => {
    folder = await folderWith({
      "two/a.ts": "export function greet(payload) { return { greets: payload.repo.name }; }",
      "two/b.ts": "export function train() {}",
      "one/a.ts": "export function only() { return 1; }",
    });
    two = await serve(["--handlers", `${folder.path}/two`]);
    env = { PORT: String(two.port) };
  });
  afterAll(async () => {
    await two[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  it("and sends to its only endpoint", async () => {
    await using one = await serve(["--handlers", `${folder.path}/one`]);
    const { code, stdout } = await hubhook(["trigger", "repo:update"], { env: { PORT: String(one.port) } });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^200 OK .*\/webhooks\/only\n1\n$/)]);
  });

  it("and when it has several, says which commands to choose from", async () => {
    const args = ["trigger", "repo:update", "--repo", "model:me/m", "--set", "a=it's", "--secret", "s3cret"];
    const { code, stdout, stderr } = await hubhook(args, { env });
    expect([code, stdout]).toEqual([2, ""]);
    const command = "  hubhook trigger repo:update --repo model:me/m --set 'a=it'\\''s' --to";
    expect(stderr.split("\n").slice(1)).toEqual([`${command} greet`, `${command} train`, ""]);
  });

  it("and takes the name of an endpoint, however it is written", async () => {
    for (const to of ["greet", "/greet", "/webhooks/greet"]) {
      const { code, stdout } = await hubhook(["trigger", "repo:update", "--to", to], { env });
      expect([code, stdout]).toEqual([0, expect.stringContaining('{"greets":"me/my-model"}')]);
    }
    const nothing = await hubhook(["trigger", "repo:update", "--to", "train"], { env });
    expect(nothing.stdout).toMatch(/^204 No Content in [^\n]+\n$/);
  });

  it("and names its endpoints when there is none of that name", async () => {
    const { code, stderr } = await hubhook(["trigger", "repo:update", "--to", "great"], { env });
    expect(code).toBe(2);
    expect(stderr).toContain('no endpoint "great": did you mean greet? Its endpoints are: greet, train');
  });

  it("and says what to do when none answers, or something else does", async () => {
    const none = await hubhook(["trigger", "repo:update"], { env: { PORT: "1" } });
    expect([none.code, none.stderr]).toEqual([
      1,
      expect.stringMatching(/no receiver answers on .*:1: is it running\?/),
    ]);
    for (const behaviour of [{ status: 404 }, { status: 200, body: "<html>" }, { status: 200, body: "{}" }]) {
      await using other = await startTarget(behaviour);
      const wrong = await hubhook(["trigger", "repo:update"], { env: { PORT: String(other.port) } });
      expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("is no hubhook receiver")]);
    }
    await using empty = await startTarget({ status: 200, body: '{"endpoints":[]}' });
    const { code, stderr } = await hubhook(["trigger", "repo:update"], { env: { PORT: String(empty.port) } });
    expect([code, stderr]).toEqual([1, expect.stringContaining("has no endpoint yet")]);
  });

  it("and follows no path that leads elsewhere", async () => {
    const body = JSON.stringify({ endpoints: [{ name: "x", path: "//example.com/steal" }] });
    await using wrong = await startTarget({ status: 200, body });
    const { code, stderr } = await hubhook(["trigger", "repo:update"], { env: { PORT: String(wrong.port) } });
    expect([code, stderr]).toEqual([1, expect.stringContaining("has no endpoint yet")]);
  });
});
