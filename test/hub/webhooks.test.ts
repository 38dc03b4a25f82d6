import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { describe, expect, it } from "@jest/globals";
import { startTestHub, WEBHOOKS } from "../support/hub.ts";

const WATCHED = [{ type: "user", name: "me" }];
const URL = "https://example.com/hook";

describe("webhooks over the settings API", () => {
  it("are created, listed, shown, changed, disabled, enabled and deleted", async () => {
    const { api } = await startTestHub();
    const created = await api
      .post(WEBHOOKS, { watched: WATCHED, domains: ["repo"], url: URL, secret: "s3cret" })
      .expect(200);
    const { webhook } = created.body;
    expect(webhook).toMatchObject({ url: URL, watched: WATCHED, domains: ["repo"], disabled: false, hasSecret: true });
    expect(webhook.id).toMatch(/^[0-9a-f]{24}$/);
    expect(created.text).not.toContain("s3cret");

    const path = `${WEBHOOKS}/${webhook.id}`;
    const list = await api.get(WEBHOOKS).expect(200);
    expect(list.body).toEqual([webhook]);
    expect(list.text).not.toContain("s3cret");
    expect((await api.get(path).expect(200)).body).toEqual({ webhook });

    const changed = await api.post(path, { url: "https://example.org/other" }).expect(200);
    expect(changed.body.webhook).toMatchObject({
      url: "https://example.org/other",
      watched: WATCHED,
      domains: ["repo"],
    });
    expect((await api.post(`${path}/disable`).expect(200)).body.webhook.disabled).toBe(true);
    expect((await api.post(`${path}/enable`).expect(200)).body.webhook.disabled).toBe(false);
    await api.delete(path).expect(200);
    await api.get(path).expect(404);
    expect((await api.get(WEBHOOKS).expect(200)).body).toEqual([]);
  });

  it("keep what an update leaves out or gives as an empty list", async () => {
    const { api } = await startTestHub();
    const given = { watched: WATCHED, domains: ["discussion"], url: URL, secret: "s" };
    const { id } = (await api.post(WEBHOOKS, given)).body.webhook;
    const { body } = await api.post(`${WEBHOOKS}/${id}`, { watched: [], domains: [] }).expect(200);
    expect(body.webhook).toMatchObject({ watched: WATCHED, domains: ["discussion"], url: URL, hasSecret: true });
    const without = await api.post(`${WEBHOOKS}/${id}`, { secret: "" }).expect(200);
    expect(without.body.webhook.hasSecret).toBe(false);
  });

  it.each([
    ["left out", undefined, ["repo", "discussion"]],
    ["an empty list", [], ["repo", "discussion"]],
    ["in the plural of the official command line", ["discussions"], ["discussion"]],
    ["twice", ["repo", "repo"], ["repo"]],
  ])("take domains %s", async (_, domains, expected) => {
    const { api } = await startTestHub();
    const { body } = await api.post(WEBHOOKS, { watched: WATCHED, url: URL, domains }).expect(200);
    expect(body.webhook.domains).toEqual(expected);
  });

  it.each(["model:gpt2", "model:me/m", "dataset:me/d", "space:me/s", "bucket:me/b", "user:me", "org:acme"])(
    "watch %s",
    async (item) => {
      const { api } = await startTestHub();
      const [type, name] = item.split(":");
      const { body } = await api.post(WEBHOOKS, { watched: [{ type, name }], url: URL }).expect(200);
      expect(body.webhook.watched).toEqual([{ type, name }]);
    },
  );

  it.each([
    ["no url and no Job", { url: undefined }, "url"],
    ["a url and a Job", { jobSourceId: "0123" }, "url"],
    ["a Job that is not there", { url: undefined, jobSourceId: "0123" }, "jobSourceId"],
    ["a url that is none", { url: "example.com" }, "url"],
    ["a url that is not http", { url: "ftp://example.com/x" }, "url"],
    ["a url with credentials", { url: "https://me:pass@example.com/x" }, "url"],
    ["a url with a line end in it", { url: "https://exam\nple.com/x" }, "url"],
    ["a url between spaces", { url: " https://example.com/x" }, "url"],
    ["no watched item", { watched: [] }, "watched"],
    ["watched left out", { watched: undefined }, "watched"],
    ["an unknown type", { watched: [{ type: "planet", name: "me/m" }] }, "watched.0.type"],
    ["a bad name", { watched: [{ type: "model", name: "a/b/c" }] }, "watched.0.name"],
    ["an owner with a slash", { watched: [{ type: "user", name: "me/m" }] }, "watched.0.name"],
    ["an unknown domain", { domains: ["weather"] }, "domains.0"],
    ["a secret that no header can carry", { secret: "gehëim" }, "secret"],
    ["a secret with a line break", { secret: "a\nb" }, "secret"],
    ["secrets without a Job", { secrets: { TOKEN: "x" } }, "secrets"],
  ])("are refused with %s, naming the field", async (_, wrong, field) => {
    const { api } = await startTestHub();
    const response = await api.post(WEBHOOKS, { watched: WATCHED, url: URL, ...wrong }).expect(400);
    expect(response.body).toMatchObject({ code: "request_invalid", issues: [{ path: field }] });
    expect(response.body.error).toContain(field);
    expect(response.headers["x-error-message"]).toContain(field);
    expect(response.headers["x-request-id"]).toBe(response.body.requestId);
    expect((await api.get(WEBHOOKS)).body).toEqual([]);
  });

  it("answer errors in the Hub's way: an object, and headers that are plain text", async () => {
    const { api } = await startTestHub();
    const missing = await api.get(`${WEBHOOKS}/ffffffffffffffffffffffff`).set("X-Request-Id", "trace-1").expect(404);
    expect(missing.body).toEqual({
      error: "there is no webhook ffffffffffffffffffffffff",
      code: "webhook_unknown",
      requestId: "trace-1",
    });
    expect(missing.headers).toMatchObject({ "x-error-code": "webhook_unknown", "x-request-id": "trace-1" });
    const odd = await api.get(`${WEBHOOKS}/${encodeURIComponent("é\r\nX-Evil: 1")}`).expect(404);
    expect(odd.headers["x-evil"]).toBeUndefined();
    await api.post(WEBHOOKS).set("content-type", "application/json").send("{").expect(400);
    await api.post(WEBHOOKS, [1]).expect(400);
    await api.get("/api/elsewhere").expect(404);
  });

  it.each([
    ["that is no JSON", '{"secret": hunter2}', {}, 400, "not valid JSON"],
    ["that is no object", '"hunter2"', {}, 400, "an object {…}"],
    ["that is an array", '["hunter2"]', {}, 400, "no JSON object, but array"],
    ["too large", `"${"hunter2".repeat(800_000)}"`, {}, 413, "5 MB"],
    ["packed otherwise than it says", '{"url": "hunter2"}', { "content-encoding": "gzip" }, 400, "content-encoding"],
  ])("refuse a body %s, and do not repeat it", async (_, text, headers, status, words) => {
    const { api } = await startTestHub();
    const response = await api
      .post(WEBHOOKS)
      .set({ "content-type": "application/json", ...headers })
      .send(text);
    expect([response.status, response.body.error]).toEqual([status, expect.stringContaining(words)]);
    expect(response.text + response.headers["x-error-message"]).not.toContain("hunter2");
  });

  it("ask for the body of a client that waits to be asked, once it may send one", async () => {
    const { hub } = await startTestHub();
    const answerTo = async (headers: Record<string, string>) => {
      const outgoing = request(`${hub.url}${WEBHOOKS}`, {
        method: "POST",
        headers: { "content-type": "application/json", expect: "100-continue", ...headers },
      });
      let asked = false;
      outgoing.once("continue", () => {
        asked = true;
        outgoing.end(JSON.stringify({ watched: WATCHED, url: URL }));
      });
      outgoing.on("error", () => {});
      outgoing.flushHeaders();
      const [response] = (await once(outgoing, "response")) as [IncomingMessage];
      response.resume();
      return [asked, response.statusCode];
    };
    expect(await answerTo({ authorization: "Bearer x" })).toEqual([true, 200]);
    expect(await answerTo({})).toEqual([false, 401]);
  });

  it("say how they are changed to whoever tries otherwise", async () => {
    const { api } = await startTestHub();
    const { id } = (await api.post(WEBHOOKS, { watched: WATCHED, url: URL })).body.webhook;
    const { body, headers } = await api.put(`${WEBHOOKS}/${id}`, { url: URL }).expect(405);
    expect([body.error, headers.allow]).toEqual([expect.stringContaining("by POST"), "GET, HEAD, POST, DELETE"]);
    expect((await api.post(`${WEBHOOKS}/${id}`).expect(400)).body.error).toBe("a JSON body is missing");
  });

  it("survive a restart with their order, state and secret", async () => {
    const test = await startTestHub();
    const { api } = test;
    const ids = [];
    for (const name of ["a", "b", "c"])
      ids.push((await api.post(WEBHOOKS, { watched: [{ type: "org", name }], url: URL, secret: "s" })).body.webhook.id);
    await api.post(`${WEBHOOKS}/${ids[1]}/disable`);
    await api.delete(`${WEBHOOKS}/${ids[2]}`);
    const before = (await api.get(WEBHOOKS)).body;
    await test.restart();
    const after = (await api.get(WEBHOOKS)).body;
    expect(after).toEqual(before);
    expect(after).toMatchObject([
      { id: ids[0], disabled: false, hasSecret: true },
      { id: ids[1], disabled: true },
    ]);
  });
});
