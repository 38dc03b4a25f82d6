/** The results. They come in stretches, and a stretch far out of sight keeps its height but not its elements. */
import { el } from "../dom.js";
import { badge, hostOf, outside } from "./parts.js";
import { clipped, isolated, plain, valueText } from "./words.js";

/** How far out of sight a stretch may be and still exist. */
const NEAR = "1500px";
const TAGS_SHOWN = 6;

/** @param {{ list: HTMLElement, more: HTMLElement, nearEnd: () => void }} parts */
export function makeList({ list, more, nearEnd }) {
  let stretches = new Map();
  let count = 0;
  let chosen = "";

  const inSight = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const stretch = stretches.get(target);
        if (!stretch) continue;
        if (isIntersecting) fill(target, stretch);
        else if (target.childElementCount > 0 && !target.contains(document.activeElement)) empty(target);
      }
    },
    { rootMargin: `${NEAR} 0px` },
  );
  const end = new IntersectionObserver((entries) => entries.some((one) => one.isIntersecting) && nearEnd(), {
    rootMargin: `${NEAR} 0px`,
  });
  end.observe(more);

  function fill(stretch, resources) {
    if (stretch.childElementCount > 0) return;
    stretch.append(...resources.map((resource) => item(resource, chosen)));
    stretch.style.height = "";
  }

  function empty(stretch) {
    stretch.style.height = `${stretch.offsetHeight}px`;
    stretch.replaceChildren();
  }

  function append(resources) {
    if (resources.length === 0) return;
    const stretch = el("ol.stretch", { start: String(count + 1) });
    stretches.set(stretch, resources);
    count += resources.length;
    fill(stretch, resources);
    list.append(stretch);
    inSight.observe(stretch);
    // Should the end still be in sight, it is told once more.
    end.unobserve(more);
    end.observe(more);
  }

  const links = () => [...list.querySelectorAll(".resource-link")];

  return {
    /** Shows these in place of all before. */
    show(resources) {
      inSight.disconnect();
      stretches = new Map();
      count = 0;
      list.replaceChildren();
      append(resources);
    },
    append,
    get count() {
      return count;
    },
    /** Marks the one that is shown beside. */
    choose(id) {
      chosen = id;
      for (const one of list.querySelectorAll("[data-id]")) setCurrent(one, one.dataset.id === id);
    },
    focusOn(id) {
      const link = list.querySelector(`[data-id="${CSS.escape(id)}"] .resource-link`);
      link?.focus();
      return Boolean(link);
    },
    /** Moves the focus down or up by one; false: there is nothing to move to. */
    move(by) {
      const all = links();
      const here = all.indexOf(document.activeElement?.closest("[data-id]")?.querySelector(".resource-link"));
      const next = all[here < 0 ? (by > 0 ? 0 : -1) : here + by];
      if (!next) return false;
      next.focus({ preventScroll: true });
      next.closest("[data-id]").scrollIntoView({ block: "nearest" });
      return true;
    },
  };
}

function setCurrent(one, is) {
  if (is) one.setAttribute("aria-current", "true");
  else one.removeAttribute("aria-current");
}

/** A card runs as its title does; what is long in it runs by itself. */
function item(resource, chosen) {
  const { id, title, url, category, source, status, summary, license, tags, pashto_evidence: evidence } = resource;
  const host = hostOf(url);
  const facts = [valueText("category", category), valueText("source", source), license && isolated(license)];
  return el(
    "li.resource",
    { "data-id": id, dir: "auto", "aria-current": id === chosen ? "true" : null },
    el(
      "div.resource-head",
      el("h3", el("a.resource-link", { href: `#${encodeURIComponent(id)}` }, clipped(title, 300))),
      badge(status),
    ),
    el(
      "p.resource-facts",
      ...facts.filter(Boolean).map((fact) => el("span", fact)),
      host && el("span", outside("a.resource-out", url, plain(host))),
    ),
    el("p.resource-summary", { dir: "auto" }, clipped(summary)),
    el(
      "div.resource-evidence",
      { dir: "auto" },
      el("blockquote", clipped(evidence.evidence_text)),
      outside("a.resource-out", evidence.evidence_url, "Evidence", el("span.unseen", ` for ${clipped(title, 300)}`)),
    ),
    el(
      "ul.tags",
      { "aria-label": "Tags" },
      ...tags.slice(0, TAGS_SHOWN).map((tag) => el("li.tag", isolated(clipped(tag, 100)))),
      tags.length > TAGS_SHOWN && el("li.tags-more", `+${tags.length - TAGS_SHOWN}`),
    ),
  );
}
