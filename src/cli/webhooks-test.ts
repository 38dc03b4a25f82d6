/** `hubhook webhooks test`: lets an event happen that the webhook watches, and follows it to the receiver's answer. */
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type ActivityDelivery, HubError, type Webhook, type WebhooksClient } from "../client/client.ts";
import { HUB_ENDPOINT } from "../protocol/repo.ts";
import { withoutSecret } from "../protocol/webhook.ts";
import { Failure } from "./exit.ts";
import { harmless } from "./output.ts";
import { written } from "./webhooks-report.ts";

/** A receiver may take 30 seconds, and whoever waits before it in the queue as long again. */
const PATIENCE_MS = 70_000;
const LOOK_EVERY_MS = 150;

export interface Tested {
  event: string;
  repo: string;
  /** Other webhooks that watch the same, and got the event too. */
  others: number;
  delivery: ActivityDelivery;
}

/** @throws Failure where the hub takes no events, or nothing came of this one */
export async function testWebhook(client: WebhooksClient, webhook: Webhook): Promise<Tested> {
  const { id, status } = webhook;
  if (status !== "enabled")
    throw new Failure(`webhook ${id} is ${status}, so nothing is sent: \`hubhook webhooks enable ${id}\` first`);
  const given = eventFor(webhook);
  if (client.endpoint === HUB_ENDPOINT) throw byHand(client, webhook, given);
  const { deliveries, payload } = await client.publish(given).catch((error: unknown) => {
    throw error instanceof HubError && error.kind === "unsupported" ? byHand(client, webhook, given) : error;
  });
  const delivery = await follow(client, id, JSON.stringify(payload));
  if (!delivery)
    throw new Failure(
      deliveries === 0
        ? `nothing was sent: \`hubhook webhooks info ${id}\` shows whether its quota of today is used up`
        : `no answer within ${PATIENCE_MS / 1000} s: \`hubhook webhooks activity ${id}\` shows what becomes of it`,
    );
  const { event, repo } = given;
  return { event: `${event.scope}:${event.action}`, repo: written(repo), others: deliveries - 1, delivery };
}

/** The delivery of exactly this event, once an attempt is recorded. */
async function follow(client: WebhooksClient, id: string, payload: string): Promise<ActivityDelivery | undefined> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const { deliveries } = await client.activity(id, { limit: 50 });
    const found = deliveries.find((delivery) => withoutWebhook(delivery.payload) === payload);
    if (!found || found.attempts.some(isOver)) return found;
    if (performance.now() > until) return undefined;
    await wait(LOOK_EVERY_MS);
  }
}

/** One that runs has neither an answer nor an error yet. */
function isOver({ status, error, ms }: ActivityDelivery["attempts"][number]): boolean {
  return status !== null || error !== undefined || ms !== null;
}

function withoutWebhook(payload: unknown): string {
  return JSON.stringify({ ...(payload as object), webhook: undefined });
}

type Given = ReturnType<typeof eventFor>;

/** What the webhook watches, with something in it that no other event has. */
function eventFor({ watched, domains }: Webhook) {
  const [item] = watched;
  if (!item) throw new Failure("this webhook watches nothing: name something by `hubhook webhooks update … --watch`");
  const owner = item.type === "user" || item.type === "org";
  const repo = owner ? { type: "model", name: `${item.name}/hubhook-test` } : item;
  if (domains.length > 0 && !domains.includes("repo")) {
    const comment = { content: "A test of this webhook." };
    return { event: { scope: "discussion", action: "create" }, repo, discussion: { title: "A test" }, comment };
  }
  const event = { scope: "repo.content", action: "update" };
  if (repo.type !== "bucket") return { event, repo };
  return { event, repo, updatedFiles: [{ path: "test.txt", action: "add", xetHash: randomBytes(32).toString("hex") }] };
}

/** The real Hub lets nobody make events up. */
function byHand({ endpoint }: WebhooksClient, { id, url, watched }: Webhook, { event, repo }: Given): Failure {
  const page = `${endpoint}/settings/webhooks/${id}`;
  const ways = [
    `${endpoint} takes no test events. What you can do:`,
    `  - press Replay beside an old delivery on ${page}`,
    `  - make a commit to what it watches: ${harmless(watched.map(written).slice(0, 5).join(", "))}`,
  ];
  if (url !== null)
    ways.push(
      "  - send a sample from this machine, with the webhook's secret, which no hub tells:",
      `    hubhook trigger ${event.scope}:${event.action} --repo ${harmless(written(repo))} --to ${harmless(withoutSecret(url))} --secret …`,
    );
  return new Failure(ways.join("\n"));
}
