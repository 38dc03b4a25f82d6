/** JSON as a tree that opens and closes. What is closed is not built, so its size and depth cost nothing. */
import { el } from "../dom.js";
import { number, plain } from "./words.js";

/** Members shown at once, and characters of one text. */
const STEP = 100;
const LONG = 400;
/** A tree of at most so many members opens by itself, level by level. */
const OPEN_UP_TO = 40;

export function jsonTree(value) {
  const tree = el("div.tree", branch(null, value));
  let budget = OPEN_UP_TO;
  for (let level = [...tree.querySelectorAll("details")]; level.length > 0; ) {
    budget -= level.reduce((sum, details) => sum + Number(details.dataset.size), 0);
    if (budget < 0 && level[0] !== tree.firstChild) break;
    for (const details of level) open(details);
    level = level.flatMap((details) => [...details.querySelectorAll("details")]);
  }
  return tree;
}

const members = new WeakMap();

function branch(key, value) {
  const label = key === null ? [] : [el("span.tree-key", plain(key)), ": "];
  if (typeof value !== "object" || value === null) return el("div.tree-leaf", ...label, leaf(value));
  const entries = Object.entries(value);
  const [begin, end] = Array.isArray(value) ? "[]" : "{}";
  if (entries.length === 0) return el("div.tree-leaf", ...label, begin + end);
  const size = `${number(entries.length)} ${Array.isArray(value) ? "items" : "keys"}`;
  const details = el(
    "details",
    { "data-size": String(entries.length), ontoggle: (event) => fill(event.currentTarget) },
    el("summary", ...label, el("span.tree-size", `${begin} ${entries.length === 1 ? size.slice(0, -1) : size} ${end}`)),
  );
  members.set(details, entries);
  return details;
}

function open(details) {
  fill(details);
  details.open = true;
}

function fill(details) {
  const entries = members.get(details);
  if (!entries) return;
  members.delete(details);
  const list = el("div.tree-members");
  details.append(list);
  showFrom(0);

  function showFrom(start) {
    const end = Math.min(start + STEP, entries.length);
    list.append(...entries.slice(start, end).map(([key, value]) => branch(key, value)));
    if (end === entries.length) return;
    const rest = entries.length - end;
    const more = el(
      "button.more",
      { type: "button", onclick: showMore },
      `Show ${number(Math.min(STEP, rest))} more of ${number(rest)}`,
    );
    list.append(more);

    function showMore() {
      more.remove();
      showFrom(end);
    }
  }
}

function leaf(value) {
  const text = JSON.stringify(value);
  const node = el(`span.tree-${value === null ? "null" : typeof value}`);
  if (text.length <= LONG) {
    node.textContent = plain(text);
    return node;
  }
  const more = el(
    "button.more",
    { type: "button", onclick: () => node.replaceChildren(plain(text)) },
    `Show all ${number(text.length)} characters`,
  );
  node.append(plain(text.slice(0, LONG)), "… ", more);
  return node;
}
