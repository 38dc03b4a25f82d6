/** The two vocabularies for sources, and the way from one to the other. */
import { SOURCES, type Source, VOCABULARIES, type Vocabulary } from "./schema.ts";

const places = new Map(
  VOCABULARIES.map((vocabulary) => [
    vocabulary,
    new Map(SOURCES[vocabulary].map((word, place) => [word as string, place])),
  ]),
);

/** The same source in the other words; undefined for what is in neither vocabulary. */
export function translate(word: string, to: Vocabulary): Source | undefined {
  for (const vocabulary of VOCABULARIES) {
    const place = places.get(vocabulary)?.get(word);
    if (place !== undefined) return SOURCES[to][place];
  }
  return undefined;
}

/**
 * The vocabulary of most of these resources, of the first where there are as many of the other; null where none tells.
 */
export function vocabularyOf(resources: readonly unknown[]): Vocabulary | null {
  const counts = { neutral: 0, platform: 0 };
  let first: Vocabulary | null = null;
  for (const resource of resources) {
    const word = (resource as { source?: unknown } | null)?.source;
    if (typeof word !== "string" || word === "other") continue;
    const vocabulary = VOCABULARIES.find((one) => places.get(one)?.has(word));
    if (vocabulary === undefined) continue;
    counts[vocabulary]++;
    first ??= vocabulary;
  }
  if (counts.neutral === counts.platform) return first;
  return counts.neutral > counts.platform ? "neutral" : "platform";
}
