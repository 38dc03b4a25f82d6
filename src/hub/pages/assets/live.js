/**
 * Keeps the page as the hub has it: asks for the same page again and again, and takes over those parts that are
 * different. Nothing but the server makes HTML.
 */
import { enliven, say } from "./page.js";

const EVERY_MS = 1500;
/** While the hub does not answer. */
const LATER_MS = 4000;

const live = document.getElementById("live");

/** The page as it is now; null where it is none of these any more. Throws while the hub cannot say. */
async function load() {
  const response = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (response.status >= 500) throw new Error(`${response.status}`);
  if (!response.ok || response.redirected) return null;
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

async function look() {
  if (document.hidden) return again(EVERY_MS);
  let page;
  try {
    page = await load();
  } catch {
    tell("The hub does not answer", false);
    return again(LATER_MS);
  }
  if (!page) return tell("No longer live: load the page anew", false);
  const arrived = [...page.querySelectorAll("[data-live]")].flatMap(replace);
  tell("Live", true);
  if (arrived.length > 0) say(`${arrived.length} new in the activity`);
  again(EVERY_MS);
}

/** Puts the part in its place, without taking the focus away or folding what is open. Gives the ids that are new. */
function replace(part) {
  const old = document.getElementById(part.id);
  if (!old || old.dataset.live === part.dataset.live) return [];
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  for (const details of old.querySelectorAll("details[id]")) {
    const now = part.querySelector(`#${CSS.escape(details.id)}`);
    if (now) now.open = details.open;
  }
  const known = new Set([...old.querySelectorAll('[id^="delivery-"]')].map(({ id }) => id));
  const added = document.importNode(part, true);
  old.replaceWith(added);
  enliven(added);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  return [...added.querySelectorAll('[id^="delivery-"]')].filter(({ id }) => !known.has(id));
}

function again(ms) {
  setTimeout(look, ms);
}

function tell(text, good) {
  if (!live) return;
  live.hidden = false;
  live.classList.toggle("live--bad", !good);
  if (live.textContent !== text) live.textContent = text;
}

void look();
