/** The states of a delivery and the outcomes of an attempt: a word, a shape and a colour, never a colour alone. */
import { el } from "../dom.js";

export const STATES = ["pending", "running", "succeeded", "failed", "cancelled"];

const SHAPES = {
  pending: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M8 5v3.2l2 1.3",
  running: "M8 2.5a5.5 5.5 0 1 1-5.2 3.7",
  succeeded: "M2.5 8.7l3.6 3.6L13.5 4.5",
  failed: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  cancelled: "M3 8h10",
};

const KINDS = { "timed out": "failed", interrupted: "cancelled" };

/** A mark with its word: `<span class="mark mark--failed"><svg>…</svg>failed</span>` */
export function mark(word) {
  const kind = KINDS[word] ?? (Object.hasOwn(SHAPES, word) ? word : "cancelled");
  return el(`span.mark.mark--${kind}`, shape(kind), el("span", word));
}

function shape(kind) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SHAPES[kind]);
  svg.append(path);
  return svg;
}
