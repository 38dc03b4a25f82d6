/** JSON as a tree that folds, without a script. */
import { type Content, type Html, html } from "./html.ts";
import { counted } from "./words.ts";

/** Members in all, and levels: what is beyond stands in the text. */
const MOST_MEMBERS = 500;
const DEEPEST = 12;
/** A tree of at most so many members is all open; of a larger one only the first level. */
const OPEN_UP_TO = 60;
const LONGEST = 500;

/** `cut`: not all of it is there. */
export function jsonTree(value: unknown): { tree: Html; cut: boolean } {
  const open = sizeOf(value, OPEN_UP_TO) <= OPEN_UP_TO ? DEEPEST : 1;
  let left = MOST_MEMBERS;
  let cut = false;

  function branch(label: Content, value: unknown, depth: number): Html {
    if (typeof value !== "object" || value === null) return html`<div class="tree-leaf">${label}${leaf(value)}</div>`;
    const entries = Object.entries(value);
    const [begin, end] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
    if (entries.length === 0) return html`<div class="tree-leaf">${label}${begin}${end}</div>`;
    const size = Array.isArray(value)
      ? counted(entries.length, "item", "items")
      : counted(entries.length, "key", "keys");
    const shown = depth < DEEPEST ? entries.slice(0, left) : [];
    left -= shown.length;
    const members = shown.map(([key, member]) =>
      branch(html`<span class="tree-key">${key}</span>: `, member, depth + 1),
    );
    const hidden = entries.length - shown.length;
    if (hidden > 0) cut = true;
    return html`<details${depth < open && html` open`}><summary>${label}<span class="tree-size">${begin} ${size} ${end}</span></summary>
<div class="tree-members">${members}${hidden > 0 && html`<div class="tree-leaf hint">${counted(hidden, "more is", "more are")} in the text</div>`}</div></details>`;
  }

  function leaf(value: unknown): Html {
    const text = JSON.stringify(value);
    if (text.length > LONGEST) cut = true;
    const kind = value === null ? "null" : typeof value;
    return html`<span class="tree-${kind}">${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}</span>`;
  }

  const tree = html`<div class="tree">${branch(null, value, 0)}</div>`;
  return { tree, cut };
}

/** Members in all; not counted beyond `enough`. */
function sizeOf(value: unknown, enough: number): number {
  let size = 0;
  const waiting = [value];
  while (waiting.length > 0 && size <= enough) {
    const one = waiting.pop();
    if (typeof one !== "object" || one === null) continue;
    const members = Object.values(one);
    size += members.length;
    if (size <= enough) waiting.push(...members);
  }
  return size;
}
