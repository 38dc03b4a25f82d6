/** All webhooks of a user. */
import type { ShownDelivery } from "../activity.ts";
import type { ShownWebhook } from "../webhook.ts";
import { type Content, type Html, html } from "./html.ts";
import { copyable, live, page, SETTINGS } from "./layout.ts";
import { badge, breakable, chips, meter, resultOf, stateOf, targetOf } from "./parts.ts";
import type { Session } from "./session.ts";
import { counted, moment } from "./words.ts";

interface ListPage {
  session: Session;
  webhooks: { webhook: ShownWebhook; last: ShownDelivery | undefined }[];
  /** Of all webhooks. */
  count: number;
  /** Which page this is of how many. */
  at: { page: number; pages: number };
  notice: Content;
  /** Where the hub is reached. */
  endpoint: string;
}

export function listPage({ session, webhooks, count, at, notice, endpoint }: ListPage): Html {
  const content = html`
<div class="head">
  <h1>Webhooks</h1>
  <a class="strong" href="${SETTINGS}/new">New webhook</a>
</div>
<div class="callouts">${notice}</div>
${live("webhooks", count === 0 ? nothingYet(session, endpoint) : listOf(webhooks, count, at))}`;
  return page({ title: "Webhooks", session, content, script: "live.js" });
}

function listOf(webhooks: ListPage["webhooks"], count: number, at: ListPage["at"]): Html {
  return html`<p class="hint">${counted(count, "webhook", "webhooks")}</p>
<ul class="list">${webhooks.map(card)}</ul>
${pager(at)}`;
}

function card({ webhook, last }: ListPage["webhooks"][number]): Html {
  const { id, watched, domains, quota, hasSecret } = webhook;
  return html`<li class="card">
  <div class="card-head">
    <h2><a href="${SETTINGS}/${id}" id="webhook-${id}">${breakable(targetOf(webhook))}</a></h2>
    ${badge(webhook)}
  </div>
  <dl class="facts">
    <div><dt>Watches</dt><dd>${chips(watched)}</dd></div>
    <div><dt>Domains</dt><dd>${domains.join(", ")}</dd></div>
    <div><dt>Secret</dt><dd>${hasSecret ? "set" : "none"}</dd></div>
    <div><dt>Last delivery</dt><dd>${last ? html`${stateOf(last)} <span class="result">${resultOf(last)}</span>, ${moment(last.createdAt)}` : "none yet"}</dd></div>
    <div><dt>Quota</dt><dd>${meter(quota)}</dd></div>
  </dl>
</li>`;
}

function nothingYet({ user, loggedIn }: Session, endpoint: string): Html {
  const command = `HF_ENDPOINT=${endpoint} ${loggedIn ? "" : "HF_TOKEN=any "}npx hubhook webhooks create \\
  --url http://127.0.0.1:7860/webhooks/trigger_training --watch user:${user}`;
  return html`<div class="card empty">
  <h2>No webhooks yet</h2>
  <p>A webhook watches repos, users or organisations of this hub. When something happens there, the hub posts it to the
    webhook's address, as the real Hub would.</p>
  <p><a class="strong" href="${SETTINGS}/new">Create the first</a></p>
  <p>Or by command line${loggedIn && html`, with your token in <code>HF_TOKEN</code>`}:</p>
  ${copyable("create-command", command, "command that creates a webhook")}
</div>`;
}

function pager({ page: current, pages }: ListPage["at"]): Content {
  if (pages < 2) return null;
  return html`<nav class="pager" aria-label="Pages of the list">
  ${current > 1 && html`<a class="quiet" href="${SETTINGS}?page=${current - 1}">Back</a>`}
  <span>Page ${current} of ${pages}</span>
  ${current < pages && html`<a class="quiet" href="${SETTINGS}?page=${current + 1}">Next</a>`}
</nav>`;
}
