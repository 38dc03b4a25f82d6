import { describe, expect, it } from "@jest/globals";
import { documentedEventNames } from "../../src/protocol/events.ts";
import { documentedEvents } from "../../src/protocol/payload.ts";
import { repoTypes } from "../../src/protocol/repo.ts";
import { activityOf, addWebhook, publish, startTestHub, WEBHOOKS } from "../support/hub.ts";
import { startTarget } from "../support/target.ts";

const MODEL = { type: "model", name: "me/m" };

describe("publishing an event", () => {
  it.each(documentedEventNames)("completes %s so that it passes as documented", async (name) => {
    const { api } = await startTestHub();
    // The second time by what is remembered, the third after every event that leaves something to remember.
    for (const repo of repoTypes.flatMap((type) => [`${type}:me/r`, `${type}:old`])) {
      const payloads = [await publish(api, name, repo).expect(202), await publish(api, name, repo).expect(202)];
      for (const other of ["repo.content:update", "repo.config:update", "discussion:create"])
        await publish(api, other, repo).expect(202);
      payloads.push(await publish(api, name, repo).expect(202));
      for (const { body } of payloads) {
        const payload = { ...body.payload, webhook: { id: "0".repeat(24), version: 3 } };
        expect(documentedEvents[name].safeParse(payload)).toMatchObject({ success: true });
        expect(payload.repo.id).toMatch(/^[0-9a-f]{24}$/);
      }
    }
  });

  it("remembers a repo: pushes follow each other, ids and privacy stay, discussions are numbered", async () => {
    const { api } = await startTestHub();
    const push = async () => (await publish(api, "repo.content:update")).body.payload;
    const [first, second] = [await push(), await push()];
    expect(second.updatedRefs[0].oldSha).toBe(first.updatedRefs[0].newSha);
    expect(second.repo).toMatchObject({ id: first.repo.id, headSha: second.updatedRefs[0].newSha });
    const tag = (await publish(api, "repo.content:update", "model:me/m", { updatedRefs: [{ ref: "refs/tags/v1" }] }))
      .body;
    expect(tag.payload.repo.headSha).toBe(second.repo.headSha);

    await publish(api, "repo.config:update", "model:me/m", { updatedConfig: { private: true } });
    const opened = (await publish(api, "discussion:create")).body.payload;
    const again = (await publish(api, "discussion:create")).body.payload;
    const comment = (await publish(api, "discussion.comment:create")).body.payload;
    expect(opened.repo.private).toBe(true);
    expect([opened.discussion.num, again.discussion.num, comment.discussion.num]).toEqual([1, 2, 2]);
    expect(comment.discussion.id).toBe(again.discussion.id);
  });

  it("remembers a repo from one event of a publication to the next", async () => {
    const { api } = await startTestHub();
    const id = await addWebhook(api, { watched: [{ type: "org", name: "acme" }], url: "http://127.0.0.1:9/" });
    const of = (event: string, name: string, more: object = {}) => {
      const [scope, action] = event.split(":");
      return { event: { scope, action }, repo: { type: "model", name }, ...more };
    };
    const head = "a".repeat(40);
    const events = [
      of("repo.content:update", "acme/m", { updatedRefs: [{ newSha: head }] }),
      of("repo.config:update", "acme/M", { updatedConfig: { private: true } }),
      of("discussion:create", "acme/m"),
      of("repo:move", "acme/m", { movedTo: { name: "acme/n" } }),
      of("repo:update", "acme/n"),
      of("repo:update", "acme/m"),
      of("repo:delete", "acme/n"),
      of("repo:update", "acme/n"),
    ];
    await api.post("/api/hub/events", { events }).expect(202);
    const [push, config, discussion, move, moved, anew, gone, again] = (await activityOf(api, id))
      .toReversed()
      .map(({ payload }) => payload.repo);
    expect(push).toMatchObject({ headSha: head, private: false });
    expect(config).toMatchObject({ id: push?.id, headSha: head, private: false });
    for (const repo of [move, moved, gone]) expect(repo).toMatchObject({ id: push?.id, headSha: head, private: true });
    expect(discussion).toMatchObject({ id: push?.id, private: true });
    for (const repo of [anew, again])
      expect(repo).toMatchObject({ headSha: expect.not.stringMatching(head), private: false });
    expect(again?.id).not.toBe(push?.id);
    expect((await publish(api, "discussion:update", "model:acme/m")).body.payload.discussion.num).toBe(1);
  });

  it("forgets what it was told by a publication that was refused, also beside another in one transaction", async () => {
    const { api } = await startTestHub({ backlog: { count: 1, bytes: 1_000_000 } });
    await addWebhook(api, { url: "http://127.0.0.1:9/" });
    const push = (more: object = {}) => ({
      ...{ event: { scope: "repo.content", action: "update" }, repo: { type: "model", name: "acme/m" } },
      ...more,
    });
    const { body } = await api.post("/api/hub/events", push()).expect(202);
    const wrong = push({ updatedRefs: [{ newSha: 1 }] });
    const tooMany = push({ repo: { type: "model", name: "me/m" } });
    const publications = [
      [push(), wrong],
      [push(), tooMany, tooMany],
      [push(), wrong],
    ];
    const answers = publications.map((events) => api.post("/api/hub/events", { events }));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([400, 503, 400]);
    const next = (await api.post("/api/hub/events", push()).expect(202)).body.payload;
    expect(next.updatedRefs[0].oldSha).toBe(body.payload.updatedRefs[0].newSha);
  });

  it("leads to this hub in its URLs", async () => {
    const { api, hub } = await startTestHub();
    const { body } = await publish(api, "repo:create", "dataset:me/d").expect(202);
    expect(body.payload.repo.url).toEqual({ web: `${hub.url}/datasets/me/d`, api: `${hub.url}/api/datasets/me/d` });
  });

  it.each([
    ["nothing", {}, "event"],
    ["an unknown event", { event: { scope: "repo", action: "explode" }, repo: MODEL }, "event"],
    ["an unknown scope", { event: { scope: "weather", action: "update" }, repo: MODEL }, "event"],
    ["an unknown repo type", { event: EVENT(), repo: { type: "planet", name: "me/m" } }, "repo.type"],
    ["a name that is none", { event: EVENT(), repo: { type: "model", name: "../x" } }, "repo.name"],
    ["a wrong key", { event: EVENT(), repo: { type: "model", name: "me/m", private: "yes" } }, "repo.private"],
    ["no events", { events: [] }, "events"],
    ["too many events", { events: Array.from({ length: 1_001 }, () => ({})) }, "events"],
    ["a wrong one among others", { events: [WITH({}), WITH({}), WITH({ comment: 5 })] }, "events.2.comment"],
    // What no part of this event is can be read and remembered all the same.
    ["half a discussion", WITH({ discussion: { num: 1.5 } }), "discussion.num"],
    ["an endless discussion", WITH({ discussion: { num: 1e20 } }), "discussion.num"],
    ["a discussion that is no number", WITH({ discussion: { num: "1" } }), "discussion.num"],
    ["no setting", WITH({ updatedConfig: { private: "yes" } }), "updatedConfig.private"],
    ["no refs", WITH({ updatedRefs: 5 }), "updatedRefs"],
    ["a ref that is none", WITH({ updatedRefs: [{}, null] }), "updatedRefs.1"],
    ["too many refs", WITH({ updatedRefs: Array.from({ length: 10_001 }, () => ({})) }), "updatedRefs"],
    ["a new name that is none", WITH({ movedTo: { name: "a/../b" } }), "movedTo.name"],
    ["a new name of any length", WITH({ movedTo: { name: `me/${"x".repeat(97)}` } }), "movedTo.name"],
    ["an id of any length", WITH({}, { id: "x".repeat(101) }), "repo.id"],
    ["a commit of any length", WITH({}, { headSha: "a".repeat(101) }), "repo.headSha"],
    ["a pushed commit of any length", WITH({ updatedRefs: [{ newSha: "a".repeat(101) }] }), "updatedRefs.0.newSha"],
  ])("is refused with %s, naming the field, in plain words", async (_, wrong, field) => {
    const { api } = await startTestHub();
    const { body } = await api.post("/api/hub/events", wrong).expect(400);
    expect(body.issues[0].path).toContain(field);
    expect(body.error).not.toMatch(/invalid input|too (big|small)|received/i);
  });

  it("is answered in a moment and in short, however much of it is wrong", async () => {
    const { api } = await startTestHub();
    const one = WITH({ updatedFiles: Array.from({ length: 10_000 }, () => 1) });
    const { body, text } = await api.post("/api/hub/events", { events: Array(200).fill(one) }).expect(400);
    expect(body.issues).toHaveLength(20);
    expect(text.length).toBeLessThan(5_000);
    const scope = "a".repeat(1_000_000);
    const endless = await api.post("/api/hub/events", { ...one, event: { scope, action: "update" } }).expect(400);
    expect(endless.text.length).toBeLessThan(5_000);
  });

  it("refuses what is nested too deeply to be written again", async () => {
    const { api } = await startTestHub();
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const text = `{"event":{"scope":"repo","action":"update"},"repo":{"type":"model","name":"me/m"},"x":${deep}}`;
    const response = await api.post("/api/hub/events").set("content-type", "application/json").send(text);
    expect([response.status, response.body.error]).toEqual([400, "the body is nested too deeply"]);
  });

  it("takes narrower scopes of the future, and many events at once, all or none", async () => {
    const { api } = await startTestHub();
    await publish(api, "repo.config.doi:update").expect(202);
    const good = { event: EVENT(), repo: { type: "model", name: "me/m" } };
    const { body } = await api.post("/api/hub/events", { events: [good, good, good] }).expect(202);
    expect(body.events).toMatchObject([{ deliveries: 0 }, { deliveries: 0 }, { deliveries: 0 }]);
    await api.post("/api/hub/events", { events: [good, { ...good, event: {} }] }).expect(400);
  });

  it("does nothing twice for one Idempotency-Key", async () => {
    await using target = await startTarget({ status: 200 });
    const { api, hub } = await startTestHub();
    const id = await addWebhook(api, { url: target.url });
    const first = await publish(api, "repo:update").set("Idempotency-Key", "a").expect(202);
    const second = await publish(api, "repo:update").set("Idempotency-Key", "a").expect(202);
    expect(second.body).toEqual(first.body);
    await publish(api, "repo:create").set("Idempotency-Key", "a").expect(422);
    await publish(api, "repo:update").set("Idempotency-Key", "b").expect(202);
    await publish(api, "repo:update").set("Idempotency-Key", "x".repeat(300)).expect(400);
    await hub.idle();
    expect(await activityOf(api, id)).toHaveLength(2);
    expect(target.requests).toHaveLength(2);
  });
});

/** An update of a model, with further keys beside and in its repo. */
function WITH(more: object, repo: object = {}) {
  return { event: EVENT(), repo: { type: "model", name: "me/m", ...repo }, ...more };
}

function EVENT() {
  return { scope: "repo", action: "update" };
}

describe("an event reaches a webhook", () => {
  it.each([
    ["model:me/m", "repo:update", "model:me/m", true],
    ["model:me/m", "repo:update", "model:Me/M", true],
    ["model:me/m", "repo:update", "dataset:me/m", false],
    ["model:me/m", "repo:update", "model:me/other", false],
    ["bucket:me/b", "repo.content:update", "bucket:me/b", true],
    ["user:me", "repo:update", "space:me/s", true],
    ["org:acme", "repo.content:update", "dataset:acme/d", true],
    ["org:acme", "repo:update", "dataset:acme-2/d", false],
    ["model:gpt2", "repo:update", "model:gpt2", true],
  ])("that watches %s: %s of %s → %s", async (item, event, repo, reaches) => {
    const { api } = await startTestHub();
    const [type, name] = item.split(":");
    await addWebhook(api, { watched: [{ type, name }], url: "http://127.0.0.1:9/" });
    const { body } = await publish(api, event, repo).expect(202);
    expect(body.deliveries).toBe(reaches ? 1 : 0);
  });

  it.each([
    ["repo", "repo.content:update", 1],
    ["repo", "discussion.comment:create", 0],
    ["discussion", "discussion.comment:create", 1],
    ["discussion", "repo:update", 0],
    ["repo", "repo.config.doi:update", 1],
  ])("of the domain %s: %s → %s", async (domain, event, count) => {
    const { api } = await startTestHub();
    await addWebhook(api, { domains: [domain], url: "http://127.0.0.1:9/" });
    expect((await publish(api, event)).body.deliveries).toBe(count);
  });

  it("once, however many of its items fit", async () => {
    const { api } = await startTestHub();
    const watched = ["user:me", "org:me", "model:me/m"].map((item) => item.split(":"));
    await addWebhook(api, { watched: watched.map(([type, name]) => ({ type, name })), url: "http://127.0.0.1:9/" });
    expect((await publish(api, "repo:update")).body.deliveries).toBe(1);
  });

  it("that follows a renamed repo, also after a restart", async () => {
    const test = await startTestHub();
    const { api } = test;
    const id = await addWebhook(api, { watched: [{ type: "model", name: "me/old" }], url: "http://127.0.0.1:9/" });
    const first = (await publish(api, "repo:update", "model:me/old")).body.payload;
    const moved = await publish(api, "repo:move", "model:me/old", { movedTo: { name: "me/new" } }).expect(202);
    expect(moved.body).toMatchObject({ deliveries: 1, payload: { movedTo: { name: "me/new" } } });
    await test.restart();
    const { body } = await publish(api, "repo:update", "model:me/new");
    expect(body).toMatchObject({ deliveries: 1, payload: { repo: { id: first.repo.id } } });
    expect((await publish(api, "repo:update", "model:me/old")).body.deliveries).toBe(0);
    expect((await api.get(`${WEBHOOKS}/${id}`)).body.webhook.watched).toEqual([{ type: "model", name: "me/new" }]);
  });

  it("that follows a repo through events of one publication", async () => {
    const { api } = await startTestHub();
    const id = await addWebhook(api, { watched: [{ type: "model", name: "me/a" }], url: "http://127.0.0.1:9/" });
    const ofOwner = await addWebhook(api, { watched: [{ type: "user", name: "me" }], url: "http://127.0.0.1:9/" });
    const on = (name: string, to?: string) =>
      to === undefined
        ? WITH({}, { name })
        : { ...WITH({ movedTo: { name: to } }, { name }), event: { scope: "repo", action: "move" } };
    const events = [on("me/a", "you/b"), on("you/b"), on("you/b", "you/c"), on("You/C"), on("you/other")];
    const { body } = await api.post("/api/hub/events", { events }).expect(202);
    expect(body.events.map((event: { deliveries: number }) => event.deliveries)).toEqual([2, 1, 1, 1, 0]);
    expect((await api.get(`${WEBHOOKS}/${id}`)).body.webhook.watched).toEqual([{ type: "model", name: "you/c" }]);
    expect((await publish(api, "repo:update", "model:you/c")).body.deliveries).toBe(1);
    expect(await activityOf(api, ofOwner)).toHaveLength(1);
  });

  it("follows a repo that moves while the webhook is disabled", async () => {
    const { api } = await startTestHub();
    const id = await addWebhook(api, { watched: [{ type: "model", name: "me/old" }], url: "http://127.0.0.1:9/" });
    await api.post(`${WEBHOOKS}/${id}/disable`, {}).expect(200);
    expect((await publish(api, "repo:move", "model:me/old", { movedTo: { name: "me/new" } })).body.deliveries).toBe(0);
    await api.post(`${WEBHOOKS}/${id}/enable`, {}).expect(200);
    expect((await publish(api, "repo:update", "model:me/new")).body.deliveries).toBe(1);
  });

  it("of its own user only, when the repo is private to one", async () => {
    const users = ["alice", "bob"].map((name) => ({ name, token: `hf_${name}` }));
    const { as } = await startTestHub({ users });
    for (const { token } of users)
      await addWebhook(as(token), { watched: [{ type: "user", name: "alice" }], url: "http://127.0.0.1:9/" });
    const alice = as("hf_alice");
    expect((await publish(alice, "repo:update", "model:alice/m")).body.deliveries).toBe(2);
    await publish(alice, "repo.config:update", "model:alice/m", { updatedConfig: { private: true } });
    for (const name of ["alice/m", "Alice/m"])
      expect((await publish(alice, "repo:update", `model:${name}`)).body.deliveries).toBe(1);
  });
});

describe("the quota", () => {
  it("leaves further events out, shows so, and opens again after a day", async () => {
    const { testClock } = await import("../support/clock.ts");
    const clock = testClock();
    const { api } = await startTestHub({ quota: 3 }, { clock });
    const id = await addWebhook(api, { url: "http://127.0.0.1:9/" });
    const one = { event: EVENT(), repo: { type: "model", name: "me/m" } };
    const { body } = await api.post("/api/hub/events", { events: [one, one, one, one] });
    expect(
      body.events.map((event: { deliveries: number; overQuota: number }) => [event.deliveries, event.overQuota]),
    ).toEqual([
      [1, 0],
      [1, 0],
      [1, 0],
      [0, 1],
    ]);
    expect((await api.get(`${WEBHOOKS}/${id}`)).body.webhook.quota).toEqual({ limit: 3, used: 3, over: 1 });
    clock.advance(25 * 3_600_000);
    expect((await publish(api, "repo:update")).body).toMatchObject({ deliveries: 1, overQuota: 0 });
  });
});
