import { HttpError } from "../errors.ts";
import type { Accepted, NewDelivery } from "./delivery.ts";
import { idToText } from "./ids.ts";
import { CANCELLED, FAILED, FRESH, type Ledger, SUCCEEDED, WAITING } from "./ledger.ts";
import type { Candidate } from "./runs.ts";
import type { DeliveriesSettings } from "./settings.ts";

/** What came of one delivery, and of what the dispatcher must hear. */
export interface Taken extends Accepted {
  receiver: number;
  /** Set where it waits in the schedule, and not among the fresh ones. */
  due: number | undefined;
  attempts: number;
  /** Set where it is new and may run at once. */
  candidate?: Candidate | undefined;
}

interface Known {
  receiver: number;
  state: number;
  serial: string | null;
  bytes: number;
  attempts: number;
}

/** A sender should come back soon: the backlog shrinks while the dispatcher runs. */
const RETRY_AFTER_SECONDS = "30";

const NO_HEADERS: Record<string, string> = {};

/** Takes deliveries into the file. Every call is made inside a transaction. */
export class Intake {
  readonly #ledger: Ledger;
  readonly #settings: DeliveriesSettings;
  readonly #insert;
  readonly #insertContent;
  readonly #shareContent;
  readonly #known;
  readonly #again;
  readonly #openSerial;
  readonly #replay;
  readonly #shareContentOf;

  constructor(ledger: Ledger, settings: DeliveriesSettings) {
    const { database } = ledger;
    this.#ledger = ledger;
    this.#settings = settings;
    this.#insert = database.prepare(
      `INSERT INTO deliveries (id, receiver, key, serial, scope, action, repo, state, created, content, bytes)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#insertContent = database.prepare("INSERT INTO deliveries_content VALUES (?, 1, ?, ?)");
    this.#shareContent = database.prepare("UPDATE deliveries_content SET uses = uses + ? WHERE id = ?");
    this.#known = database.prepare("SELECT receiver, state, serial, bytes, attempts FROM deliveries WHERE id = ?");
    this.#again = database.prepare(
      "UPDATE deliveries SET state = 2, tries = 0, due = ?, finished = NULL, error = NULL WHERE id = ?",
    );
    this.#openSerial = database.prepare(
      `SELECT 1 FROM deliveries INDEXED BY deliveries_serial
       WHERE serial IS NOT NULL AND state IN (0, 2, 3) AND receiver = ? AND serial = ? LIMIT 1`,
    );
    this.#replay = database.prepare(
      `INSERT INTO deliveries (id, receiver, serial, scope, action, repo, state, created, content, bytes, replay_of)
       SELECT ?, receiver, serial, scope, action, repo, ?, ?, content, 0, id FROM deliveries WHERE id = ?`,
    );
    this.#shareContentOf = database.prepare(
      "UPDATE deliveries_content SET uses = uses + 1 WHERE id = (SELECT content FROM deliveries WHERE id = ?)",
    );
  }

  /** @throws HttpError 503 `backlog_full` when this many more would be too many */
  assertRoom(deliveries: number, bytes: number): void {
    const { backlog } = this.#settings;
    if (this.#ledger.open + deliveries <= backlog.count && this.#ledger.counts.bytes + bytes <= backlog.bytes) return;
    throw new HttpError(503, "too many deliveries are waiting already: try again later", {
      code: "backlog_full",
      headers: { "Retry-After": RETRY_AFTER_SECONDS },
    });
  }

  /** Those with the same payload and headers, one after the other, share one copy. */
  acceptAll(items: readonly NewDelivery[]): Taken[] {
    const taken: Taken[] = [];
    let copy: { id: number; item: NewDelivery; more: number } | undefined;
    const share = () => {
      if (copy && copy.more > 0) this.#shareContent.run(copy.more, copy.id);
    };
    for (const item of items) {
      const known = this.#takeKnown(item);
      if (known) {
        taken.push(known);
        continue;
      }
      const same = copy !== undefined && copy.item.payload === item.payload && copy.item.headers === item.headers;
      const [id, entry] = this.#takeNew(item, same ? copy?.id : undefined);
      taken.push(entry);
      if (same && copy) copy.more++;
      else {
        share();
        copy = { id, item, more: 0 };
      }
    }
    share();
    return taken;
  }

  accept(item: NewDelivery): Taken {
    return this.#takeKnown(item) ?? this.#takeNew(item, undefined)[1];
  }

  /** A new delivery of what `source` carries; undefined where there is no `source` any more. */
  replay(source: number): Taken | undefined {
    const known = this.#known.get<Known>(source);
    if (!known) return undefined;
    this.assertRoom(1, 0);
    const { receiver } = known;
    const now = this.#ledger.wall.now();
    const state = this.#stateFor(receiver, known.serial);
    const id = this.#ledger.begin(state, 0, now);
    this.#replay.run(id, state, now, source);
    this.#shareContentOf.run(source);
    return { id: idToText(id), outcome: "accepted", receiver, due: undefined, attempts: 0 };
  }

  #takeNew(item: NewDelivery, content: number | undefined): [number, Taken] {
    const bytes = content === undefined ? Buffer.byteLength(item.payload) : 0;
    if (bytes > this.#settings.payloadBytes)
      throw new HttpError(413, `the payload has ${bytes} bytes, more than the ${this.#settings.payloadBytes} allowed`, {
        code: "payload_too_large",
      });
    this.assertRoom(1, bytes);
    const ledger = this.#ledger;
    const receiver = ledger.receivers.numberOf(item.receiver);
    const now = ledger.wall.now();
    const state = this.#stateFor(receiver, item.serial ?? null);
    const id = ledger.begin(state, bytes, now);
    const { key = null, serial = null, scope, action, repo, payload, headers = NO_HEADERS } = item;
    this.#insert.run(id, receiver, key, serial, scope, action, repo, state, now, content ?? id, bytes);
    if (content === undefined)
      this.#insertContent.run(id, headers === NO_HEADERS ? null : JSON.stringify(headers), payload);
    if (key !== null) ledger.keys.add(receiver, key, id);
    const taken: Taken = { id: idToText(id), outcome: "accepted", receiver, due: undefined, attempts: 0 };
    if (state === FRESH) {
      const begin = { state, attempts: 0, tries: 0, created: now, replayOf: null, bytes };
      taken.candidate = { id, receiver, key, serial, scope, action, repo, headers, payload, ...begin };
    }
    return [id, taken];
  }

  #takeKnown(item: NewDelivery): Taken | undefined {
    if (item.key === undefined) return undefined;
    const receiver = this.#ledger.receivers.numberOf(item.receiver);
    const id = this.#ledger.keys.find(receiver, item.key);
    const known = id === undefined ? undefined : this.#known.get<Known>(id);
    if (id === undefined || !known) return undefined;
    const { state, serial, bytes, attempts } = known;
    const told = { id: idToText(id), receiver, due: undefined, attempts };
    if (state === SUCCEEDED && !item.rerun) return { ...told, outcome: "duplicate" };
    if (state !== SUCCEEDED && state !== FAILED && state !== CANCELLED) return { ...told, outcome: "known" };
    this.assertRoom(1, bytes);
    const due = this.#stateFor(receiver, serial) === WAITING ? undefined : this.#ledger.schedule.now();
    this.#again.run(due ?? null, id);
    this.#ledger.move(state, WAITING, bytes);
    return { ...told, outcome: "accepted", due };
  }

  /** Behind an unfinished delivery of its serial key it waits without a time, until that one has finished. */
  #stateFor(receiver: number, serial: string | null): number {
    return serial !== null && this.#openSerial.get(receiver, serial) ? WAITING : FRESH;
  }
}
