/** Time as the engine sees it. A test gives its own, so that a schedule of hours runs in milliseconds. */
export interface Clock {
  /** The wall clock, milliseconds since 1970. May jump either way. */
  now(): number;
  /** Milliseconds that only ever go forward, from any start. */
  monotonic(): number;
  /**
   * Calls `run` once after `ms` and returns a function that calls it off.
   * A `background` timer does not keep the process alive.
   */
  setTimer(run: () => void, ms: number, background?: boolean): () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  setTimer(run, ms, background = false) {
    const timer = setTimeout(run, ms);
    if (background) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** A smaller difference between wall and monotonic time is slewing and rounding; a larger one is a jump. */
const JUMP_MS = 1_000;

/**
 * The time by which deliveries fall due. It follows the wall clock forward (a machine that slept finds its retries due),
 * and when the wall clock is set back it goes on at the old pace, so that nothing waits a day too long.
 */
export class ScheduleClock {
  readonly #clock: Clock;
  #wall: number;
  #monotonic: number;
  #ahead: number;

  /** @param reached schedule time that the file has seen already: a start with a clock set back goes on from there. */
  constructor(clock: Clock, reached: number) {
    this.#clock = clock;
    this.#wall = clock.now();
    this.#monotonic = clock.monotonic();
    this.#ahead = Math.max(0, reached - this.#wall);
  }

  now(): number {
    const wall = this.#clock.now();
    const monotonic = this.#clock.monotonic();
    const setBack = monotonic - this.#monotonic - (wall - this.#wall);
    if (setBack > JUMP_MS) this.#ahead += setBack;
    this.#wall = wall;
    this.#monotonic = monotonic;
    return Math.round(wall + this.#ahead);
  }

  /** A moment of schedule time in the words of the wall clock as it stands now. */
  toWall(moment: number): number {
    return moment - this.#ahead;
  }
}
