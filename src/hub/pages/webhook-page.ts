/** One webhook: its state, what it watches, and its activity. */
import { type DeliveryState, deliveryStates } from "../../protocol/webhook.ts";
import type { ShownDelivery } from "../activity.ts";
import type { ShownWebhook } from "../webhook.ts";
import { type Content, exact, type Html, html } from "./html.ts";
import { act, callout, csrfField, live, page, SETTINGS } from "./layout.ts";
import { badge, breakable, chips, eventOf, meter, resultOf, stateOf, targetOf } from "./parts.ts";
import type { Session } from "./session.ts";
import { counted, lasted, moment, number } from "./words.ts";

interface WebhookPage {
  session: Session;
  webhook: ShownWebhook;
  notice: Content;
  activity: { deliveries: ShownDelivery[]; next?: string };
  /** Which part of the activity is shown. */
  shown: { state: DeliveryState | undefined; cursor: string | undefined };
  /** Events that can be tried. */
  events: readonly string[];
}

const MOST_ITEMS = 200;

export function webhookPage({ session, webhook, notice, activity, shown, events }: WebhookPage): Html {
  const path = `${SETTINGS}/${webhook.id}`;
  const content = html`
<nav class="crumbs" aria-label="You are here"><a href="${SETTINGS}">Webhooks</a></nav>
${live("state", html`<h1>${breakable(targetOf(webhook))}</h1>${badge(webhook)}`, "head")}
<div class="callouts">${notice}${live("banner", bannerOf(session, webhook))}</div>
${live("acts", actsOf(session, webhook), "acts")}
<div class="columns">
<section class="card" aria-labelledby="about-title">
  <h2 id="about-title">Webhook</h2>
  <dl class="facts">
    <div><dt>Watches</dt><dd>${chips(webhook.watched, MOST_ITEMS)}</dd></div>
    <div><dt>Domains</dt><dd>${webhook.domains.join(", ")}</dd></div>
    <div><dt>Secret</dt><dd>${webhook.hasSecret ? html`set, sent as <code>X-Webhook-Secret</code>` : "none"}</dd></div>
    ${jobFacts(webhook)}
    ${live("quota", html`<dt>Quota</dt><dd>${meter(webhook.quota)}${overQuota(webhook)}</dd>`)}
    ${live("failures", html`<dt>Failing</dt><dd>${webhook.failures === 0 ? "no" : `${counted(webhook.failures, "attempt", "attempts")} in a row`}</dd>`)}
    <div><dt>Created</dt><dd>${moment(webhook.createdAt)}</dd></div>
    <div><dt>Id</dt><dd><code>${webhook.id}</code></dd></div>
  </dl>
</section>
${webhook.disabled === false && tryIt(session, webhook, events)}
</div>
<section aria-labelledby="activity-title" class="activity">
  <div class="section-head">
    <h2 id="activity-title">Activity</h2>
    <p id="live" class="live" hidden></p>
  </div>
  ${filterOf(path, shown.state)}
  ${live("activity", activityOf(session, webhook, activity, shown))}
</section>`;
  return page({ title: targetOf(webhook), session, content, script: "live.js" });
}

function actsOf(session: Session, { id, disabled }: ShownWebhook): Html {
  const path = `${SETTINGS}/${id}`;
  return html`<a class="quiet" href="${path}/edit">Edit</a>
  ${disabled === false && act(session, `${path}/disable`, "Disable")}
  ${disabled === true && act(session, `${path}/enable`, "Enable")}
  <a class="quiet" href="${path}/delete">Delete…</a>`;
}

function bannerOf(session: Session, webhook: ShownWebhook): Content {
  const { id, disabled, disabledReason, disabledAt } = webhook;
  if (disabled === false) return null;
  const since = disabledAt === undefined ? null : html` since ${moment(disabledAt)}`;
  if (disabled === true)
    return callout("warn", html`Disabled${since}`, html`<p>Events pass it by until it is enabled again.</p>`);
  return callout(
    "bad",
    html`Suspended after failures${since}`,
    html`<p class="reason">${disabledReason}</p>
    <p>Nothing is sent until you enable it again. What waited is cancelled; once enabled, it can be replayed below.</p>
    ${act(session, `${SETTINGS}/${id}/enable`, "Enable again", { kind: "strong" })}`,
  );
}

function jobFacts(webhook: ShownWebhook): Content {
  if (!("job" in webhook)) return null;
  const { dockerImage, spaceId, flavor, secrets } = webhook.job;
  return html`
    <div><dt>Job</dt><dd><code>${dockerImage ?? spaceId}</code>, ${flavor}</dd></div>
    ${secrets.length > 0 && html`<div><dt>Job secrets</dt><dd><code>${secrets.join(", ")}</code></dd></div>`}`;
}

function overQuota({ quota: { over } }: ShownWebhook): Content {
  if (over === 0) return null;
  return html`<p class="warn">${counted(over, "event was", "events were")} not delivered: the quota was used up.</p>`;
}

/** Publishes an event as it may happen on the hub; the real Hub's page has no such thing. */
function tryIt(session: Session, { id, watched, domains }: ShownWebhook, events: readonly string[]): Html {
  const offered = events.filter((name) => domains.includes(name.startsWith("discussion") ? "discussion" : "repo"));
  return html`<section class="card" aria-labelledby="try-title">
  <h2 id="try-title">Try it</h2>
  <p class="hint">Lets a made-up event happen on this hub. It goes to every webhook that watches the same.</p>
  <form method="post" action="${SETTINGS}/${id}/test" class="try">
    ${csrfField(session)}
    <label for="try-item">Where</label>
    <select id="try-item" name="item">${watched.slice(0, MOST_ITEMS).map(({ type, name }) => html`<option value="${exact(`${type}:${name}`)}">${type}:${name}</option>`)}</select>
    <label for="try-event">Event</label>
    <select id="try-event" name="event">${offered.map((name) => html`<option${name === "repo.content:update" && html` selected`}>${name}</option>`)}</select>
    <button class="quiet">Send test event</button>
  </form>
</section>`;
}

function filterOf(path: string, current: DeliveryState | undefined): Html {
  const link = (state: DeliveryState | undefined) => {
    const query = state === undefined ? "" : `?state=${state}`;
    return html`<a class="filter" href="${path}${query}#activity-title"${state === current && html` aria-current="true"`}>${state ?? "all"}</a>`;
  };
  return html`<nav class="filters" aria-label="Deliveries by state">${[undefined, ...deliveryStates].map(link)}</nav>`;
}

function activityOf(
  session: Session,
  webhook: ShownWebhook,
  { deliveries, next }: WebhookPage["activity"],
  { state, cursor }: WebhookPage["shown"],
): Html {
  const path = `${SETTINGS}/${webhook.id}`;
  if (deliveries.length === 0) {
    const none =
      state === undefined
        ? "Nothing has been delivered yet. What happens to the watched items appears here."
        : `No delivery is ${state}.`;
    return html`<p class="card none">${none}</p>`;
  }
  const query = new URLSearchParams({ ...(state && { state }), cursor: next ?? "" });
  return html`<table class="rows" aria-label="Deliveries, the newest first">
  <thead><tr><th scope="col">State</th><th scope="col">Event</th><th scope="col">Repo</th><th scope="col">Answer</th><th scope="col">Attempts</th><th scope="col">When</th><th scope="col"><span class="unseen">Replay</span></th></tr></thead>
  <tbody>${deliveries.map((delivery) => row(session, webhook, delivery))}</tbody>
</table>
${
  (next || cursor) &&
  html`<nav class="pager" aria-label="Pages of the activity">
  ${cursor && html`<a class="quiet" href="${path}${state && `?state=${state}`}#activity-title">Newest</a>`}
  ${next && html`<a class="quiet" href="${path}?${query.toString()}#activity-title">Older</a>`}
</nav>`
}`;
}

function row(session: Session, webhook: ShownWebhook, delivery: ShownDelivery): Html {
  const path = `${SETTINGS}/${webhook.id}`;
  const { id, repo, attempts, createdAt, replayOf } = delivery;
  const ms = attempts.at(-1)?.ms ?? null;
  return html`<tr>
    <td class="cell-state">${stateOf(delivery)}</td>
    <td class="cell-event"><a href="${path}/activity/${id}" id="delivery-${id}">${eventOf(delivery)}</a>${replayOf !== undefined && html` <span class="tag">replay</span>`}</td>
    <td class="cell-repo">${repo}</td>
    <td class="cell-answer">${resultOf(delivery)}${ms !== null && html` <span class="hint">in ${lasted(ms)}</span>`}</td>
    <td class="cell-attempts">${number(attempts.length)}</td>
    <td class="cell-when">${moment(createdAt)}</td>
    <td class="cell-act">${webhook.disabled === false && act(session, `${path}/replay/${id}`, html`Replay<span class="unseen"> ${eventOf(delivery)} of ${repo}</span>`, { kind: "quiet small", id: `replay-${id}` })}</td>
  </tr>`;
}
