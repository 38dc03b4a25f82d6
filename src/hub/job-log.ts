/** What a Job writes, line by line, with whoever listens; bounded, whatever the Job does. */

export interface LogLine {
  data: string;
  timestamp: string;
}

const MAX_BYTES = 1_000_000;
/** Characters of one line that are kept. */
export const MAX_LINE = 10_000;
/** What a line costs beside its text: a Job that writes empty lines is bounded too. */
const LINE_BYTES = 50;

export class JobLog {
  readonly lines: LogLine[];
  readonly #now: () => number;
  readonly #listeners = new Set<() => void>();
  #bytes = 0;
  ended = false;

  constructor(now: () => number, lines: LogLine[] = []) {
    this.#now = now;
    this.lines = lines;
  }

  add(data: string): void {
    if (this.ended || this.#bytes > MAX_BYTES) return;
    this.#bytes += Math.min(data.length, MAX_LINE) + LINE_BYTES;
    const text = this.#bytes > MAX_BYTES ? "(more was written than is kept)" : data.slice(0, MAX_LINE);
    const line = { data: text, timestamp: new Date(this.#now()).toISOString() };
    this.lines.push(line);
    for (const listener of this.#listeners) listener();
  }

  end(): void {
    this.ended = true;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  /** Is called after each further line and at the end, until the function returned is called. */
  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
