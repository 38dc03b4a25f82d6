/** What `hubhook webhooks` refuses, what hubs refuse it, and whose token goes where. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "@jest/globals";
import { chooseToken } from "../../src/cli/webhooks-hub.ts";
import { loadConfig } from "../../src/config.ts";
import { folderWith, hubhook, spawnHubhook } from "../support/cli.ts";
import { startTestHub } from "../support/hub.ts";
import { type Behaviour, startTarget } from "../support/target.ts";

const NOBODY = { HF_TOKEN_PATH: "/nowhere" };
const URL_A = "https://example.com/webhooks/a";
const at = (url: string) => ({ ...NOBODY, HF_ENDPOINT: url });

describe("wrong words", () => {
  const create = ["create", "--url", URL_A];
  it.each([
    [
      ["create", "--url", URL_A, "--job-id", "68", "--watch", "user:me"],
      "give --url or --job-id, not both, as --url https://",
    ],
    [["create", "--watch", "user:me"], "by --url, or which Job it starts, by --job-id: as --url https://"],
    [create, "say what it watches by --watch type:name: as --url"],
    [[...create, "--watch", "model:"], '--watch "model:": write a name as owner/name behind model:, as model:me/m'],
    [
      [...create, "--watch", "foo:bar"],
      '"foo" is no type: write one of model, dataset, space, user, org, bucket, as dataset:me/data',
    ],
    [[...create, "--watch", "me/data"], "write type:name, as dataset:me/data"],
    [[...create, "--watch", "user:me", "--domain", "all"], '--domain "all": write repo or discussion'],
    [[...create, "--watch", "user:me", "--secret", "schlüssel"], "--secret: use visible ASCII characters only"],
    [[...create, "--watch", "user:me", "--secret", ""], "the secret is empty (is the variable set?)"],
    [[...create, "--watch", "user:me", "--secret"], "pipe it in with --secret-stdin"],
    [[...create, "--watch", "user:me", "--secret", "x", "--secret-stdin"], "give one of the two"],
    [[...create, "--watch", "user:me", "--secrets", "A=1"], "name it by --job-id too"],
    [["create", "--url", "example.com", "--watch", "user:me"], "--url: expected a whole address, as https://"],
    [["update", "65", "--url", URL_A, "--job-id", "68"], "not both"],
    [["update", "65"], "say what to change: --url"],
    [["update", "65", "--watch", "foo:bar"], "as dataset:me/data"],
    [["delete", "65"], "nobody can be asked here: `hubhook webhooks delete 65 --yes` deletes it"],
    [["activity", "65", "--limit", "0"], "Write a number from 1 to 200"],
    [["activity", "65", "--state", "broken"], "Allowed choices are pending"],
    [["ls", "--format", "xml"], "Allowed choices are table, json, quiet"],
    [["ls", "--endpoint", "nowhere"], "is no address of a hub: write it as https://huggingface.co"],
    [
      ["ls", "--endpoint", "http://me:hf_x@127.0.0.1:1"],
      "--endpoint holds a name or a password, and --token is for that",
    ],
    [["ls", "--endpoint", "http://me:hf_x@host:99999"], '"http://***@host:99999" is no address of a hub'],
    [["info", ""], "the id is empty (is the variable set?): `hubhook webhooks ls` lists the ids"],
    [["delete", "", "--yes"], "the id is empty"],
    [["update", "", "--domain", "repo"], "the id is empty"],
    [["enable", "../6b"], '"../6b" is no id'],
    [["replay", "65", "a b"], '"a b" is no id: ids are made of letters and digits'],
    [["replay", "65", ""], "the id is empty"],
    [["ls", "--token", "hf_x y"], "the token of --token is not usable"],
    [["info"], "missing required argument 'id'"],
    [["lst"], "unknown command 'lst': did you mean one of list, ls?"],
  ])("%j are answered by one sentence and exit code 2, and no request", async (args, sentence) => {
    await using target = await startTarget({ status: 200, body: "[]" });
    const { code, stdout, stderr } = await hubhook(["webhooks", ...args, "--verbose"], { env: at(target.url) });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).not.toMatch(/hf_x|schlüssel/);
    expect(target.requests).toEqual([]);
  });

  it("are also a file that is no secret, and is not read to its end", async () => {
    await using target = await startTarget({ status: 200, body: "[]" });
    const child = spawnHubhook(["webhooks", ...create, "--watch", "user:me", "--secret-stdin"], {
      env: at(target.url),
    });
    // Standard input that never ends.
    child.stdin.on("error", () => {}).write("x".repeat(200_000));
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    expect([code, stderr]).toEqual([2, "hubhook: --secret: a secret may have at most 4096 characters\n"]);
    expect(target.requests).toEqual([]);
  });

  it.each([[[]], [["create"]], [["activity"]]])("webhooks %j --help shows examples", async (args) => {
    const { code, stdout } = await hubhook(["webhooks", ...args, "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("$ hubhook webhooks");
    expect(stdout).toContain("--endpoint");
  });
});

describe("the hub that is asked", () => {
  it("learns whose token it is, and --verbose tells", async () => {
    await using home = await folderWith({ token: "hf_stored\n" });
    const users = ["alice", "bob"].map((name) => ({ name, token: `hf_${name}` }));
    const test = await startTestHub({ users: [...users, { name: "carol", token: "hf_stored" }] });
    const said = async (env: Record<string, string>, ...args: string[]) => {
      const { stdout, stderr } = await hubhook(["webhooks", "ls", "--format", "json", "--verbose", ...args], { env });
      expect(stdout + stderr).not.toMatch(/hf_(alice|bob|stored)/);
      return stderr.trim();
    };
    const hub = at(test.hub.url);
    expect(await said({ ...hub, HF_TOKEN: "hf_alice" })).toBe(`As alice on ${test.hub.url} (token: from HF_TOKEN)`);
    expect(await said({ ...hub, HF_TOKEN: "hf_alice" }, "--token", "hf_bob")).toContain("As bob on");
    const stored = { HF_ENDPOINT: test.hub.url, HF_HOME: home.path };
    expect(await said(stored)).toBe(`As carol on ${test.hub.url} (token: from ${home.path}/token)`);
    // Made for another hub: it does not go to this one.
    const elsewhere = { HF_HOME: home.path };
    expect(await said(elsewhere, "--endpoint", test.hub.url)).toContain(
      "it has tokens of its own: give one by --token",
    );
  });

  it("gets any word where it has no tokens", async () => {
    const test = await startTestHub();
    const { stderr } = await hubhook(["webhooks", "ls", "--verbose", "--format", "json"], { env: at(test.hub.url) });
    expect(stderr).toBe(`As me on ${test.hub.url} (token: none was found, and none is needed)\n`);
  });

  it.each<[string, Behaviour, string]>([
    [
      "another token",
      { status: 401, body: '{"error":"Invalid"}' },
      "did not take the token: the one of HF_TOKEN is not known",
    ],
    [
      "more rights",
      { status: 403, body: '{"error":"Forbidden: write"}' },
      "(Forbidden: write): give the token the right to manage webhooks at",
    ],
    [
      "a web page",
      { status: 200, headers: { "content-type": "text/html" }, body: "<html>" },
      "answered 200 with a web page: is http",
    ],
    [
      "another name",
      {
        status: 403,
        body: '{"error":"not under the name \\"x\\": HUB_ALLOW_HOSTS can name it","code":"host_unknown"}',
      },
      'the hub refused this: not under the name "x": HUB_ALLOW_HOSTS can name it',
    ],
    ["a mistake", { status: 400, body: '{"error":"watched: too many"}' }, "the hub refused this: watched: too many"],
    ["patience", { status: 429, headers: { "retry-after": "99" }, body: "{}" }, "(try again in 99 s)"],
    ["nobody", { status: 501, headers: { "x-request-id": "Root=1-a" } }, "501 Not Implemented (request id Root=1-a)"],
  ])("may answer with the wish for %s", async (_, answer, sentence) => {
    await using target = await startTarget(answer);
    const { code, stdout, stderr } = await hubhook(["webhooks", "ls"], {
      env: { ...at(target.url), HF_TOKEN: "hf_x" },
    });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toContain("hf_x");
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  it("may not be there, or be one that nobody has a token for", async () => {
    const gone = await hubhook(["webhooks", "ls"], { env: at("http://127.0.0.1:1") });
    expect([gone.code, gone.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^hubhook: http:\/\/127\.0\.0\.1:1 cannot be reached: .*\. Start one by `hubhook hub`, or name another hub/,
      ),
    ]);
    const none = await hubhook(["webhooks", "ls"], { env: NOBODY });
    expect([none.code, none.stderr]).toEqual([
      1,
      "hubhook: there is no token for https://huggingface.co: log in by `hf auth login`, set HF_TOKEN, or give one by --token\n",
    ]);
  });

  it("is said to be unusable under the name of the variable that names it", async () => {
    const { code, stderr } = await hubhook(["webhooks", "ls"], { env: at("http://me:hf_x@127.0.0.1:1") });
    expect([code, stderr]).toEqual([2, expect.stringContaining("HF_ENDPOINT holds a name or a password")]);
    expect(stderr).not.toContain("hf_x");
  });

  const onLinux = process.platform === "linux" ? it : it.skip;
  onLinux("is waited for without showing secrets in the list of processes", async () => {
    await using target = await startTarget("hang");
    const args = ["webhooks", "create", "--url", URL_A, "--watch", "user:me", "--secret", "s3cret", "--token", "hf_x"];
    const child = spawnHubhook(args, { env: at(target.url) });
    const closed = once(child, "close");
    await target.received(1);
    const words = await readFile(`/proc/${child.pid}/cmdline`, "utf8");
    child.kill("SIGINT");
    await closed;
    expect(words.replaceAll("\0", "")).toBe("hubhook webhooks");
  });

  it("is no longer waited for after Ctrl-C", async () => {
    await using target = await startTarget("hang");
    const child = spawnHubhook(["webhooks", "ls"], { env: at(target.url) });
    const closed = once(child, "close");
    await target.received(1);
    child.kill("SIGINT");
    expect((await closed)[0]).toBe(130);
  });
});

describe("which token goes where", () => {
  const REAL = "https://huggingface.co";
  const LOCAL = "http://127.0.0.1:7861";
  const stored = { token: "hf_stored", tokenFile: "/home/me/token" };
  const env = { token: "hf_env", tokenFile: null };
  const none = { token: null, tokenFile: null };
  it.each<[string, string, object, string | undefined, Record<string, string>, object]>([
    ["--token goes anywhere", "https://hub.example", stored, "hf_given", {}, { token: "hf_given", from: "--token" }],
    ["HF_TOKEN goes where one says", "https://hub.example", env, undefined, {}, { token: "hf_env", from: "HF_TOKEN" }],
    [
      "the stored one to the Hub",
      REAL,
      stored,
      undefined,
      {},
      { token: "hf_stored", from: "stored", file: "/home/me/token" },
    ],
    [
      "the embedded hub gets its own",
      LOCAL,
      stored,
      undefined,
      { HUB_TOKEN: "hf_own" },
      { token: "hf_own", from: "HUB_TOKEN" },
    ],
    [
      "another local one gets none",
      "http://localhost:1",
      stored,
      undefined,
      { HUB_TOKEN: "hf_own" },
      { token: "any", from: "nowhere" },
    ],
    ["nor does the embedded one without", LOCAL, none, undefined, {}, { token: "any", from: "nowhere" }],
  ])("%s", (_, hub, found, given, variables, chosen) => {
    const { embeddedHub } = loadConfig({ ...NOBODY, ...variables });
    const config = { hub: { endpoint: REAL, ...(found as typeof none) }, embeddedHub };
    expect(chooseToken(new URL(hub), given, config)).toEqual(chosen);
  });

  it("the stored one to no other hub", () => {
    const { embeddedHub } = loadConfig(NOBODY);
    const config = { hub: { endpoint: REAL, ...stored }, embeddedHub };
    expect(() => chooseToken(new URL("https://hub.example"), undefined, config)).toThrow(
      "the stored token is for https://huggingface.co and does not go to https://hub.example",
    );
  });
});
