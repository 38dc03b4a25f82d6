/** The board: how many deliveries are kept in each state, and which state is looked at. */
import { el } from "../dom.js";
import { mark, STATES } from "./state.js";
import { number } from "./words.js";

/** @param {{ board: HTMLElement, choose: (state: string) => void }} parts "" chooses all states */
export function makeCounts({ board, choose }) {
  const buttons = ["", ...STATES].map((state) =>
    el(
      "button.state-button",
      { type: "button", "data-state": state, onclick: (event) => choose(isPressed(event.currentTarget) ? "" : state) },
      state ? mark(state) : el("span.mark.mark--all", "all"),
      el("span.state-count", "–"),
    ),
  );
  board.append(...buttons);
  return {
    show(counts) {
      for (const button of buttons) {
        const { state } = button.dataset;
        const text = number(state ? counts[state] : total(counts));
        if (button.lastChild.textContent !== text) button.lastChild.textContent = text;
      }
    },
    press(state) {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.state === state));
    },
  };
}

export function total(counts) {
  return STATES.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

function isPressed(button) {
  return button.getAttribute("aria-pressed") === "true";
}
