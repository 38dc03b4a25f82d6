/** The list as a table of which only the rows in sight exist: ten thousand deliveries cost as much as fifty. */
import { el } from "../dom.js";
import { mark } from "./state.js";
import { age, eventName, lasted, moment, plain } from "./words.js";

/** Rows kept above and below those in sight, so that scrolling finds them made. */
const SPARE = 12;

/**
 * @param {object} parts
 * @param {HTMLTableElement} parts.table with an empty body
 * @param {(id: string) => string} parts.hrefOf
 * @param {(id: string) => void} parts.choose a row was clicked
 * @param {() => void} parts.nearEnd the last rows come in sight
 */
export function makeTable({ table, hrefOf, choose, nearEnd }) {
  const body = table.tBodies[0];
  const above = el("tr", { "aria-hidden": "true" });
  const below = el("tr", { "aria-hidden": "true" });
  body.append(above, below);
  spellOutRoles(table);
  const shown = new Map();
  let all = [];
  let chosen = "";
  let frame = 0;
  let height = 44;

  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-id]");
    if (!row || event.target.closest("a") || String(getSelection())) return;
    choose(row.dataset.id);
  });
  const later = () => {
    if (frame === 0) frame = requestAnimationFrame(draw);
  };
  addEventListener("scroll", later, { passive: true });
  new ResizeObserver(later).observe(table);

  function draw() {
    frame = 0;
    const row = shown.values().next().value?.row;
    height = row?.offsetHeight || height;
    const top = body.getBoundingClientRect().top;
    const first = Math.max(0, Math.min(all.length, Math.floor(-top / height)) - SPARE);
    const last = Math.min(all.length, Math.ceil((innerHeight - top) / height) + SPARE);
    const now = Date.now();
    const wanted = all.slice(first, Math.max(first, last));
    const names = new Set(wanted.map(({ id }) => id));
    const hadFocus = focused();
    for (const [id, { row }] of shown) {
      if (names.has(id)) continue;
      row.remove();
      shown.delete(id);
    }
    let before = above;
    for (const [index, delivery] of wanted.entries()) {
      const made = shown.get(delivery.id) ?? makeRow(delivery, hrefOf);
      shown.set(delivery.id, made);
      made.update(delivery, now);
      made.row.setAttribute("aria-rowindex", String(first + index + 2));
      setCurrent(made.row, delivery.id === chosen);
      if (before.nextSibling !== made.row) before.after(made.row);
      before = made.row;
    }
    above.style.height = `${first * height}px`;
    below.style.height = `${(all.length - first - wanted.length) * height}px`;
    above.hidden = first === 0;
    below.hidden = first + wanted.length === all.length;
    // What had the focus went out of sight: keyboards go on from the table, not from the top of the page.
    if (hadFocus && !shown.has(hadFocus)) table.focus({ preventScroll: true });
    if (last >= all.length - 2 * SPARE) nearEnd();
    // The first rows tell how high a row is.
    if (!row && wanted.length > 0) later();
  }

  return {
    /** Shows these. Rows in sight stay where they are when others come in above them. */
    show(deliveries) {
      const top = body.getBoundingClientRect().top;
      const anchor = top < 0 ? all[Math.floor(-top / height)] : undefined;
      const was = anchor && all.indexOf(anchor);
      all = deliveries;
      const is = anchor ? all.findIndex(({ id }) => id === anchor.id) : -1;
      draw();
      if (is >= 0 && is !== was) {
        scrollBy({ top: (is - was) * height, behavior: "instant" });
        draw();
      }
    },
    /** Marks the row as the one that is shown beside. */
    choose(id) {
      chosen = id;
      for (const [one, { row }] of shown) setCurrent(row, one === id);
    },
    /** Moves the focus to a row and brings it in sight. */
    focus(id) {
      const index = all.findIndex((delivery) => delivery.id === id);
      if (index < 0) return;
      const head = table.tHead.offsetHeight;
      const top = body.getBoundingClientRect().top + index * height;
      const over = top - head - 8;
      const under = top + height + 8 - innerHeight;
      if (over < 0) scrollBy({ top: over, behavior: "instant" });
      else if (under > 0) scrollBy({ top: under, behavior: "instant" });
      draw();
      shown.get(id)?.link.focus({ preventScroll: true });
    },
    /** Time has gone on. */
    tick() {
      const now = Date.now();
      for (const made of shown.values()) made.tick(now);
    },
    get scrolled() {
      return body.getBoundingClientRect().top < -height;
    },
    /** The place in the list of the first row in sight. */
    get firstInSight() {
      return Math.max(0, Math.floor(-body.getBoundingClientRect().top / height));
    },
    /** The id of the row with the focus. */
    get focused() {
      return focused();
    },
  };
}

function focused() {
  return document.activeElement?.closest("tr[data-id]")?.dataset.id;
}

/** Narrow screens lay the table out as cards, and to screen readers it would be none any more: so roles are spelt out. */
function spellOutRoles(table) {
  table.setAttribute("role", "table");
  for (const group of [table.tHead, ...table.tBodies]) group.setAttribute("role", "rowgroup");
  const [head] = table.tHead.rows;
  head.setAttribute("role", "row");
  head.setAttribute("aria-rowindex", "1");
  for (const cell of head.cells) cell.setAttribute("role", "columnheader");
}

function setCurrent(row, is) {
  if (is) row.setAttribute("aria-current", "true");
  else row.removeAttribute("aria-current");
}

function makeRow({ id }, hrefOf) {
  const link = el("a", { href: hrefOf(id) });
  const state = el("td.cell-state", { role: "cell" });
  const error = el("td.cell-error", { role: "cell" });
  const repo = el("td.cell-repo", { role: "cell" });
  const endpoint = el("td.cell-endpoint", { role: "cell" });
  const attempts = el("td.cell-attempts", { role: "cell" });
  const took = el("td.cell-took", { role: "cell" });
  const arrived = el("time");
  const row = el(
    "tr",
    { role: "row", "data-id": id },
    state,
    el("td.cell-event", { role: "cell" }, link),
    repo,
    endpoint,
    error,
    attempts,
    took,
    el("td.cell-age", { role: "cell" }, arrived),
  );
  let seen;

  function update(delivery, now) {
    if (delivery === seen) return tick(now);
    if (delivery.state !== seen?.state) state.replaceChildren(mark(delivery.state));
    set(link, eventName(delivery));
    set(repo, plain(delivery.repo));
    repo.title = plain(delivery.repo);
    set(endpoint, plain(delivery.endpoint));
    endpoint.title = plain(delivery.endpoint);
    set(error, plain(delivery.error ?? "").split("\n", 1)[0]);
    error.title = plain(delivery.error ?? "");
    set(attempts, String(delivery.attemptsMade));
    arrived.dateTime = delivery.createdAt;
    arrived.title = moment(delivery.createdAt, 0);
    seen = delivery;
    tick(now);
  }

  function tick(now) {
    set(arrived, age(Math.max(0, now - Date.parse(seen.createdAt))));
    set(took, tookOf(seen, now));
  }

  return { row, link, update, tick };
}

/** From its arrival to its end, waiting and all attempts included. */
export function tookOf({ state, createdAt, finishedAt, nextAttemptAt, attemptsMade }, now) {
  if (finishedAt) return lasted(Date.parse(finishedAt) - Date.parse(createdAt));
  const wait = nextAttemptAt ? Date.parse(nextAttemptAt) - now : 0;
  if (state === "pending" && attemptsMade > 0 && wait > 1000) return `again in ${age(wait)}`;
  return "–";
}

function set(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
