/** How the inspector writes things: times, durations, numbers, and text that may want to deceive. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Control characters, and those that make a reader see text in another order than it has. */
const HIDDEN = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu;

/** Text with what hides or reorders other text spelt out as JSON would: `\u202e`. Inside JSON it stays the same JSON. */
export function plain(text) {
  return String(text).replace(HIDDEN, (one) => `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`);
}

/** As `12 s`, `5 min`, `3 h`, `2 d`: rough on purpose. */
export function age(ms) {
  if (ms < SECOND) return "now";
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  return ms < 2 * DAY ? `${Math.floor(ms / HOUR)} h` : `${Math.floor(ms / DAY)} d`;
}

/** How long something took, as `340 ms`, `1.2 s`, `5 min 3 s`. */
export function lasted(ms) {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return joined([Math.floor(ms / MINUTE), "min"], [Math.floor((ms % MINUTE) / SECOND), "s"]);
  if (ms < DAY) return joined([Math.floor(ms / HOUR), "h"], [Math.floor((ms % HOUR) / MINUTE), "min"]);
  return joined([Math.floor(ms / DAY), "d"], [Math.floor((ms % DAY) / HOUR), "h"]);
}

function joined(...parts) {
  return parts
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(" ");
}

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** The moment in the reader's own zone; the day is left out where it is today. */
export function moment(when, now = Date.now()) {
  const date = new Date(when);
  if (Number.isNaN(date.getTime())) return "–";
  const days = day.format(date);
  return days === day.format(now) ? time.format(date) : `${days}, ${time.format(date)}`;
}

const whole = new Intl.NumberFormat("en-GB");

export function number(value) {
  return whole.format(value);
}

/** `1 delivery`, `1,204 deliveries`. */
export function deliveries(count) {
  return `${number(count)} ${count === 1 ? "delivery" : "deliveries"}`;
}

export function eventName({ scope, action }) {
  return plain(scope ? `${scope}:${action}` : action);
}
