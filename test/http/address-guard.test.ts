import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { onCleanup } from "../support/cleanup.ts";
import { activityOf, addWebhook, publish, startTestHub } from "../support/hub.ts";
import { startTarget } from "../support/target.ts";

const USERS = [{ name: "me", token: "hf_me" }];
/** Open to others, so loopback is no place to send to. */
const OPEN = { host: "0.0.0.0", users: USERS, scheduleMs: [], connectTimeoutMs: 500 };

async function attemptTo(url: string, settings: object, lookup?: (name: string) => LookupAddress[]) {
  const { as, hub } = await startTestHub(settings, {
    ...(lookup && { lookup: (name, done) => done(null, lookup(name)) }),
  });
  const api = as("hf_me");
  const id = await addWebhook(api, { url });
  await publish(api, "repo:update").expect(202);
  await hub.idle();
  const [delivery] = await activityOf(api, id);
  return delivery?.attempts[0];
}

describe("a hub that others reach does not send to", () => {
  it.each([
    "127.0.0.1",
    "127.1.2.3",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.5.4",
    "192.168.1.1",
    "169.254.169.254",
    "100.100.100.200",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:169.254.169.254]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[4000::1]",
    "localhost",
  ])("%s", async (host) => {
    await using target = await startTarget({ status: 200 });
    const attempt = await attemptTo(`http://${host}:${target.port}/`, OPEN);
    expect(attempt).toMatchObject({ status: null, error: expect.stringContaining("HUB_ALLOW_TARGETS") });
    expect(target.requests).toHaveLength(0);
  });

  it("a name that leads inside, not even when it led outside a moment ago", async () => {
    await using target = await startTarget({ status: 200 });
    const answers = [["93.184.216.34"], ["127.0.0.1"], ["93.184.216.34", "127.0.0.1"]];
    let asked = 0;
    const lookup = () => (answers[++asked] ?? ["127.0.0.1"]).map((address) => ({ address, family: 4 }));
    const attempt = await attemptTo(`http://rebind.example:${target.port}/`, OPEN, lookup);
    expect(attempt).toMatchObject({ status: null, error: expect.stringContaining("rebind.example (127.0.0.1)") });
    expect(asked).toBe(1);
    expect(target.requests).toHaveLength(0);
  });

  it("what a public target redirects to", async () => {
    await using inside = await startTarget({ status: 200 });
    await using target = await startTarget({ status: 302, headers: { location: inside.url } });
    const attempt = await attemptTo(target.url, { ...OPEN, allowTargets: ["127.0.0.1"] });
    expect(attempt).toMatchObject({ status: 302 });
    expect(inside.requests).toHaveLength(0);
  });
});

describe("HUB_ALLOW_TARGETS", () => {
  it.each([["127.0.0.0/8"], ["127.0.0.1"], ["target.example"]])("lets through %s", async (allowed) => {
    await using target = await startTarget({ status: 200 });
    const host = allowed === "target.example" ? allowed : "127.0.0.1";
    const lookup = () => [{ address: "127.0.0.1", family: 4 }];
    const attempt = await attemptTo(`http://${host}:${target.port}/`, { ...OPEN, allowTargets: [allowed] }, lookup);
    expect(attempt).toMatchObject({ status: 200 });
  });

  it.each(["10.0.0.0/99", "http://example.com", "a b"])(
    "is not understood as %s, and says so at the start",
    async (wrong) => {
      await expect(startTestHub({ allowTargets: [wrong] })).rejects.toThrow(/HUB_ALLOW_TARGETS/);
    },
  );
});

describe("a hub on loopback", () => {
  it.each(["127.0.0.1", "localhost"])("sends to %s", async (host) => {
    await using target = await startTarget({ status: 200 });
    const attempt = await attemptTo(`http://${host}:${target.port}/`, { users: USERS, scheduleMs: [] });
    expect(attempt).toMatchObject({ status: 200 });
  });

  it("sends to a target that only has an IPv6 address", async () => {
    const server = createServer((_request, response) => response.end("six")).listen(0, "::1");
    // Not every machine has one.
    const listens = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!listens) return;
    onCleanup(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const attempt = await attemptTo(`http://[::1]:${port}/x`, { users: USERS, scheduleMs: [] });
    expect(attempt).toMatchObject({ status: 200, response: "six" });
    const allowed = await attemptTo(`http://[::1]:${port}/x`, { ...OPEN, allowTargets: ["::1"] });
    expect(allowed).toMatchObject({ status: 200, response: "six" });
    const lookup = () => ["127.0.0.1", "::1"].map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    const byName = await attemptTo(`http://both.example:${port}/`, { users: USERS, scheduleMs: [] }, lookup);
    expect(byName).toMatchObject({ status: 200, response: "six" });
  });

  it.each(["169.254.169.254", "192.168.1.1", "0.0.0.0", "[fd00::1]", "[fe80::1]"])(
    "does not send to %s",
    async (host) => {
      const attempt = await attemptTo(`http://${host}/`, { users: USERS, scheduleMs: [] });
      expect(attempt?.error).toContain("HUB_ALLOW_TARGETS");
    },
  );
});
