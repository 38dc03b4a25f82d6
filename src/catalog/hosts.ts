/** Where a resource lives, told by its address. */
import { SOURCES, type Source, type Vocabulary } from "./schema.ts";
import { translate } from "./sources.ts";

type Platform = (typeof SOURCES.platform)[number];

/** Domains, each with all below it. */
const DOMAINS: Partial<Record<Platform, readonly string[]>> = {
  huggingface: ["huggingface.co", "hf.co", "hf.space"],
  mozilla: ["mozilla.org", "mozillafoundation.org"],
  kaggle: ["kaggle.com"],
  github: ["github.com", "github.io", "githubusercontent.com"],
  gitlab: ["gitlab.com", "gitlab.io"],
  arxiv: ["arxiv.org"],
  openalex: ["openalex.org"],
  crossref: ["crossref.org"],
  zenodo: ["zenodo.org"],
  dataverse: ["dataverse.org"],
  datacite: ["datacite.org"],
  meta: ["meta.com", "facebook.com", "fb.com"],
};

/** The source behind this url; `other` for hosts that are none of the known. */
export function sourceOfUrl(url: string, vocabulary: Vocabulary): Source {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  // Universities have one each, on a host of their own.
  const known = /(^|\.)dataverse\./.test(host) ? "dataverse" : SOURCES.platform.find((name) => isOf(name, host));
  return translate(known ?? "other", vocabulary) ?? "other";
}

function isOf(platform: Platform, host: string): boolean {
  return DOMAINS[platform]?.some((domain) => host === domain || host.endsWith(`.${domain}`)) ?? false;
}
