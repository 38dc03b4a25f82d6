/** What a form says of a webhook, held against the rules of the settings API. */
import { HttpError, type Issue } from "../../errors.ts";
import { understand } from "../understand.ts";
import type { ShownWebhook } from "../webhook.ts";
import { MAX_WATCHED, type NewWebhook, TOO_MANY_WATCHED, webhookChange } from "../webhook-input.ts";

/** The fields as they were filled in. */
export interface WebhookForm {
  target: "url" | "job";
  url: string;
  job: string;
  /** `type:name`, one a line. */
  watched: string;
  domains: string[];
  secret: string;
  removeSecret: boolean;
}

export interface Problem {
  field: "url" | "job" | "watched" | "domains" | "secret";
  /** Of the watched items, the first is 0. */
  item?: number;
  message: string;
}

interface Known {
  /** The webhook that is edited; null for a new one. */
  before: ShownWebhook | null;
  isJob(id: string): boolean;
}

export const EMPTY_FORM: WebhookForm = {
  target: "url",
  url: "",
  job: "",
  watched: "",
  domains: ["repo", "discussion"],
  secret: "",
  removeSecret: false,
};

/** The form in which nothing has been changed yet. */
export function formOf(webhook: ShownWebhook): WebhookForm {
  return {
    ...EMPTY_FORM,
    target: "job" in webhook ? "job" : "url",
    url: "job" in webhook ? "" : (webhook.url ?? ""),
    watched: webhook.watched.map(({ type, name }) => `${type}:${name}`).join("\n"),
    domains: webhook.domains,
  };
}

export function readForm(body: Record<string, unknown>): WebhookForm {
  const text = (name: string) => [body[name]].flat().find((value) => typeof value === "string") ?? "";
  return {
    target: text("target") === "job" ? "job" : "url",
    url: text("url").trim(),
    job: text("job").trim(),
    watched: text("watched"),
    domains: [body.domains].flat().filter((value) => typeof value === "string"),
    secret: text("secret"),
    removeSecret: text("remove_secret") !== "",
  };
}

/** What the settings API would be told, and everything that speaks against it. */
export function understandForm(form: WebhookForm, known: Known): { given: NewWebhook; problems: Problem[] } {
  const { items, problems } = itemsOf(form.watched);
  const given = { ...targetOf(form, known), ...secretOf(form), watched: items.map(({ item }) => item) };
  for (const { path, message } of issuesOf({ ...given, domains: form.domains })) {
    const [name = "", index] = path.split(".");
    const at = name === "watched" ? items[Number(index)]?.at : undefined;
    problems.push({ field: FIELDS[name] ?? "url", ...(at !== undefined && { item: at }), message });
  }
  problems.push(...ownRules(form, known));
  if (items.length === 0 && !problems.some(({ field }) => field === "watched"))
    problems.push({ field: "watched", message: "name at least one item to watch, as dataset:me/data" });
  return { given: { ...given, domains: form.domains } as NewWebhook, problems };
}

const FIELDS: Record<string, Problem["field"]> = {
  url: "url",
  jobSourceId: "job",
  watched: "watched",
  domains: "domains",
  secret: "secret",
};

function issuesOf(given: object): Issue[] {
  try {
    understand(webhookChange, given);
    return [];
  } catch (error) {
    if (error instanceof HttpError && error.issues) return error.issues;
    throw error;
  }
}

function itemsOf(text: string) {
  const problems: Problem[] = [];
  const lines = text.split("\n").flatMap((line) => line.trim() || []);
  // Each line that is wrong is a sentence on the page.
  if (lines.length > MAX_WATCHED) problems.push({ field: "watched", message: TOO_MANY_WATCHED });
  const items = lines.slice(0, MAX_WATCHED).flatMap((line, at) => {
    const [, type = "", name = ""] = /^([^:]*):(.*)$/.exec(line) ?? [];
    if (line.includes(":")) return [{ at, item: { type: type.trim(), name: name.trim() } }];
    const shown = line.length > 100 ? `${line.slice(0, 100)}…` : line;
    problems.push({ field: "watched", item: at, message: `"${shown}": write type:name, as dataset:me/data` });
    return [];
  });
  return { items, problems };
}

/** A Job that is there already stays where no other one is named. */
function targetOf({ target, url, job }: WebhookForm, { before }: Known) {
  if (target === "url") return { url };
  return job === "" && before !== null && "job" in before ? {} : { jobSourceId: job || undefined };
}

/** Left empty, it stays as it is. */
function secretOf({ secret, removeSecret }: WebhookForm) {
  if (removeSecret) return { secret: "" };
  return secret === "" ? {} : { secret };
}

/** What a form leaves open and the API need not ask. */
function ownRules(form: WebhookForm, { before, isJob }: Known): Problem[] {
  const problems: Problem[] = [];
  const { target, job, domains, secret, removeSecret } = form;
  if (target === "job" && job === "" && !(before !== null && "job" in before))
    problems.push({ field: "job", message: "write the id of a Job, as `hf jobs run` and `hf jobs ps` show it" });
  if (target === "job" && job !== "" && !isJob(job))
    problems.push({ field: "job", message: `there is no Job ${job.slice(0, 100)} of yours here` });
  if (domains.length === 0) problems.push({ field: "domains", message: "tick at least one" });
  if (removeSecret && secret !== "")
    problems.push({ field: "secret", message: "either a new secret, or none: clear one of both" });
  return problems;
}
