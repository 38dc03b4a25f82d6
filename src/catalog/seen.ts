/**
 * A quick filter for texts that come twice: numbers that are equal wherever the texts are the same to a rule. Equal
 * numbers are no proof, so whoever asks compares the texts themselves; different ones are, and spare most of the work.
 */

/** The two halves of a number of 64 bits. */
export type Fingerprint = [high: number, low: number];

/** Letters of the Arabic script that compatibility and case leave as they are. */
const isPlainArabic = (code: number) => (code >= 0x620 && code <= 0x64a) || (code >= 0x679 && code <= 0x6d3);

/**
 * Of the text from `start` to `end`, whatever the case of its ASCII letters. With `lettersOnly` other ASCII
 * characters do not count, and null is given for a text that has to be normalised first.
 */
export function fingerprint(text: string, start: number, end: number, lettersOnly: boolean): Fingerprint | null {
  let high = 0x1b873593;
  let low = 0x811c9dc5;
  for (let at = start; at < end; at++) {
    let code = text.charCodeAt(at);
    if (code < 0x80) {
      if (code >= 0x41 && code <= 0x5a) code |= 0x20;
      else if (lettersOnly && !((code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39))) continue;
    } else if (lettersOnly && !isPlainArabic(code)) return null;
    high = Math.imul(high ^ code, 0x5bd1e995) + 0x3c6ef372;
    low = Math.imul(low ^ code, 0x01000193);
  }
  return [high | 0, low | 0];
}

/** Fingerprints that were seen. */
export class Seen {
  readonly #slots: Int32Array;
  readonly #mask: number;

  /** @param most how many will come */
  constructor(most: number) {
    const places = 2 ** Math.ceil(Math.log2(2 * most + 2));
    this.#slots = new Int32Array(2 * places);
    this.#mask = places - 1;
  }

  /** Was it seen before? From now on it was. */
  again([high, low]: Fingerprint): boolean {
    // Two zeros are an empty place.
    const first = high === 0 && low === 0 ? 1 : high;
    const slots = this.#slots;
    for (let place = low & this.#mask; ; place = (place + 1) & this.#mask) {
      const there = slots[2 * place];
      if (there === 0 && slots[2 * place + 1] === 0) {
        slots[2 * place] = first;
        slots[2 * place + 1] = low;
        return false;
      }
      if (there === first && slots[2 * place + 1] === low) return true;
    }
  }
}
