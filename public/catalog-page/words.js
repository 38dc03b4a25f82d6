/** How the page writes things, and text that may want to deceive. */
import { el } from "../dom.js";

/** Control characters, and those that make a reader see letters in another order than they have. */
const HIDDEN = /[^\P{Cc}\n\t]|[\u202d\u202e]/gu;

/** Text with what hides or reorders other text spelt out: `\u202e`. */
export function plain(text) {
  return String(text).replace(HIDDEN, (one) => `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`);
}

/** No more than the beginning of a text that is longer than anybody reads in a list. */
export function clipped(text, length = 600) {
  return plain(text.length > length ? `${text.slice(0, length).replace(/[\ud800-\udbff]$/, "")}…` : text);
}

/** Text of the catalog inside a sentence of ours, in a direction of its own. */
export function isolated(text) {
  return el("bdi", plain(text));
}

const whole = new Intl.NumberFormat("en-GB");

export function number(value) {
  return whole.format(value);
}

/** `1 resource`, `1,204 resources`. */
export function resources(count) {
  return `${number(count)} ${count === 1 ? "resource" : "resources"}`;
}

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

/** `2026-11-21` as `21 November 2026`. */
export function date(text) {
  const time = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(time) ? plain(text) : day.format(time);
}

export const TITLES = {
  status: "Status",
  category: "Category",
  task: "Task",
  tag: "Tag",
  source: "Source",
  license: "License",
};

const SOURCES = {
  huggingface: "Hugging Face",
  mozilla: "Mozilla",
  kaggle: "Kaggle",
  github: "GitHub",
  gitlab: "GitLab",
  arxiv: "arXiv",
  openalex: "OpenAlex",
  crossref: "Crossref",
  zenodo: "Zenodo",
  dataverse: "Dataverse",
  datacite: "DataCite",
  meta: "Meta",
};

/** A value of a facet as people write it; tags, tasks and licenses as the catalog has them. */
export function valueText(facet, value) {
  if (facet === "source") return SOURCES[value] ?? capital(value.replaceAll("_", " "));
  return facet === "category" || facet === "status" ? capital(value) : plain(value);
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
