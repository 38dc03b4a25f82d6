/** What callers may ask for, checked before anything is sent. */
import {
  domainOf,
  domains,
  isWatchedType,
  nameProblem,
  secretProblem,
  urlProblem,
  watchedTypes,
} from "../protocol/webhook.ts";
import type { NewWebhook, Watched, WebhookChanges } from "../protocol/webhooks-api.ts";
import { ArgumentError } from "./hub-error.ts";

/** The fields as they are sent. */
export interface Fields {
  url?: string;
  jobSourceId?: string;
  watched?: Watched[];
  domains?: string[];
  secret?: string;
  secrets?: Record<string, string>;
}

const KNOWN = ["url", "jobId", "watched", "domains", "secret", "jobSecrets"];

/** @throws ArgumentError */
export function newFields(given: NewWebhook): Fields & { watched: Watched[] } {
  const fields = fieldsOf(given);
  if (fields.url === undefined && fields.jobSourceId === undefined)
    throw new ArgumentError("a webhook needs a url to send to or a jobId to start");
  const { watched } = fields;
  if (watched === undefined) throw new ArgumentError('watched: name at least one item, as "dataset:me/data"');
  if (fields.secret === "") throw new ArgumentError("secret: leave it out for none");
  return { ...fields, watched };
}

/** @throws ArgumentError */
export function changedFields(given: WebhookChanges): Fields {
  const fields = fieldsOf(given);
  if (Object.keys(fields).length > 0) return fields;
  throw new ArgumentError("nothing to change: give a url or a jobId, watched, domains or a secret");
}

function fieldsOf(given: WebhookChanges): Fields {
  if (typeof given !== "object" || given === null)
    throw new ArgumentError("expected an object that tells of a webhook");
  const unknown = Object.keys(given).find((key) => !KNOWN.includes(key));
  if (unknown !== undefined) throw new ArgumentError(`"${unknown}" is unknown: a webhook takes ${KNOWN.join(", ")}`);
  const { url, jobId, watched, domains, secret, jobSecrets } = given;
  if (url !== undefined && jobId !== undefined)
    throw new ArgumentError("a webhook sends to a url or starts a Job: give url or jobId, not both");
  if (jobSecrets !== undefined && jobId === undefined)
    throw new ArgumentError("jobSecrets are given to a Job: name it by jobId too");
  return {
    ...(url !== undefined && { url: checkUrl(url) }),
    ...(jobId !== undefined && { jobSourceId: checkId(jobId, "jobId") }),
    ...(watched !== undefined && { watched: checkWatched(watched) }),
    ...(domains !== undefined && { domains: checkDomains(domains) }),
    ...(secret !== undefined && { secret: checkSecret(secret) }),
    ...(jobSecrets !== undefined && { secrets: checkJobSecrets(jobSecrets) }),
  };
}

/** An id that goes into a path. @throws ArgumentError */
export function checkId(id: unknown, what: string): string {
  if (typeof id === "string" && /^[A-Za-z0-9_-]{1,128}$/.test(id)) return id;
  throw new ArgumentError(`${what}: ${quoted(id)} is no id: ids are made of letters and digits`);
}

/** @throws ArgumentError */
export function readWatched(item: unknown): Watched {
  const { type, name } = typeof item === "string" ? split(item) : ((item ?? {}) as Record<string, unknown>);
  const types = watchedTypes.join(", ");
  if (typeof type !== "string" || typeof name !== "string")
    throw new ArgumentError(`watched: ${quoted(item)}: write type:name, as dataset:me/data (types: ${types})`);
  if (!isWatchedType(type))
    throw new ArgumentError(
      `watched: ${quoted(item)}: "${type}" is no type: write one of ${types}, as dataset:me/data`,
    );
  const problem = nameProblem(type, name);
  if (problem === null) return { type, name };
  throw new ArgumentError(`watched: ${quoted(item)}: write ${problem} behind ${type}:, as ${type}:${EXAMPLES[type]}`);
}

const EXAMPLES = { model: "me/m", dataset: "me/data", space: "me/app", bucket: "me/files", user: "me", org: "my-org" };

function split(text: string): { type?: string; name?: string } {
  const at = text.indexOf(":");
  return at < 0 ? {} : { type: text.slice(0, at), name: text.slice(at + 1) };
}

function checkWatched(given: readonly unknown[]): Watched[] {
  if (!Array.isArray(given) || given.length === 0)
    throw new ArgumentError('watched: name at least one item, as "dataset:me/data"');
  return given.map(readWatched);
}

function checkDomains(given: readonly unknown[]): string[] {
  if (!Array.isArray(given) || given.length === 0)
    throw new ArgumentError(`domains: name ${domains.join(" or ")}, or leave it out`);
  const known = given.map((text) => {
    const domain = typeof text === "string" ? domainOf(text) : undefined;
    if (domain === undefined) throw new ArgumentError(`domains: ${quoted(text)}: write ${domains.join(" or ")}`);
    return domain;
  });
  return [...new Set(known)];
}

function checkUrl(url: unknown): string {
  const problem =
    typeof url === "string" ? urlProblem(url) : "expected a whole address, as https://example.com/webhooks/x";
  if (problem === null) return url as string;
  throw new ArgumentError(`url: ${problem}`);
}

/** Never quoted. */
function checkSecret(secret: unknown): string {
  if (secret === null) return "";
  const problem = typeof secret === "string" ? secretProblem(secret) : "expected a text";
  if (problem === null) return secret as string;
  throw new ArgumentError(secret === "" ? "secret: it is empty: null takes a secret away" : `secret: ${problem}`);
}

function checkJobSecrets(given: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(given ?? {}).map(([name, value]) => {
    if (!/^[A-Za-z_]\w*$/.test(name)) throw new ArgumentError(`jobSecrets: ${quoted(name)} is no name of a variable`);
    if (typeof value !== "string") throw new ArgumentError(`jobSecrets: the value of ${name} is no text`);
    return [name, value] as const;
  });
  return Object.fromEntries(entries);
}

function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
