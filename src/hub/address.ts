/** Where a webhook's url leads. Asked several times for each delivery, and parsing costs more than all the rest of the asking. */
import { secretsOf } from "../protocol/webhook.ts";

export interface Address {
  /** What shares its fate: host and port. */
  host: string;
  origin: string;
  /** With the query. */
  path: string;
  /** Those in its query. */
  secrets: string[];
}

const known = new Map<string, Address>();
const MAX_KNOWN = 10_000;

export function addressOf(url: string): Address {
  const found = known.get(url);
  if (found) return found;
  if (known.size >= MAX_KNOWN) known.clear();
  const parsed = new URL(url);
  const { host, origin, pathname, search } = parsed;
  const address = { host, origin, path: pathname + search, secrets: secretsOf(parsed) };
  known.set(url, address);
  return address;
}
