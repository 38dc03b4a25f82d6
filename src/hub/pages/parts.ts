/** What several pages show of a webhook and of a delivery. */

import { withoutSecret } from "../../protocol/webhook.ts";
import type { ShownDelivery } from "../activity.ts";
import type { QuotaUse, ShownWebhook, WatchedItem } from "../webhook.ts";
import { type Html, html } from "./html.ts";
import { number } from "./words.ts";

/** A word, a shape and a colour, never a colour alone. */
const SHAPES = {
  pending: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M8 5v3.2l2 1.3",
  running: "M8 2.5a5.5 5.5 0 1 1-5.2 3.7",
  succeeded: "M2.5 8.7l3.6 3.6L13.5 4.5",
  failed: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  cancelled: "M3 8h10",
  suspended: "M8 2.5l6 11H2zM8 6.5v3.2M8 11.6v.2",
};

export function mark(kind: keyof typeof SHAPES, word: string = kind): Html {
  return html`<span class="mark mark--${kind}"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="${SHAPES[kind]}"></path></svg>${word}</span>`;
}

export function badge({ disabled }: ShownWebhook): Html {
  if (disabled === false) return mark("succeeded", "enabled");
  return disabled === true ? mark("cancelled", "disabled") : mark("suspended");
}

/** The url without what it may hold of a secret, or the command of the Job. */
export function targetOf(webhook: ShownWebhook): string {
  if (!("job" in webhook)) return withoutSecret(webhook.url ?? "");
  return `Job: ${[...webhook.job.command, ...webhook.job.arguments].join(" ")}`;
}

/** A long address breaks best behind a slash. */
export function breakable(text: string): Html {
  return html`${text.split(/(?<=\/)/).map((part, index) => [index > 0 && html`<wbr>`, part])}`;
}

const CHIPS_SHOWN = 6;

export function chips(items: readonly WatchedItem[], shown = CHIPS_SHOWN): Html {
  const rest = items.length - shown;
  return html`<ul class="chips">${items.slice(0, shown).map(({ type, name }) => html`<li><code>${type}:${name}</code></li>`)}${rest > 0 && html`<li class="hint">and ${number(rest)} more</li>`}</ul>`;
}

/** How much of the day's quota is used. */
export function meter({ used, limit }: QuotaUse): Html {
  const text = `${number(used)} of ${number(limit)} in 24 h`;
  return html`<span class="quota"><meter min="0" max="${Math.max(limit, 1)}" high="${limit * 0.8}" optimum="0" value="${used}" aria-label="Deliveries in the last 24 hours">${text}</meter> <span class="quota-text">${text}</span></span>`;
}

export function stateOf({ state }: ShownDelivery): Html {
  return mark(state);
}

export function eventOf({ event }: ShownDelivery): string {
  return event.scope === "" ? event.action : `${event.scope}:${event.action}`;
}

/** What came of the last attempt, in a few words. */
export function resultOf({ attempts, state }: ShownDelivery): string {
  const last = attempts.at(-1);
  if (!last) return state === "cancelled" ? "never sent" : "not sent yet";
  if (last.status !== null) return String(last.status);
  return last.job !== undefined ? `Job ${last.job}` : (last.error ?? "no answer");
}
