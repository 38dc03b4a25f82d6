/**
 * The catalog's page: search while one types, filters with counts, one resource beside the list. The receiver searches:
 * it answers within a frame, while 5,000 resources would be megabytes to fetch and a second to index before the first
 * key. All text is untrusted.
 */

import { chosenId, FACETS, isNarrow, readAddress, toggled, toQuery, writeAddress } from "./catalog-page/address.js";
import { ask } from "./catalog-page/api.js";
import { makeFacets } from "./catalog-page/facets.js";
import { broken, emptyCatalog, noCatalog, nothingFound, notUnderstood, unreachable } from "./catalog-page/gate.js";
import { makeList } from "./catalog-page/list.js";
import { makePanel } from "./catalog-page/panel.js";
import { date, isolated, number, plain, resources, TITLES, valueText } from "./catalog-page/words.js";
import { el, say } from "./dom.js";

const FIRST_PAGE = 50;
const PAGE = 100;
/** Screen readers hear the count when the typing pauses. */
const SAY_MS = 700;

const $ = (id) => document.getElementById(id);
/** Here the resource covers the list instead of standing beside it. */
const narrowScreen = matchMedia("(max-width: 60rem)");
/** Here the filters stand beside the results and are always open. */
const wideScreen = matchMedia("(min-width: 60.01rem)");

let search = readAddress();
/** The answer that is shown: its version, and where its next page begins. */
let shown = null;
const byId = new Map();
let asking = new AbortController();
let askingMore = false;
let saying = 0;
let opener = null;

const facets = makeFacets({ board: $("facets"), toggle: (facet, value) => change(toggled(search, facet, value)) });
const list = makeList({ list: $("list"), more: $("more"), nearEnd: more });
const panel = makePanel({ panel: $("panel"), narrow: narrowTo });

listen();
fitFilters();
fillForm();
await load();

/** Asks for what is searched for, as it is now. Of several answers only the newest is shown. */
async function load() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  askingMore = false;
  const query = toQuery(search);
  query.set("limit", String(FIRST_PAGE));
  try {
    const answer = await ask("api/catalog", { query, signal });
    signal.throwIfAborted();
    show(answer);
  } catch (error) {
    if (signal.aborted) return;
    refuse(error);
  }
}

function show(answer) {
  const { catalog, total, facets: counted, refused } = answer;
  shown = answer;
  byId.clear();
  const first = $("desk").hidden;
  $("gate").replaceChildren();
  $("desk").hidden = false;
  $("callouts").replaceChildren(...(refused ? [refusal(refused, catalog)] : []));
  $("about").replaceChildren(
    el("span", `Version ${plain(catalog.version)}`),
    el("span", `updated ${date(catalog.updated_on)}`),
  );
  $("schema").href = `schemas/catalog.schema.json?sources=${catalog.vocabulary ?? "neutral"}`;
  $("results-title").textContent = isNarrow(search)
    ? `${number(total)} of ${resources(catalog.resources)}`
    : resources(total);
  facets.show(counted, search.filters);
  showChosen();
  take(answer.resources);
  list.show(answer.resources);
  $("more").hidden = answer.next === undefined;
  const empty = catalog.resources === 0 ? emptyCatalog() : total === 0 ? nothingFound(clear) : null;
  $("none").replaceChildren(...(empty ? [empty] : []));
  tellLater(total);
  // Only now there is a list for a resource to stand beside.
  if (first) void followAddress();
}

function take(found) {
  for (const resource of found) byId.set(resource.id, resource);
}

async function more() {
  if (askingMore || shown?.next === undefined) return;
  askingMore = true;
  const { signal } = asking;
  const query = toQuery(search);
  for (const [name, value] of [
    ["limit", PAGE],
    ["offset", shown.next],
    ["facets", false],
  ])
    query.set(name, String(value));
  try {
    const answer = await ask("api/catalog", { query, signal });
    if (signal.aborted) return;
    // The catalog has changed since: what comes next here would not follow what is shown.
    if (answer.tag !== shown.tag) return void (await load());
    shown.next = answer.next;
    take(answer.resources);
    list.append(answer.resources);
    $("more").hidden = answer.next === undefined;
  } catch (error) {
    if (!signal.aborted) callout("The receiver does not answer", `More could not be shown: ${plain(error.message)}.`);
  } finally {
    if (!signal.aborted) askingMore = false;
  }
}

/** An answer that is no result. What is shown already stays, unless there is no catalog any more. */
function refuse(error) {
  if (error.status === 404) return gate(noCatalog());
  if (error.status === 503) return gate(broken(error, load));
  if (error.status === 400) return gate(notUnderstood(error, clear));
  if ($("desk").hidden) return gate(unreachable(error, load));
  callout("The receiver does not answer", `What is shown may be old: ${plain(error.message)}.`);
}

function gate(card) {
  $("desk").hidden = true;
  $("about").textContent = "";
  hidePanel();
  $("callouts").replaceChildren();
  $("gate").replaceChildren(card);
}

function callout(title, text) {
  const again = el("button", { type: "button", class: "quiet", onclick: load }, "Try again");
  $("callouts").replaceChildren(
    el("div.callout.callout--warn", { role: "alert" }, el("p.callout-title", title), el("p", text), again),
  );
}

function refusal({ errors }, { version }) {
  const why = errors > 0 ? `has ${errors === 1 ? "1 error" : `${number(errors)} errors`}` : "could not be read";
  const text = `The newest file ${why}. This is version ${plain(version)}, the last one without.`;
  return el("div.callout.callout--warn", el("p.callout-title", "A newer version is not shown"), el("p", text));
}

function tellLater(total) {
  clearTimeout(saying);
  saying = setTimeout(() => say(total === 0 ? "Nothing found" : `${resources(total)} found`), SAY_MS);
}

function change(next, { typing = false } = {}) {
  search = next;
  writeAddress(search, { typing });
  hidePanel();
  fillForm();
  scrollToResults();
  void load();
}

function narrowTo(facet, value) {
  const none = Object.fromEntries(FACETS.map((name) => [name, []]));
  change({ q: "", filters: { ...none, [facet]: [value] } });
  $("Results").focus({ preventScroll: true });
}

function clear() {
  change({ q: "", filters: Object.fromEntries(FACETS.map((facet) => [facet, []])) });
  $("q").focus();
}

function fillForm() {
  if ($("q").value !== search.q) $("q").value = search.q;
}

/** The filters in use, each with a button that takes it back. */
function showChosen() {
  const chosen = FACETS.flatMap((facet) => search.filters[facet].map((value) => ({ facet, value })));
  const buttons = chosen.map(({ facet, value }) =>
    el(
      "li",
      el(
        "button",
        { type: "button", class: "chosen-one", onclick: () => takeBack(facet, value) },
        el("span.unseen", `Remove filter ${TITLES[facet]}: `),
        isolated(valueText(facet, value)),
        el("span", { "aria-hidden": "true" }, "×"),
      ),
    ),
  );
  if (chosen.length > 1) {
    buttons.push(el("li", el("button", { type: "button", class: "as-link", onclick: clearFilters }, "Clear all")));
  }
  $("chosen").replaceChildren(...buttons);
  $("chosen").hidden = buttons.length === 0;
  $("filters-count").textContent = chosen.length > 0 ? `${chosen.length} in use` : "";
}

function takeBack(facet, value) {
  change(toggled(search, facet, value));
  $("Results").focus({ preventScroll: true });
}

function clearFilters() {
  change({ q: search.q, filters: Object.fromEntries(FACETS.map((facet) => [facet, []])) });
  $("Results").focus({ preventScroll: true });
}

/** New results are read from their beginning. */
function scrollToResults() {
  const { bottom } = $("form").getBoundingClientRect();
  const { top } = $("Results").getBoundingClientRect();
  if (top < bottom) scrollBy({ top: top - bottom - 12, behavior: "instant" });
}

function fitFilters() {
  $("filters").open = wideScreen.matches;
}

/* One resource beside the list: its id is the address's fragment, so that it can be linked to and gone back from. */

async function followAddress() {
  const id = chosenId();
  if (!id || $("desk").hidden) return hidePanel();
  const opening = $("panel").hidden;
  if (opening) opener = document.activeElement;
  $("panel").hidden = false;
  document.body.classList.add("has-panel");
  list.choose(id);
  $("page").inert = narrowScreen.matches;
  await fillPanel(id);
  if (opening) $("panel-title").focus({ preventScroll: true });
}

async function fillPanel(id) {
  const known = byId.get(id);
  if (known) return panel.show(known);
  panel.loading(id);
  try {
    const { resource } = await ask(`api/catalog/${encodeURIComponent(id)}`);
    if (chosenId() === id) panel.show(resource);
  } catch (error) {
    if (chosenId() !== id) return;
    if (error.status === 404) panel.fail("No such resource", `The catalog has none with the id ${plain(id)}.`);
    else panel.fail("It could not be shown", `${plain(error.message)}.`);
  }
}

function hidePanel() {
  $("panel").hidden = true;
  document.body.classList.remove("has-panel");
  $("page").inert = false;
  list.choose("");
}

/** Returns whether there was one. */
function closePanel() {
  if ($("panel").hidden) return false;
  const id = chosenId();
  hidePanel();
  history.pushState(history.state, "", location.pathname + location.search);
  if (!list.focusOn(id)) opener?.focus?.();
  return true;
}

function back() {
  const next = readAddress();
  const same = toQuery(next).toString() === toQuery(search).toString();
  search = next;
  fillForm();
  if (!same) void load();
  void followAddress();
}

function listen() {
  $("form").addEventListener("submit", (event) => {
    event.preventDefault();
    list.move(1);
  });
  $("q").addEventListener("input", () => change({ ...search, q: $("q").value }, { typing: true }));
  $("more").addEventListener("click", more);
  $("close").addEventListener("click", closePanel);
  addEventListener("popstate", back);
  wideScreen.addEventListener("change", fitFilters);
  narrowScreen.addEventListener("change", () => {
    $("page").inert = narrowScreen.matches && !$("panel").hidden;
  });
  // A tab that comes back may have missed a new version.
  document.addEventListener("visibilitychange", async () => {
    if (document.visibilityState !== "visible" || !shown) return;
    const { tag } = await ask("api/catalog", { query: new URLSearchParams({ limit: "1", facets: "false" }) }).catch(
      () => shown,
    );
    if (tag !== shown.tag) await load();
  });
  document.addEventListener("keydown", onKey);
}

function onKey(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || $("desk").hidden) return;
  const { key, target } = event;
  const inPanel = target.closest("#panel") !== null;
  const field = target.closest("input[type=search]");
  if (key === "Escape") {
    if (!closePanel()) {
      if (!field || field.value === "") return;
      change({ ...search, q: "" });
    }
  } else if (key === "/" && !field) {
    if (narrowScreen.matches) closePanel();
    $("q").focus();
    $("q").select();
  } else if (inPanel || target.closest("fieldset, summary")) return;
  else if (key === "ArrowDown" || (key === "j" && !field)) {
    if (!list.move(1)) return;
  } else if ((key === "ArrowUp" || key === "k") && !field) {
    if (!list.move(-1)) $("q").focus();
  } else return;
  event.preventDefault();
}
