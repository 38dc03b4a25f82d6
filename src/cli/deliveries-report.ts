/** What `hubhook deliveries` shows to people. */
import type { ListedDelivery, ShownAttempt, ShownDelivery } from "./deliveries-client.ts";
import { harmless, lineWidth, paint, print } from "./output.ts";
import { type Column, tableLines } from "./table.ts";
import { ageOf, lasted } from "./when.ts";

const COLOURS = {
  succeeded: "green",
  failed: "red",
  "timed out": "red",
  running: "blue",
} as const;

const COLUMNS: Column<ListedDelivery>[] = [
  { title: "ID", text: ({ id }) => id },
  { title: "STATE", text: ({ state }) => state, paint: (cell, { state }) => coloured(state, cell) },
  { title: "ENDPOINT", text: ({ endpoint }) => endpoint, atLeast: 8 },
  { title: "EVENT", text: eventOf, atLeast: 10 },
  { title: "REPO", text: ({ repo }) => repo, atLeast: 12 },
  { title: "TRIES", text: ({ attemptsMade }) => `${attemptsMade}`, right: true },
  { title: "AGE", text: ({ createdAt }) => ageOf(createdAt), right: true },
  { title: "ERROR", text: ({ error }) => error ?? "", paint: (cell) => paint("gray", cell), atLeast: 6 },
];

export function reportDeliveries(deliveries: readonly ListedDelivery[]): void {
  if (deliveries.length === 0) return;
  const columns = deliveries.some(({ error }) => error) ? COLUMNS : COLUMNS.slice(0, -1);
  const [head = "", ...rows] = tableLines(columns, deliveries, lineWidth());
  print(paint("gray", head));
  for (const row of rows) print(row);
}

export function reportDelivery(delivery: ShownDelivery): void {
  const { state, endpoint, createdAt, finishedAt, nextAttemptAt, replayOf, webhookId } = delivery;
  print(`${coloured(state, state)} ${paint("bold", harmless(eventOf(delivery)))} ${harmless(delivery.repo)}`);
  const facts: [name: string, value: string | undefined][] = [
    ["Id", delivery.id],
    ["Endpoint", endpoint],
    ["Arrived", `${createdAt} (${agoOf(createdAt)})`],
    ["Took", finishedAt && lasted(Date.parse(finishedAt) - Date.parse(createdAt))],
    ["Next attempt", state === "pending" ? nextOf(nextAttemptAt) : undefined],
    ["Webhook-Id", webhookId],
    ["Replay of", replayOf],
  ];
  for (const [name, value] of facts) if (value) print(`${paint("gray", name.padEnd(13))}${harmless(value)}`);
  for (const attempt of delivery.attempts) reportAttempt(attempt);
  print(`\n${paint("bold", "Payload")}`);
  print(harmless(JSON.stringify(delivery.payload, null, 2)));
}

function reportAttempt({ number, at, ms, outcome, error, log, response }: ShownAttempt): void {
  const took = ms === undefined ? "" : ` in ${lasted(ms)}`;
  print(`\n${paint("bold", `Attempt ${number}`)} ${coloured(outcome, outcome)}${took} ${paint("gray", at)}`);
  if (error) print(indented(error));
  for (const line of log) print(paint("gray", indented(line)));
  if (response !== undefined) print(indented(`returned ${JSON.stringify(response)}`));
}

function indented(text: string): string {
  return harmless(text).replace(/^/gm, "  ");
}

function eventOf({ scope, action }: ListedDelivery): string {
  return scope ? `${scope}:${action}` : action;
}

function agoOf(time: string): string {
  const age = ageOf(time);
  return age === "now" ? "just now" : `${age} ago`;
}

function nextOf(time: string | undefined): string {
  const ms = time === undefined ? 0 : Date.parse(time) - Date.now();
  return ms > 1000 ? `in ${lasted(ms)}` : "as soon as it can";
}

function coloured(state: string, text: string): string {
  const colour = Object.hasOwn(COLOURS, state) ? COLOURS[state as keyof typeof COLOURS] : "gray";
  return paint(colour, text);
}
