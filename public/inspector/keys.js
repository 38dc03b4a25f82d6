/** The keys of the inspector. */
import { el } from "../dom.js";
import { tell } from "./dialogs.js";

const KEYS = [
  ["j or ↓", "next delivery"],
  ["k or ↑", "previous delivery"],
  ["Enter", "open it beside the list"],
  ["Esc", "close it"],
  ["r", "replay it, after a question"],
  ["/", "look for a repo"],
  ["?", "this list"],
];

export function tellKeys() {
  const list = KEYS.map(([key, does]) => el("div.fact", el("dt", el("kbd", key)), el("dd", does)));
  return tell({ title: "Keys", text: [el("dl.facts.keys", ...list)] });
}

/**
 * @param {{ ready: () => boolean, move: (by: number) => void, close: () => boolean, replay: () => void,
 *   find: () => void }} acts `close` says whether there was something to close
 */
export function listenToKeys({ ready, move, close, replay, find }) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!ready() || document.querySelector("dialog")) return;
    const { key, target } = event;
    const field = target.closest("input, select, textarea");
    if (key === "Escape") {
      if (field) field.blur();
      else if (!close()) return;
    } else if (field) return;
    else if (key === "j" || (key === "ArrowDown" && !scrollsItself(target))) move(1);
    else if (key === "k" || (key === "ArrowUp" && !scrollsItself(target))) move(-1);
    else if (key === "r") replay();
    else if (key === "/") find();
    else if (key === "?") void tellKeys();
    else return;
    event.preventDefault();
  });
}

function scrollsItself(target) {
  return target.closest("#panel") !== null;
}
