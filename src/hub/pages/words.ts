/** How the pages write numbers, times and durations. */
import { type Html, html } from "./html.ts";

const whole = new Intl.NumberFormat("en-GB");

export function number(value: number): string {
  return whole.format(value);
}

/** `1 delivery`, `1,204 deliveries`. */
export function counted(count: number, one: string, many: string): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** As `340 ms`, `1.2 s`, `5 min`. */
export function lasted(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.round(ms / 60_000)} min`;
}

/** A moment, in UTC; a page script writes it in the reader's own zone. */
export function moment(when: Date | string): Html {
  const iso = new Date(when).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace("T", " ")} UTC</time>`;
}
