/** The work that every competitor does for a delivery: the secret, the JSON, its validation, a reply. */

import { secretMatcher } from "../../../src/http/secret-matcher.ts";
import { payloadSchema, type WebhookPayload } from "../../../src/protocol/payload.ts";

export const SECRET = "bench-secret";
export const isSecret = secretMatcher([SECRET]);

export function handle(payload: WebhookPayload) {
  return { message: "training", repo: payload.repo.name };
}

export function validate(value: unknown): WebhookPayload | null {
  return payloadSchema.safeParse(value).success ? (value as WebhookPayload) : null;
}

/** Tells the benchmark that started this process where to send, and later what it has used up. */
export function ready(port: number): void {
  process.send?.({ port });
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpu: user + system, user, rss: process.memoryUsage.rss() });
  });
}

process.on("disconnect", () => process.exit(0));
