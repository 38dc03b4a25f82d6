/** Webhooks and their activity, for people and for programs. */
import type { ActivityDelivery, Webhook } from "../client/client.ts";
import { withoutSecret } from "../protocol/webhook.ts";
import { harmless, lineWidth, paint, print } from "./output.ts";
import { type Column, tableLines } from "./table.ts";
import { ageOf, lasted } from "./when.ts";

const COLOURS = { enabled: "green", disabled: "gray", suspended: "red" } as const;
const STATES = { pending: "yellow", running: "blue", succeeded: "green", failed: "red", cancelled: "gray" } as const;

/** A webhook as it may be printed: a secret that was put into the url stays out. */
export function printable(webhook: Webhook): Webhook {
  return { ...webhook, url: webhook.url === null ? null : withoutSecret(webhook.url) };
}

const columns: Column<Webhook>[] = [
  { title: "ID", text: ({ id }) => id },
  { title: "STATUS", text: ({ status }) => status, paint: (cell, { status }) => paint(COLOURS[status], cell) },
  { title: "URL OR JOB", text: targetOf, atLeast: 16 },
  { title: "WATCHED", text: ({ watched }) => watched.map(written).join(", "), atLeast: 12 },
  { title: "DOMAINS", text: ({ domains }) => domains.join(", "), atLeast: 7 },
];

export function reportWebhooks(webhooks: readonly Webhook[]): void {
  if (webhooks.length > 0) for (const line of tableLines(columns, webhooks, lineWidth())) print(line);
}

/** Where it leads: the address, or what the Job is made of. */
export function targetOf({ url, job }: Webhook): string {
  if (url !== null) return withoutSecret(url);
  const words = [job?.dockerImage ?? job?.spaceId, ...(job?.command ?? []), ...(job?.arguments ?? [])];
  return `Job: ${words.filter(Boolean).join(" ")}`;
}

export function written({ type, name }: { type: string; name: string }): string {
  return `${type}:${name}`;
}

export function reportWebhook(webhook: Webhook): void {
  const { id, status, job, watched, domains, hasSecret, disabledReason, disabledAt, quota, failures } = webhook;
  const rows: [string, string | undefined][] = [
    ["Id", harmless(id)],
    ["Status", paint(COLOURS[status], status)],
    ["Reason", disabledReason && harmless(disabledReason)],
    ["Since", disabledAt && harmless(disabledAt)],
    [job ? "Job" : "URL", harmless(targetOf(webhook).replace(/^Job: /, ""))],
    [
      "Environment",
      job
        ? harmless(
            Object.entries(job.environment)
              .map((pair) => pair.join("="))
              .join(", "),
          )
        : "",
    ],
    ["Flavor", job?.flavor && harmless(job.flavor)],
    ["Time limit", job?.timeout === undefined ? undefined : `${job.timeout} s`],
    ["Job secrets", job ? harmless(job.secrets.join(", ")) : ""],
    ["Watched", harmless(watched.map(written).join("\n"))],
    ["Domains", harmless(domains.join(", "))],
    ["Secret", hasSecret ? "yes (never shown)" : "no"],
    [
      "Quota",
      quota &&
        `${quota.used} of ${quota.limit} deliveries in 24 hours${quota.over ? `, ${quota.over} more left out` : ""}`,
    ],
    ["Failures", failures ? `${failures} in a row` : undefined],
    ["Created", webhook.createdAt && harmless(webhook.createdAt)],
    ["Updated", webhook.updatedAt && harmless(webhook.updatedAt)],
  ];
  for (const [name, value] of rows)
    if (value) print(`${name.padEnd(12)} ${value.replaceAll("\n", `\n${" ".repeat(13)}`)}`);
}

const activityColumns: Column<ActivityDelivery>[] = [
  { title: "ID", text: ({ id }) => id },
  { title: "STATE", text: ({ state }) => state, paint: (cell, { state }) => coloured(state, cell) },
  { title: "EVENT", text: ({ event }) => `${event.scope}:${event.action}`, atLeast: 12 },
  { title: "REPO", text: ({ repo }) => repo, atLeast: 12 },
  { title: "TRIES", text: ({ attempts }) => `${attempts.length}`, right: true },
  { title: "ANSWER", text: answerOf, atLeast: 6 },
  { title: "AGE", text: ({ createdAt }) => ageOf(createdAt), right: true },
];

export function reportActivity(deliveries: readonly ActivityDelivery[]): void {
  if (deliveries.length > 0) for (const line of tableLines(activityColumns, deliveries, lineWidth())) print(line);
}

/** Of the newest attempt: its status, or why there is none. */
function answerOf({ attempts }: ActivityDelivery): string {
  const last = attempts.at(-1);
  return `${last?.status ?? last?.error ?? (last?.job && `Job ${last.job}`) ?? ""}`;
}

function coloured(state: string, text: string): string {
  return paint(Object.hasOwn(STATES, state) ? STATES[state as keyof typeof STATES] : "gray", text);
}

/** `200 in 12 ms`, and what was answered. */
export function reportAttempt(delivery: ActivityDelivery): void {
  const [attempt] = delivery.attempts;
  const ms = attempt?.ms == null ? "" : ` in ${lasted(attempt.ms)}`;
  const { status, error, job } = attempt ?? {};
  const outcome = status ?? error ?? (job ? `Job ${job}` : "no answer");
  print(`${coloured(delivery.state, harmless(`${outcome}`))}${ms} (delivery ${harmless(delivery.id)})`);
  // Why it is none that counts, as with a redirect.
  if (typeof status === "number" && error !== undefined && error !== `answered ${status}`) print(harmless(error));
  if (attempt?.response) print(harmless(attempt.response.trimEnd()));
}
