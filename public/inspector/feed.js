/** Live updates: listens to the receiver's stream, hands on what came once per frame, and comes back when it is cut. */

const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 30_000;
/** A tab in the background draws no frames: past so many changes it is cheaper to ask for the list again. */
const MAX_GATHERED = 2_000;

/**
 * @param {object} hear
 * @param {(changed: object[]) => void} hear.changes deliveries as the list shows them, once per frame
 * @param {(counts: object) => void} hear.counts
 * @param {() => void} hear.missed something changed that was not told: ask for it
 * @param {(live: boolean) => void} hear.status
 * @returns {() => void} ends it
 */
export function startFeed(hear) {
  let source;
  let frame = 0;
  let timer = 0;
  let wait = FIRST_WAIT_MS;
  let missed = false;
  let counts = null;
  const changed = new Map();

  function connect() {
    source = new EventSource("api/deliveries/stream");
    source.onopen = () => {
      wait = FIRST_WAIT_MS;
      hear.status(true);
    };
    source.onerror = () => {
      hear.status(false);
      // A browser comes back by itself when a connection was cut, but not when it was refused.
      if (source.readyState !== EventSource.CLOSED) return;
      clearTimeout(timer);
      timer = setTimeout(connect, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    };
    source.addEventListener("change", ({ data }) => {
      const delivery = JSON.parse(data);
      changed.set(delivery.id, delivery);
      if (changed.size > MAX_GATHERED) {
        changed.clear();
        missed = true;
      }
      later();
    });
    source.addEventListener("counts", ({ data }) => {
      counts = JSON.parse(data);
      later();
    });
    source.addEventListener("missed", () => {
      missed = true;
      later();
    });
  }

  function later() {
    frame ||= requestAnimationFrame(tell);
  }

  function tell() {
    frame = 0;
    const all = [...changed.values()];
    changed.clear();
    if (all.length > 0) hear.changes(all);
    if (counts) hear.counts(counts);
    counts = null;
    if (missed) hear.missed();
    missed = false;
  }

  connect();
  return () => {
    source.close();
    clearTimeout(timer);
    cancelAnimationFrame(frame);
  };
}
