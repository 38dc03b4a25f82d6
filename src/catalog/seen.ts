/**
 * A quick filter for texts that come twice. It knows texts by numbers of 64 bits that are equal wherever the texts are
 * the same to a rule. Equal numbers are no proof, so whoever asks compares the texts then; different ones are, and
 * that is what nearly all have.
 */

/** Letters of the Arabic script that case and compatibility leave as they are. */
const isPlainArabic = (code: number) => (code >= 0x620 && code <= 0x64a) || (code >= 0x679 && code <= 0x6d3);

export class Seen {
  /** Pairs of halves; two zeros are an empty place. */
  readonly #halves: Int32Array;
  readonly #mask: number;

  /** @param most how many will come */
  constructor(most: number) {
    const places = 2 ** Math.ceil(Math.log2(2 * most + 2));
    this.#halves = new Int32Array(2 * places);
    this.#mask = places - 1;
  }

  /** Was the text from `start` to `end` seen before, whatever the case of its ASCII letters? From now on it was. */
  again(text: string, start = 0, end = text.length): boolean {
    let high = 0x1b873593;
    let low = 0x11c9dc5;
    for (let at = start; at < end; at++) {
      let code = text.charCodeAt(at);
      if (code >= 0x41 && code <= 0x5a) code |= 0x20;
      high = (Math.imul(high ^ code, 0x5bd1e995) + 0x3c6ef372) | 0;
      low = Math.imul(low ^ code, 0x01000193);
    }
    return this.#enter(high, low);
  }

  /** The same by letters and digits alone; null for a text that has to be normalised first. */
  againByLetters(text: string): boolean | null {
    let high = 0x1b873593;
    let low = 0x11c9dc5;
    for (let at = 0; at < text.length; at++) {
      let code = text.charCodeAt(at);
      if (code >= 0x80) {
        if (!isPlainArabic(code)) return null;
      } else if (code >= 0x41 && code <= 0x5a) code |= 0x20;
      else if (code < 0x30 || (code > 0x39 && code < 0x61) || code > 0x7a) continue;
      high = (Math.imul(high ^ code, 0x5bd1e995) + 0x3c6ef372) | 0;
      low = Math.imul(low ^ code, 0x01000193);
    }
    return this.#enter(high, low);
  }

  #enter(high: number, low: number): boolean {
    const halves = this.#halves;
    const first = high === 0 && low === 0 ? 1 : high;
    for (let place = low & this.#mask; ; place = (place + 1) & this.#mask) {
      const there = halves[2 * place];
      const beside = halves[2 * place + 1];
      if (there === first && beside === low) return true;
      if (there !== 0 || beside !== 0) continue;
      halves[2 * place] = first;
      halves[2 * place + 1] = low;
      return false;
    }
  }
}
