import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { fieldProblems, proposalsFor } from "../../src/catalog/draft.ts";
import { sourceOfUrl } from "../../src/catalog/hosts.ts";
import { proposedId } from "../../src/catalog/ids.ts";

const free = () => false;

describe("the proposed id", () => {
  it.each([
    ["Pashto Speech", "", "pashto-speech"],
    ["  Común Voz (v2.1): Große Ausgabe!  ", "", "comun-voz-v2.1-gro-e-ausgabe"],
    ["_Hidden_ .start", "", "hidden_-.start"],
    ["پښتو ژبه", "https://huggingface.co/datasets/me/pashto-asr", "me-pashto-asr"],
    ["پښتو", "https://example.org/%D9%BE%DA%9A%D8%AA%D9%88/Corpus?x=1", "corpus"],
    ["پښتو", "https://www.example.org/", "example.org"],
    ["پښتو", "https://example.org/%ff", "ff"],
    ["پښتو 2", "no url", "resource"],
    ["پښتو ASR", "https://example.org/x", "asr"],
  ])("of %p at %p is %p", (title, url, id) => {
    expect(proposedId(title, url, free)).toBe(id);
  });

  it("is one that nobody has", () => {
    const taken = new Set(["pashto", "pashto-2"]);
    expect(proposedId("Pashto", "", (id) => taken.has(id))).toBe("pashto-3");
  });

  it("is no longer than a person likes to type, and ends with a word", () => {
    const id = proposedId("A very long title about the many sounds of spoken Pashto in all of its dialects", "", free);
    expect(id).toBe("a-very-long-title-about-the-many-sounds-of-spoken-pashto-in");
    expect(proposedId("x".repeat(200), "", free)).toBe("x".repeat(60));
  });

  it("is always an id", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.oneof(fc.webUrl(), fc.string()), (title, url) => {
        expect(proposedId(title, url, free)).toMatch(/^[a-z0-9][a-z0-9._-]*$/);
      }),
    );
  });
});

describe("the proposed source", () => {
  it.each([
    ["https://huggingface.co/datasets/me/d", "huggingface", "model_hub"],
    ["https://commonvoice.mozilla.org/ps", "mozilla", "browser_vendor"],
    ["https://www.kaggle.com/datasets/x", "kaggle", "data_science_site"],
    ["https://github.com/me/x", "github", "code_host_a"],
    ["https://me.github.io/x", "github", "code_host_a"],
    ["https://gitlab.com/me/x", "gitlab", "code_host_b"],
    ["https://arxiv.org/abs/2401.00001", "arxiv", "preprint_server"],
    ["https://zenodo.org/records/1", "zenodo", "research_repository"],
    ["https://dataverse.harvard.edu/dataset.xhtml?persistentId=x", "dataverse", "data_archive"],
    ["https://ai.meta.com/research/no-language-left-behind/", "meta", "social_company"],
    ["https://nothuggingface.co/x", "other", "other"],
    ["https://huggingface.co.evil.example/x", "other", "other"],
    ["nonsense", "other", "other"],
  ])("of %s is %s", (url, platform, neutral) => {
    expect(sourceOfUrl(url, "platform")).toBe(platform);
    expect(sourceOfUrl(url, "neutral")).toBe(neutral);
  });
});

describe("a draft", () => {
  it("proposes what follows from it", () => {
    const draft = {
      title: "Speech",
      url: "https://github.com/me/x",
      evidence_text: "Transcribed ps_af and پښتو, no tips",
    };
    const surroundings = { vocabulary: "platform", markers: ["ps", "ps_af", "پښتو", "Pushto"], isTaken: free } as const;
    expect(proposalsFor(draft, surroundings)).toEqual({
      id: "speech",
      source: "github",
      status: "candidate",
      evidence_url: "https://github.com/me/x",
      markers: ["ps", "ps_af", "پښتو"],
    });
    expect(proposalsFor({}, surroundings)).toEqual({ id: "resource", source: "other", status: "candidate" });
  });

  it.each([
    ["id", "Upper"],
    ["title", "ab"],
    ["url", "ftp://example.org"],
    ["category", "datset"],
    ["source", "huggingfce"],
    ["source", "model_hub"],
    ["status", "done"],
    ["summary", "short"],
    ["primary_use", "ab"],
    ["evidence_text", "x"],
    ["evidence_url", "example.org"],
    ["markers", []],
    ["tags", []],
  ] as const)("has a problem with the %s %p, and with nothing else", (field, value) => {
    const problems = fieldProblems(field, { [field]: value }, "platform");
    expect(problems).toHaveLength(1);
    expect(problems[0]?.path).toContain(field);
  });

  it.each([
    ["id", "a"],
    ["source", "huggingface"],
    ["summary", "ten chars."],
    ["markers", ["پښتو"]],
    ["license", ""],
    ["tasks", []],
  ] as const)("has none with the %s %p", (field, value) => {
    expect(fieldProblems(field, { [field]: value }, "platform")).toEqual([]);
  });
});
