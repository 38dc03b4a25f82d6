/** What is searched for, kept in the page's address: `?q=speech&category=dataset#id-of-a-resource`. */

export const FACETS = ["status", "category", "task", "tag", "source", "license"];

/** @returns {{ q: string, filters: Record<string, string[]> }} */
export function readAddress() {
  const words = new URLSearchParams(location.search);
  const filters = Object.fromEntries(FACETS.map((facet) => [facet, [...new Set(words.getAll(facet))].filter(Boolean)]));
  return { q: (words.get("q") ?? "").slice(0, 200), filters };
}

export function toQuery({ q, filters }) {
  const words = new URLSearchParams();
  if (q.trim()) words.set("q", q);
  for (const facet of FACETS) for (const value of filters[facet]) words.append(facet, value);
  return words;
}

/**
 * Puts the search into the address. All that is typed in one go is one step back, every choice of a filter another.
 * @param {{ typing: boolean }} how
 */
export function writeAddress(search, { typing }) {
  const words = toQuery(search);
  const address = `${location.pathname}${words.size ? `?${words}` : ""}`;
  if (address === location.pathname + location.search && !location.hash) return;
  if (typing && history.state?.typing) history.replaceState({ typing }, "", address);
  else history.pushState({ typing }, "", address);
}

/** The id that the address names, or "". Ids have no capitals: those belong to places of the page. */
export function chosenId() {
  const id = location.hash.slice(1);
  return /^[a-z0-9][a-z0-9._-]*$/.test(id) ? id : "";
}

export function isNarrow({ q, filters }) {
  return q.trim() !== "" || FACETS.some((facet) => filters[facet].length > 0);
}

export function toggled({ q, filters }, facet, value) {
  const same = (one) => one.toLowerCase() === value.toLowerCase();
  const before = filters[facet];
  const after = before.some(same) ? before.filter((one) => !same(one)) : [...before, value];
  return { q, filters: { ...filters, [facet]: after } };
}
