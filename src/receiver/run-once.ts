/** One delivery without a server: the body is believed as little as by an endpoint. For the command line and Jobs. */
import { randomUUID } from "node:crypto";
import { invalidPayload, parsePayload, textOf } from "./body.ts";
import { CallContext, replyText, type Surroundings } from "./call.ts";
import type { Endpoint } from "./endpoint.ts";

export interface Outcome {
  /** The filter left the event out, and the handler did not run. */
  ignored: boolean;
  /** What the handler returned, as JSON text; undefined when it returned nothing. */
  reply: string | undefined;
}

/**
 * Runs the handler to its end, without a deadline. `body` is the payload's JSON in UTF-8.
 * @throws HttpError when the body is no payload or lacks what the handler's filter promises, and what the handler
 * throws.
 */
export async function runOnce(
  endpoint: Endpoint,
  body: Buffer,
  surroundings: Surroundings,
  deliveryId: string = randomUUID(),
): Promise<Outcome> {
  const payload = parsePayload(textOf(body));
  if (!endpoint.takes(payload)) return { ignored: true, reply: undefined };
  const lacking = endpoint.lacks(payload);
  if (lacking.length > 0) throw invalidPayload(lacking);
  const call = { endpoint, headers: {}, deliveryId, attempt: 1, tools: new AbortController() };
  const result: unknown = await endpoint.handler(payload, new CallContext(call, surroundings));
  return { ignored: false, reply: replyText(result) };
}
