import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { folderWith, serveHub } from "../support/cli.ts";
import { testClock } from "../support/clock.ts";
import { temporaryFolder } from "../support/deliveries.ts";
import { activityOf, addWebhook, type Caller, callerAt, publish, startTestHub, WEBHOOKS } from "../support/hub.ts";

const ON = { jobs: "process", scheduleMs: [] } as const;
const SHELL = { dockerImage: "python:3.12", arguments: [], environment: {}, flavor: "cpu-basic" };
const sh = (script: string, more: object = {}) => ({ ...SHELL, command: ["sh", "-c", script], ...more });

/** The lines of a Job's log, which end when it ends. */
async function logOf(api: Caller, id: string): Promise<string[]> {
  const { text } = await api.get(`/api/jobs/me/${id}/logs`).expect(200);
  const events = text.split("\n").filter((line) => line.startsWith("data: "));
  return events.map((line) => JSON.parse(line.slice(6)).data).filter((line) => !line.startsWith("===== Job started"));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that has ended and that nobody has asked about yet still has its number.
    return !(existsSync(`/proc/${pid}/stat`) && readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z"));
  } catch {
    return false;
  }
}

async function run(api: Caller, script: string, more: object = {}) {
  const { id } = (await api.post("/api/jobs/me", sh(script, more)).expect(200)).body;
  const log = await logOf(api, id);
  return { id, log, job: (await api.get(`/api/jobs/me/${id}`).expect(200)).body };
}

describe("Jobs", () => {
  it("are off by default, and the refusal says how to turn them on", async () => {
    const { api } = await startTestHub();
    const { body, headers } = await api.post("/api/jobs/me", sh("true")).expect(403);
    expect(body).toMatchObject({ code: "jobs_off", error: expect.stringContaining("HUB_JOBS=process") });
    expect(headers["x-error-message"]).toBe(body.error);
  });

  it("run a command and keep its output and its end", async () => {
    const { api } = await startTestHub(ON);
    const { log, job } = await run(api, "echo one; echo two >&2; echo $GREETING $TOKEN", {
      environment: { GREETING: "hello" },
      secrets: { TOKEN: "t0ken" },
    });
    expect(log.sort()).toEqual(["hello t0ken", "one", "two"]);
    expect(job).toMatchObject({
      dockerImage: "python:3.12",
      status: { stage: "COMPLETED", message: null },
      owner: { name: "me", type: "user" },
      environment: { GREETING: "hello" },
    });
    expect(JSON.stringify(job)).not.toContain("t0ken");
    expect((await api.get("/api/jobs/me").expect(200)).body).toMatchObject([{ id: job.id }]);
    expect((await api.get("/api/jobs/me?stage=RUNNING").expect(200)).body).toEqual([]);
    expect(await logOf(api, job.id)).toHaveLength(3);
  });

  it("get a clean environment and a folder of their own that goes with them", async () => {
    const { api } = await startTestHub(ON);
    const { log } = await run(api, "pwd; env | cut -d= -f1 | sort | tr '\\n' ' '; echo; touch left-behind");
    expect(existsSync(log[0] ?? "")).toBe(false);
    const names = (log[1] ?? "").trim().split(" ");
    const allowed = ["HOME", "JOB_ID", "LANG", "OLDPWD", "PATH", "PWD", "SHLVL", "TMPDIR", "_"];
    expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
  });

  it("fail with the command's exit code, and with a command that is not there or may not be run", async () => {
    const { api } = await startTestHub(ON);
    expect((await run(api, "exit 3")).job.status).toEqual({ stage: "ERROR", message: "it ended with exit code 3" });
    const unrunnable = join(temporaryFolder(), "text");
    writeFileSync(unrunnable, "no program", { mode: 0o600 });
    for (const [command, problem] of [
      ["no-such-command-here", "no such command"],
      [unrunnable, "chmod +x"],
    ]) {
      const { body } = await api.post("/api/jobs/me", { ...SHELL, command: [command] }).expect(200);
      await logOf(api, body.id);
      expect((await api.get(`/api/jobs/me/${body.id}`)).body.status.message).toContain(problem);
    }
  });

  it("say what is too large for a command", async () => {
    const { api } = await startTestHub(ON);
    const { job } = await run(api, "true", { environment: { SMALL: "1", LARGE: "x".repeat(140_000) } });
    expect(job.status).toEqual({ stage: "ERROR", message: expect.stringContaining("LARGE alone has 140000 bytes") });
    expect(job.status.message).not.toContain("xxx");
  });

  it("end at their time limit, with all that they started", async () => {
    const { api } = await startTestHub(ON);
    const file = join(temporaryFolder(), "pid");
    const { job } = await run(api, `sleep 100 & echo $! > ${file}; wait`, { timeoutSeconds: 1 });
    expect(job.status).toEqual({ stage: "ERROR", message: "it ran longer than its time limit of 1 s" });
    expect(isAlive(Number(readFileSync(file, "utf8")))).toBe(false);
  });

  it("end with their command, though one that it left behind and that left its group keeps the output open", async () => {
    const { api } = await startTestHub(ON);
    const script = `
      const { spawn } = require("node:child_process");
      const left = spawn("sleep", ["100"], { detached: true, stdio: "inherit" });
      console.log(left.pid);
      left.unref();`;
    const command = [process.execPath, "-e", script];
    const { id } = (await api.post("/api/jobs/me", { ...SHELL, command }).expect(200)).body;
    const [pid] = await logOf(api, id);
    process.kill(Number(pid), "SIGKILL");
    expect((await api.get(`/api/jobs/me/${id}`)).body.status).toEqual({ stage: "COMPLETED", message: null });
  });

  it("can be canceled, and one that has ended stays as it is", async () => {
    const { api } = await startTestHub(ON);
    const { id } = (await api.post("/api/jobs/me", sh("sleep 100")).expect(200)).body;
    const { body } = await api.post(`/api/jobs/me/${id}/cancel`).expect(200);
    expect(body.status.stage).toBe("CANCELED");
    expect((await api.post(`/api/jobs/me/${id}/cancel`).expect(200)).body.status.stage).toBe("CANCELED");
  });

  it("whose log is followed hold up no shutdown", async () => {
    const test = await startTestHub({ ...ON, shutdownGraceMs: 600_000 });
    const { id } = (await test.api.post("/api/jobs/me", sh("echo begun; sleep 100")).expect(200)).body;
    const followed = await fetch(`${test.hub.url}/api/jobs/me/${id}/logs`);
    const text = followed.text();
    await test.restart();
    expect(await text).toContain("begun");
    const { body } = await test.api.get(`/api/jobs/me/${id}`).expect(200);
    expect(body.status).toEqual({ stage: "ERROR", message: "the hub stopped while it ran" });
    expect((await logOf(test.api, id)).join()).toContain("begun");
  });

  it("keep only so much of what they write", async () => {
    const { api } = await startTestHub(ON);
    const { log } = await run(api, "yes 0123456789 | head -n 300000");
    expect(log.at(-1)).toContain("more was written");
    expect(log.join("").length).toBeLessThan(1_000_000);
  });

  it("may write a line without an end: no more of it is held than is kept", async () => {
    const { api } = await startTestHub(ON);
    const before = process.memoryUsage.rss();
    const { log, job } = await run(api, "head -c 300000000 /dev/zero | tr '\\000' x; echo; echo after");
    expect(job.status.stage).toBe("COMPLETED");
    expect(log.map((line) => line.length)).toEqual([10_000, 5]);
    expect(process.memoryUsage.rss() - before).toBeLessThan(200e6);
  });

  it("that wait for room go on when another one that waited is canceled", async () => {
    const { api } = await startTestHub({ ...ON, jobsAtOnce: 1 });
    const start = async (script: string) => (await api.post("/api/jobs/me", sh(script)).expect(200)).body.id as string;
    const gate = join(temporaryFolder(), "gate");
    const first = await start(`while [ ! -e ${gate} ]; do sleep 0.05; done`);
    const second = await start("echo second");
    const third = await start("echo third");
    await api.post(`/api/jobs/me/${third}/cancel`, {}).expect(200);
    writeFileSync(gate, "");
    await logOf(api, first);
    expect(await logOf(api, second)).toEqual(["second"]);
  });

  it("belong to their namespace", async () => {
    const users = ["alice", "bob"].map((name) => ({ name, token: `hf_${name}` }));
    const { as } = await startTestHub({ ...ON, users });
    const { id } = (await as("hf_alice").post("/api/jobs/alice", sh("true")).expect(200)).body;
    await as("hf_bob").get(`/api/jobs/alice/${id}`).expect(403);
    await as("hf_bob").get(`/api/jobs/bob/${id}`).expect(404);
    await as("hf_bob").post("/api/jobs/alice", sh("true")).expect(403);
    await as("hf_bob").post("/api/jobs/Alice", sh("true")).expect(403);
    await as("hf_alice").get(`/api/jobs/Alice/${id}`).expect(200);
    await as("hf_alice").post("/api/jobs/a%2Fb", sh("true")).expect(400);
    expect((await as("hf_alice").get("/api/jobs/alice?stage=nope").expect(400)).body.error).toContain("RUNNING");
    await as("hf_bob")
      .post(WEBHOOKS, { watched: [{ type: "user", name: "bob" }], jobSourceId: id })
      .expect(400);
  });

  it("of an organisation are everybody's, since its members are not known", async () => {
    const users = ["alice", "bob"].map((name) => ({ name, token: `hf_${name}` }));
    const { as } = await startTestHub({ ...ON, users });
    const { body } = await as("hf_alice").post("/api/jobs/acme", sh("true")).expect(200);
    expect(body).toMatchObject({ type: "job", owner: { name: "acme", type: "org" } });
    await as("hf_bob").get(`/api/jobs/acme/${body.id}`).expect(200);
    await addWebhook(as("hf_bob"), { watched: [{ type: "org", name: "acme" }], jobSourceId: body.id });
    expect((await as("hf_bob").get("/api/whoami-v2")).body.orgs).toEqual([]);
  });

  it.each([
    ["no image", { dockerImage: undefined }, "dockerImage"],
    ["an image and a Space", { spaceId: "me/s" }, "dockerImage"],
    ["no command", { command: [] }, "command"],
    ["a bad variable", { environment: { "A B": "x" } }, "environment.A B: expected the name of a variable"],
    ["too many words", { arguments: Array.from({ length: 1_001 }, () => "x") }, "arguments: expected at most 1,000"],
    ["variables that are a list", { environment: [] }, "environment: expected object, found array"],
    ["a null character", { secrets: { TOKEN: "s3cret\0" } }, "secrets.TOKEN"],
    ["volumes", { volumes: [{ type: "dataset", source: "me/d", mountPath: "/d" }] }, "volumes"],
    ["a variable that is a list", { environment: { A: [1] } }, "environment.A: expected a text"],
    ["no time", { timeoutSeconds: 0 }, "timeoutSeconds: expected more than 0"],
    ["an empty command", { command: [""] }, "command"],
  ])("are refused with %s", async (_, wrong, field) => {
    const { api } = await startTestHub(ON);
    const { body } = await api.post("/api/jobs/me", sh("true", wrong)).expect(400);
    expect(body.error).toContain(field);
    expect(body.error).not.toContain("s3cret");
  });
});

describe("a hub that is killed", () => {
  it("takes its Jobs with it: what they started, and their folders", async () => {
    await using data = await folderWith({});
    await using hub = await serveHub(["--jobs", "--data", data.path]);
    const api = callerAt(`http://127.0.0.1:${hub.port}`);
    const file = join(temporaryFolder(), "told");
    const stubborn = `trap "" TERM HUP; sleep 100 & echo $$ $! $(pwd) > ${file}.new; mv ${file}.new ${file}; wait`;
    const { id } = (await api.post("/api/jobs/me", sh(stubborn)).expect(200)).body;
    while (!existsSync(file)) await api.get("/health");
    const [leader, child, folder = ""] = readFileSync(file, "utf8").trim().split(" ");
    expect([isAlive(Number(leader)), isAlive(Number(child)), existsSync(folder)]).toEqual([true, true, true]);
    await hub.stop("SIGKILL");
    const left = () => [isAlive(Number(leader)), isAlive(Number(child)), existsSync(folder)];
    for (let looks = 0; looks < 1_000 && left().includes(true); looks++)
      await new Promise((resolve) => setTimeout(resolve, 5));
    expect(left()).toEqual([false, false, false]);
    await using again = await serveHub(["--jobs", "--data", data.path]);
    const { body } = await callerAt(`http://127.0.0.1:${again.port}`).get(`/api/jobs/me/${id}`).expect(200);
    expect(body.status).toEqual({ stage: "ERROR", message: "the hub stopped while it ran" });
  });
});

describe("a hub that is killed before it knows its Job's process", () => {
  it("takes it along all the same, where processes can be looked up", async () => {
    if (!existsSync("/proc/self/cwd")) return;
    const folder = temporaryFolder();
    const script = `
      import { spawn } from "node:child_process";
      import { guardJob } from ${JSON.stringify(resolve(import.meta.dirname, "../../src/hub/job-guard.ts"))};
      guardJob(${JSON.stringify(folder)});
      const { pid } = spawn("sleep", ["100"], { cwd: ${JSON.stringify(folder)}, stdio: "ignore", detached: true });
      process.stdout.write(String(pid), () => process.kill(process.pid, "SIGKILL"));`;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    const pid = Number(stdout);
    expect(pid).toBeGreaterThan(0);
    const left = () => [isAlive(pid), existsSync(folder)];
    for (let looks = 0; looks < 1_000 && left().includes(true); looks++)
      await new Promise((done) => setTimeout(done, 5));
    expect(left()).toEqual([false, false]);
  });
});

describe("a webhook with a Job", () => {
  const PRINT =
    'echo "$WEBHOOK_REPO_TYPE $WEBHOOK_REPO_ID $WEBHOOK_ID $WEBHOOK_SECRET $KEPT $EXTRA [$LOST]"; echo "$WEBHOOK_PAYLOAD"';

  it("runs a clone of that Job with the event, and its success is the delivery's", async () => {
    const { api, hub } = await startTestHub(ON);
    const source = await run(api, PRINT, { environment: { KEPT: "kept" }, secrets: { LOST: "lost" } });
    const id = await addWebhook(api, { jobSourceId: source.id, secret: "s3cret", secrets: { EXTRA: "extra" } });
    const { body } = await api.get(`${WEBHOOKS}/${id}`);
    expect(body.webhook.job).toMatchObject({
      dockerImage: "python:3.12",
      command: ["sh", "-c", PRINT],
      secrets: ["EXTRA"],
    });
    expect(body.webhook).not.toHaveProperty("url");
    await publish(api, "repo.content:update", "dataset:me/texts").expect(202);
    await hub.idle();
    const [delivery] = await activityOf(api, id);
    expect(delivery).toMatchObject({ state: "succeeded", attempts: [{ status: null, job: expect.any(String) }] });
    const [line = "", payload = ""] = await logOf(api, delivery?.attempts[0]?.job ?? "");
    expect(line).toBe(`dataset me/texts ${delivery?.webhookId} s3cret kept extra []`);
    expect(JSON.parse(payload)).toEqual(delivery?.payload);
    const replayed = await api.post(`${WEBHOOKS}/${id}/replay/${delivery?.id}`).expect(200);
    expect(replayed.body).toEqual({ id: expect.any(String), status: 200, job: expect.any(String) });
  });

  it("says in the activity when the payload is too large for a variable", async () => {
    const { api, hub } = await startTestHub(ON);
    const id = await addWebhook(api, { jobSourceId: (await run(api, "true")).id });
    const updatedFiles = Array.from({ length: 3_000 }, (_, n) => ({ path: `${"p".repeat(40)}/${n}`, action: "add" }));
    await publish(api, "repo.content:update", "bucket:me/files", { updatedFiles }).expect(202);
    await hub.idle();
    const [delivery] = await activityOf(api, id);
    expect(delivery?.attempts[0]?.error).toMatch(/WEBHOOK_PAYLOAD alone has \d+ bytes, and Linux takes 131,072 in one/);
  });

  it("counts a Job that fails as a failed attempt", async () => {
    const { api, hub } = await startTestHub(ON);
    const source = await run(api, "exit 1");
    const id = await addWebhook(api, { jobSourceId: source.id });
    await publish(api, "repo:update");
    await hub.idle();
    expect(await activityOf(api, id)).toMatchObject([
      { state: "failed", attempts: [{ error: expect.stringContaining("exit code 1"), job: expect.any(String) }] },
    ]);
    expect((await api.get(`${WEBHOOKS}/${id}`)).body.webhook.failures).toBe(1);
    const [delivery] = await activityOf(api, id);
    const replayed = await api.post(`${WEBHOOKS}/${id}/replay/${delivery?.id}`).expect(200);
    expect(replayed.body).toMatchObject({ status: 0, error: expect.stringContaining("exit code 1") });
  });

  it("whose user cancels it is not run again, and that counts as nobody's failure", async () => {
    const { api, hub } = await startTestHub({ jobs: "process" });
    const started = join(temporaryFolder(), "started");
    const source = await run(api, `[ "$WEBHOOK_ID" ] || exit 0; touch ${started}; sleep 100`);
    const id = await addWebhook(api, { jobSourceId: source.id });
    await publish(api, "repo:update");
    while (!existsSync(started)) await api.get("/health");
    const [job] = (await api.get("/api/jobs/me?stage=RUNNING").expect(200)).body;
    await api.post(`/api/jobs/me/${job.id}/cancel`).expect(200);
    await hub.idle();
    const [delivery] = await activityOf(api, id);
    expect(delivery).toMatchObject({
      state: "failed",
      attempts: [{ job: job.id, error: `Job ${job.id} did not complete (CANCELED): it was canceled` }],
    });
    expect(delivery).not.toHaveProperty("nextAttemptAt");
    expect((await api.get(`${WEBHOOKS}/${id}`)).body.webhook.failures).toBe(0);
  });

  it("does not wait for a Job that takes long, when it is replayed", async () => {
    const clock = testClock();
    const { api, hub } = await startTestHub({ ...ON, shutdownGraceMs: 0 }, { clock });
    const gate = join(temporaryFolder(), "gate");
    const source = await run(api, `[ ! "$WEBHOOK_ID" ] || [ ! -e ${gate} ] || sleep 100`);
    const id = await addWebhook(api, { jobSourceId: source.id });
    await publish(api, "repo:update");
    await hub.idle();
    writeFileSync(gate, "");
    const [delivery] = await activityOf(api, id);
    const replay = api.post(`${WEBHOOKS}/${id}/replay/${delivery?.id}`).then(({ body }) => body);
    while ((await activityOf(api, id, "?state=running")).length === 0);
    clock.advance(32_000);
    expect(await replay).toEqual({ id: expect.any(String), status: 202 });
  });

  it("runs it again when the hub stopped in the middle, and counts that as nobody's failure", async () => {
    const folder = temporaryFolder();
    const [once, again] = [join(folder, "once"), join(folder, "again")];
    const test = await startTestHub({ ...ON, shutdownGraceMs: 0 });
    const { api } = test;
    const source = await run(
      api,
      `[ "$WEBHOOK_ID" ] || exit 0; [ -e ${once} ] && touch ${again} && exit 0; touch ${once}; sleep 100`,
    );
    const id = await addWebhook(api, { jobSourceId: source.id });
    await publish(api, "repo:update");
    while (!existsSync(once)) await api.get("/health");
    await test.restart();
    await test.hub.idle();
    expect(existsSync(again)).toBe(true);
    expect(await activityOf(api, id)).toMatchObject([
      { state: "succeeded", attempts: [{}, { job: expect.any(String) }] },
    ]);
    expect((await api.get(`${WEBHOOKS}/${id}`)).body.webhook.failures).toBe(0);
  });

  it("fails its deliveries with a reason while Jobs are off", async () => {
    const test = await startTestHub(ON);
    const { api } = test;
    const id = await addWebhook(api, { jobSourceId: (await run(api, "true")).id });
    await test.restart({ settings: { port: 0, scheduleMs: [] } });
    await publish(api, "repo:update");
    await test.hub.idle();
    expect((await activityOf(api, id))[0]?.attempts[0]?.error).toContain("HUB_JOBS=process");
  });

  it("can be changed to a url, and its secrets go with the Job", async () => {
    const { api } = await startTestHub(ON);
    const source = await run(api, "true");
    const id = await addWebhook(api, { jobSourceId: source.id, secrets: { A: "1" } });
    const more = await api.post(`${WEBHOOKS}/${id}`, { jobSourceId: source.id, secrets: { B: "2" } }).expect(200);
    expect(more.body.webhook.job.secrets).toEqual(["A", "B"]);
    const { body } = await api.post(`${WEBHOOKS}/${id}`, { url: "https://example.com" }).expect(200);
    expect(body.webhook).toMatchObject({ url: "https://example.com" });
    expect(body.webhook).not.toHaveProperty("job");
    await api.post(`${WEBHOOKS}/${id}`, { secrets: { C: "3" } }).expect(400);
  });
});
