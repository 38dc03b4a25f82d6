import { describe, expect, it } from "@jest/globals";
import { UsageError } from "../../src/cli/exit.ts";
import { sampleFrom } from "../../src/cli/sample.ts";

const make = (event: string, repo?: string) => () => sampleFrom(event, { repo, set: [] }, "http://127.0.0.1:7861");

describe("the event of a sample", () => {
  it.each([
    "discussion",
    "repo:spin",
    "repo:",
    ":update",
    "",
    "galaxy:update",
    "repo.:update",
    "repo.config.doi",
    "repo.config.doi:",
    "repo.config.doi:a:b",
    "repo.content:update ",
  ])("is not %p", (event) => {
    expect(make(event)).toThrow(UsageError);
    expect(make(event)).toThrow("is no event of the Hub");
  });

  it.each([
    ["Repo:Update", "repo:update"],
    ["repos.content:update", "repo.content:update"],
    ["discussion:comment:create", "discussion.comment:create"],
    ["repo.content:updated", "repo.content:update"],
  ])("when written %s was probably meant to be %s", (event, meant) => {
    expect(make(event)).toThrow(`did you mean ${meant}?`);
  });
});

it("has a repo that is written type:owner/name", () => {
  expect(make("repo:update", "space:me/app")().repo.url.web).toBe("http://127.0.0.1:7861/spaces/me/app");
  for (const repo of ["me/app", "user:me", "kernel:me/app"]) expect(make("repo:update", repo)).toThrow(UsageError);
});
