/**
 * Server-sent events of what becomes of deliveries, for everyone who watches.
 *
 * Changes are gathered for a moment and read once, whoever listens and however many there are: a receiver at full speed
 * tells of a delivery once, not of each of its states, and of a storm only that there was one.
 */
import type { Request, Response } from "express";
import type { Deliveries } from "../deliveries/deliveries.ts";
import type { Delivery } from "../deliveries/delivery.ts";
import { HttpError } from "../errors.ts";

/** How long changes gather. Shorter: more reads for the same delivery; longer: a page that feels slow. */
const GATHER_MS = 100;
/** Deliveries told of at once; beyond it only their number is told, and the list tells the rest. */
const MAX_TOLD = 1_000;
/** A watcher that reads no more is dropped rather than kept in memory. */
const MAX_BUFFERED_BYTES = 1_000_000;
const MAX_WATCHERS = 100;
const HEARTBEAT_MS = 15_000;
const RECONNECT_MS = 2_000;

interface DeliveriesStreamOptions {
  deliveries: Deliveries;
  /** A delivery as the list shows it. */
  toJson(delivery: Delivery): object;
  counts(): object;
  /** Aborted when the server must end: the streams end with it. */
  ending: AbortSignal;
}

/**
 * Events: `change` with a delivery as the list shows it, `counts` after them, `missed` with `{changes}` where there
 * were too many to tell.
 */
export class DeliveriesStream {
  readonly #options: DeliveriesStreamOptions;
  readonly #watchers = new Set<Response>();
  readonly #changed = new Set<string>();
  #missed = 0;
  #gathering: NodeJS.Timeout | null = null;
  #unsubscribe = () => {};

  constructor(options: DeliveriesStreamOptions) {
    this.#options = options;
    options.ending.addEventListener("abort", () => {
      this.#rest();
      for (const watcher of this.#watchers) watcher.end();
    });
  }

  /** @throws HttpError 503 `too_many_streams` */
  serve(request: Request, response: Response): void {
    refuseTooMany(this.#watchers.size);
    beginEvents(response);
    if (request.method === "HEAD") return void response.end();
    if (this.#watchers.size === 0) this.#listen();
    this.#watchers.add(response);
    const heartbeat = setInterval(() => write(response, ": still here\n\n"), HEARTBEAT_MS);
    response.on("close", () => {
      clearInterval(heartbeat);
      this.#watchers.delete(response);
      if (this.#watchers.size === 0) this.#rest();
    });
  }

  #listen(): void {
    this.#unsubscribe = this.#options.deliveries.subscribe(({ id }) => {
      if (this.#changed.size < MAX_TOLD || this.#changed.has(id)) this.#changed.add(id);
      else this.#missed++;
      this.#gathering ??= setTimeout(() => this.#tell(), GATHER_MS);
    });
  }

  #rest(): void {
    this.#unsubscribe();
    if (this.#gathering) clearTimeout(this.#gathering);
    this.#gathering = null;
    this.#changed.clear();
    this.#missed = 0;
  }

  #tell(): void {
    const ids = [...this.#changed];
    let missed = this.#missed;
    this.#gathering = null;
    this.#changed.clear();
    this.#missed = 0;
    const { deliveries, toJson, counts } = this.#options;
    const events: string[] = [];
    try {
      for (const id of ids) {
        const delivery = deliveries.summary(id);
        if (delivery) events.push(event("change", toJson(delivery)));
      }
    } catch {
      // The disk cannot be read now: that is told where it is asked for, not here, where nobody would hear it.
      missed += ids.length;
    }
    if (missed > 0) events.push(event("missed", { changes: missed }));
    events.push(event("counts", counts()));
    const text = events.join("");
    for (const watcher of this.#watchers) write(watcher, text);
  }
}

function refuseTooMany(watchers: number): void {
  if (watchers < MAX_WATCHERS) return;
  const message = `there are ${MAX_WATCHERS} live streams already: close one`;
  throw new HttpError(503, message, { code: "too_many_streams", headers: { "Retry-After": "30" } });
}

function beginEvents(response: Response): void {
  response.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
  });
  response.write(`retry: ${RECONNECT_MS}\n: connected\n\n`);
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function write(response: Response, text: string): void {
  if (response.writableLength > MAX_BUFFERED_BYTES) response.destroy();
  else response.write(text);
}
