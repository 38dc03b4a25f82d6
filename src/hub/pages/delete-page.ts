/** The question before a webhook is deleted. */
import type { ShownWebhook } from "../webhook.ts";
import { type Html, html } from "./html.ts";
import { act, page, SETTINGS } from "./layout.ts";
import { breakable, chips, targetOf } from "./parts.ts";
import type { Session } from "./session.ts";

export function deletePage(session: Session, webhook: ShownWebhook): Html {
  const back = `${SETTINGS}/${webhook.id}`;
  const content = html`
<nav class="crumbs" aria-label="You are here"><a href="${SETTINGS}">Webhooks</a> / <a href="${back}">${targetOf(webhook)}</a></nav>
<div class="head"><h1>Delete this webhook?</h1></div>
<div class="card">
  <p class="name">${breakable(targetOf(webhook))}</p>
  <p>It watches:</p> ${chips(webhook.watched)}
  <p>What waits to be sent is cancelled, and nothing is sent any more. This cannot be undone; to stop it for a while, disable it.</p>
  <div class="acts">
    ${act(session, `${back}/delete`, "Delete webhook", { kind: "danger" })}
    <a class="quiet" href="${back}">Keep it</a>
  </div>
</div>`;
  return page({ title: "Delete webhook", session, content });
}
