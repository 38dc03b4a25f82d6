/**
 * Commands that work as pasted: the least payload an endpoint takes, the `curl` that posts it, and the `hf` command
 * that registers the endpoint. Pure: text in, text out.
 */

const ID = "0".repeat(24);
const SHA = "0".repeat(40);
const HUB = "https://huggingface.co";
/** Width of an example, in characters: what an endpoint's card shows without scrolling. */
const LINE = 72;
/** A shell takes no longer word than this. */
const LONGEST_WORD = 30_000;

/** What each documented event brings beside `event`, `repo` and `webhook`: a handler that asks for it is promised this. */
const documented = {
  "repo:create": nothing,
  "repo:update": nothing,
  "repo:delete": nothing,
  "repo:move": () => ({ movedTo: { name: "me/new-name", owner: { id: ID } } }),
  "repo.content:update": (_, ref) => ({ updatedRefs: [{ ref, oldSha: null, newSha: SHA }] }),
  "repo.config:update": () => ({ updatedConfig: {} }),
  "discussion:create": comment,
  "discussion:update": discussion,
  "discussion:delete": discussion,
  "discussion.comment:create": comment,
  "discussion.comment:update": comment,
};

function nothing() {
  return {};
}

function discussion({ web, api }) {
  const url = { web: `${web}/discussions/1`, api: `${api}/discussions/1` };
  return {
    discussion: { id: ID, num: 1, title: "Hello", status: "open", author: { id: ID }, isPullRequest: false, url },
  };
}

function comment(repo) {
  const url = { web: `${repo.web}/discussions/1` };
  return { ...discussion(repo), comment: { id: ID, author: { id: ID }, content: "Hello", hidden: false, url } };
}

/** The least payload that passes the endpoint's filters. */
export function leastPayload({ on, repos, refs }) {
  const filters = on?.length ? on : null;
  const ref = sampleRef(refs);
  const name =
    ref && (!filters || filters.some((filter) => takes(filter, "repo.content:update")))
      ? "repo.content:update"
      : filters && chosen(filters[0]);
  const repo = sampleRepo(repos);
  if (!name) return { event: { action: "update" }, repo: repos?.length ? repo : { type: repo.type } };

  const [scope, action = "update"] = name.split(":");
  const extra = documented[name];
  if (!extra) return { event: { action, scope }, repo };
  const place = `${{ dataset: "datasets/", space: "spaces/", bucket: "buckets/" }[repo.type] ?? ""}${repo.name}`;
  const url = { web: `${HUB}/${place}`, api: `${HUB}/api/${repo.type}s/${repo.name}` };
  return {
    event: { action, scope },
    repo: { ...repo, id: ID, private: false, url, owner: { id: ID } },
    webhook: { id: ID, version: 3 },
    ...extra(url, ref ?? "refs/heads/main"),
  };
}

/** `curl` for a shell; reads the secret from the environment, so that it stays out of the shell's history. */
export function curlFor(endpoint, { secret }) {
  return curlWith(endpoint.url, layOut(leastPayload(endpoint)), { secret });
}

export function curlWith(url, body, { secret }) {
  return [
    `curl ${quoted(url)}`,
    `-H 'Content-Type: application/json'`,
    secret && `-H "X-Webhook-Secret: $WEBHOOK_SECRET"`,
    body.length < LONGEST_WORD ? `-d ${quoted(body)}` : `--data-binary @- <<'PAYLOAD'\n${body}\nPAYLOAD`,
  ]
    .filter(Boolean)
    .join(" \\\n  ");
}

/** `hf webhooks create` of the Hub's own command line; without an endpoint, `URL` stands for it. */
export function createCommandFor(endpoint, { secret }) {
  const rooms = new Set((endpoint?.on ?? []).map((filter) => filter.split(/[.:]/)[0]));
  // That command knows the domain as `discussions`, and takes both when none is given.
  const domain = rooms.size === 1 ? { repo: "repo", discussion: "discussions" }[[...rooms][0]] : undefined;
  const { type, name } = sampleRepo(endpoint?.repos, { type: "model", owner: "owner" });
  return [
    "hf webhooks create",
    `--url ${endpoint ? quoted(endpoint.url) : "URL"}`,
    `--watch ${quoted(`${type}:${name}`)}`,
    domain && `--domain ${domain}`,
    secret && `--secret "$WEBHOOK_SECRET"`,
  ]
    .filter(Boolean)
    .join(" \\\n  ");
}

/** A filter's first documented event; a filter that names none is taken as it stands. */
function chosen(filter) {
  return Object.keys(documented).find((name) => takes(filter, name)) ?? filter;
}

function takes(filter, name) {
  return filter === name || (!filter.includes(":") && (name.startsWith(`${filter}:`) || name.startsWith(`${filter}.`)));
}

function sampleRef(refs) {
  const pattern = firstPositive(refs);
  return pattern && filled(pattern, "1");
}

function sampleRepo(repos, words = { type: "dataset", owner: "me" }) {
  const pattern = firstPositive(repos);
  if (!pattern) return { type: words.type, name: `${words.owner}/name` };
  const colon = pattern.indexOf(":");
  const type = filled(pattern.slice(0, Math.max(0, colon)), words.type) || words.type;
  const [owner = "", ...rest] = pattern.slice(colon + 1).split("/");
  if (owner === "**" && rest.length === 0) rest.push("*");
  return { type, name: [filled(owner, words.owner), ...rest.map((part) => filled(part, "name"))].join("/") };
}

/** The first glob that does not exclude, with each choice in it settled for its first alternative. */
function firstPositive(globs) {
  return globs
    ?.find((glob) => !glob.startsWith("!") || glob.startsWith("!("))
    ?.replace(/!\([^)]*\)/g, "*")
    .replace(/[@+*?]\(([^|)]*)[^)]*\)/g, "$1")
    .replace(/\{([^,}]*?)(?:\.\.|,)[^}]*\}/g, "$1")
    .replace(/\[[!^][^\]]*\]/g, "_")
    .replace(/\[(.)[^\]]*\]/g, "$1");
}

function filled(pattern, word) {
  return pattern.replace(/\*+/g, word).replace(/\?/g, "x").replace(/\\/g, "");
}

/** JSON for reading: what fits on a line stays on one. */
function layOut(value, indent = "  ") {
  const line = JSON.stringify(value);
  if (line.length + indent.length <= LINE || typeof value !== "object" || value === null) return line;
  const deeper = `${indent}  `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const parts = Object.entries(value).map(
    ([key, part]) => deeper + (open === "{" ? `${JSON.stringify(key)}: ` : "") + layOut(part, deeper),
  );
  return `${open}\n${parts.join(",\n")}\n${indent}${close}`;
}

/** Quoted for a shell where it must be. */
function quoted(text) {
  return /^[\w:/.@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
