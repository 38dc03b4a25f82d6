/** One resource beside the list, with all that the catalog says of it. */
import { el, say, toClipboard } from "../dom.js";
import { badge, hostOf, outside } from "./parts.js";
import { isolated, plain, TITLES, valueText } from "./words.js";

/**
 * @param {object} parts
 * @param {HTMLElement} parts.panel
 * @param {(facet: string, value: string) => void} parts.narrow show all that have this value
 */
export function makePanel({ panel, narrow }) {
  const part = (name) => panel.querySelector(`[data-part="${name}"]`);
  const title = panel.querySelector("h2");

  return {
    show(resource) {
      const { status } = resource;
      panel.setAttribute("aria-busy", "false");
      panel.scrollTop = 0;
      title.textContent = plain(resource.title);
      part("status").replaceChildren(badge(status));
      part("content").replaceChildren(...content(resource));
    },
    loading(id) {
      panel.setAttribute("aria-busy", "true");
      title.textContent = plain(id);
      part("status").replaceChildren();
      part("content").replaceChildren();
    },
    /** It could not be shown, and why. */
    fail(heading, why) {
      panel.setAttribute("aria-busy", "false");
      title.textContent = heading;
      part("content").replaceChildren(el("p.panel-problem", { role: "alert" }, why));
    },
  };

  function content(resource) {
    const { id, url, summary, primary_use, pashto_evidence: evidence } = resource;
    const { category, source, license, tags, tasks = [] } = resource;
    return [
      el("p.panel-address", outside("a", url, plain(url))),
      el(
        "div.acts",
        outside("a.strong", url, "Open resource"),
        copyButton("Copy link", "link to this resource", () => location.href),
        copyButton("Copy JSON", "resource as JSON", () => JSON.stringify(resource, null, 2)),
      ),
      el("h3", "Summary"),
      el("p.panel-text", { dir: "auto" }, plain(summary)),
      el("h3", "Primary use"),
      el("p.panel-text", { dir: "auto" }, plain(primary_use)),
      el("h3", "Evidence for the language"),
      el(
        "figure.evidence",
        { dir: "auto" },
        el("blockquote", plain(evidence.evidence_text)),
        el(
          "figcaption",
          outside("a", evidence.evidence_url, plain(hostOf(evidence.evidence_url) || evidence.evidence_url)),
        ),
      ),
      el("p.hint.evidence-found", "Found there:"),
      el("ul.tags", ...evidence.markers.map((marker) => el("li.tag", isolated(marker)))),
      el("h3", "About it"),
      el(
        "dl.facts",
        fact("Category", one("category", category)),
        fact("Source", one("source", source)),
        fact("License", license ? one("license", license) : el("span.hint", "not stated")),
        tasks.length > 0 && fact("Tasks", several("task", tasks)),
        fact("Tags", several("tag", tags)),
        fact("Id", el("code", plain(id))),
      ),
    ];
  }

  function several(facet, values) {
    return el("ul.tags", ...[...new Set(values)].map((value) => el("li", one(facet, value))));
  }

  function one(facet, value) {
    const text = valueText(facet, value);
    const what = el("span.unseen", `${TITLES[facet]}: show all with `);
    return el("button", { type: "button", class: "value", onclick: () => narrow(facet, value) }, what, isolated(text));
  }
}

function fact(term, value) {
  return el("div.fact", el("dt", term), el("dd", value));
}

function copyButton(text, what, contentOf) {
  const label = el("span", text);
  const button = el("button", { type: "button", class: "quiet", onclick: copy }, label);
  let timer;

  async function copy() {
    const copied = await toClipboard(contentOf(), button);
    say(copied ? `Copied: ${what}` : "Copying is not allowed here");
    label.textContent = copied ? "Copied" : "Not allowed";
    clearTimeout(timer);
    timer = setTimeout(() => {
      label.textContent = text;
    }, 2500);
  }

  return button;
}
