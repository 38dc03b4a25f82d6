/** One delivery, with all that is known of it, and what can be done with it. */
import { el, say, toClipboard } from "../dom.js";
import { curlWith } from "../examples.js";
import { ask } from "./api.js";
import { mark } from "./state.js";
import { tookOf } from "./table.js";
import { jsonTree } from "./tree.js";
import { age, eventName, lasted, moment, number, plain } from "./words.js";

const ATTEMPTS_SHOWN = 20;
/** Characters of a payload's text that are shown at once: a browser lays out millions only slowly. */
const RAW_SHOWN = 100_000;

/**
 * @param {object} parts
 * @param {HTMLElement} parts.panel with a place for each part
 * @param {(delivery: object) => void} parts.replay
 * @param {(error: Error) => boolean} parts.refused told of an error; true: it has been dealt with
 * @param {() => { url: string, secret: boolean, endpoints: object[] }} parts.receiver what the receiver says of itself
 */
export function makePanel({ panel, replay, refused, receiver }) {
  const $ = (name) => panel.querySelector(`[data-part="${name}"]`);
  let shown = null;
  let asking = null;

  $("replay").addEventListener("click", () => shown && replay(shown));
  $("copy-json").addEventListener("click", (event) => copy(event.currentTarget, text(shown), "payload as JSON"));
  $("copy-curl").addEventListener("click", (event) =>
    copy(event.currentTarget, curlOf(shown, receiver()), "curl command"),
  );
  $("save").addEventListener("click", () => save(shown));
  for (const form of ["tree", "raw"]) $(`as-${form}`).addEventListener("click", () => showPayload(form));

  /** Asks for the delivery and shows it; a delivery that is shown already keeps what is opened in it. */
  async function show(id) {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    if (shown?.id !== id) clear(id);
    try {
      const delivery = await ask(`api/deliveries/${id}`, { query: { payload: "text" }, signal });
      const same = shown?.id === id;
      shown = delivery;
      fill(same);
    } catch (error) {
      if (signal.aborted || refused(error)) return;
      clear(id);
      $("title").textContent = error.status === 404 ? "No such delivery" : "It could not be shown";
      $("problem").textContent = plain(error.message);
    } finally {
      if (!signal.aborted) panel.setAttribute("aria-busy", "false");
    }
  }

  function clear(id) {
    shown = null;
    panel.setAttribute("aria-busy", "true");
    panel.scrollTop = 0;
    $("title").textContent = id;
    $("problem").textContent = "";
    for (const part of ["state", "repo", "facts", "attempts", "payload", "headers"]) $(part).replaceChildren();
    $("content").hidden = true;
  }

  function fill(same) {
    $("content").hidden = false;
    $("title").textContent = eventName(shown);
    $("repo").textContent = plain(shown.repo);
    $("state").replaceChildren(mark(shown.state));
    $("facts").replaceChildren(...facts(shown));
    fillAttempts(same);
    if (same) return;
    showPayload("tree");
    $("headers").replaceChildren(...headerRows(shown.headers));
    $("headers-count").textContent = number(Object.keys(shown.headers).length);
  }

  function fillAttempts(same) {
    const before = new Map([...$("attempts").children].map((one) => [one.dataset.key, one]));
    const newest = shown.attempts.toReversed();
    const entries = newest.slice(0, ATTEMPTS_SHOWN).map((attempt, index) => {
      const key = String(attempt.number);
      return (same && before.get(key)) || attemptEntry(attempt, key, index === 0);
    });
    if (shown.state === "running")
      entries.unshift(el("li.attempt-now", mark("running"), `Attempt ${number(shown.attemptsMade)}`));
    if (entries.length === 0) entries.push(el("li.hint", "None was made yet."));
    if (newest.length > ATTEMPTS_SHOWN)
      entries.push(el("li.hint", `${number(newest.length - ATTEMPTS_SHOWN)} older attempts are not shown.`));
    $("attempts").replaceChildren(...entries);
  }

  function showPayload(form) {
    $("as-tree").setAttribute("aria-pressed", String(form === "tree"));
    $("as-raw").setAttribute("aria-pressed", String(form === "raw"));
    $("payload").replaceChildren(form === "tree" ? jsonTree(JSON.parse(shown.payload)) : raw(text(shown)));
  }

  async function copy(button, content, what) {
    const copied = await toClipboard(content, button);
    say(copied ? `Copied: ${what}` : "Copying is not allowed here: save it as a fixture instead");
    button.dataset.result = copied ? "copied" : "refused";
    const label = button.querySelector("span");
    label.dataset.label ??= label.textContent;
    label.textContent = copied ? "Copied" : "Not allowed";
    clearTimeout(button.timer);
    button.timer = setTimeout(() => {
      delete button.dataset.result;
      label.textContent = label.dataset.label;
    }, 2500);
  }

  return {
    show,
    hide() {
      asking?.abort();
      shown = null;
    },
    /** The delivery that is shown; null while it is asked for. */
    get delivery() {
      return shown;
    },
    tick() {
      if (shown && !shown.finishedAt) $("facts").replaceChildren(...facts(shown));
    },
  };
}

function facts(delivery) {
  const { id, endpoint, createdAt, nextAttemptAt, attemptsMade, replayOf, webhookId, state } = delivery;
  const now = Date.now();
  const wait = nextAttemptAt ? Date.parse(nextAttemptAt) - now : 0;
  const rows = [
    ["Endpoint", plain(endpoint)],
    ["Arrived", el("time", { datetime: createdAt }, moment(createdAt))],
    ["Took", delivery.finishedAt ? tookOf(delivery, now) : "not finished"],
    ["Attempts", number(attemptsMade)],
    state === "pending" && ["Next attempt", wait > 1000 ? `in ${age(wait)}` : "as soon as it can"],
    ["Id", el("code", id)],
    webhookId && ["Webhook-Id", el("code", plain(webhookId))],
    replayOf && ["Replay of", el("a", { href: `#${replayOf}` }, el("code", replayOf))],
  ].filter(Boolean);
  return rows.map(([term, value]) => el("div.fact", el("dt", term), el("dd", value)));
}

function attemptEntry({ number: count, at, ms, outcome, error, log, response }, key, open) {
  const what = `Attempt ${number(count)}`;
  const summary = el(
    "summary",
    mark(outcome),
    el("span.attempt-name", what),
    el("span.attempt-time", [moment(at), ms !== undefined && lasted(ms)].filter(Boolean).join(" · ")),
  );
  const parts = [
    error && block(outcome === "succeeded" ? "Note" : "Error", plain(error), { kind: "bad", of: what }),
    log.length > 0 && block("Log", plain(log.join("\n")), { of: what }),
    response !== undefined && el("div.block", el("h4", "Returned"), jsonTree(response)),
  ].filter(Boolean);
  const silent = el("p.hint", "It logged nothing and returned nothing.");
  return el("li", { "data-key": key }, el("details.attempt", { open }, summary, ...(parts.length ? parts : [silent])));
}

function block(title, content, { kind, of }) {
  return el(
    "div.block",
    el("h4", title),
    el(
      kind && title === "Error" ? "pre.block-text.block-bad" : "pre.block-text",
      scrollable(`${title} of ${of}`),
      content,
    ),
  );
}

/** What scrolls must be reachable by keyboard. */
function scrollable(label) {
  return { tabindex: "0", role: "group", "aria-label": label };
}

function raw(content) {
  const pre = el("pre.block-text.raw", scrollable("Payload as text"), content.slice(0, RAW_SHOWN));
  if (content.length <= RAW_SHOWN) return pre;
  const more = el("button.more", { type: "button", onclick: showAll }, `Show all ${number(content.length)} characters`);
  return el("div", pre, more);

  function showAll() {
    pre.replaceChildren(content);
    more.remove();
  }
}

/** The payload laid out; as it arrived where that would change a number's digits, or the like. */
function text({ payload }) {
  let laidOut = payload;
  try {
    const value = JSON.parse(payload);
    if (JSON.stringify(value) === payload) laidOut = JSON.stringify(value, null, 2);
  } catch {
    // Nested too deeply to be written anew.
  }
  return plain(laidOut);
}

function headerRows(headers) {
  return Object.entries(headers).map(([name, value]) => el("div.fact", el("dt", plain(name)), el("dd", plain(value))));
}

function curlOf({ endpoint, payload }, { url, secret, endpoints }) {
  const known = endpoints.find(({ name }) => name === endpoint);
  return curlWith(known?.url ?? `${url}/webhooks/${encodeURIComponent(endpoint)}`, plain(payload), { secret });
}

/** `hubhook receive --payload <file>` runs a handler with it. */
function save(delivery) {
  const { scope, action, repo } = delivery;
  const name = [scope, action, repo]
    .filter(Boolean)
    .join("-")
    .replace(/[^\w.-]+/g, "-")
    .replace(/^\.+/, "")
    .slice(0, 120);
  const link = el("a", {
    href: URL.createObjectURL(new Blob([`${text(delivery)}\n`], { type: "application/json" })),
    download: `${name}.json`,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  say(`Saved: ${name}.json`);
}
