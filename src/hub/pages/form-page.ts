/** Creating and editing a webhook. Scripts make rows of the watched items and check while one types. */
import { domains, type ShownWebhook, watchedTypes } from "../webhook.ts";
import type { Problem, WebhookForm } from "./form-input.ts";
import { type Content, exact, type Html, html } from "./html.ts";
import { callout, csrfField, page, SETTINGS } from "./layout.ts";
import { targetOf } from "./parts.ts";
import type { Session } from "./session.ts";
import { counted } from "./words.ts";

interface FormPage {
  session: Session;
  form: WebhookForm;
  problems: Problem[];
  /** The webhook that is edited; null for a new one. */
  before: ShownWebhook | null;
  /** Jobs that a webhook could run. */
  jobs: { id: string; command: string }[];
  /** A sentence where Jobs are off. */
  jobsOff: string | null;
}

type Field = Problem["field"];
const LABELS: Record<Field, string> = {
  url: "URL",
  job: "Job id",
  watched: "Watched items",
  domains: "Domains",
  secret: "Secret",
};
const IN_SHORT = {
  repo: "commits, settings, creation, moves and deletion of repos",
  discussion: "discussions, pull requests, and their comments",
};

export function formPage({ session, form, problems, before, jobs, jobsOff }: FormPage): Html {
  const title = before ? "Edit webhook" : "New webhook";
  const back = before ? `${SETTINGS}/${before.id}` : SETTINGS;
  const problem = (field: Field) => problemOf(field, problems);
  const marked = (field: Field) => markedAs(field, problems);
  const content = html`
<nav class="crumbs" aria-label="You are here"><a href="${SETTINGS}">Webhooks</a>${before && html` / <a href="${back}">${targetOf(before)}</a>`}</nav>
<div class="head"><h1>${title}</h1></div>
${summaryOf(problems)}
<form id="webhook" class="card form" method="post" action="${back}" data-check="${SETTINGS}/check" novalidate>
  ${csrfField(session)}
  ${before && html`<input type="hidden" name="id" value="${before.id}">`}
  <fieldset class="target">
    <legend>Where events go</legend>
    <p class="options">
      <label><input type="radio" name="target" value="url"${form.target === "url" && html` checked`}> To a URL</label>
      <label><input type="radio" name="target" value="job"${form.target === "job" && html` checked`}> Start a Job</label>
    </p>
    <div class="field field-url">
      <label for="url">URL</label>
      <input id="url" name="url" type="url" inputmode="url" value="${exact(form.url)}" autocomplete="off" spellcheck="false"
        maxlength="2048" placeholder="http://127.0.0.1:7860/webhooks/trigger_training"${marked("url")}>
      ${problem("url")}
      <p class="hint" id="url-hint">Each event is posted there as JSON, and tried again until a 2xx answers.</p>
    </div>
    <div class="field field-job">
      <label for="job">Job id</label>
      <input id="job" name="job" value="${exact(form.job)}" list="jobs" autocomplete="off" spellcheck="false" maxlength="100"${marked("job")}>
      <datalist id="jobs">${jobs.map(({ id, command }) => html`<option value="${id}">${command}</option>`)}</datalist>
      ${problem("job")}
      <p class="hint" id="job-hint">${before && "job" in before ? "Left empty, it goes on with the Job that it has. " : null}Each event starts a copy of that Job.${jobsOff && html` ${jobsOff}.`}</p>
    </div>
  </fieldset>
  <fieldset class="field watched" id="watched-items" tabindex="-1">
    <legend>Watched items</legend>
    <label for="watched" class="no-script">One a line, as <code>type:name</code></label>
    <textarea id="watched" name="watched" rows="4" spellcheck="false" autocomplete="off" placeholder="dataset:me/data" data-types="${watchedTypes.join(" ")}"${marked("watched")}>
${exact(form.watched)}</textarea>
    ${problem("watched")}
    <p class="hint" id="watched-hint"><code>model:</code>, <code>dataset:</code>, <code>space:</code> and <code>bucket:</code> take a name as
      <code>owner/name</code>; <code>user:</code> and <code>org:</code> watch all repos of theirs.</p>
  </fieldset>
  <fieldset class="field" id="domains" tabindex="-1"${marked("domains")}>
    <legend>Domains</legend>
    ${domains.map(
      (
        domain,
      ) => html`<label class="tick"><input type="checkbox" name="domains" value="${domain}"${form.domains.includes(domain) && html` checked`}>
      <span><b>${domain}</b>: ${IN_SHORT[domain]}</span></label>`,
    )}
    ${problem("domains")}
    <p id="domains-hint"></p>
  </fieldset>
  <div class="field">
    <label for="secret">Secret <span class="hint">(optional)</span></label>
    <input id="secret" name="secret" type="password" autocomplete="new-password" spellcheck="false" maxlength="4096"${marked("secret")}>
    ${problem("secret")}
    <p class="hint" id="secret-hint">${secretHint(before)}</p>
    ${before?.hasSecret && html`<label class="tick"><input type="checkbox" name="remove_secret" value="yes"${form.removeSecret && html` checked`}> <span>Remove the secret</span></label>`}
  </div>
  <div class="acts">
    <button class="strong">${before ? "Save" : "Create webhook"}</button>
    <a class="quiet" href="${back}">Cancel</a>
  </div>
</form>`;
  return page({ title, session, content, script: "form.js" });
}

function secretHint(before: ShownWebhook | null): Html {
  const sent = html`It is sent in the header <code>X-Webhook-Secret</code>: the receiver knows by it that the event comes from here.`;
  return before?.hasSecret ? html`A secret is set, and not shown again. Leave this empty to keep it. ${sent}` : sent;
}

function summaryOf(problems: Problem[]): Content {
  if (problems.length === 0) return null;
  const fields = [...new Set(problems.map(({ field }) => field))];
  const links = fields.map(
    (field) => html`<li><a href="#${field === "watched" ? "watched-items" : field}">${LABELS[field]}</a></li>`,
  );
  const title = `It is not saved yet: ${counted(fields.length, "field needs", "fields need")} another look.`;
  // The focus begins there: not every screen reader says what is on a page from the first.
  return html`<div class="callouts" tabindex="-1" autofocus>${callout("bad", title, html`<ul class="to-mend">${links}</ul>`)}</div>`;
}

/** Always there, so that a screen reader hears what a script puts in. */
function problemOf(field: Field, problems: Problem[]): Html {
  const own = problems.filter((problem) => problem.field === field);
  const sentences = own.map(
    ({ item, message }) => html`<span>${item === undefined ? null : `Item ${item + 1}: `}${message}</span>`,
  );
  return html`<p class="field-problem" id="${field}-problem" aria-live="polite">${sentences}</p>`;
}

function markedAs(field: Field, problems: Problem[]): Html {
  // A group has no such state: there the sentence says it.
  const invalid = field !== "domains" && problems.some((problem) => problem.field === field);
  return html` aria-describedby="${field}-problem ${field}-hint"${invalid && html` aria-invalid="true"`}`;
}
