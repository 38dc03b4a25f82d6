/** Proposes ids for new resources. */

/** Longer ones are no pleasure to type. */
const LONGEST = 60;

/**
 * An id that no resource has yet, from the title; where that has no Latin letter, from the last segments of the url.
 */
export function proposedId(title: string, url: string, taken: (id: string) => boolean): string {
  const base = (/\p{Script=Latin}/u.test(title) && short(slug(title))) || short(slug(endOf(url))) || "resource";
  if (!taken(base)) return base;
  for (let number = 2; ; number++) if (!taken(`${base}-${number}`)) return `${base}-${number}`;
}

/** `owner/name` of most places where resources live, else the host. */
function endOf(url: string): string {
  if (!URL.canParse(url)) return "";
  const { hostname, pathname } = new URL(url);
  const segments = pathname.split("/").filter(Boolean).slice(-2);
  return segments.length > 0 ? segments.map(decoded).join("-") : hostname.replace(/^www\./, "");
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The text in the letters that an id may have; "": it has none of them. */
export function slug(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, "");
}

function short(words: string): string {
  return words.length <= LONGEST
    ? words
    : words.slice(0, LONGEST + 1).replace(/-?[^-]*$/, "") || words.slice(0, LONGEST);
}
