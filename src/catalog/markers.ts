/**
 * Is the language named? A marker counts as a word of its own, whatever the script: `ps` does not stand in "tips", nor
 * پښتو in پښتون, but both `Pashto` in "PashtoBERT" and `ps` in "ps_af" do. Case, compatibility forms, vowel marks and
 * stretched letters make no difference.
 */

export type Finder = (text: string) => boolean;

const WORD = "[\\p{L}\\p{N}\\p{M}]";
/** Vowel marks of the Arabic script, and the stroke that stretches a word. */
const ORNAMENTS = /[\u0640\u064b-\u0652\u0670]/g;
/** Between the words of a name like PashtoBERT. */
const SEAMS = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu;

export function markerFinder(markers: readonly string[]): Finder {
  const words = markers
    .map((marker) => plain(marker.trim()))
    .filter((word) => word !== "")
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  if (words.length === 0) return () => true;
  const any = words.join("|");
  // Asked first: to look behind is slow.
  const inside = new RegExp(any, "iu");
  const alone = new RegExp(`(?<!${WORD})(?:${any})(?!${WORD})`, "iu");
  return (text) => {
    const readable = plain(text);
    if (!inside.test(readable)) return false;
    return alone.test(readable) || alone.test(readable.replace(SEAMS, " "));
  };
}

function plain(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : text.normalize("NFKC").replace(ORNAMENTS, "");
}

/** What an address says, its escapes read. */
export function readableUrl(url: string): string {
  if (!url.includes("%")) return url;
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}
