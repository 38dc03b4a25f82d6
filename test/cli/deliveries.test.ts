import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { PermanentError } from "../../src/errors.ts";
import { type BackgroundReceiver, pushTo, startBackground } from "../support/background.ts";
import { hubhook } from "../support/cli.ts";
import { startTarget } from "../support/target.ts";

const SECRET = "open-sesame";

/** Fails for good on repos whose name holds `bad`. */
const handlers = {
  train: (payload: { repo: { name?: string } }, { log }: { log: { info(message: string, fields?: object): void } }) => {
    log.info("training started", { repo: payload.repo.name });
    if (payload.repo.name?.includes("bad")) throw new PermanentError("the cluster is full");
    return { job: "train-42" };
  },
  greet: () => undefined,
};

async function receiverWith(names: string[], env = {}): Promise<BackgroundReceiver & { ids: string[] }> {
  const receiver = await startBackground(handlers, env);
  const ids: string[] = [];
  for (const name of names) ids.push(await receiver.send("train", pushTo(`me/${name}`)));
  await receiver.idle();
  return { ...receiver, ids };
}

const run = (receiver: BackgroundReceiver, ...args: string[]) =>
  hubhook(["deliveries", ...args], { env: { PORT: String(receiver.port) } });

async function listed(receiver: BackgroundReceiver): Promise<{ state: string; replayOf?: string; id: string }[]> {
  return JSON.parse((await run(receiver, "ls", "--format", "json")).stdout);
}

describe("hubhook deliveries ls", () => {
  it("lists the newest first as a table", async () => {
    const receiver = await receiverWith(["one", "bad-two"]);
    const { code, stdout, stderr } = await run(receiver, "ls");
    expect([code, stderr]).toEqual([0, ""]);
    const [head, first, second, ...rest] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^ID +STATE +ENDPOINT +EVENT +REPO +TRIES +AGE +ERROR$/);
    expect(first).toMatch(
      / failed +train +repo\.content:update +dataset:me\/bad-two +1 +(now|\d+ s) +the cluster is full$/,
    );
    expect(second).toMatch(/ succeeded +train +repo\.content:update +dataset:me\/one +1 +(now|\d+ s)$/);
    expect(rest).toEqual([]);
  });

  it("is told to programs as a list, and as bare ids", async () => {
    const { ids, ...receiver } = await receiverWith(["one", "bad-two"]);
    const json = await run(receiver, "ls", "--format", "json");
    expect(json.stdout.split("\n")).toHaveLength(2);
    expect(JSON.parse(json.stdout)).toEqual([
      expect.objectContaining({ id: ids[1], state: "failed", endpoint: "train", error: "the cluster is full" }),
      expect.objectContaining({ id: ids[0], state: "succeeded", repo: "dataset:me/one", attemptsMade: 1 }),
    ]);
    expect((await run(receiver, "ls", "--format", "quiet")).stdout).toBe(`${ids[1]}\n${ids[0]}\n`);
  });

  it("is narrowed by state, endpoint, repo and time", async () => {
    const { ids, ...receiver } = await receiverWith(["one", "bad-two"]);
    const ls = async (...args: string[]) =>
      (await run(receiver, "ls", "--format", "quiet", ...args)).stdout.trim().split("\n").filter(Boolean);
    expect(await ls("--state", "failed")).toEqual([ids[1]]);
    expect(await ls("--endpoint", "greet")).toEqual([]);
    expect(await ls("--repo", "dataset:me/one")).toEqual([ids[0]]);
    expect(await ls("--repo", "*:me/*")).toEqual([ids[1], ids[0]]);
    expect(await ls("--since", "2h")).toEqual([ids[1], ids[0]]);
    expect(await ls("--until", "30m")).toEqual([]);
    expect(await ls("--until", "2020-01-01T00:00:00Z")).toEqual([]);
    expect(await ls("--since", "2020-01-01")).toEqual([ids[1], ids[0]]);
  });

  it("goes on over as many pages as the limit takes, and says when there are more", async () => {
    const receiver = await startBackground();
    await receiver.sendMany("train", 1_203, (index) => pushTo(`me/${index}`));
    await receiver.idle();
    const all = await run(receiver, "ls", "--limit", "5000", "--format", "quiet");
    expect(new Set(all.stdout.trim().split("\n")).size).toBe(1_203);
    const some = await run(receiver, "ls", "--limit", "501");
    expect(some.stdout.trimEnd().split("\n")).toHaveLength(502);
    expect(some.stderr).toBe("There are older ones: --limit 5010 shows more.\n");
  });

  it("says what to do when there is nothing", async () => {
    const empty = await receiverWith([]);
    expect(await run(empty, "ls")).toEqual({
      code: 0,
      stdout: "",
      stderr: "No deliveries yet: `hubhook trigger repo.content:update` sends one.\n",
    });
    expect((await run(empty, "ls", "--state", "failed")).stderr).toContain("No delivery matches");
    expect((await run(empty, "ls", "--format", "json")).stdout).toBe("[]\n");
    const none = await startBackground({ reply: { options: { mode: "reply" }, handler: () => undefined } });
    expect((await run(none, "ls")).stderr).toContain("No handler runs in the background");
  });

  it("does not let a payload steer the terminal", async () => {
    const receiver = await startBackground();
    const name = "\u001b]0;title\u0007\u001b[2Jevil\nnext\u202e";
    const id = await receiver.send("train", { event: { action: name }, repo: { type: "model", name }, text: name });
    await receiver.idle();
    for (const args of [["ls"], ["info", id]]) {
      const { stdout } = await run(receiver, ...args);
      expect(stdout.replace(/[^\p{Cc}\p{Cf}]|\n/gu, "")).toBe("");
    }
  });
});

describe("hubhook deliveries info", () => {
  it("shows a delivery with its attempts, what they logged, and its payload", async () => {
    const { ids, ...receiver } = await receiverWith(["bad-one"]);
    const { code, stdout, stderr } = await run(receiver, "info", ids[0] ?? "");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^failed repo\.content:update dataset:me\/bad-one\n/);
    expect(stdout).toMatch(new RegExp(`^Id +${ids[0]}$`, "m"));
    expect(stdout).toMatch(/^Attempt 1 failed in \d+ ms .*\n {2}the cluster is full\n {2}info training started/m);
    expect(JSON.parse(stdout.slice(stdout.indexOf("Payload\n") + 8))).toEqual(pushTo("me/bad-one"));
    const json = JSON.parse((await run(receiver, "info", ids[0] ?? "", "--format", "json")).stdout);
    expect(json).toMatchObject({ id: ids[0], payload: pushTo("me/bad-one"), attempts: [{ number: 1 }] });
  });

  it("takes how the id begins, where only one begins so", async () => {
    const { ids, ...receiver } = await receiverWith(["one", "two"]);
    const [one = "", two = ""] = ids;
    let same = 0;
    while (one[same] === two[same]) same++;
    const json = await run(receiver, "info", two.slice(0, same + 1), "--format", "json");
    expect(JSON.parse(json.stdout).id).toBe(two);
    const several = await run(receiver, "info", two.slice(0, same));
    expect(several).toMatchObject({ code: 1, stdout: "" });
    expect(several.stderr).toContain(`several deliveries begin with ${two.slice(0, same)}: ${two}, ${one}`);
  });

  it.each(["0", "01abcdefghi", "what?", "../session"])("says that there is none called %s", async (id) => {
    const { code, stdout, stderr } = await run(await receiverWith([]), "info", id);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`there is no delivery`);
  });
});

describe("hubhook deliveries replay", () => {
  it("runs one again, and prints the id of the new one", async () => {
    const { ids, ...receiver } = await receiverWith(["one"]);
    const { code, stdout } = await run(receiver, "replay", ids[0] ?? "");
    await receiver.idle();
    expect(code).toBe(0);
    expect((await listed(receiver))[0]).toMatchObject({ id: stdout.trim(), replayOf: ids[0] });
    const json = await run(receiver, "replay", ids[0] ?? "", "--format", "json");
    expect(JSON.parse(json.stdout)).toEqual({ id: expect.any(String), replayOf: ids[0] });
  });

  it("counts what a filter takes, and replays it with --yes", async () => {
    const receiver = await receiverWith(["bad-1", "good", "bad-2"]);
    const dry = await run(receiver, "replay", "--state", "failed", "--dry-run");
    expect([dry.code, dry.stdout]).toEqual([0, "2 deliveries would be replayed\n"]);
    expect(await listed(receiver)).toHaveLength(3);
    const done = await run(receiver, "replay", "--state", "failed", "--since", "1h", "--yes", "--format", "json");
    expect([done.code, JSON.parse(done.stdout)]).toEqual([0, { count: 2, replayed: 2 }]);
    await receiver.idle();
    expect((await listed(receiver)).map(({ state }) => state).sort()).toEqual([
      "failed",
      "failed",
      "failed",
      "failed",
      "succeeded",
    ]);
    const none = await run(receiver, "replay", "--endpoint", "greet", "--yes");
    expect([none.code, none.stdout]).toEqual([0, "No delivery matches: nothing to replay\n"]);
  });

  it("asks nobody where nobody can answer, and sends nothing", async () => {
    await using target = await startTarget({ status: 200, body: "{}" });
    const { code, stderr } = await hubhook(["deliveries", "replay", "--state", "failed", "--to", target.url]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("add --yes to replay them, or --dry-run to count")]);
    expect(target.requests).toEqual([]);
  });

  // util-linux's `script` is the one terminal that is nearly everywhere.
  const onTerminal = process.platform === "linux" && existsSync("/usr/bin/script") ? it : it.skip;

  onTerminal.each([
    ["y\n", 0, 2],
    ["n\n", 1, 1],
    ["\n", 1, 1],
    ["\u0003", 1, 1],
  ])("asks at a terminal how many, and %p is an answer", async (answer, code, afterwards) => {
    const receiver = await receiverWith(["bad-1"]);
    const entry = resolve("src/cli/hubhook.js");
    const command = `"${process.execPath}" "${entry}" deliveries replay --state failed; echo "exit $?"`;
    const env = { PATH: process.env.PATH, PORT: String(receiver.port) };
    const terminal = spawn("script", ["-qec", command, "/dev/null"], { env, stdio: ["pipe", "pipe", "inherit"] });
    let shown = "";
    terminal.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      if (!shown.includes("[y/N]") && (shown + chunk).includes("[y/N]")) terminal.stdin.write(answer);
      shown += chunk;
    });
    await once(terminal, "close");
    expect(shown).toContain("Replay 1 delivery on http://127.0.0.1:");
    expect(shown).toContain(`exit ${code}`);
    if (code === 1) expect(shown).toContain("nothing was replayed");
    await receiver.idle();
    expect(await listed(receiver)).toHaveLength(afterwards);
  });

  it.each([
    [["replay"], "say which: an id, or options such as --state failed"],
    [["replay", "01abcdefghi", "--state", "failed"], "leave out the other options"],
    [["ls", "--state", "broken"], "Allowed choices are pending, running, succeeded, failed, cancelled"],
    [["ls", "--since", "yesterday"], "Write how long ago, as 30m, 2h or 7d"],
    [["ls", "--limit", "0"], "Write a number from 1 to 100000"],
    [["ls", "--to", "nowhere"], "is no address of a receiver"],
    [["ls", "--stat", "failed"], "unknown option '--stat': did you mean --state?"],
    [["lst"], "unknown command 'lst': did you mean ls?"],
    [["info"], "missing required argument 'id'"],
  ])("%p is answered by one sentence and exit code 2", async (args, sentence) => {
    const { code, stdout, stderr } = await hubhook(["deliveries", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  it.each([[[]], [["ls"]], [["info"]], [["replay"]]])("deliveries %p --help shows examples", async (args) => {
    const { code, stdout } = await hubhook(["deliveries", ...args, "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("$ hubhook deliveries");
  });
});

describe("the receiver that is asked", () => {
  it("gets the secret of the environment at this machine, or the one that is given", async () => {
    const receiver = await receiverWith(["one"], { WEBHOOK_SECRET: SECRET });
    const env = { PORT: String(receiver.port) };
    const own = await hubhook(["deliveries", "ls"], { env: { ...env, WEBHOOK_SECRET: SECRET } });
    expect([own.code, own.stdout]).toEqual([0, expect.stringContaining("dataset:me/one")]);
    const given = await hubhook(["deliveries", "ls", "--to", receiver.url, "--secret", SECRET]);
    expect(given.code).toBe(0);
    const none = await hubhook(["deliveries", "ls"], { env });
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("wants its secret: set WEBHOOK_SECRET")]);
    const wrong = await hubhook(["deliveries", "ls", "--secret", "guess"], { env });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("another secret")]);
    for (const { stdout, stderr } of [own, given, none, wrong]) expect(stdout + stderr).not.toContain(SECRET);
  });

  it("does not get the secret of the environment elsewhere", async () => {
    const args = ["deliveries", "ls", "--to", "http://receiver.invalid:1"];
    const { code, stderr } = await hubhook(args, { env: { WEBHOOK_SECRET: SECRET } });
    expect(code).toBe(1);
    expect(stderr).toContain("WEBHOOK_SECRET was not sent, since receiver.invalid is not this machine");
    expect(stderr).toContain("no receiver answers on http://receiver.invalid:1: is it running there?");
  });

  it("that has no secret and is bound beyond its machine says what to set", async () => {
    const receiver = await receiverWith([], { HOST: "0.0.0.0" });
    const { code, stderr } = await run(receiver, "ls");
    expect([code, stderr]).toEqual([1, expect.stringContaining("set WEBHOOK_SECRET there")]);
  });

  it("may not be running, or be something else", async () => {
    const gone = await hubhook(["deliveries", "ls"], { env: { PORT: "1" } });
    expect([gone.code, gone.stderr]).toEqual([
      1,
      expect.stringContaining("no receiver answers on http://127.0.0.1:1: is it running? Start it by `npm start`"),
    ]);
    await using other = await startTarget({ status: 200, body: "<html>" }, { status: 404, body: "{}" });
    for (const _ of [1, 2]) {
      const { code, stderr } = await hubhook(["deliveries", "ls", "--to", other.url]);
      expect([code, stderr]).toEqual([1, expect.stringContaining("is no hubhook receiver")]);
    }
  });
});
