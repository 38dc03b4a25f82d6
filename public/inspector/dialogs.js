/** Questions that must be answered before something is done. */
import { el } from "../dom.js";

/**
 * Asks, and resolves to whether it was agreed to. Esc, and a click beside it, say no.
 * @param {{ title: string, text: (string | Node)[], yes: string, grave?: boolean }} question `grave`: Enter alone
 *   does not agree to it
 */
export function confirm({ title, text, yes, grave = false }) {
  return show(title, text, [
    el("button.quiet", { value: "no", autofocus: grave }, "Cancel"),
    el("button.strong", { value: "yes", autofocus: !grave }, yes),
  ]);
}

/** Says something that is read and closed. */
export function tell({ title, text }) {
  return show(title, text, [el("button.quiet", { value: "no", autofocus: true }, "Close")]);
}

function show(title, text, buttons) {
  const dialog = el(
    "dialog",
    { "aria-labelledby": "dialog-title", onclick: (event) => event.target === dialog && dialog.close() },
    el(
      "form",
      { method: "dialog" },
      el("h2", { id: "dialog-title" }, title),
      ...text.map((part) => (typeof part === "string" ? el("p", part) : part)),
      el("div.dialog-foot", ...buttons),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
