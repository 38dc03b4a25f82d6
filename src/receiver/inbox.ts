/** Background mode: a delivery is stored before it is answered, and its handler runs after that, until it succeeds. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { type Deliveries, openDeliveries } from "../deliveries/deliveries.ts";
import type { Accepted, AttemptTools, DeliveryChange, DeliveryToRun } from "../deliveries/delivery.ts";
import type { Logger } from "../logger.ts";
import { DELIVERY_ID_HEADER } from "../protocol/headers.ts";
import { repoLabel, type WebhookPayload } from "../protocol/payload.ts";
import { parsePayload } from "./body.ts";
import { CallContext, headersToShow, type Surroundings } from "./call.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Registry } from "./registry.ts";

export interface Inbox {
  readonly deliveries: Deliveries;
  /** @throws HttpError 503 when there is no room for another delivery; asked before its body is read. */
  assertRoom(): void;
  /**
   * Resolves when the delivery is on the disk.
   * @throws HttpError 503 when it cannot be stored
   */
  accept(endpoint: Endpoint, payload: WebhookPayload, text: string, headers: Headers): Promise<Accepted>;
  /** Sentences for `/ready`; none while everything can be stored. */
  troubles(): string[];
  /** A sentence where the disk goes with the container; null where it stays. */
  readonly notice: string | null;
}

type Headers = Parameters<typeof headersToShow>[0];

interface InboxOptions {
  config: Config;
  registry: Registry;
  surroundings: Surroundings;
}

/** @throws StartError when the file is in use by another process or cannot be written */
export function openInbox({ config, registry, surroundings }: InboxOptions): Inbox {
  const { log } = surroundings;
  const { dataDir, ...settings } = config.deliveries;
  const deliveries = openDeliveries({
    file: join(dataDir, "inbox.sqlite"),
    settings: {
      ...settings,
      payloadBytes: config.receiver.bodyLimit,
      perReceiver: (name) => registry.get(name)?.concurrency ?? undefined,
    },
    attempt: (delivery, tools) => attempt(delivery, tools, registry, surroundings),
    onProblem: (problem) => log.error(problem),
  });
  deliveries.subscribe((change) => logChange(log, change, deliveries));
  return {
    deliveries,
    notice: lostDiskNotice(config),
    assertRoom: () => deliveries.assertRoom(),
    accept: (endpoint, payload, text, headers) => {
      const key = headers[DELIVERY_ID_HEADER];
      return deliveries.accept({
        receiver: endpoint.name,
        key: typeof key === "string" && key !== "" ? key : undefined,
        serial: endpoint.serial && payload.repo.name ? `${payload.repo.type}:${payload.repo.name}` : undefined,
        scope: brief(payload.event.scope ?? ""),
        action: brief(payload.event.action),
        repo: brief(repoLabel(payload)),
        payload: text,
        headers: headersToShow(headers),
        rerun: endpoint.rerun,
      });
    },
    troubles: () => {
      const health = deliveries.health();
      if (!health.ok) return [`deliveries cannot be stored since ${health.since.toISOString()}: ${health.problem}`];
      const { pending, running } = deliveries.stats();
      const full = pending + running >= settings.backlog.count;
      return full ? [`the backlog is full: ${pending} deliveries wait (BACKLOG_COUNT)`] : [];
    },
  };
}

/** Lists show these words, a page of them at once, and a sender may write megabytes into any. */
function brief(word: string): string {
  return word.slice(0, 300);
}

function attempt(
  delivery: DeliveryToRun,
  tools: AttemptTools,
  registry: Registry,
  surroundings: Surroundings,
): unknown {
  const endpoint = registry.get(delivery.receiver);
  if (!endpoint)
    throw new Error(
      `no handler named ${delivery.receiver} is loaded: bring it back under this name, or leave this to end`,
    );
  const { headers, id: deliveryId, attempt } = delivery;
  const call = { endpoint, headers, deliveryId, attempt, tools };
  return endpoint.handler(parsePayload(delivery.payload), new CallContext(call, surroundings));
}

function logChange(log: Logger, { id, receiver, state, attempts }: DeliveryChange, deliveries: Deliveries): void {
  const names = { endpoint: receiver, delivery: id, attempts };
  if (state === "succeeded") log.info("delivery succeeded", names);
  else if (state === "failed") log.error("delivery failed for good", { ...names, reason: deliveries.get(id)?.error });
  else if (state === "pending" && attempts > 0)
    log.warn("attempt failed, another will follow", { ...names, reason: deliveries.get(id)?.error });
}

function lostDiskNotice(config: Config): string | null {
  if (!config.space) return null;
  const { dataDir } = config.deliveries;
  const device = (path: string) => statSync(path, { throwIfNoEntry: false })?.dev;
  // A mounted volume is another device than the container's own disk.
  if (device(dataDir) !== device("/")) return null;
  return (
    `Deliveries are stored in ${dataDir} on the Space's own disk, which is lost at every restart: ` +
    "mount a volume at /data in the Space's settings to keep what is still waiting."
  );
}
