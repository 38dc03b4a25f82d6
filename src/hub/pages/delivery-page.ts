/** One delivery: its attempts with what was answered, its payload, and how to send it again. */
import { withoutSecret } from "../../protocol/webhook.ts";
import type { ShownDelivery } from "../activity.ts";
import type { ShownWebhook } from "../webhook.ts";
import { type Content, type Html, html, plain } from "./html.ts";
import { jsonTree } from "./json-tree.ts";
import { act, callout, copyable, copyButton, live, page, SETTINGS } from "./layout.ts";
import { breakable, eventOf, mark, stateOf, targetOf } from "./parts.ts";
import type { Session } from "./session.ts";
import { lasted, moment } from "./words.ts";

interface DeliveryPage {
  session: Session;
  webhook: ShownWebhook;
  delivery: ShownDelivery;
  notice: Content;
}

type Attempt = ShownDelivery["attempts"][number];

/** Characters of a text that are shown: a browser lays out millions only slowly. */
const TEXT_SHOWN = 100_000;
/** A shell takes no longer word than this. */
const LONGEST_WORD = 30_000;

export function deliveryPage({ session, webhook, delivery, notice }: DeliveryPage): Html {
  const { id, webhookId, repo, createdAt, nextAttemptAt, replayOf, attempts, payload } = delivery;
  const path = `${SETTINGS}/${webhook.id}`;
  const facts: [string, Content][] = [
    ["Repo", repo],
    ["Created", moment(createdAt)],
    ...(nextAttemptAt ? [["Next attempt", moment(nextAttemptAt)] as [string, Content]] : []),
    ["Delivery", html`<code>${id}</code>`],
    ["Webhook-Id", html`<code>${webhookId}</code>`],
    ...(replayOf === undefined
      ? []
      : [
          ["Replay of", html`<a href="${path}/activity/${replayOf}"><code>${replayOf}</code></a>`] as [string, Content],
        ]),
  ];
  const content = html`
<nav class="crumbs" aria-label="You are here"><a href="${SETTINGS}">Webhooks</a> / <a href="${path}">${targetOf(webhook)}</a></nav>
${live("state", html`<h1>${breakable(eventOf(delivery))}</h1>${stateOf(delivery)}`, "head")}
<div class="callouts">${notice}</div>
<div class="acts">
  ${webhook.disabled === false && act(session, `${path}/replay/${id}`, "Replay", { kind: "strong" })}
  ${webhook.disabled !== false && callout("warn", "To send it again, enable the webhook first.")}
</div>
<section class="card" aria-labelledby="about-title">
  <h2 id="about-title">Delivery</h2>
  ${live("facts", html`<dl class="facts">${facts.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`)}
</section>
<section class="card" aria-labelledby="attempts-title">
  <h2 id="attempts-title">Attempts</h2>
  ${live("attempts", attemptsOf(attempts))}
</section>
<section class="card" aria-labelledby="payload-title">
  ${payloadOf(path, id, payload)}
  ${curlOf(webhook, webhookId, payload)}
</section>`;
  // What has ended stays as it is.
  const ended = delivery.finishedAt !== undefined;
  return page({ title: eventOf(delivery), session, content, ...(!ended && { script: "live.js" }) });
}

/** The newest first. */
function attemptsOf(attempts: Attempt[]): Html {
  if (attempts.length === 0) return html`<p class="hint">None was made yet.</p>`;
  const entries = attempts.map((attempt, index) => attemptOf(attempt, index + 1, index + 1 === attempts.length));
  return html`<ol class="attempts" reversed>${entries.reverse()}</ol>`;
}

function attemptOf({ at, status, ms, error, response, job }: Attempt, count: number, open: boolean): Html {
  const answer = status !== null ? String(status) : job !== undefined ? "Job" : "no answer";
  return html`<li><details${open && html` open`} id="attempt-${count}">
    <summary>${mark(error === undefined ? "succeeded" : "failed", answer)} <b>Attempt ${count}</b> <span class="hint">${moment(at)}${ms !== null && `, ${lasted(ms)}`}</span></summary>
    ${error !== undefined && html`<p class="error">${error}</p>`}
    ${job !== undefined && html`<p>It ran as Job <code>${job}</code>.</p>`}
    ${response !== undefined && html`<h3>Response</h3><pre class="text" tabindex="0" role="group" aria-label="Response of attempt ${count}">${response}</pre>`}
    ${error === undefined && response === undefined && job === undefined && html`<p class="hint">The answer had no body.</p>`}
  </details></li>`;
}

function payloadOf(path: string, id: string, payload: unknown): Html {
  const { tree, cut } = jsonTree(payload);
  const text = JSON.stringify(payload, null, 2);
  const all = html`<a href="${path}/activity/${id}/payload.json">the whole payload</a>`;
  // What is cut off would be missing from the copy too.
  const copy = text.length <= TEXT_SHOWN && copyButton("payload-text", "the payload");
  return html`<div class="section-head"><h2 id="payload-title">Payload</h2>${copy}</div>
  ${tree}
  ${(cut || text.length > TEXT_SHOWN) && html`<p class="hint">Not all of it is shown here: see ${all}.</p>`}
  <details class="more"><summary>As text</summary>
    <pre class="text" id="payload-text" tabindex="0" role="group" aria-label="Payload as text">${text.slice(0, TEXT_SHOWN)}</pre>
  </details>`;
}

/** The command that sends it once more; the secret is not in it. */
function curlOf(webhook: ShownWebhook, webhookId: string, payload: unknown): Content {
  if ("job" in webhook || webhook.url === null) return null;
  const body = plain(JSON.stringify(payload));
  // As it is sent: nothing but ASCII, which no terminal takes for something else.
  const { href } = new URL(webhook.url);
  const address = withoutSecret(href);
  const lines = [
    `curl ${quoted(address)}`,
    "-H 'Content-Type: application/json'",
    `-H 'Webhook-Id: ${webhookId}'`,
    ...(webhook.hasSecret ? ['-H "X-Webhook-Secret: $WEBHOOK_SECRET"'] : []),
    body.length < LONGEST_WORD ? `-d ${quoted(body)}` : "--data-binary @payload.json",
  ];
  return html`<details class="more"><summary>As curl</summary>
    ${webhook.hasSecret && html`<p class="hint">It takes the secret from <code>WEBHOOK_SECRET</code> in your shell.</p>`}
    ${address !== href && html`<p class="hint">Write the secret of the address in place of <code>***</code>.</p>`}
    ${copyable("curl", lines.join(" \\\n  "), "curl command")}
  </details>`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
