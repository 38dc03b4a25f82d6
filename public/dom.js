/**
 * Building pages from untrusted text: children are nodes or text, never HTML.
 * Shared by the pages of the receiver.
 */

/**
 * An element: `el("p.hint", { id: "here" }, "text", node)`.
 * @param {string} kind tag and classes
 * @param {...(Record<string, unknown> | Node | string | null | undefined | false)} parts attributes (a function listens
 *   to `on<event>`; null and false are left out) and children
 */
export function el(kind, ...parts) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElement(tag);
  element.classList.add(...classes);
  for (const part of parts) {
    if (typeof part === "string" || part instanceof Node) element.append(part);
    else if (part) setAttributes(element, part);
  }
  return element;
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
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
 * @param {{ what: string, language?: string }} options `what` the text is, for screen readers; with a `language` it
 *   becomes a block of code
 */
export function copyable(text, { what, language }) {
  // Long lines of code scroll, and what scrolls must be reachable by keyboard; a URL breaks, best behind a slash.
  const source = language
    ? el("pre.copy-text", { tabindex: "0", role: "group", "aria-label": what }, el("code", text))
    : el("code.copy-text", ...text.split(/(?<=\/)/).flatMap((part) => [part, el("wbr")]));
  const label = el("span.copy-label", { "aria-hidden": "true" }, "Copy");
  const button = el(
    "button",
    { type: "button", class: "copy-button", onclick: copy },
    icon(),
    label,
    el("span.unseen", `Copy ${what}`),
  );
  let timer;

  async function copy() {
    const copied = await toClipboard(text, button);
    if (!copied) getSelection().selectAllChildren(source);
    button.dataset.result = copied ? "copied" : "selected";
    label.textContent = copied ? "Copied" : "Selected";
    say(copied ? `Copied: ${what}` : "Copying is not allowed here. The text is selected: copy it by keyboard");
    clearTimeout(timer);
    timer = setTimeout(() => {
      delete button.dataset.result;
      label.textContent = "Copy";
    }, 2500);
  }

  return language
    ? el("div.code", el("div.code-head", el("span", language), button), source)
    : el("div.copy", source, button);
}

/** The clipboard API is missing on plain http and refused in iframes without leave; the old command often works there. */
export async function toClipboard(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const carrier = el("textarea.unseen", { readonly: true, tabindex: "-1", "aria-hidden": "true" });
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
