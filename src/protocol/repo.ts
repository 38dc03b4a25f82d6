/** A repo's name on the wire, `type:owner/name`, and where a hub shows it. */
import type { RepoType } from "./payload.ts";

export const repoTypes: readonly RepoType[] = ["model", "dataset", "space", "bucket"];

/** The real Hub. Another hub is named by `HF_ENDPOINT`. */
export const HUB_ENDPOINT = "https://huggingface.co";

export interface RepoRef {
  type: string;
  /** `owner/name`; a few old models have no owner. */
  name: string;
}

const part = "[A-Za-z0-9_][A-Za-z0-9._-]*";
const written = new RegExp(`^(?<type>[a-z]+):(?<name>${part}(?:/${part})?)$`);

/** `dataset:me/data` as type and name, or null when it is not written so or the type is not a repo's. */
export function parseRepo(text: string): RepoRef | null {
  const { type = "", name = "" } = written.exec(text)?.groups ?? {};
  return repoTypes.some((known) => known === type) ? { type, name } : null;
}

/** The part before `/` (a repo without one owns itself). */
export function ownerOf(name: string): string {
  const slash = name.indexOf("/");
  return slash === -1 ? name : name.slice(0, slash);
}

/** The pages of a repo. Models stand at the root of a hub, all others under the plural of their type. */
export function repoUrls({ type, name }: RepoRef, endpoint = HUB_ENDPOINT): { web: string; api: string } {
  const root = endpoint.replace(/\/+$/, "");
  return { web: `${root}/${type === "model" ? "" : `${type}s/`}${name}`, api: `${root}/api/${type}s/${name}` };
}
