import { describe, expect, it } from "@jest/globals";
import { markerFinder, readableUrl } from "../../src/catalog/markers.ts";
import { MARKERS } from "../support/catalog.ts";

const named = markerFinder(MARKERS);

describe("the language is named", () => {
  it.each([
    "Pashto",
    "PASHTO speech",
    "a pashto-asr corpus",
    "(Pashto)",
    "PashtoBERT",
    "BertPashto",
    "wav2vec2Pashto",
    "pashto_tts",
    "Pukhto, Pakhto or Pushto",
    "ps",
    "lang=ps&x=1",
    "https://ps.wikipedia.org/",
    "common_voice_ps_17",
    "ps_af",
    "PS-AF",
    "flores pbt_Arab",
    "pbt_arab",
    "the code pus",
    "پښتو",
    "د پښتو ژبه",
    "«پښتو»،",
    "پښتو\u200cژبه",
    "پشتو",
    "پښتـــو",
    "پَښتُو",
    "زبان پشتو.",
    // Presentation forms, as PDFs have them.
    "ﭘﺸﺘﻮ",
    "Ｐａｓｈｔｏ",
  ])("in %j", (text) => {
    expect(named(text)).toBe(true);
  });

  it.each([
    "",
    "tips",
    "Tips and tricks",
    "apps",
    "HTTPS",
    "ps4",
    "ps\u0301x",
    "maps_of",
    "push to start",
    "pushtoken",
    "corpus",
    "opus",
    "pusher",
    "Pashtun",
    "پښتون",
    "پښتونخوا",
    "مپشتو",
    "pbt Arab",
    "Dari and Urdu",
  ])("not in %j", (text) => {
    expect(named(text)).toBe(false);
  });

  it("by the words of another language, which may have characters that mean something in a pattern", () => {
    const dari = markerFinder(["prs", "دری", "c++ (dari)", " "]);
    expect(["prs-AF", "زبان دری", "In C++ (Dari)."].map(dari)).toEqual([true, true, true]);
    expect(["Pashto", "دریا", "c (dari)"].map(dari)).toEqual([false, false, false]);
  });

  it("anywhere, where no words are set", () => {
    expect(markerFinder([])("nothing")).toBe(true);
  });

  it("in time that grows no faster than the text", () => {
    for (const piece of ["p", "ps", "pashto", "پ", "Ps", "_", "\u0301"]) named(piece.repeat(100_000));
  });
});

describe("an address is read with its escapes", () => {
  it.each([
    ["https://example.org/%D9%BE%DA%9A%D8%AA%D9%88", "https://example.org/پښتو"],
    ["https://example.org/%", "https://example.org/%"],
    ["https://example.org/%FF", "https://example.org/%FF"],
  ])("%s", (url, readable) => {
    expect(readableUrl(url)).toBe(readable);
  });
});
