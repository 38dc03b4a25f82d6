/**
 * Building pages from untrusted text: children are nodes or text, never HTML.
 * Shared by the pages of the receiver.
 */

/**
 * An element.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes] `class`, `aria-…`, `on<event>` as a function; false and null are left out
 * @param {...(Node | string | null | undefined | false)} children
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child || child === ""));
  return element;
}

/** Says a sentence to screen readers. */
export function say(sentence) {
  const status = document.getElementById("said");
  // The same sentence twice in a row is read only when the text changes in between.
  status.textContent = "";
  requestAnimationFrame(() => {
    status.textContent = sentence;
  });
}

/**
 * Text with a button that copies it.
 * @param {string} text
 * @param {{ what: string, language?: string }} options `what`: completes "Copy …" and "… copied" for screen readers;
 *   `language`: makes it a block of code, named so
 */
export function copyable(text, { what, language }) {
  // Long lines of code scroll, and what scrolls must be reachable by keyboard; a URL breaks, best behind a slash.
  const source = language
    ? el("pre", { class: "copy-text", tabindex: "0", role: "group", "aria-label": capital(what) }, el("code", {}, text))
    : el("code", { class: "copy-text" }, ...text.split(/(?<=\/)/).flatMap((part) => [part, el("wbr")]));
  const label = el("span", { class: "copy-label", "aria-hidden": "true" }, "Copy");
  const button = el(
    "button",
    { type: "button", class: "copy-button", onclick: copy },
    icon(),
    label,
    el("span", { class: "unseen" }, `Copy ${what}`),
  );
  let timer;

  async function copy() {
    const copied = await toClipboard(text, button);
    if (!copied) getSelection().selectAllChildren(source);
    button.dataset.result = copied ? "copied" : "selected";
    label.textContent = copied ? "Copied" : "Selected";
    say(copied ? `${capital(what)} copied` : "Copying is not allowed here. The text is selected: copy it by keyboard");
    clearTimeout(timer);
    timer = setTimeout(() => {
      delete button.dataset.result;
      label.textContent = "Copy";
    }, 2500);
  }

  return language
    ? el("div", { class: "code" }, el("div", { class: "code-head" }, el("span", {}, language), button), source)
    : el("div", { class: "copy" }, source, button);
}

/** The clipboard API is missing on plain http and refused in iframes without leave; the old command often works there. */
async function toClipboard(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const carrier = el("textarea", { class: "unseen", readonly: true, tabindex: "-1", "aria-hidden": "true" });
    carrier.value = text;
    button.after(carrier);
    carrier.select();
    try {
      return document.execCommand("copy");
    } catch {
      return false;
    } finally {
      carrier.remove();
      button.focus({ preventScroll: true });
    }
  }
}

function icon() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  for (const [kind, d] of [
    ["copy", "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z"],
    ["done", "M3 8.5l3.5 3.5L13 4.5"],
  ]) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("class", `icon-${kind}`);
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
