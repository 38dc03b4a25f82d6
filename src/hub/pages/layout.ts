/** The frame of every page, and the ways they look alike. */
import { hash } from "node:crypto";
import type { Response } from "express";
import { type Content, type Html, html } from "./html.ts";
import type { Session } from "./session.ts";

export const SETTINGS = "/settings/webhooks";
export const ASSETS = "/settings/assets";

interface Page {
  title: string;
  session: Session;
  content: Content;
  /** A file of the assets, beside the one that all pages have. */
  script?: string;
}

export function page({ title, session, content, script }: Page): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}: hubhook hub</title>
<link rel="icon" href="${ASSETS}/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${ASSETS}/settings.css">
<script type="module" src="${ASSETS}/page.js"></script>
${script && html`<script type="module" src="${ASSETS}/${script}"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top wrap">
  <a class="brand" href="/"><img src="${ASSETS}/favicon.svg" width="30" height="30" alt="">hubhook hub</a>
  <nav class="links" aria-label="Pages">
    <a href="${SETTINGS}">Webhooks</a>
    ${session.loggedIn && html`<span class="who">${session.user}</span>${act(session, "/logout", "Log out", { kind: "as-link" })}`}
  </nav>
</header>
<main id="main" class="wrap" tabindex="-1">
${content}
</main>
<p id="said" class="unseen" role="status"></p>
</body>
</html>
`;
}

/** A button that does something: a form of its own, so that it works without a script. */
export function act(
  session: Session,
  path: string,
  label: Content,
  { kind = "quiet", fields = {}, id }: { kind?: string; fields?: Record<string, string>; id?: string } = {},
): Html {
  return html`<form method="post" action="${path}" class="act">
    ${csrfField(session)}
    ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
    <button class="${kind}"${id && html` id="${id}"`}>${label}</button>
  </form>`;
}

export function csrfField({ csrf }: Session): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}">`;
}

/** A part that a script takes over from a newer page, when it is no longer the same. */
export function live(id: string, content: Content, kind = ""): Html {
  const made = html`${content}`;
  const version = hash("sha256", made.toString(), "base64url").slice(0, 16);
  return html`<div id="${id}" class="${kind}" data-live="${version}">${made}</div>`;
}

/** Something that needs attention. */
export function callout(kind: "good" | "warn" | "bad", title: Content, ...more: Content[]): Html {
  const role = kind === "bad" ? html` role="alert"` : html` role="status"`;
  return html`<div class="callout callout--${kind}"${role}><p class="callout-title">${title}</p>${more}</div>`;
}

/** Text with a button that copies it; the button is there only where scripts run. */
export function copyable(id: string, text: string, what: string): Html {
  return html`<div class="copy"><pre id="${id}" class="copy-text" tabindex="0" role="group" aria-label="${what}">${text}</pre>
    ${copyButton(id, what)}</div>`;
}

export function copyButton(of: string, what: string): Html {
  return html`<button type="button" class="quiet copy-button" data-copy="${of}" hidden>Copy<span class="unseen"> ${what}</span></button>`;
}

export function send(response: Response, shown: Html, status = 200): void {
  response.status(status).type("html").send(shown.toString());
}
