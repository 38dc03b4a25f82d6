/** What a Job writes, line by line, with whoever listens; bounded, whatever the Job does. */

export interface LogLine {
  data: string;
  timestamp: string;
}

const MAX_BYTES = 1_000_000;
const MAX_LINE = 10_000;

export class JobLog {
  readonly lines: LogLine[];
  readonly #now: () => number;
  readonly #listeners = new Set<(line: LogLine | null) => void>();
  #bytes = 0;
  ended = false;

  constructor(now: () => number, lines: LogLine[] = []) {
    this.#now = now;
    this.lines = lines;
  }

  add(data: string): void {
    if (this.ended || this.#bytes > MAX_BYTES) return;
    this.#bytes += data.length;
    const text = this.#bytes > MAX_BYTES ? "(more was written than is kept)" : data.slice(0, MAX_LINE);
    const line = { data: text, timestamp: new Date(this.#now()).toISOString() };
    this.lines.push(line);
    for (const listener of this.#listeners) listener(line);
  }

  end(): void {
    this.ended = true;
    for (const listener of this.#listeners) listener(null);
    this.#listeners.clear();
  }

  /** Hears each further line, and null at the end, until the function returned is called. */
  follow(listener: (line: LogLine | null) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
