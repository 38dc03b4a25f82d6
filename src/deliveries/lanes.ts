/** One receiver, as the dispatcher sees it. */
export interface Lane {
  receiver: number;
  name: string;
  limit: number;
  running: number;
  /** When its next waiting delivery is due; a guess may be too early, never too late. */
  nextDue: number;
}

/**
 * The receivers that have something waiting or running. `due` hands out those whose time has come in turns;
 * the others stand in a heap by time, so that thousands of them cost nothing until then.
 */
export class Lanes {
  readonly #describe: (receiver: number) => Pick<Lane, "name" | "limit">;
  readonly #lanes = new Map<number, Lane>();
  readonly #ready = new Set<Lane>();
  readonly #later: { due: number; lane: Lane }[] = [];

  constructor(describe: (receiver: number) => Pick<Lane, "name" | "limit">) {
    this.#describe = describe;
  }

  get(receiver: number): Lane {
    let lane = this.#lanes.get(receiver);
    if (!lane) {
      lane = { receiver, ...this.#describe(receiver), running: 0, nextDue: Number.POSITIVE_INFINITY };
      this.#lanes.set(receiver, lane);
    }
    return lane;
  }

  /** Something of this receiver is due at `due`. */
  expect(receiver: number, due: number): void {
    const lane = this.get(receiver);
    if (due >= lane.nextDue) return;
    lane.nextDue = due;
    this.#push({ due, lane });
  }

  /** Nothing of this receiver is due before `due`. */
  reschedule(lane: Lane, due: number): void {
    this.#ready.delete(lane);
    lane.nextDue = due;
    if (due < Number.POSITIVE_INFINITY) this.#push({ due, lane });
    else this.#forgetIfIdle(lane);
  }

  /** A place of its own became free. */
  freed(lane: Lane, now: number): void {
    lane.running--;
    if (lane.nextDue <= now) this.#ready.add(lane);
    else this.#forgetIfIdle(lane);
  }

  /** Lets go of receivers that are none any more: their numbers may become those of others. */
  keepOnly(isThere: (receiver: number) => boolean): void {
    for (const lane of this.#lanes.values())
      if (!isThere(lane.receiver)) this.reschedule(lane, Number.POSITIVE_INFINITY);
  }

  /** The receivers with something due and a place of their own free. */
  ready(now: number): Set<Lane> {
    for (let first = this.#later[0]; first && first.due <= now; first = this.#later[0]) {
      this.#pop();
      const { lane } = first;
      if (lane.nextDue === first.due && lane.running < lane.limit) this.#ready.add(lane);
    }
    return this.#ready;
  }

  /** Sends a lane to the end of the row, or out of it until a place of its own is free. */
  served(lane: Lane): void {
    this.#ready.delete(lane);
    if (lane.running < lane.limit) this.#ready.add(lane);
  }

  /** When the next lane becomes ready by itself. */
  nextDue(): number {
    for (let first = this.#later[0]; first; first = this.#later[0]) {
      if (first.lane.nextDue === first.due) return first.due;
      this.#pop();
    }
    return Number.POSITIVE_INFINITY;
  }

  /** By how much the schedule lags: the earliest time that anything was or is due. */
  earliest(): number {
    let earliest = this.nextDue();
    for (const lane of this.#lanes.values()) earliest = Math.min(earliest, lane.nextDue);
    return earliest;
  }

  #forgetIfIdle(lane: Lane): void {
    if (lane.running === 0 && lane.nextDue === Number.POSITIVE_INFINITY) this.#lanes.delete(lane.receiver);
  }

  #push(entry: { due: number; lane: Lane }): void {
    const heap = this.#later;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (!parent || parent.due <= entry.due) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#later;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const [a, b] = [heap[left], heap[left + 1]];
      const [child, childAt] = b && a && b.due < a.due ? [b, left + 1] : [a, left];
      if (!child || child.due >= last.due) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = last;
  }
}
