/** Counts wrong secrets and tokens per client address, in one window after the other, so that guessing takes for ever. */

const TRIES = 10;
const WINDOW_MS = 60_000;
/** Past so many addresses in one window, the rest share one count. */
const MAX_ADDRESSES = 10_000;

export class FailedTries {
  readonly #tries: number;
  #counts = new Map<string, number>();
  #until = 0;

  /** @param tries so many in one window, and the address waits for the next */
  constructor(tries = TRIES) {
    this.#tries = tries;
  }

  add(client: string): void {
    const key = this.#key(client);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** 0: this address may try. */
  waitSeconds(client: string): number {
    const key = this.#key(client);
    const tries = this.#counts.get(key) ?? 0;
    return tries < this.#tries ? 0 : Math.max(1, Math.ceil((this.#until - Date.now()) / 1000));
  }

  #key(client: string): string {
    if (Date.now() >= this.#until) {
      this.#counts = new Map();
      this.#until = Date.now() + WINDOW_MS;
    }
    return this.#counts.has(client) || this.#counts.size < MAX_ADDRESSES ? client : "others";
  }
}
