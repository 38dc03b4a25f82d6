/** The landing page: asks the receiver what it serves, and shows it. All that the answer holds is untrusted text. */
import { copyable, el, say } from "./dom.js";
import { createCommandFor, curlFor } from "./examples.js";

/** With fewer endpoints than this, a box to find one is only in the way. */
const FINDER_FROM = 9;
/** A Space that wakes up holds the request for a while; longer than this is no answer. */
const PATIENCE_MS = 20_000;

const EXAMPLE_HANDLER = `import type { WebhookPayload } from "../receiver/webhook.ts";

export async function trigger_training(payload: WebhookPayload) {
  return { message: \`\${payload.repo.name} has changed\` };
}`;

const MODES = {
  reply: "runs inside the request; what it returns is the answer",
  background: "stored and answered at once, then run, with retries",
};

const $ = (id) => document.getElementById(id);
let shown = "";

await load();
// Who edits a handler and comes back to this page wants to see it, without losing the place if nothing changed.
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") void load();
});

async function load() {
  try {
    const response = await fetch("api/endpoints", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
    if (!response.ok) throw new Error(`it answered with status ${response.status}`);
    const text = await response.text();
    if (text !== shown) show(JSON.parse(text));
    shown = text;
  } catch (error) {
    shown = "";
    showUnreachable(error);
  } finally {
    $("endpoints").setAttribute("aria-busy", "false");
  }
}

function show({ url, secret, endpoints = [], broken = [], notices = [], urlExpiresAt, catalog }) {
  showBoard({ url, secret, endpoints, broken, urlExpiresAt });
  $("callouts").replaceChildren(
    ...(broken.length ? [brokenCallout(broken, endpoints.length)] : []),
    ...(secret ? [] : [openCallout()]),
    ...(urlExpiresAt ? [temporaryCallout(urlExpiresAt)] : []),
    ...notices.map((notice) => el("div.callout", el("p", notice))),
  );
  $("catalog").hidden = !catalog;
  $("inspect").hidden = !endpoints.some(({ mode }) => mode === "background");
  $("count").textContent = endpoints.length ? String(endpoints.length) : "";
  const cards = endpoints.map((endpoint) => card(endpoint, { secret, several: endpoints.length > 1 }));
  $("list").replaceChildren(...(cards.length ? cards : [emptyState(broken.length)]));
  showFinder(endpoints, cards);
  showRegistering(endpoints, { secret });
  say(`The receiver is running: ${counted(endpoints, "endpoint")}${secret ? "" : ", open to everyone"}`);
}

function showBoard({ url, secret, endpoints, broken, urlExpiresAt }) {
  const sum = counted(endpoints, "endpoint");
  if (broken.length) setState("warn", "Running", `${sum}, ${counted(broken, "problem")}`);
  else setState("good", "Running", sum);
  setFact("address", "", urlExpiresAt ? `Until ${moment(urlExpiresAt)}` : "Endpoints are at /webhooks/<name>");
  $("address").replaceChildren(copyable(url, { what: "address of the receiver" }));
  setFact("secret", secret ? "Set" : "Not set", secret ? "Every request must carry it" : "Open to everyone");
  $("secret").className = secret ? "board-fact" : "board-fact state state--warn";
}

function setState(kind, text, more) {
  $("state").className = `board-fact state state--${kind}`;
  setFact("state", text, more);
}

/** A no-break space keeps the second line's height where there is nothing to say. */
function setFact(id, text, more) {
  $(id).textContent = text;
  $(`${id}-more`).textContent = more || "\u00a0";
}

function card(endpoint, { secret, several }) {
  const { name, url, mode, on, repos, refs, description, file } = endpoint;
  const rows = [
    ["Events", on ? chips(on) : "every event the webhook sends"],
    repos && ["Repos", chips(repos)],
    refs && ["Refs", chips(refs)],
    ["Mode", [el("b", mode), MODES[mode] && `: ${MODES[mode]}`]],
  ].filter(Boolean);
  return el(
    "article.card",
    el("div.card-head", el("h3", el("span.method", "POST"), el("span.name", name)), file && el("span.file", file)),
    description && el("p.description", description),
    copyable(url, { what: `URL of ${name}` }),
    el("dl.facts", ...rows.map(([term, value]) => el("div.fact", el("dt", term), el("dd", ...[value].flat())))),
    el(
      "div.card-foot",
      el(
        "details",
        el("summary", "Try it with curl", el("span.unseen", `: ${name}`)),
        copyable(curlFor(endpoint, { secret }), { what: `curl command for ${name}`, language: "Shell" }),
      ),
      several &&
        el(
          "a.to-register",
          { href: "#register", onclick: (event) => choose(name, event) },
          "Register",
          el("span.unseen", ` ${name} on the Hub`),
        ),
    ),
  );
}

/** A paragraph in which `text between backticks` is code. */
function prose(text, ...more) {
  return el("p", ...text.split("`").map((part, index) => (index % 2 ? el("code", part) : part)), ...more);
}

function chips(texts) {
  return el("ul.chips", ...texts.map((text) => el("li", el("code", text))));
}

function emptyState(brokenCount) {
  return el(
    "div.card.empty",
    el("h3", brokenCount ? "No handler could be loaded" : "No handlers yet"),
    prose(
      "Every function that a file in `src/handlers/` exports becomes an endpoint with its name. " +
        "Put this into `src/handlers/training.ts`, and start the receiver again:",
    ),
    copyable(EXAMPLE_HANDLER, { what: "example handler", language: "TypeScript" }),
    prose("With `npm run dev` it restarts by itself, and this page looks again when you come back to it."),
  );
}

function brokenCallout(broken, good) {
  return el(
    "section.callout.callout--bad",
    { "aria-labelledby": "broken-title" },
    el("h2.callout-title", { id: "broken-title" }, `${counted(broken, "problem")} with the handlers`),
    el(
      "p",
      `${good ? "The endpoints below work; what stands here is left out." : "So there is no endpoint."} Mend it, and start again.`,
    ),
    ...broken.flatMap(({ file, problem }) => [
      el("h3.broken-file", file),
      // A code frame must keep its columns, so it scrolls; and what scrolls must be reachable by keyboard.
      el("pre.problem", { tabindex: "0", role: "region", "aria-label": `Problem in ${file}` }, problem),
    ]),
  );
}

function openCallout() {
  return el(
    "div.callout.callout--warn",
    el("p.callout-title", "The endpoints are open to everyone"),
    prose(
      "No secret is set, so whoever knows a URL can run its function. Set `WEBHOOK_SECRET`, start again, and ",
      el("a", { href: "#share-secret" }, "give the webhook the same secret"),
      ".",
    ),
  );
}

function temporaryCallout(urlExpiresAt) {
  return el(
    "div.callout.callout--warn",
    el("p.callout-title", "The address is temporary"),
    el("p", `It leads here until ${moment(urlExpiresAt)}. Webhooks that post to it fail from then on.`),
  );
}

function showFinder(endpoints, cards) {
  const finder = $("finder");
  finder.hidden = endpoints.length < FINDER_FROM;
  const input = $("find");
  const texts = endpoints.map(({ name, description, on, repos, refs }) =>
    [name, description, on, repos, refs].flat().join(" ").toLowerCase(),
  );
  const none = el("p.card", { hidden: true }, "No endpoint has that in its name, filter or description.");
  if (!finder.hidden) $("list").append(none);
  input.oninput = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    let found = 0;
    for (const [index, text] of texts.entries()) {
      const fits = words.every((word) => text.includes(word));
      cards[index].hidden = !fits;
      if (fits) found++;
    }
    none.hidden = found > 0;
    $("count").textContent = found === cards.length ? String(found) : `${found} of ${cards.length}`;
    say(`${found} of ${cards.length} endpoints`);
  };
  if (!finder.hidden && input.value) input.oninput();
}

function showRegistering(endpoints, { secret }) {
  const which = $("which");
  const before = which.value;
  which.replaceChildren(...endpoints.map(({ name }) => el("option", { value: name }, name)));
  if (endpoints.some(({ name }) => name === before)) which.value = before;
  which.disabled = false;
  $("pick").hidden = endpoints.length < 2;
  which.onchange = () => {
    const endpoint = endpoints.find(({ name }) => name === which.value) ?? endpoints[0];
    $("step-url").replaceChildren(...(endpoint ? [copyable(endpoint.url, { what: "URL to register" })] : []));
    $("command").replaceChildren(
      copyable(createCommandFor(endpoint, { secret }), { what: "command to register", language: "Shell" }),
    );
    $("local-hint").hidden = !endpoint || !isLocal(endpoint.url);
  };
  which.onchange();
  $("step-secret-command").replaceChildren(
    ...(secret ? [] : [copyable("openssl rand -hex 32", { what: "command that makes a secret" })]),
  );
  const words = prose(
    secret
      ? "Give the webhook the secret that the receiver has in `WEBHOOK_SECRET`."
      : "Give the webhook a long random text as its secret, and the receiver the same one as `WEBHOOK_SECRET`: " +
          "in `.env`, or on a Space in its settings, under secrets.",
  );
  $("step-secret").replaceChildren(...words.childNodes);
}

function choose(name, event) {
  event.preventDefault();
  $("which").value = name;
  $("which").onchange();
  $("register").scrollIntoView();
  $("which").focus({ preventScroll: true });
}

function showUnreachable(error) {
  const why = { TimeoutError: "no answer in time", SyntaxError: "no JSON in its answer" }[error.name] ?? error.message;
  setState("bad", "Not reachable", "");
  setFact("address", "–", "");
  setFact("secret", "–", "");
  $("secret").className = "board-fact";
  $("count").textContent = "";
  $("callouts").replaceChildren();
  $("finder").hidden = true;
  showRegistering([], { secret: false });
  const again = el("button.button", { type: "button", onclick: retry }, "Try again");
  $("list").replaceChildren(
    el(
      "div.card.empty",
      { role: "alert" },
      el("h3", "The receiver does not answer"),
      el("p", `This page asked it for its endpoints, and got none: ${why}.`),
      prose("A Space that slept needs a moment to wake up; on your machine, see whether `npm start` is still running."),
      again,
    ),
  );

  async function retry() {
    again.setAttribute("aria-disabled", "true");
    again.textContent = "Trying…";
    setState("loading", "Looking…", "");
    await load();
    // The button that had the focus is gone either way.
    (document.querySelector("#list .button") ?? $("endpoints")).focus({ preventScroll: true });
  }
}

function isLocal(url) {
  try {
    return /^(localhost|127\..*|0\.0\.0\.0|\[::1?\])$/.test(new URL(url).hostname);
  } catch {
    return false;
  }
}

function moment(text) {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? text : date.toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" });
}

function counted(list, noun) {
  return `${list.length || "no"} ${noun}${list.length === 1 ? "" : "s"}`;
}
