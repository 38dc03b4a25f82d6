/** What stands in place of the list while there is none to show: the question for the secret, or why there is nothing. */
import { copyable, el } from "../dom.js";
import { leastPayload } from "../examples.js";
import { ask } from "./api.js";
import { plain } from "./words.js";

const BACKGROUND_HANDLER = `import { webhook } from "../receiver/webhook.ts";

export const train = webhook({ mode: "background", on: "repo.content:update" }, async (payload, context) => {
  context.log.info(\`\${payload.repo.name} has changed\`);
});`;

/** A paragraph in which `text between backticks` is code. */
function prose(text) {
  return el("p", ...text.split("`").map((part, index) => (index % 2 ? el("code", part) : part)));
}

/** @param {() => void} entered the secret was right */
export function loginForm(entered, { left = false } = {}) {
  const input = el("input", {
    id: "secret",
    type: "password",
    autocomplete: "current-password",
    spellcheck: false,
    required: true,
    "aria-describedby": "login-problem",
  });
  const button = el("button.button", "Open the inspector");
  const problem = el("p.login-problem", { id: "login-problem", role: "alert" });
  let timer;

  async function enter(event) {
    event.preventDefault();
    if (button.getAttribute("aria-disabled") || !input.value) return;
    button.setAttribute("aria-disabled", "true");
    problem.textContent = "";
    try {
      await ask("api/session", { method: "POST", body: { secret: input.value } });
      entered();
    } catch (error) {
      button.removeAttribute("aria-disabled");
      if (error.status === 429) return count(error.retryAfter ?? 60);
      problem.textContent =
        error.code === "secret_invalid"
          ? "That is not the receiver's secret."
          : `It could not be checked: ${plain(error.message)}.`;
      input.select();
    }
  }

  function count(seconds) {
    clearTimeout(timer);
    if (seconds <= 0 || !problem.isConnected) {
      problem.textContent = "";
      button.removeAttribute("aria-disabled");
      return;
    }
    button.setAttribute("aria-disabled", "true");
    problem.textContent = `Too many wrong secrets from this address. Try again in ${seconds} s.`;
    timer = setTimeout(count, 1000, seconds - 1);
  }

  return el(
    "form.card.gate",
    { onsubmit: enter, "aria-labelledby": "gate-title" },
    el("h2", { id: "gate-title" }, left ? "You are logged out" : "Open with the webhook secret"),
    prose("Payloads are shown to whoever knows the receiver's secret: what stands in its `WEBHOOK_SECRET`."),
    el("div.login", el("label", { for: "secret" }, "Webhook secret"), input, button),
    problem,
  );
}

export function secretNotSet() {
  return card(
    "This receiver has no secret",
    prose("So its deliveries are shown on its own machine only, under `localhost` or `127.0.0.1`."),
    prose(
      "To look from elsewhere, set `WEBHOOK_SECRET`: in `.env`, or on a Space in its settings, under secrets. " +
        "Start the receiver again, and this page asks for it. A command that makes one:",
    ),
    copyable("openssl rand -hex 32", { what: "command that makes a secret" }),
  );
}

export function noBackground() {
  return card(
    "No handler runs in the background",
    prose(
      "A handler in `reply` mode answers inside the request, and nothing of it is kept. In `background` mode a " +
        "delivery is stored before it is answered, run after that, tried again when it fails, and shown here.",
    ),
    prose("Say so in one word, and start the receiver again:"),
    copyable(BACKGROUND_HANDLER, { what: "example of a background handler", language: "TypeScript" }),
  );
}

export function nothingYet(endpoints) {
  const endpoint = endpoints.find(({ mode }) => mode === "background");
  return card(
    "No deliveries yet",
    prose("What arrives for a background handler appears here by itself. To send one from this machine:"),
    copyable(triggerCommand(endpoint), { what: "command that sends an event", language: "Shell" }),
  );
}

export function noneMatches(clear) {
  return card(
    "No delivery matches",
    prose("None that is kept has all that is asked for above."),
    el("button.button", { type: "button", onclick: clear }, "Show all deliveries"),
  );
}

export function unreachable(error, retry) {
  const told = card(
    "The receiver does not answer",
    el("p", `This page asked it for its deliveries, and got none: ${plain(error.message)}.`),
    prose("A Space that slept needs a moment to wake up; on your machine, see whether `npm start` is still running."),
    el("button.button", { type: "button", onclick: retry }, "Try again"),
  );
  told.setAttribute("role", "alert");
  return told;
}

function card(title, ...parts) {
  return el("div.card.empty.gate", el("h2", title), ...parts);
}

function triggerCommand(endpoint) {
  if (!endpoint) return "npx hubhook trigger repo.content:update --repo dataset:me/data";
  const { event, repo } = leastPayload(endpoint);
  const name = event.scope ? `${event.scope}:${event.action}` : "repo.content:update";
  return `npx hubhook trigger ${name} \\\n  --repo ${repo.type}:${repo.name ?? "me/data"} --to ${endpoint.name}`;
}
