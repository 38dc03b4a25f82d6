import { describe, expect, it } from "@jest/globals";
import { ArgumentError, WebhooksClient } from "../../src/client/client.ts";
import { startTarget } from "../support/target.ts";

const ID = "654bbbc16f2ec14d77f109cc";
const url = "https://example.com/x";
const watched = ["user:me"];
type Any = never;

describe("wrong arguments are refused before any request", () => {
  it.each<[string, (client: WebhooksClient) => Promise<unknown>, string]>([
    ["neither url nor jobId", (client) => client.create({ watched }), "needs a url to send to or a jobId"],
    ["both", (client) => client.create({ url, jobId: "68", watched }), "give url or jobId, not both"],
    ["both on update", (client) => client.update(ID, { url, jobId: "68" }), "give url or jobId, not both"],
    ["no object", (client) => client.create(null as Any), "expected an object"],
    ["an unknown word", (client) => client.create({ url, watch: watched } as Any), '"watch" is unknown'],
    [
      "nothing watched",
      (client) => client.create({ url, watched: [] }),
      'name at least one item, as "dataset:me/data"',
    ],
    ["watched left out", (client) => client.create({ url } as Any), "name at least one item"],
    ["no colon", (client) => client.create({ url, watched: ["me/data"] }), "write type:name, as dataset:me/data"],
    [
      "an unknown type",
      (client) => client.create({ url, watched: ["foo:bar"] }),
      '"foo" is no type: write one of model',
    ],
    [
      "an empty name",
      (client) => client.create({ url, watched: ["model:"] }),
      "write a name as owner/name behind model:, as model:me/m",
    ],
    ["a bucket without owner", (client) => client.create({ url, watched: ["bucket:b"] }), "a name as owner/name"],
    [
      "an org with a slash",
      (client) => client.create({ url, watched: [{ type: "org", name: "a/b" }] }),
      "without a slash",
    ],
    ["a wrong domain", (client) => client.create({ url, watched, domains: ["all"] }), "write repo or discussion"],
    ["no domains", (client) => client.update(ID, { domains: [] }), "or leave it out"],
    ["half an address", (client) => client.create({ url: "example.com", watched }), "url: expected a whole address"],
    ["an address with a password", (client) => client.create({ url: "https://a:b@c.d", watched }), "use the secret"],
    ["a secret that is not ASCII", (client) => client.create({ url, watched, secret: "schlüssel" }), "visible ASCII"],
    ["an empty secret", (client) => client.create({ url, watched, secret: "" }), "secret: it is empty"],
    [
      "no secret to take away",
      (client) => client.create({ url, watched, secret: null as Any }),
      "leave it out for none",
    ],
    ["Job secrets without a Job", (client) => client.update(ID, { jobSecrets: { A: "1" } }), "name it by jobId too"],
    [
      "a bad Job secret",
      (client) => client.update(ID, { jobId: "68", jobSecrets: { "a b": "1" } }),
      "name of a variable",
    ],
    ["no change", (client) => client.update(ID, {}), "nothing to change"],
    ["a path for an id", (client) => client.get("../whoami-v2"), '"../whoami-v2" is no id'],
    ["no id", (client) => client.delete(""), "is no id"],
    ["no delivery", (client) => client.replay(ID, "a/b"), 'delivery: "a/b" is no id'],
    ["a wrong limit", (client) => client.activity(ID, { limit: 0 }), "from 1 to 200"],
    [
      "a wrong state",
      (client) => client.activity(ID, { state: "done" as Any }),
      "state: write one of pending, running",
    ],
    ["a wrong time", (client) => client.activity(ID, { since: "yesterday" }), "since: write a time"],
  ])("%s", async (_, call, sentence) => {
    await using target = await startTarget({ status: 200, body: "[]" });
    const client = new WebhooksClient({ endpoint: target.url, token: "hf_any" });
    const error = await call(client).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ArgumentError);
    expect((error as Error).message).toContain(sentence);
    expect((error as Error).message).not.toContain("schlüssel");
    expect(target.requests).toEqual([]);
  });

  it.each([
    [{ endpoint: "huggingface.co" }, "the hub's whole address"],
    [{ endpoint: "https://me:hf_x@huggingface.co" }, "may not hold a name or a password"],
    [{ endpoint: "https://huggingface.co/?a=1" }, "without ? and #"],
    [{ token: "hf_x\ny" }, "token: it is not usable"],
    [{ token: "" }, "token: it is not usable"],
    [{ userAgent: "a\nb" }, "userAgent: write visible ASCII"],
    [{ timeoutMs: 0 }, "timeoutMs: write a number"],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, "timeoutMs: write a number"],
  ])("a client with %j", (options, sentence) => {
    expect(() => new WebhooksClient(options)).toThrow(sentence);
    expect(() => new WebhooksClient(options)).not.toThrow("hf_x");
  });

  it("knows the real Hub", () => {
    expect(new WebhooksClient().endpoint).toBe("https://huggingface.co");
  });
});
