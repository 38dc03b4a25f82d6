import { describe, expect, it } from "@jest/globals";
import { TokenTries } from "../../src/hub/token-tries.ts";

describe("tries of tokens from one address", () => {
  const tries = () => {
    const all = new TokenTries((token) => ({ hf_alice: "alice", hf_bob: "bob" })[token]);
    const guess = (count: number) => {
      for (let n = 0; n < count; n++) all.try(`guess-${n}`, "10.0.0.1");
    };
    return { try: (token: string, from = "10.0.0.1") => all.try(token, from), guess };
  };
  const wait = { waitSeconds: expect.any(Number) };

  it("are bounded also for whoever was let in there: they may be guesses of that very token", () => {
    const { try: attempt, guess } = tries();
    expect(attempt("hf_alice")).toEqual({ user: "alice" });
    guess(999);
    expect([attempt("hf_alice"), attempt("hf_bob"), attempt("guess")]).toEqual([{ user: "alice" }, wait, wait]);
    expect(attempt("hf_alice")).toEqual(wait);
    expect(attempt("hf_alice", "10.0.0.2")).toEqual({ user: "alice" });
  });

  it("count once for one token, however often it comes", () => {
    const { try: attempt, guess } = tries();
    attempt("hf_alice");
    guess(9);
    for (let n = 0; n < 2_000; n++) expect(attempt("guess-0")).toBe(null);
    guess(20);
    for (let n = 0; n < 2_000; n++) expect(attempt("guess-0")).toEqual(wait);
    expect(attempt("hf_alice")).toEqual({ user: "alice" });
  });
});
