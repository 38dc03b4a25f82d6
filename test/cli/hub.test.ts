import { describe, expect, it } from "@jest/globals";
import { folderWith, hubhook, serveHub } from "../support/cli.ts";

describe("hubhook hub", () => {
  it("says where it is and that it is open, keeps its file in the data folder, and ends in good order", async () => {
    await using folder = await folderWith({});
    const hub = await serveHub(["--data", "here"], { cwd: folder.path });
    const response = await fetch(`http://127.0.0.1:${hub.port}/api/whoami-v2`, {
      headers: { authorization: "Bearer x" },
    });
    expect(await response.json()).toMatchObject({ name: "me" });
    const { code, stdout, stderr } = await hub.stop();
    expect({ code, stdout }).toEqual({ code: 0, stdout: `The hub is up: HF_ENDPOINT=http://127.0.0.1:${hub.port}\n` });
    expect(stderr).toContain("HUB_TOKEN");
  });

  it("stands by tokens from the environment", async () => {
    await using folder = await folderWith({});
    const env = { HUB_TOKEN: "hf_me", HUB_TOKENS: "alice:hf_alice" };
    await using hub = await serveHub([], { cwd: folder.path, env });
    const url = `http://127.0.0.1:${hub.port}`;
    const names = await Promise.all(
      ["hf_me", "hf_alice", "hf_x"].map(async (token) => {
        const response = await fetch(`${url}/api/whoami-v2`, { headers: { authorization: `Bearer ${token}` } });
        return ((await response.json()) as { name?: string }).name;
      }),
    );
    expect(names).toEqual(["me", "alice", undefined]);
    const emitted = await hubhook(["hub", "emit", "repo:update", "--hub", url, "--format", "json"], { env });
    expect(JSON.parse(emitted.stdout)).toMatchObject({ deliveries: 0, payload: { repo: { name: "me/my-model" } } });
    const refused = await hubhook(["hub", "emit", "repo:update", "--hub", url, "--token", "hf_x"]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("token") });
    expect(refused.stderr).not.toContain("hf_");
  });

  it.each([
    [["--host", "0.0.0.0"], 1, "HUB_TOKEN"],
    [["--chaos", "explode=1"], 2, "explode"],
    [["--chaos", "drop=0.1=2"], 2, "--chaos: drop=0.1=2"],
    [["--chaos", "delay=9999m"], 2, "at most an hour"],
    [["--port", "x"], 2, "0 to 65535"],
    [["emit"], 2, "scope:action"],
    [["emit", "repo:explode"], 2, "repo:create"],
    [["emit", "repo:update", "--repo", "planet:me/m"], 2, "type:owner/name"],
    [["emit", "repo:update", "--hub", "http://127.0.0.1:9"], 1, "hubhook hub"],
    [["emit", "repo:update", "--hub", "nowhere"], 2, "whole address"],
    [["emit", "repo:update", "--token", "a\nb"], 2, "visible ASCII"],
  ])("refuses %j with exit code %i and a sentence", async (args, code, words) => {
    await using folder = await folderWith({});
    const ended = await hubhook(["hub", ...args], { cwd: folder.path });
    expect(ended).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(words) });
  });
});
