/** What `hubhook webhooks` does on a hub, and says of it. */
import type { ActivityDelivery, ActivityQuery, Webhook, WebhooksClient } from "../client/client.ts";
import { Failure } from "./exit.ts";
import { confirm, harmless, note, paint, print, printJson } from "./output.ts";
import type { Hub, HubOptions } from "./webhooks-hub.ts";
import {
  printable,
  reportActivity,
  reportAttempt,
  reportWebhook,
  reportWebhooks,
  targetOf,
  written,
} from "./webhooks-report.ts";
import { testWebhook } from "./webhooks-test.ts";

export type DeleteOptions = HubOptions & { yes?: true };
type ActivityOptions = HubOptions & { limit: number; state?: ActivityQuery["state"]; since?: Date };

export const MAX_ACTIVITY = 200;
export const CREATE = "hubhook webhooks create --url https://example.com/webhooks/retrain --watch dataset:me/data";

export async function list({ client }: Hub, { format, endpoint }: HubOptions): Promise<void> {
  const webhooks = (await client.list()).map(printable);
  if (format === "json") printJson(webhooks);
  else if (format === "quiet") for (const { id } of webhooks) print(harmless(id));
  else reportWebhooks(webhooks);
  if (webhooks.length === 0 && format !== "json") {
    const there = endpoint === undefined ? "" : ` --endpoint ${client.endpoint}`;
    note(`No webhooks on ${client.endpoint} yet: \`${CREATE}${there}\` makes one.`);
  }
}

export async function inform({ client }: Hub, id: string, { format }: HubOptions): Promise<void> {
  const webhook = printable(await client.get(await wholeId(client, id)));
  if (format === "json") printJson(webhook);
  else if (format === "quiet") print(harmless(webhook.id));
  else reportWebhook(webhook);
}

export function done(webhook: Webhook, what: string, { format }: HubOptions): void {
  if (format === "json") printJson(printable(webhook));
  else if (format === "quiet") print(harmless(webhook.id));
  else print(`${paint("green", "✓")} Webhook ${harmless(webhook.id)} is ${what}: ${harmless(inShort(webhook))}`);
}

function inShort(webhook: Webhook): string {
  const items = webhook.watched.map(written);
  const named = items.slice(0, 3).join(", ");
  return `${targetOf(webhook)} watches ${named}${items.length > 3 ? ` and ${items.length - 3} more` : ""}`;
}

export async function deleteOne({ client }: Hub, id: string, { yes, format }: DeleteOptions): Promise<void> {
  const whole = await wholeId(client, id);
  if (!yes) {
    const webhook = await client.get(whole);
    const question = `Delete webhook ${whole} (${inShort(webhook)}) on ${client.endpoint}?`;
    if (!(await confirm(harmless(question)))) throw new Failure("nothing was deleted");
  }
  await client.delete(whole);
  if (format === "json") printJson({ id: whole, deleted: true });
  else print(format === "quiet" ? whole : `${paint("green", "✓")} Webhook ${whole} is deleted`);
}

export async function showActivity(
  { client }: Hub,
  id: string,
  { limit, state, since, format }: ActivityOptions,
): Promise<void> {
  const whole = await wholeId(client, id);
  const { deliveries, next } = await client.activity(whole, { limit, state, since });
  if (format === "json") return printJson(deliveries);
  if (format === "quiet") for (const delivery of deliveries) print(harmless(delivery.id));
  else reportActivity(deliveries);
  if (deliveries.length === 0)
    note(
      state || since
        ? "Nothing matches: leave out an option to see more."
        : `Nothing was sent yet: \`hubhook webhooks test ${whole}\` sends something.`,
    );
  else if (next !== undefined && format === "table" && limit < MAX_ACTIVITY)
    note(`There are older ones: --limit ${Math.min(MAX_ACTIVITY, limit * 5)} shows more.`);
}

export async function replayOne({ client }: Hub, id: string, delivery: string, { format }: HubOptions): Promise<void> {
  const replayed = await client.replay(await wholeId(client, id), delivery);
  const { status, error, job } = replayed;
  const good = status >= 200 && status < 300;
  if (format === "json") printJson(replayed);
  else if (format === "quiet") print(harmless(replayed.id ?? delivery));
  else if (job !== undefined)
    print(`${paint(good ? "green" : "red", good ? "completed" : "failed")}: Job ${harmless(job)}`);
  else print(`${paint(good ? "green" : "red", status > 0 ? `${status}` : "no answer")} from the receiver`);
  if (!good) throw new Failure(`the replay did not succeed${error === undefined ? "" : `: ${harmless(error)}`}`);
}

export async function tryOut({ client }: Hub, id: string, { format }: HubOptions): Promise<void> {
  const webhook = await client.get(await wholeId(client, id));
  const { event, repo, others, delivery } = await testWebhook(client, webhook);
  if (format === "json") printJson(delivery);
  else if (format === "quiet") print(harmless(delivery.id));
  else {
    print(harmless(`${event} of ${repo} went to ${targetOf(webhook)}`));
    reportAttempt(delivery);
  }
  if (others > 0) note(`${others} more of the hub's webhooks watch that, and got the event too.`);
  if (delivery.state !== "succeeded") throw new Failure(whatNow(delivery, webhook));
}

function whatNow({ nextAttemptAt }: ActivityDelivery, { id }: Webhook): string {
  const again = nextAttemptAt === undefined ? "" : "; the hub tries it again";
  return `the test did not succeed${again}. \`hubhook webhooks activity ${id}\` shows all attempts`;
}

const WHOLE_ID = /^[0-9a-f]{24}$/i;

/**
 * The id that is meant by how it begins.
 * @throws Failure where there is none, or more than one
 */
export async function wholeId(client: WebhooksClient, id: string): Promise<string> {
  if (WHOLE_ID.test(id)) return id.toLowerCase();
  const webhooks = await client.list();
  const found = webhooks.filter((webhook) => webhook.id.toLowerCase().startsWith(id.toLowerCase()));
  const [one] = found;
  if (!one)
    throw new Failure(`no webhook's id is or begins with "${harmless(id)}": \`hubhook webhooks ls\` lists the ids`);
  if (found.length === 1 || one.id === id) return one.id;
  const named = found.slice(0, 5).map((webhook) => `  ${webhook.id}  ${inShort(webhook)}`);
  const more = found.length > named.length ? [`  and ${found.length - named.length} more`] : [];
  const candidates = harmless([...named, ...more].join("\n"));
  throw new Failure(`several webhooks begin with ${id}: write more of the id that is meant\n${candidates}`);
}
