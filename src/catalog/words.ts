/**
 * How text becomes words that can be found however they are written: upper or lower case, with or without accents and
 * vowel signs, composed or not, in the letters of one Arabic-script keyboard or another.
 */

/** Longer ones are cut: they are no words, and an index should not grow by them. */
const LONGEST = 64;

/** Accents of Latin, Greek and Cyrillic; points of Hebrew; vowel signs of Arabic and the stroke that draws it out. */
const MARKS =
  /[\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]/gu;
/** What is not seen, as the joiners and non-joiners that hold the parts of one word together. */
const UNSEEN = /\p{Cf}/gu;

/** Letters that keyboards of Pashto, Persian, Urdu and Arabic write for one another, each list under its first one. */
const ALIKE = ["یيىېۍےۑ", "کكڪ", "گګ", "هةہھەۃ", "اٱ", "ټٹ", "ډڈ", "ړڑ"];
const variants = new Map(ALIKE.flatMap(([first = "", ...others]) => others.map((letter) => [letter, first])));
const VARIANT = new RegExp(`[${[...variants.keys()].join("")}\u0660-\u0669\u06f0-\u06f9]`, "g");

/** Two texts that fold to the same are the same to a reader who searches. */
export function fold(text: string): string {
  const letters = text.normalize("NFKD").toLowerCase().replace(MARKS, "").replace(UNSEEN, "");
  return letters.replace(VARIANT, (letter) => variants.get(letter) ?? String(letter.charCodeAt(0) & 0xf));
}

/** The words of a text in their order, folded. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  eachWord(text, (within, start, end) => words.push(within.slice(start, end)));
  return words;
}

/** The same without a string for each: every word is told as a part of another text. */
export function eachWord(text: string, take: (within: string, start: number, end: number) => void): void {
  const lower = text.toLowerCase();
  let start = -1;
  let plain = true;
  for (let at = 0; at <= lower.length; at++) {
    const code = at < lower.length ? lower.charCodeAt(at) : SPACE;
    const folds = code > 0x7f;
    if (folds || (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)) {
      if (start < 0) start = at;
      if (folds) plain = false;
    } else if (start >= 0) {
      if (plain) take(lower, start, Math.min(at, start + LONGEST));
      else for (const word of foldedWords(lower.slice(start, at))) take(word, 0, word.length);
      start = -1;
      plain = true;
    }
  }
}

const SPACE = 0x20;

/** What was folded lately: a language has fewer words than its texts. */
const known = new Map<string, string[]>();
const MAX_KNOWN = 20_000;

function foldedWords(part: string): string[] {
  const before = known.get(part);
  if (before) return before;
  const words = fold(part).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const cut = words.map((word) => word.slice(0, LONGEST));
  if (known.size >= MAX_KNOWN) known.clear();
  if (part.length <= LONGEST) known.set(part, cut);
  return cut;
}
