import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), "utf8");

describe("README", () => {
  it("begins with what the Hub needs to run it as a Docker Space", () => {
    const [, front = ""] = /^---\n(title: [\s\S]*?)\n---\n/.exec(read("README.md")) ?? [];
    const settings = Object.fromEntries(front.split("\n").map((line) => line.split(/: (.*)/).slice(0, 2)));
    expect(settings).toMatchObject({ sdk: "docker", app_port: "7860", suggested_hardware: "cpu-basic" });
    expect(settings.short_description?.length).toBeLessThanOrEqual(60);
    expect(read("Dockerfile")).toContain(`EXPOSE ${settings.app_port}\n`);
  });
});
