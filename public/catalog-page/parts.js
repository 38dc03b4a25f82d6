/** What the list and the panel show of a resource: its marks and its links. */
import { el } from "../dom.js";
import { plain } from "./words.js";

const SHAPES = { verified: "M3 8.5l3.5 3.5L13 4.5", candidate: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M8 8v.01" };
const WORDS = { verified: "Verified", candidate: "Candidate" };

/** A word, a shape and a colour, never a colour alone. */
export function badge(status) {
  return el("span", { class: `badge badge--${status}` }, shape(SHAPES[status]), WORDS[status] ?? plain(status));
}

function shape(d) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", d ?? "");
  svg.append(path);
  return svg;
}

/**
 * A link to elsewhere. What is neither http nor https is text and no link.
 * @param {string} kind tag and classes, as of `el`
 */
export function outside(kind, url, ...content) {
  const address = parsed(url);
  if (!address) return el("span", plain(url));
  return el(
    kind,
    { href: address.href, target: "_blank", rel: "noopener noreferrer" },
    ...content,
    el("span.unseen", " (opens in a new tab)"),
  );
}

/** The host as the network knows it, so that look-alike letters show. */
export function hostOf(url) {
  return parsed(url)?.host.replace(/^www\./, "") ?? "";
}

function parsed(url) {
  try {
    const address = new URL(url);
    return /^https?:$/.test(address.protocol) ? address : null;
  } catch {
    return null;
  }
}
