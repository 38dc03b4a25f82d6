/** The inspector: what became of deliveries, live. All that the receiver tells of them is untrusted text. */
import { el, say } from "./dom.js";
import { ask } from "./inspector/api.js";
import { makeCounts, total } from "./inspector/counts.js";
import { tell } from "./inspector/dialogs.js";
import { startFeed } from "./inspector/feed.js";
import { isNarrow, matcher, readAddress, toQuery, writeAddress } from "./inspector/filters.js";
import { loginForm, noBackground, noneMatches, nothingYet, secretNotSet, unreachable } from "./inspector/gate.js";
import { listenToKeys, tellKeys } from "./inspector/keys.js";
import { makePanel } from "./inspector/panel.js";
import { replayMany, replayOne } from "./inspector/replays.js";
import { Rows } from "./inspector/rows.js";
import { makeSign } from "./inspector/sign.js";
import { makeTable } from "./inspector/table.js";
import { deliveries, number, plain } from "./inspector/words.js";

const FIRST_PAGE = 100;
const PAGE = 500;
/** How often the list is asked for while live updates are cut. */
const REFRESH_MS = 5_000;
/** Screen readers hear of arrivals at most this often. */
const SAY_MS = 4_000;
const TYPING_MS = 250;
const NO_FILTER = { state: "", endpoint: "", repo: "", time: "", since: "", until: "" };

const $ = (id) => document.getElementById(id);
/** Here the delivery covers the list instead of standing beside it. */
const narrow = matchMedia("(max-width: 60rem)");

let receiver = { url: "", secret: false, endpoints: [], notices: [] };
let filter = readAddress();
let query = toQuery(filter);
let rows = new Rows(matcher(query));
let counts = null;
let stopFeed = null;
let live = false;
let refreshing = 0;
/** Since when there is no answer; null while there is. */
let silentSince = null;
let asking = new AbortController();
let loadingMore = false;
let unseen = 0;
let untold = 0;
let opener = null;

const sign = makeSign({ sign: $("live"), callouts: $("callouts"), everySeconds: REFRESH_MS / 1000 });
const board = makeCounts({ board: $("states"), choose: (state) => narrowTo({ state }) });
const table = makeTable({ table: $("table"), hrefOf: (id) => `#${id}`, choose: open, nearEnd: loadMore });
const panel = makePanel({ panel: $("panel"), replay: askReplay, refused, receiver: () => receiver });

listen();
fillForm();
await begin();
setInterval(() => {
  if (document.visibilityState !== "visible" || $("desk").hidden) return;
  table.tick();
  panel.tick();
}, 1000);

/** From nothing to a list, or to what stands in its place. */
async function begin() {
  sign.say("looking");
  try {
    receiver = await ask("api/endpoints");
    $("callouts").replaceChildren(
      ...receiver.notices.map((notice) => el("div.callout.callout--warn", el("p", plain(notice)))),
    );
    fillEndpoints();
    await load();
  } catch (error) {
    if (!isAbort(error) && !refused(error)) showGate(unreachable(error, begin), "gone");
  }
}

/** Asks for the first page anew, as the filter is now. */
async function load() {
  asking.abort();
  asking = new AbortController();
  query = toQuery(filter);
  rows = new Rows(matcher(query));
  loadingMore = false;
  $("table").setAttribute("aria-busy", "true");
  $("problem").textContent = "";
  const page = await ask("api/deliveries", { query: { ...query, limit: FIRST_PAGE }, signal: asking.signal });
  if (page.counts === null) return showGate(noBackground(), "");
  rows.reconcile(page);
  $("gate").replaceChildren();
  $("desk").hidden = false;
  $("keys").hidden = false;
  $("logout").hidden = !receiver.secret;
  answered();
  showNews(0);
  showCounts(page.counts);
  showRows();
  $("table").setAttribute("aria-busy", "false");
  if (stopFeed) return;
  stopFeed = startFeed({ changes, counts: showCounts, missed: refresh, status: feedStatus });
  followAddress();
}

async function narrowTo(changed) {
  filter = { ...filter, ...changed };
  writeAddress(filter);
  fillForm();
  try {
    await load();
    scrollTo({ top: 0, behavior: "instant" });
    say(rows.complete ? `${deliveries(rows.all.length)} match` : `${number(rows.all.length)} and more match`);
  } catch (error) {
    if (isAbort(error) || refused(error)) return;
    $("problem").textContent = error.status === 0 ? "The receiver does not answer." : `${plain(error.message)}.`;
    $("table").setAttribute("aria-busy", "false");
  }
}

async function loadMore() {
  const after = rows.cursor;
  if (loadingMore || rows.complete || after === undefined) return;
  loadingMore = true;
  const { signal } = asking;
  try {
    rows.reconcile(await ask("api/deliveries", { query: { ...query, limit: PAGE, cursor: after }, signal }), after);
    loadingMore = false;
    showRows();
  } catch (error) {
    if (isAbort(error) || refused(error)) return;
    noAnswer();
    setTimeout(() => {
      loadingMore = false;
    }, REFRESH_MS);
  }
}

/** Asks again for the newest, and for what is in sight. */
async function refresh() {
  const { signal } = asking;
  const askPage = (cursor) => ask("api/deliveries", { query: { ...query, limit: FIRST_PAGE, cursor }, signal });
  try {
    const page = await askPage();
    const above = table.scrolled ? rows.all[Math.max(0, table.firstInSight - 1)]?.id : undefined;
    arrived(rows.reconcile(page));
    if (above && page.next && above < page.next && rows.get(above)) rows.reconcile(await askPage(above), above);
    answered();
    showCounts(page.counts);
    showRows();
    if (panel.delivery) await panel.show(panel.delivery.id);
  } catch (error) {
    if (!isAbort(error) && !refused(error)) noAnswer();
  }
}

function isAbort(error) {
  return error.name === "AbortError";
}

function feedStatus(on) {
  // What happened before the stream was open, or while it was cut, was told to nobody.
  if (on && !live) void refresh();
  live = on;
  if (on) stopRefreshing();
  else if (!refreshing) {
    // A browser that comes back tells of every try that fails.
    refreshing = setInterval(refresh, REFRESH_MS);
    void refresh();
  }
  showSign();
}

function stopRefreshing() {
  clearInterval(refreshing);
  refreshing = 0;
}

function answered() {
  silentSince = null;
  showSign();
}

function noAnswer() {
  silentSince ??= Date.now();
  showSign();
}

function showSign() {
  if (silentSince) sign.silent(silentSince);
  else if (live) sign.say("live");
  else if (refreshing) sign.cut();
}

/** Once per frame, with all that changed since. */
function changes(changed) {
  arrived(rows.update(changed));
  showRows();
  if (panel.delivery && changed.some(({ id }) => id === panel.delivery.id)) void panel.show(panel.delivery.id);
}

function arrived({ length }) {
  if (length === 0) return;
  if (table.scrolled) showNews(unseen + length);
  if (untold === 0)
    setTimeout(() => {
      say(`${deliveries(untold)} arrived`);
      untold = 0;
    }, SAY_MS);
  untold += length;
}

function showNews(count) {
  unseen = count;
  $("news").hidden = count === 0;
  $("news").textContent = `${number(count)} new ↑`;
}

function showCounts(now) {
  counts = now;
  board.show(now);
}

function showRows() {
  const empty = rows.complete && rows.all.length === 0;
  const known = rows.complete ? rows.all.length : isNarrow(filter) ? -2 : total(counts);
  $("table").hidden = empty;
  $("table").setAttribute("aria-rowcount", String(known + 1));
  $("more").textContent = rows.complete ? "" : "Older ones follow…";
  $("replay-all").disabled = empty;
  table.show(rows.all);
  const kind = !empty ? "" : isNarrow(filter) ? "narrow" : "new";
  if ($("none").dataset.kind === kind) return;
  $("none").dataset.kind = kind;
  $("none").replaceChildren();
  if (empty) $("none").append(kind === "narrow" ? noneMatches(clearFilter) : nothingYet(receiver.endpoints));
}

function fillEndpoints() {
  const names = receiver.endpoints.filter(({ mode }) => mode === "background").map(({ name }) => name);
  if (filter.endpoint && !names.includes(filter.endpoint)) names.push(filter.endpoint);
  const options = names.map((name) => el("option", { value: name }, plain(name)));
  $("endpoint").replaceChildren(el("option", { value: "" }, "any"), ...options);
  $("endpoint").value = filter.endpoint;
}

function fillForm() {
  for (const name of ["endpoint", "repo", "time", "since", "until"])
    if (document.activeElement !== $(name)) $(name).value = filter[name];
  for (const part of document.querySelectorAll(".between")) part.hidden = filter.time !== "between";
  board.press(filter.state);
  $("clear").hidden = !isNarrow(filter);
  $("replay-all").textContent = isNarrow(filter) ? "Replay these…" : "Replay all…";
}

function clearFilter() {
  $("repo").value = "";
  void narrowTo(NO_FILTER);
  $("repo").focus();
}

/** Is this an error that the page as a whole answers? */
function refused(error) {
  if (error.status === 401) showGate(loginForm(begin), "locked");
  else if (error.code === "secret_not_set") showGate(secretNotSet(), "locked");
  else return false;
  return true;
}

function showGate(card, state) {
  stopFeed?.();
  stopFeed = null;
  live = false;
  stopRefreshing();
  asking.abort();
  silentSince = null;
  hidePanel();
  $("desk").hidden = true;
  $("keys").hidden = true;
  $("logout").hidden = true;
  $("gate").replaceChildren(card);
  sign.say(state);
  card.querySelector("input")?.focus();
}

/* One delivery beside the list: its id is the address's fragment, so that it can be linked to and gone back from. */

function open(id, { replace = false } = {}) {
  if (location.hash === `#${id}`) return;
  if (replace) history.replaceState(null, "", `#${id}`);
  else history.pushState(null, "", `#${id}`);
  followAddress();
}

function followAddress() {
  const id = location.hash.slice(1);
  if (!/^[0-9a-v]{11}$/.test(id) || $("desk").hidden) return hidePanel();
  const opening = $("panel").hidden;
  if (opening) opener = document.activeElement;
  $("panel").hidden = false;
  document.body.classList.add("has-panel");
  table.choose(id);
  void panel.show(id);
  if (opening) $("panel-title").focus({ preventScroll: true });
  $("page").inert = narrow.matches;
}

function hidePanel() {
  $("panel").hidden = true;
  document.body.classList.remove("has-panel");
  $("page").inert = false;
  panel.hide();
  table.choose("");
}

/** Returns whether there was one. */
function closePanel() {
  if ($("panel").hidden) return false;
  const id = location.hash.slice(1);
  hidePanel();
  history.pushState(null, "", location.pathname + location.search);
  if (rows.get(id)) table.focus(id);
  else opener?.focus();
  return true;
}

function move(by) {
  const shown = $("panel").hidden ? undefined : location.hash.slice(1);
  const here = shown ?? table.focused;
  const next = rows.all[here === undefined ? 0 : rows.indexOf(here) + by];
  if (!next) return;
  if (!shown || !narrow.matches) table.focus(next.id);
  if (shown) open(next.id, { replace: true });
}

async function askReplay(delivery) {
  try {
    const id = await replayOne(delivery);
    if (id) open(id);
  } catch (error) {
    if (!refused(error)) await tell({ title: "It was not replayed", text: [`${plain(error.message)}.`] });
  }
}

async function askReplayAll() {
  $("replay-all").disabled = true;
  try {
    await replayMany(toQuery(filter));
  } catch (error) {
    if (!refused(error)) await tell({ title: "Not all were replayed", text: [`${plain(error.message)}.`] });
  } finally {
    $("replay-all").disabled = rows.complete && rows.all.length === 0;
  }
}

async function logOut() {
  await ask("api/session", { method: "DELETE" }).catch(() => {});
  showGate(loginForm(begin, { left: true }), "locked");
}

function listen() {
  let typing = 0;
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  for (const name of ["endpoint", "time", "since", "until"])
    $(name).addEventListener("change", () => narrowTo({ [name]: $(name).value }));
  $("repo").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => narrowTo({ repo: $("repo").value }), TYPING_MS);
  });
  $("clear").addEventListener("click", clearFilter);
  $("replay-all").addEventListener("click", askReplayAll);
  $("news").addEventListener("click", () => {
    scrollTo({ top: 0, behavior: "instant" });
    showNews(0);
  });
  $("close").addEventListener("click", closePanel);
  $("logout").addEventListener("click", logOut);
  $("keys").addEventListener("click", tellKeys);
  addEventListener("popstate", followAddress);
  addEventListener("scroll", () => unseen > 0 && !table.scrolled && showNews(0), { passive: true });
  narrow.addEventListener("change", () => {
    $("page").inert = narrow.matches && !$("panel").hidden;
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && stopFeed) void refresh();
  });
  listenToKeys({
    ready: () => !$("desk").hidden,
    move,
    close: closePanel,
    replay: () => {
      const delivery = panel.delivery ?? rows.get(table.focused);
      if (delivery) void askReplay(delivery);
    },
    find: () => {
      if (narrow.matches) closePanel();
      $("repo").focus();
      $("repo").select();
    },
  });
}
