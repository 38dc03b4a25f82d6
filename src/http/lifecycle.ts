/** What is going on in a server: how much runs, and whether it is coming to its end. */

export class Lifecycle {
  /** True from the first word of a shutdown: nothing new is taken. */
  draining = false;
  readonly #ending = new AbortController();
  readonly #closing = new AbortController();
  #running = 0;
  #quiet: PromiseWithResolvers<void> | null = null;

  /** Aborted when a shutdown can wait no longer. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Aborted when no handler runs any more: what would never end by itself, as a live stream, ends now. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get running(): number {
    return this.#running;
  }

  enter(): void {
    this.#running++;
  }

  leave(): void {
    this.#running--;
    if (this.#running > 0) return;
    this.#quiet?.resolve();
    this.#quiet = null;
  }

  /** Resolves when nothing runs. */
  idle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    this.#quiet ??= Promise.withResolvers();
    return this.#quiet.promise;
  }

  endStreams(): void {
    this.#closing.abort();
  }

  abort(): void {
    this.#ending.abort(new Error("the server is shutting down"));
  }
}
