/**
 * A webhook's own words on the wire: what it watches and in which domains.
 * Source of the facts: https://huggingface.co/docs/hub/webhooks and the official Python client.
 */

export const watchedTypes = ["model", "dataset", "space", "user", "org", "bucket"] as const;
export const domains = ["repo", "discussion"] as const;

export type WatchedType = (typeof watchedTypes)[number];
export type Domain = (typeof domains)[number];

export interface WatchedItem {
  type: WatchedType;
  name: string;
}

/** What becomes of a delivery. */
export const deliveryStates = ["pending", "running", "succeeded", "failed", "cancelled"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** What stands in `disabled` when the hub itself has switched a webhook off. */
export const SUSPENDED = "suspended-after-failure";

const part = "[A-Za-z0-9_][A-Za-z0-9._-]{0,95}";
const ownerName = new RegExp(`^${part}$`);
const repoName = new RegExp(`^${part}(?:/${part})?$`);
const bucketName = new RegExp(`^${part}/${part}$`);

/** How a name of this type must look, where this one does not: `a name as owner/name`. */
export function nameProblem(type: WatchedType, name: string): string | null {
  if (type === "user" || type === "org") return ownerName.test(name) ? null : "a name without a slash";
  return (type === "bucket" ? bucketName : repoName).test(name) ? null : "a name as owner/name";
}

export function isWatchedType(text: string): text is WatchedType {
  return watchedTypes.some((type) => type === text);
}

/** The domain that is meant: older clients write `discussions`. */
export function domainOf(text: string): Domain | undefined {
  return domains.find((domain) => domain === text || (text === "discussions" && domain === "discussion"));
}

/** What is wrong with an address to send to, or null. */
export function urlProblem(text: string): string | null {
  const parsed = URL.parse(text);
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    return "expected a whole address, as https://example.com/webhooks/x";
  if (parsed.username || parsed.password) return "an address may not hold a name or a password: use the secret";
  // A parser overlooks them, and whoever reads the address later is misled.
  if (/[\p{White_Space}\p{Cc}]/u.test(text))
    return "an address may not hold spaces or line ends: write %20 for a space";
  if (parsed.hash) return "an address may not hold a fragment (#…): it would never be sent";
  return text.length > 2_048 ? "an address may have at most 2,048 characters" : null;
}

/** Parameters of an address in which a secret is sent: the Hub's documentation allows it in place of the header. */
const SECRET_PARAMETERS = "secret|token";
const secretParameter = new RegExp(`^(?:${SECRET_PARAMETERS})$`, "i");
const secretInQuery = new RegExp(`([?&](?:${SECRET_PARAMETERS})=)[^&#\\s]*`, "gi");

/** The address as it may be shown: without a secret in its query, or a password before its host. */
export function withoutSecret(url: string): string {
  return url.replace(secretInQuery, "$1***").replace(/(\/\/)[^/?#\s]+@/g, "$1***@");
}

/** The secrets of an address, as they are meant and as they are written. */
export function secretsOf({ searchParams }: URL): string[] {
  const secrets = [...searchParams].flatMap(([name, value]) => (secretParameter.test(name) ? value : []));
  return [...secrets, ...secrets.map(encodeURIComponent)];
}

/** Shorter than this it is a word of the sentence rather than a secret, as the `any` that an open hub is given. */
const SHORTEST_SECRET = 4;

/** The text without secrets that it repeats. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .sort((one, other) => other.length - one.length);
  return longestFirst.reduce((sum, secret) => sum.replaceAll(secret, "***"), text);
}

const MAX_SECRET = 4_096;

/** What is wrong with a secret, or null. The text itself is never part of the answer. */
export function secretProblem(text: string): string | null {
  if (text.length > MAX_SECRET) return `a secret may have at most ${MAX_SECRET} characters`;
  // Spaces at the ends would be lost on the way, others arrive.
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)) return null;
  return "use visible ASCII characters only: it is sent in a header";
}
