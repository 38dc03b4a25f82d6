/** What the list is narrowed to: read from the form, kept in the page's address, told to the API. */
import { STATES } from "./state.js";

const SPANS = { "15m": 15 * 60_000, "1h": 3_600_000, "24h": 86_400_000, "7d": 7 * 86_400_000 };
const NAMES = ["state", "endpoint", "repo", "time", "since", "until"];

/** What the address says: `?state=failed&time=24h`. */
export function readAddress() {
  const words = new URLSearchParams(location.search);
  const filter = Object.fromEntries(NAMES.map((name) => [name, words.get(name) ?? ""]));
  if (!STATES.includes(filter.state)) filter.state = "";
  if (!Object.hasOwn(SPANS, filter.time) && filter.time !== "between") filter.time = "";
  return filter;
}

export function writeAddress(filter) {
  const words = new URLSearchParams(NAMES.map((name) => [name, filter[name]]).filter(([, value]) => value));
  history.replaceState(history.state, "", `${location.pathname}${words.size ? `?${words}` : ""}${location.hash}`);
}

export function isNarrow(filter) {
  return NAMES.some((name) => filter[name]);
}

/** The filter in the API's words. Text without a `*` is looked for anywhere in `type:owner/name`. */
export function toQuery({ state, endpoint, repo, time, since, until }, now = Date.now()) {
  const text = repo.trim();
  return {
    state: state || undefined,
    endpoint: endpoint || undefined,
    repo: text ? (text.includes("*") ? text : `*${text}*`) : undefined,
    since: time === "between" ? iso(since) : SPANS[time] && new Date(now - SPANS[time]).toISOString(),
    until: time === "between" ? iso(until) : undefined,
  };
}

function iso(local) {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** A function that tells of a delivery whether the API would list it. */
export function matcher({ state, endpoint, repo, since, until }) {
  const glob =
    repo &&
    new RegExp(
      `^${repo
        .split("*")
        .map(RegExp.escape ?? escaped)
        .join(".*")}$`,
      "is",
    );
  return (delivery) =>
    (!state || delivery.state === state) &&
    (!endpoint || delivery.endpoint === endpoint) &&
    (!glob || glob.test(delivery.repo)) &&
    (!since || delivery.createdAt >= since) &&
    (!until || delivery.createdAt < until);
}

function escaped(text) {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** The filter in words, for a question: `state failed, endpoint train`. */
export function inWords({ state, endpoint, repo, since, until }) {
  const parts = [
    state && `state ${state}`,
    endpoint && `endpoint ${endpoint}`,
    repo && `repo ${repo}`,
    since && `arrived from ${new Date(since).toLocaleString("en-GB")}`,
    until && `arrived before ${new Date(until).toLocaleString("en-GB")}`,
  ].filter(Boolean);
  return parts.join(", ");
}
