import type { WebhookPayload } from "../receiver/webhook.ts";

/** The whole contract: an exported function is an endpoint. This one is POST /webhooks/trigger_training. */
export async function trigger_training(payload: WebhookPayload) {
  const { repo, event } = payload;
  if (event.action !== "update" || !["dataset", "model"].includes(repo.type)) return { message: "nothing to train" };

  // Start your training here: a Job, a queue, an HTTP call. The returned value is the JSON reply.
  return { message: "training", repo: repo.name, revision: repo.headSha };
}
