/** Says whether the list is true at this moment: a word in the page's head, and a sentence where it is not. */
import { el, say } from "../dom.js";
import { moment } from "./words.js";

const KINDS = {
  looking: ["loading", "Looking…"],
  live: ["good", "Live"],
  locked: ["loading", "Locked"],
  gone: ["bad", "No answer"],
};

/** @param {{ sign: HTMLElement, callouts: HTMLElement, everySeconds: number }} parts */
export function makeSign({ sign, callouts, everySeconds }) {
  let callout = null;
  let told = "";

  function tell(title, text) {
    if (told === (title ?? "")) return;
    told = title ?? "";
    callout?.remove();
    callout = null;
    if (!title) return;
    callout = el("div.callout.callout--warn", el("p.callout-title", title), el("p", text));
    callouts.prepend(callout);
    say(`${title}. ${text}`);
  }

  function show(kind, word) {
    sign.hidden = false;
    sign.className = `live live--${kind}`;
    if (sign.textContent !== word) sign.textContent = word;
  }

  return {
    /** @param {"looking" | "live" | "locked" | "gone" | ""} state */
    say(state) {
      tell(null);
      if (state) show(...KINDS[state]);
      else sign.hidden = true;
    },
    cut() {
      show("warn", `Every ${everySeconds} s`);
      tell("Live updates are cut", `The list is asked for every ${everySeconds} s until they are back.`);
    },
    silent(since) {
      show(...KINDS.gone);
      const text = `What is shown was true at ${moment(since)}. It is asked again every ${everySeconds} s.`;
      tell("The receiver does not answer", text);
    },
  };
}
