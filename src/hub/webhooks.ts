/** What callers do with webhooks: the rules of the settings API, apart from HTTP. */
import type { HubFile } from "./file.ts";
import { newId } from "./ids.ts";
import type { JobSpec } from "./job.ts";
import type { Quota } from "./quota.ts";
import { invalid } from "./understand.ts";
import { SUSPENDED, shown, type Webhook } from "./webhook.ts";
import { chosenDomains, type NewWebhook, type WebhookChange } from "./webhook-input.ts";
import type { WebhookStore } from "./webhook-store.ts";

interface WebhooksParts {
  file: HubFile;
  store: WebhookStore;
  quota: Quota;
  /** The spec of a Job that this user may see, to clone. */
  jobSpec(user: string, id: string): JobSpec | undefined;
  /** Cancels what waits for this webhook. */
  cancelWaiting(webhook: string): Promise<unknown>;
}

export class Webhooks {
  readonly #parts: WebhooksParts;

  constructor(parts: WebhooksParts) {
    this.#parts = parts;
  }

  list(user: string) {
    return this.#parts.store.ofUser(user).map((webhook) => this.#shown(webhook));
  }

  /** A part of the list, the newest first; `count` is how many there are in all. */
  newest(user: string, start: number, limit: number) {
    const all = this.#parts.store.ofUser(user).reverse();
    return { count: all.length, webhooks: all.slice(start, start + limit).map((webhook) => this.#shown(webhook)) };
  }

  get(user: string, id: string) {
    return this.#shown(this.#parts.store.owned(user, id));
  }

  async create(user: string, given: NewWebhook) {
    const { store, file } = this.#parts;
    const now = file.clock.now();
    const webhook = await store.add({
      id: newId(now),
      user,
      url: given.url ?? null,
      job: given.jobSourceId ? this.#source(user, given.jobSourceId) : null,
      jobSecrets: given.secrets ?? {},
      watched: given.watched,
      domains: chosenDomains(given.domains),
      secret: given.secret || null,
      ...ENABLED,
      created: now,
      updated: now,
      deleted: null,
    });
    return this.#shown(webhook);
  }

  async update(user: string, id: string, given: WebhookChange) {
    const { store } = this.#parts;
    store.owned(user, id);
    const job = given.jobSourceId ? this.#source(user, given.jobSourceId) : null;
    const webhook = await this.#change(id, (webhook) => {
      const changed = { ...webhook };
      if (given.url) Object.assign(changed, { url: given.url, job: null, jobSecrets: {} });
      if (job) Object.assign(changed, { url: null, job });
      if (given.secrets) {
        if (!changed.job) throw invalid("secrets: this webhook has no Job to give them to", []);
        // Those with other names stay, as the official client says.
        changed.jobSecrets = { ...changed.jobSecrets, ...given.secrets };
      }
      if (given.watched && given.watched.length > 0) changed.watched = given.watched;
      if (given.domains && given.domains.length > 0) changed.domains = chosenDomains(given.domains);
      // An empty secret takes it away; left out, it stays.
      if (given.secret !== undefined && given.secret !== null) changed.secret = given.secret || null;
      // What failed was another target.
      if (changed.url !== webhook.url || job) Object.assign(changed, { failures: 0, failingSince: null });
      return changed;
    });
    return this.#shown(webhook);
  }

  /** Also resumes one that was suspended. */
  async enable(user: string, id: string) {
    this.#parts.store.owned(user, id);
    return this.#shown(await this.#change(id, (webhook) => ({ ...webhook, ...ENABLED })));
  }

  /** What waits for it is cancelled, and shown so in its activity. */
  async disable(user: string, id: string) {
    const { store, file } = this.#parts;
    store.owned(user, id);
    const webhook = await this.#change(id, (webhook) =>
      webhook.disabled === true ? webhook : { ...webhook, disabled: true, reason: null, disabledAt: file.clock.now() },
    );
    await this.#parts.cancelWaiting(id);
    return this.#shown(webhook);
  }

  /** Resolves to whether it was enabled until now. */
  async suspend(id: string, reason: string): Promise<boolean> {
    const now = this.#parts.file.clock.now();
    let was = false;
    await this.#change(id, (webhook) => {
      was = !webhook.disabled;
      return was ? { ...webhook, disabled: SUSPENDED, reason, disabledAt: now } : webhook;
    });
    await this.#parts.cancelWaiting(id);
    return was;
  }

  async delete(user: string, id: string): Promise<void> {
    const { store, file } = this.#parts;
    store.owned(user, id);
    // Its secrets go at once; the rest stays for its activity.
    const gone = { secret: null, jobSecrets: {}, deleted: file.clock.now() };
    await this.#change(id, (webhook) => ({ ...webhook, ...gone }));
    await this.#parts.cancelWaiting(id);
  }

  #change(id: string, change: (webhook: Webhook) => Webhook): Promise<Webhook> {
    const { store, file } = this.#parts;
    return store.change(id, (webhook) => ({ ...change(webhook), updated: file.clock.now() }));
  }

  #source(user: string, id: string): JobSpec {
    const spec = this.#parts.jobSpec(user, id);
    if (!spec) throw invalid(`jobSourceId: there is no Job ${id}`, [{ path: "jobSourceId", message: "no such Job" }]);
    return spec;
  }

  #shown(webhook: Webhook) {
    return shown(webhook, this.#parts.quota.useOf(webhook.id));
  }
}

const ENABLED = { disabled: false, reason: null, disabledAt: null, failures: 0, failingSince: null } as const;
