/** Header names on the wire, lower case as Node delivers them. */

/** Proves the sender to a receiver; sent in clear. The Hub signs nothing. */
export const SECRET_HEADER = "x-webhook-secret";
/** Names a delivery; the same over retries and replays. Senders older than August 2026 send none. */
export const DELIVERY_ID_HEADER = "webhook-id";
export const REQUEST_ID_HEADER = "x-request-id";
