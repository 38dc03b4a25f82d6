import { HttpError } from "../errors.ts";
import type { Value } from "./database.ts";
import type { Attempt, AttemptOutcome, Delivery, DeliveryFilter, DeliveryRecord } from "./delivery.ts";
import { firstIdAt, idsFrom, idToText, textToId } from "./ids.ts";
import { CANCELLED, FAILED, FRESH, type Ledger, RUNNING, SUCCEEDED, stateName, WAITING } from "./ledger.ts";

export interface FoundRow {
  id: number;
  receiver: number;
  key: string | null;
  serial: string | null;
  scope: string;
  action: string;
  repo: string;
  state: number;
  attempts: number;
  due: number | null;
  created: number;
  finished: number | null;
  replayOf: number | null;
  bytes: number;
  error: string | null;
}

const COLUMNS = `id, receiver, key, serial, scope, action, repo, state, attempts, due, created, finished,
  replay_of replayOf, bytes, error`;
/** Rows looked at without letting others run: some milliseconds. */
const WINDOW = 10_000;

/** Fresh in its row, and running by its mark. */
const MARKED = -1;

const STATES = {
  pending: [FRESH, WAITING],
  running: [RUNNING, MARKED],
  succeeded: [SUCCEEDED],
  failed: [FAILED],
  cancelled: [CANCELLED],
} as const;

export interface DeliveryPage {
  deliveries: Delivery[];
  /** The cursor of the page after this one; absent on the last. */
  next?: string;
}

/** A part of the deliveries that one index finds in order of id, with what the filter asks beyond that. */
interface Segment {
  source: string;
  range: string[];
  rangeValues: Value[];
  tests: string[];
  testValues: Value[];
}

/** Reads the file for people: lists, counts, one delivery. */
export class Search {
  readonly #ledger: Ledger;
  readonly #one;
  readonly #full;
  readonly #content;
  readonly #attempts;

  constructor(ledger: Ledger) {
    const { database } = ledger;
    this.#ledger = ledger;
    this.#one = database.prepare(`SELECT ${COLUMNS} FROM deliveries WHERE id = ?`);
    this.#full = database.prepare(`SELECT ${COLUMNS}, content FROM deliveries WHERE id = ?`);
    this.#content = database.prepare("SELECT headers, payload FROM deliveries_content WHERE id = ?");
    this.#attempts = database.prepare("SELECT * FROM deliveries_attempts WHERE delivery = ? ORDER BY number");
  }

  summary(id: string): Delivery | undefined {
    const number = textToId(id);
    const row = number === undefined ? undefined : this.#one.get<FoundRow>(number);
    return row && this.toDelivery(row);
  }

  get(id: string): DeliveryRecord | undefined {
    const number = textToId(id);
    const row = number === undefined ? undefined : this.#full.get<FoundRow & { content: number }>(number);
    if (!row) return undefined;
    const content = this.#content.get<{ headers: string | null; payload: string }>(row.content);
    return {
      ...this.toDelivery(row),
      payload: content?.payload ?? "",
      headers: content?.headers ? JSON.parse(content.headers) : {},
      record: this.#attempts.all<AttemptRow>(row.id).map(toAttempt),
    };
  }

  /** The newest first. */
  async list(filter: DeliveryFilter, limit: number, cursor: string | undefined): Promise<DeliveryPage> {
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : textToId(cursor);
    if (before === undefined)
      throw new HttpError(400, "this cursor was given by no list: leave it out to begin at the newest delivery", {
        code: "cursor_invalid",
      });
    const found = new Map<number, Delivery>();
    // Two parts may interleave by id, so each is asked for the whole page and one more.
    for (const segment of this.#segments(filter)) {
      let wanted = limit + 1;
      for await (const rows of this.#walk(segment, "DESC", before, () => wanted)) {
        // Now, while its mark still says what its row does not.
        for (const row of rows) found.set(row.id, this.toDelivery(row));
        wanted -= rows.length;
        if (wanted <= 0) break;
      }
    }
    const newestFirst = [...found].sort(([a], [b]) => b - a).map(([, one]) => one);
    const deliveries = newestFirst.slice(0, limit);
    const last = deliveries.at(-1);
    return newestFirst.length > limit && last ? { deliveries, next: last.id } : { deliveries };
  }

  async count(filter: DeliveryFilter): Promise<number> {
    const known = this.#known(filter);
    if (known !== undefined) return known;
    let count = 0;
    for (const segment of this.#segments(filter)) {
      const statement = this.#ledger.database.prepare(`SELECT count(*) count ${where(segment, "ASC", true)}`);
      for await (const { after, upTo } of this.#windows(segment, "ASC", 0))
        count +=
          statement.get<{ count: number }>(...segment.rangeValues, after, upTo, ...segment.testValues)?.count ?? 0;
    }
    return count;
  }

  /** All that match and had arrived when this began, or up to `end`; the oldest first, in steps of at most `size`. */
  async *steps(filter: DeliveryFilter, size: number, end = this.#ledger.counts.lastId): AsyncGenerator<FoundRow[]> {
    for (const segment of this.#segments(filter))
      for await (const rows of this.#walk(segment, "ASC", 0, () => size)) {
        const old = rows.filter((row) => row.id <= end);
        if (old.length > 0) yield old;
        if (old.length < rows.length) break;
      }
  }

  toDelivery(row: FoundRow): Delivery {
    const marked = this.#ledger.marks.has(row.id);
    return {
      id: idToText(row.id),
      receiver: this.#ledger.receivers.nameOf(row.receiver),
      key: row.key ?? undefined,
      serial: row.serial ?? undefined,
      scope: row.scope,
      action: row.action,
      repo: row.repo,
      state: stateName(marked ? RUNNING : row.state),
      attempts: marked ? row.attempts + 1 : row.attempts,
      nextAttemptAt: marked ? undefined : this.#nextAttemptAt(row),
      createdAt: new Date(row.created),
      finishedAt: row.finished === null ? undefined : new Date(row.finished),
      replayOf: row.replayOf === null ? undefined : idToText(row.replayOf),
      error: row.error ?? undefined,
    };
  }

  #nextAttemptAt(row: FoundRow): Date | undefined {
    if (row.state === FRESH) return new Date(row.created);
    return row.due === null ? undefined : new Date(this.#ledger.schedule.toWall(row.due));
  }

  /** What the counts tell without a look at the table. */
  #known(filter: DeliveryFilter): number | undefined {
    const asked = Object.entries(filter).filter(([, value]) => value !== undefined);
    const { counts, open, finished } = this.#ledger;
    if (asked.length === 0) return open + finished;
    if (asked.length > 1 || !filter.state) return undefined;
    return filter.state === "pending" ? counts.fresh + counts.waiting : counts[filter.state];
  }

  #segments(filter: DeliveryFilter): Segment[] {
    const tests: string[] = [];
    const testValues: Value[] = [];
    const test = (sql: string, value: Value | undefined) => {
      if (value === undefined) return;
      tests.push(sql);
      testValues.push(value);
    };
    const receiver = filter.receiver === undefined ? undefined : this.#ledger.receivers.find(filter.receiver);
    if (filter.receiver !== undefined && receiver === undefined) return [];
    test("created >= ?", filter.since?.getTime());
    test("created < ?", filter.until?.getTime());
    test("scope = ?", filter.scope);
    test("action = ?", filter.action);
    if (filter.repo?.includes("*")) test("repo LIKE ? ESCAPE '\\'", likePattern(filter.repo));
    else test("repo = ?", filter.repo);

    const range: string[] = [];
    const rangeValues: Value[] = [];
    if (filter.id !== undefined) {
      const ids = idsFrom(filter.id);
      if (!ids) return [];
      range.push("id >= ?", "id <= ?");
      rangeValues.push(...ids);
    }
    if (filter.since) {
      range.push("id >= ?");
      rangeValues.push(firstIdAt(filter.since.getTime()));
    }
    if (filter.until) {
      // An id may run ahead of the clock that stamped the delivery, but never by more than this.
      range.push("id < ?");
      rangeValues.push(firstIdAt(filter.until.getTime() + this.#ledger.counts.idLead + 1));
    }
    const base = { range, rangeValues, tests, testValues };
    const ofReceiver = { tests: [...tests, "receiver = ?"], testValues: [...testValues, receiver ?? 0] };
    const all = receiver === undefined ? base : { ...base, ...ofReceiver };
    if (!filter.state)
      return [receiver === undefined ? { ...base, source: "NOT INDEXED" } : byReceiver(base, receiver)];
    const { counts, marks } = this.#ledger;
    const marked = `(${marks.all().map(([id]) => id)})`;
    return STATES[filter.state].map((state) => {
      if (state === FRESH)
        return {
          ...all,
          source: "NOT INDEXED",
          range: [...range, "id > ?"],
          rangeValues: [...rangeValues, counts.seenTo],
          tests: [...all.tests, "state = 0", `id NOT IN ${marked}`],
        };
      if (state === MARKED)
        return {
          ...all,
          source: "NOT INDEXED",
          range: [...range, `id IN ${marked}`],
          tests: [...all.tests, "state = 0"],
        };
      if (state >= WAITING)
        return {
          ...all,
          source: "INDEXED BY deliveries_by_state",
          range: [...range, `state = ${state}`, "state >= 2"],
        };
      const inState = { ...base, tests: [...tests, `state = ${state}`] };
      return receiver === undefined ? { ...inState, source: "NOT INDEXED" } : byReceiver(inState, receiver);
    });
  }

  /** The rows of a segment in batches of at most `size`. */
  async *#walk(segment: Segment, order: Order, from: number, size: () => number): AsyncGenerator<FoundRow[]> {
    const statement = this.#ledger.database.prepare(`SELECT ${COLUMNS} ${where(segment, order, true)} LIMIT ?`);
    for await (const { after, upTo } of this.#windows(segment, order, from)) {
      for (let position = after; ; ) {
        const wanted = size();
        const rows = statement.all<FoundRow>(...segment.rangeValues, position, upTo, ...segment.testValues, wanted);
        const last = rows.at(-1);
        if (last) yield rows;
        if (!last || rows.length < wanted) break;
        position = last.id;
      }
    }
  }

  /** Cuts a segment into stretches of ids short enough to be read in one go, and gives way to others between them. */
  async *#windows(segment: Segment, order: Order, from: number): AsyncGenerator<{ after: number; upTo: number }> {
    const limit = order === "ASC" ? Number.MAX_SAFE_INTEGER : -1;
    const statement = this.#ledger.database.prepare(`SELECT id ${where(segment, order, false)} LIMIT 1 OFFSET ?`);
    for (let after = from; ; ) {
      const end = statement.get<{ id: number }>(...segment.rangeValues, after, WINDOW - 1)?.id;
      yield { after, upTo: end ?? limit };
      if (end === undefined) return;
      after = end;
      await new Promise(setImmediate);
    }
  }
}

type Order = "ASC" | "DESC";

/** @param tested within one window and with the filter's tests, or all of the segment */
function where(segment: Segment, order: Order, tested: boolean): string {
  const [beyond, within] = order === "ASC" ? ["id > ?", "id <= ?"] : ["id < ?", "id >= ?"];
  const terms = [...segment.range, beyond, ...(tested ? [within, ...segment.tests] : [])];
  return `FROM deliveries ${segment.source} WHERE ${terms.join(" AND ")} ORDER BY id ${order}`;
}

function likePattern(glob: string): string {
  return glob.replace(/[\\%_]/g, "\\$&").replaceAll("*", "%");
}

function byReceiver(segment: Omit<Segment, "source">, receiver: number): Segment {
  return {
    ...segment,
    source: "INDEXED BY deliveries_by_receiver",
    range: ["receiver = ?", ...segment.range],
    rangeValues: [receiver, ...segment.rangeValues],
  };
}

interface AttemptRow {
  number: number;
  at: number;
  ms: number | null;
  outcome: AttemptOutcome;
  error: string | null;
  log: string | null;
  response: string | null;
}

function toAttempt(row: AttemptRow): Attempt {
  return {
    number: row.number,
    at: new Date(row.at),
    ms: row.ms ?? undefined,
    outcome: row.outcome,
    error: row.error ?? undefined,
    log: row.log === null ? [] : row.log.split("\n"),
    response: row.response === null ? undefined : JSON.parse(row.response),
  };
}
