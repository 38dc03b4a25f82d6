/** The pages before the settings: what this is, who asks, and what went wrong. */
import type { HttpError } from "../../errors.ts";
import { type Content, type Html, html } from "./html.ts";
import { copyable, csrfField, page, SETTINGS } from "./layout.ts";
import type { Session } from "./session.ts";

export function homePage(session: Session, endpoint: string, open: boolean): Html {
  const content = html`
<div class="head"><h1>A hub on your own machine</h1></div>
<p class="lead">It stores webhooks, takes events and posts them to your receivers, over the Hugging Face Hub's own interface.
  The official clients work with it when they are pointed here.</p>
<p class="acts"><a class="strong" href="${SETTINGS}">Webhook settings</a></p>
<section class="card" aria-labelledby="clients-title">
  <h2 id="clients-title">Point clients here</h2>
  ${copyable("endpoint", `export HF_ENDPOINT=${endpoint} HF_TOKEN=${open ? "any" : "…"}`, "setting of HF_ENDPOINT and HF_TOKEN")}
  <h3>Let an event happen</h3>
  ${copyable("emit", `npx hubhook hub emit repo.content:update --repo dataset:me/data --hub ${endpoint}`, "command that publishes an event")}
</section>`;
  return page({ title: "Home", session, content });
}

export function loginPage(session: Session, to: string, problem: Content = null): Html {
  const content = html`
<div class="head"><h1>Log in</h1></div>
<form class="card form" method="post" action="/login">
  ${csrfField(session)}
  <input type="hidden" name="to" value="${to}">
  <div class="field">
    <label for="token">Token</label>
    <input id="token" name="token" type="password" autocomplete="current-password" spellcheck="false" required autofocus
      aria-describedby="token-problem token-hint"${problem && html` aria-invalid="true"`}>
    <p class="field-problem" id="token-problem" role="alert">${problem}</p>
    <p class="hint" id="token-hint">The one that your clients send to this hub: yours of <code>HUB_TOKEN</code> or <code>HUB_TOKENS</code>.</p>
  </div>
  <div class="acts"><button class="strong">Log in</button></div>
</form>`;
  return page({ title: "Log in", session, content });
}

export function errorPage(session: Session, { status, message }: HttpError): Html {
  const [first = "", ...rest] = message;
  const titles: Record<number, string> = {
    403: "This is refused",
    404: "There is nothing here",
    429: "Too many tries",
  };
  const content = html`
<div class="head"><h1>${titles[status] ?? (status < 500 ? "That did not work" : "Something went wrong here")}</h1></div>
<div class="card"><p role="alert">${first.toUpperCase()}${rest.join("")}.</p>
<p class="acts"><a class="quiet" href="${SETTINGS}">To the webhooks</a></p></div>`;
  return page({ title: "Error", session, content });
}

/** Asks the browser to come again from a page of ours: then it brings the cookie. */
export function comeAgainPage(path: string): Html {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>hubhook hub</title><meta http-equiv="refresh" content="0; url=${path}"></head>
<body><p><a href="${path}">Go on</a></p></body>
</html>
`;
}
