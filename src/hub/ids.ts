/** Ids as the Hub writes them: 24 hexadecimal digits. */
import { hash, randomBytes } from "node:crypto";

/** A new one: seconds first, so that ids sort by their age. */
export function newId(now: number): string {
  const seconds = Math.floor(now / 1000)
    .toString(16)
    .padStart(8, "0");
  return seconds.slice(-8) + randomBytes(8).toString("hex");
}

/** The same for the same words, in every payload and answer. */
export function idOf(...words: string[]): string {
  return hash("sha256", words.join("\n")).slice(0, 24);
}

/** A user's or organisation's id, as `protocol/sample.ts` makes it up from the name. */
export function userIdOf(name: string): string {
  return idOf("user", name);
}

/** The `Webhook-Id` of one event for one webhook: a UUID that is the same over attempts and replays. */
export function webhookIdOf(event: string, webhook: string): string {
  const hex = hash("sha256", `${event}\n${webhook}`);
  const variant = "89ab"[Number.parseInt(hex.slice(16, 17), 16) & 3];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
