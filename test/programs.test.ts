import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { programFile, startProgram } from "./support/program.ts";
import { deliver } from "./support/receiver.ts";

const run = (name: string, env: Record<string, string> = {}) =>
  startProgram([programFile(name)], { env: { PORT: "0", ...env } });

/** What a program says in its last line of JSON. */
async function saw(name: string, env?: Record<string, string>) {
  const program = run(name, env);
  const ended = await program.ended;
  const [, json] = /^SAW (.*)$/m.exec(program.stdout()) ?? [];
  if (json === undefined) throw new Error(program.stderr());
  return { ...(JSON.parse(json) as Record<string, unknown>), ended };
}

describe("webhookEndpoint", () => {
  it("starts one server for all functions, once, when the program has come to its end", async () => {
    const program = run("two-functions.ts");
    const [, url] = await program.says(/Look at them: (http\S+)/);
    const [before = "", after = ""] = program.stdout().split("the program's last word");
    expect(before).not.toContain("POST");
    expect(after.match(/- POST .*/g)).toEqual([`- POST ${url}/webhooks/train`, `- POST ${url}/webhooks/other-name`]);
    expect(after.match(/ready to use/g)).toHaveLength(1);
    expect(await (await deliver(`${url}/webhooks/train`)).json()).toEqual({ train: "dataset" });
    expect(await (await deliver(`${url}/webhooks/other-name`)).json()).toEqual({ other: true });
  });

  it("may be launched by hand: once, and a name that is registered again then replaces the first", async () => {
    expect(await saw("by-hand.ts")).toEqual({
      before: [200, "first run"],
      same: true,
      after: [
        [200, "second run"],
        [200, "late"],
      ],
      direct: "first run",
      ended: { code: 0, signal: null },
    });
  });

  it("refuses a second function under one name before a launch by hand, and no server starts", async () => {
    const program = run("duplicate.ts");
    expect((await program.ended).code).toBe(1);
    expect(program.stderr()).toMatch(/POST \/webhooks\/twice has a handler already/);
    expect(program.stdout()).toBe("");
  });

  it.each([
    ["throws.ts", 1, "the program broke"],
    ["exits.ts", 3, ""],
  ])("starts no server for a program that does not come to its end (%s)", async (name, code, word) => {
    const program = run(name);
    expect((await program.ended).code).toBe(code);
    expect([program.stdout(), program.stderr()]).toEqual(["", expect.stringContaining(word)]);
  });

  it("says so when the port is taken, what to set, and ends with 1", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const program = run("two-functions.ts", { PORT: String(port) });
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expect(program.stderr()).toMatch(/is taken by another program.*set PORT/);
    expect(program.stderr()).not.toMatch(/^\s+at /m);
    other.close();
  });
});

describe("WebhooksServer", () => {
  it("takes webhooks before and after its launch, refuses what cannot be, and launches once", async () => {
    expect(await saw("server.ts")).toEqual({
      refusals: [
        expect.stringContaining("POST /webhooks/train has a handler already"),
        expect.stringContaining('"" cannot be the name of an endpoint'),
        expect.stringContaining('"two words" cannot be the name'),
        expect.stringContaining("found undefined"),
        expect.stringContaining("webhookSecret is empty"),
        expect.stringMatching(/WEBHOOK_SECRET is not usable(?!.*two words)/),
        expect.stringContaining('PORT is "99999"'),
      ],
      same: true,
      answers: [
        [200, '{"repo":"dataset"}'],
        [401, expect.any(String)],
        [204, ""],
        [200, '{"ignored":true}'],
        [200, '"late"'],
      ],
      page: "my page",
      relaunched: 200,
      ended: { code: 0, signal: null },
    });
  });
});
