/** What the person who starts a receiver reads. */
import { announce, type Logger } from "../logger.ts";
import type { Status } from "./status.ts";

export function announceStart(status: Status, log: Logger): void {
  for (const line of startText(status)) announce(line);
  if (!status.secret) log.warn(OPEN_WARNING);
}

function startText({ registry, notices, publicUrl }: Status): string[] {
  const url = publicUrl();
  const endpoints = registry.list();
  const lines = ["", "Webhooks are set up and ready to use:"];
  for (const { path } of endpoints) lines.push(`  - POST ${url}${path}`);
  if (endpoints.length === 0) lines.push("  none yet: write one function in the handlers folder and start again");
  lines.push("", `Look at them: ${url}`);
  lines.push("Register one: https://huggingface.co/settings/webhooks");
  for (const notice of notices) lines.push("", notice);
  return [...lines, ""];
}

const OPEN_WARNING =
  "WEBHOOK_SECRET is not set: the endpoints are open to everyone. Set it here and in the webhook's settings on the Hub.";
