/** The two vocabularies for sources, and the way from one to the other. */
import { SOURCES, type Source, VOCABULARIES, type Vocabulary } from "./schema.ts";

/** By their words. `other` stands in both at the same place. */
const places = new Map<string, { vocabulary: Vocabulary | null; place: number }>(
  VOCABULARIES.flatMap((vocabulary) =>
    SOURCES[vocabulary].map(
      (word, place) => [word, { vocabulary: word === "other" ? null : vocabulary, place }] as const,
    ),
  ),
);

/** The same source in the other words; undefined for what is in neither vocabulary. */
export function translate(word: string, to: Vocabulary): Source | undefined {
  const known = places.get(word);
  return known && SOURCES[to][known.place];
}

/**
 * The vocabulary of most of these resources, of the first where there are as many of the other; null where none tells.
 */
export function vocabularyOf(resources: readonly unknown[]): Vocabulary | null {
  const counts = { neutral: 0, platform: 0 };
  let first: Vocabulary | null = null;
  for (const resource of resources) {
    const word = (resource as { source?: unknown } | null)?.source;
    const vocabulary = places.get(word as string)?.vocabulary;
    if (!vocabulary) continue;
    counts[vocabulary]++;
    first ??= vocabulary;
  }
  if (counts.neutral === counts.platform) return first;
  return counts.neutral > counts.platform ? "neutral" : "platform";
}
