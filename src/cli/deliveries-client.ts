/** The deliveries of a running receiver. */
import { Failure } from "./exit.ts";
import type { Receiver } from "./receiver.ts";

/** As the receiver's API takes it; times are ISO. */
export interface DeliveryFilter {
  id?: string;
  state?: string;
  endpoint?: string;
  repo?: string;
  since?: string;
  until?: string;
}

export interface ListedDelivery {
  id: string;
  endpoint: string;
  state: string;
  scope: string;
  action: string;
  repo: string;
  attemptsMade: number;
  createdAt: string;
  finishedAt?: string;
  nextAttemptAt?: string;
  replayOf?: string;
  webhookId?: string;
  error?: string;
}

export interface ShownDelivery extends ListedDelivery {
  attempts: ShownAttempt[];
  headers: Record<string, string>;
  payload: unknown;
}

export interface ShownAttempt {
  number: number;
  at: string;
  ms?: number;
  outcome: string;
  error?: string;
  log: string[];
  response?: unknown;
}

interface Page {
  deliveries: ListedDelivery[];
  /** null: the receiver stores none. */
  counts: object | null;
  next?: string;
}

interface Found {
  deliveries: ListedDelivery[];
  more: boolean;
  /** Does the receiver store deliveries at all? */
  stored: boolean;
}

const PAGE = 500;
const ID_LENGTH = 11;
/** Ids that share a beginning, named so that one can be told from the other. */
const NAMED = 5;

/** The newest first, at most `limit`, however many pages that takes. */
export async function listDeliveries(receiver: Receiver, filter: DeliveryFilter, limit: number): Promise<Found> {
  const deliveries: ListedDelivery[] = [];
  let cursor: string | undefined;
  for (;;) {
    const query = { ...filter, limit: Math.min(PAGE, limit - deliveries.length), cursor };
    const page = await receiver.get<Page>("/api/deliveries", query);
    deliveries.push(...page.deliveries);
    cursor = page.next;
    if (cursor === undefined || deliveries.length >= limit)
      return { deliveries, more: cursor !== undefined, stored: page.counts !== null };
  }
}

/**
 * One delivery by its id, or by how the id begins.
 * @throws Failure where there is none, or more than one
 */
export async function findDelivery(receiver: Receiver, id: string): Promise<ShownDelivery> {
  return receiver.get<ShownDelivery>(`/api/deliveries/${await wholeId(receiver, id)}`);
}

async function wholeId(receiver: Receiver, id: string): Promise<string> {
  if (!/^[0-9a-v]{1,11}$/.test(id)) throw unknown(id);
  if (id.length === ID_LENGTH) return id;
  const { deliveries, more } = await listDeliveries(receiver, { id }, NAMED);
  const [one] = deliveries;
  if (!one) throw unknown(id);
  if (deliveries.length === 1) return one.id;
  const ids = deliveries.map((delivery) => delivery.id).join(", ");
  throw new Failure(`several deliveries begin with ${id}: ${ids}${more ? ", …" : ""}. Write more of it`);
}

function unknown(id: string): Failure {
  return new Failure(`there is no delivery "${id}": \`hubhook deliveries ls\` lists the ids`);
}

export function replayOne(receiver: Receiver, id: string): Promise<{ id: string; replayOf: string }> {
  return receiver.post(`/api/deliveries/${id}/replay`);
}

export function replayMany(
  receiver: Receiver,
  filter: DeliveryFilter,
  dryRun: boolean,
): Promise<{ count: number; replayed: number }> {
  return receiver.post("/api/deliveries/replay", { filter, dryRun });
}
