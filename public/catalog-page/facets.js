/** The filters: for each facet its values with how many resources each would leave. */
import { el } from "../dom.js";
import { FACETS } from "./address.js";
import { clipped, isolated, number, TITLES, valueText } from "./words.js";

/** Values of a facet that are shown until more are asked for. */
const FIRST = 8;
/** These have an order of their own, and keep it while one types. */
const ORDERED = {
  status: ["verified", "candidate"],
  category: ["dataset", "model", "benchmark", "tool", "paper", "project", "code"],
};

/** @param {{ board: HTMLElement, toggle: (facet: string, value: string) => void }} parts */
export function makeFacets({ board, toggle }) {
  const opened = new Set();
  const groups = new Map(
    FACETS.map((facet) => {
      const list = el("div.facet-values");
      const group = el("fieldset.facet", { "data-facet": facet }, el("legend", TITLES[facet]), list);
      board.append(group);
      return [facet, { group, list }];
    }),
  );
  let last = null;

  board.addEventListener("change", ({ target }) => toggle(target.dataset.facet, target.value));

  function show(facets, filters) {
    last = { facets, filters };
    const key = document.activeElement?.dataset?.key;
    for (const [facet, { group, list }] of groups) {
      const chosen = filters[facet].map((value) => value.toLowerCase());
      const is = ({ value }) => chosen.includes(value.toLowerCase());
      const values = ordered(facet, withChosen(facets[facet] ?? [], filters[facet]));
      const shown = opened.has(facet) ? values : values.filter((one, at) => at < FIRST || is(one));
      group.hidden = values.length === 0;
      list.replaceChildren(...shown.map((one) => choice(facet, one, is(one))), ...more(facet, values, shown));
    }
    // What had the focus was made anew.
    if (key) board.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
  }

  function more(facet, values, shown) {
    if (values.length <= FIRST) return [];
    const open = opened.has(facet);
    if (!open && shown.length === values.length) return [];
    const text = open ? "Show fewer" : `Show ${number(values.length - shown.length)} more`;
    const turn = () => {
      if (!opened.delete(facet)) opened.add(facet);
      show(last.facets, last.filters);
    };
    const what = el("span.unseen", ` of ${TITLES[facet].toLowerCase()}`);
    return [el("button", { type: "button", class: "as-link", "data-key": `${facet}:`, onclick: turn }, text, what)];
  }

  return { show };
}

function choice(facet, { value, count }, checked) {
  const box = el("input", {
    type: "checkbox",
    value,
    checked,
    "data-facet": facet,
    "data-key": `${facet}:${value}`,
  });
  return el(
    "label.choice-line",
    { title: valueText(facet, value) },
    box,
    el("span.choice-text", isolated(clipped(valueText(facet, value), 100))),
    el("span.choice-count", number(count)),
  );
}

/** A choice that leaves nothing is shown all the same: else it could not be taken back. */
function withChosen(values, chosen) {
  const there = new Set(values.map(({ value }) => value.toLowerCase()));
  return [
    ...values,
    ...chosen.filter((value) => !there.has(value.toLowerCase())).map((value) => ({ value, count: 0 })),
  ];
}

function ordered(facet, values) {
  const order = ORDERED[facet];
  return order ? values.toSorted((a, b) => order.indexOf(a.value) - order.indexOf(b.value)) : values;
}
