import type { Clock } from "../../src/deliveries/clock.ts";

export interface TestClock extends Clock {
  /** Lets time pass and calls what falls due on the way, in order. */
  advance(ms: number): void;
  /** Sets the wall clock, without time passing. */
  jump(ms: number): void;
  /** How many timers are waiting, background ones left out. */
  readonly timers: number;
  /** How often any timer was called. */
  readonly calls: number;
}

export function testClock(start = Date.UTC(2026, 5, 1)): TestClock {
  let wall = start;
  let monotonic = 0;
  let calls = 0;
  const timers = new Set<{ at: number; run: () => void; background: boolean }>();
  return {
    now: () => wall,
    monotonic: () => monotonic,
    setTimer(run, ms, background = false) {
      // As the process's own timers: a longer time would be taken for 1 ms.
      if (!(ms <= 2 ** 31 - 1)) throw new RangeError(`a timer of ${ms} ms`);
      const timer = { at: monotonic + Math.max(1, ms), run, background };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const end = monotonic + ms;
      for (;;) {
        const next = [...timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
        const step = (next?.at ?? end) - monotonic;
        wall += step;
        monotonic += step;
        if (!next) return;
        timers.delete(next);
        calls++;
        next.run();
      }
    },
    jump(ms) {
      wall += ms;
    },
    get timers() {
      return [...timers].filter((timer) => !timer.background).length;
    },
    get calls() {
      return calls;
    },
  };
}
