/** What stands in place of the results while there are none to show, and why. */
import { copyable, el } from "../dom.js";
import { plain } from "./words.js";

/** A paragraph in which `text between backticks` is code. */
function prose(text) {
  return el("p", ...text.split("`").map((part, index) => (index % 2 ? el("code", part) : part)));
}

function card(title, ...parts) {
  return el("div.card.empty.gate", el("h2", title), ...parts);
}

export function noCatalog() {
  return card(
    "No catalog is served here",
    prose("Name a file or an address in `CATALOG` and start the receiver again. With the example that comes with it:"),
    copyable("CATALOG=public/catalog.example.json npm start", { what: "command", language: "Shell" }),
  );
}

/** The catalog is there, and has errors or cannot be read. */
export function broken(error, retry) {
  const shown = card(
    "The catalog cannot be shown",
    prose(`The receiver says: ${plain(error.message)}.`),
    error.issues.length > 0 &&
      el("ol.problems", ...error.issues.map(({ message }) => el("li", el("bdi", plain(message))))),
    error.issues.length > 0 && prose("All of them, by command line: `npx hubhook catalog validate <file>`"),
    el("button.button", { type: "button", onclick: retry }, "Try again"),
  );
  shown.setAttribute("role", "alert");
  return shown;
}

export function unreachable(error, retry) {
  const shown = card(
    "The receiver does not answer",
    el("p", `This page asked it for the catalog, and got none: ${plain(error.message)}.`),
    prose("A Space that slept needs a moment to wake up; on your machine, see whether `npm start` is still running."),
    el("button.button", { type: "button", onclick: retry }, "Try again"),
  );
  shown.setAttribute("role", "alert");
  return shown;
}

/** The address asks for something that there cannot be. */
export function notUnderstood(error, clear) {
  const shown = card(
    "This link was not understood",
    prose(`The receiver says: ${plain(error.message)}.`),
    el("button.button", { type: "button", onclick: clear }, "Show all resources"),
  );
  shown.setAttribute("role", "alert");
  return shown;
}

export function nothingFound(clear) {
  return card(
    "Nothing found",
    prose("No resource has every word that is searched for and passes all filters."),
    el("button.button", { type: "button", onclick: clear }, "Show all resources"),
  );
}

export function emptyCatalog() {
  return card(
    "The catalog is empty",
    prose("It has no resources yet. `npx hubhook catalog add --file <file>` adds one."),
  );
}
