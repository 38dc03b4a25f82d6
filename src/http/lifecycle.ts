/** What is going on in a server: how much runs, and whether it is coming to its end. */

export class Lifecycle {
  /** True from the first word of a shutdown: nothing new is taken. */
  draining = false;
  readonly #ending = new AbortController();
  #running = 0;
  #quiet: PromiseWithResolvers<void> | null = null;

  /** Aborted when a shutdown can wait no longer. */
  get signal(): AbortSignal {
    return this.#ending.signal;
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

  abort(): void {
    this.#ending.abort(new Error("the server is shutting down"));
  }
}
