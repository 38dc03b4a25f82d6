/**
 * The webhooks: the tables hold the truth, the memory a copy of what is not deleted, brought up to date after each
 * commit and rebuilt at the start. Changes read the table inside their transaction, so none is lost to another.
 */
import type { Database } from "../deliveries/database.ts";
import { HttpError } from "../errors.ts";
import type { RepoRef } from "../protocol/repo.ts";
import { WatchIndex } from "./watch-index.ts";
import { type Domain, SUSPENDED, type Webhook } from "./webhook.ts";

/** Runs `work` in a transaction of the hub's file, which it may share with others, and `committed` after it. */
export type Write = (work: () => void, committed: () => void) => Promise<void>;

interface Row {
  id: string;
  user: string;
  url: string | null;
  job: string | null;
  job_secrets: string | null;
  watched: string;
  domains: string;
  secret: string | null;
  disabled: number;
  reason: string | null;
  disabled_at: number | null;
  failures: number;
  failing_since: number | null;
  created: number;
  updated: number;
  deleted: number | null;
}

/** Read at once at the start: of all of them the rows would be in memory beside the webhooks made of them. */
const ROWS = 1_000;

export class WebhookStore {
  readonly index = new WatchIndex();
  readonly #write: Write;
  readonly #select;
  readonly #replace;
  readonly #live = new Map<string, Webhook>();
  readonly #byUser = new Map<string, Set<string>>();

  /** @param forgetBefore webhooks deleted before this are forgotten, as their deliveries are */
  constructor(database: Database, write: Write, forgetBefore: number) {
    this.#write = write;
    database.prepare("DELETE FROM hub_webhooks WHERE deleted IS NOT NULL AND deleted < ?").run(forgetBefore);
    this.#select = database.prepare("SELECT * FROM hub_webhooks WHERE id = ?");
    this.#replace = database.prepare(
      "INSERT OR REPLACE INTO hub_webhooks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    );
    const next = database.prepare("SELECT * FROM hub_webhooks WHERE deleted IS NULL AND id > ? ORDER BY id LIMIT ?");
    for (let rows = next.all<Row>("", ROWS); rows.length > 0; rows = next.all<Row>(rows.at(-1)?.id ?? "", ROWS))
      for (const row of rows) this.#remember(fromRow(row));
  }

  get size(): number {
    return this.#live.size;
  }

  get(id: string): Webhook | undefined {
    return this.#live.get(id);
  }

  /** The oldest first. */
  ofUser(user: string): Webhook[] {
    const webhooks = [...(this.#byUser.get(user) ?? [])].flatMap((id) => this.#live.get(id) ?? []);
    return webhooks.sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
  }

  /** @throws HttpError 404, also for another user's: nobody learns that it exists */
  owned(user: string, id: string): Webhook {
    const webhook = this.#live.get(id);
    if (webhook?.user !== user) throw unknown(id);
    return webhook;
  }

  /** As `owned`, and deleted ones too, whose activity stays readable. */
  ownedEver(user: string, id: string): Webhook {
    const row = this.#live.has(id) ? undefined : this.#select.get<Row>(id);
    if (row?.user === user) return fromRow(row);
    return this.owned(user, id);
  }

  async add(webhook: Webhook): Promise<Webhook> {
    await this.#write(
      () => this.#save(webhook),
      () => this.#refresh(webhook.id),
    );
    return webhook;
  }

  /** @throws HttpError 404 when it has been deleted meanwhile */
  async change(id: string, change: (webhook: Webhook) => Webhook): Promise<Webhook> {
    let changed: Webhook | undefined;
    await this.#write(
      () => {
        const row = this.#select.get<Row>(id);
        if (!row || row.deleted !== null) throw unknown(id);
        changed = change(fromRow(row));
        this.#save(changed);
      },
      () => this.#refresh(id),
    );
    if (!changed) throw unknown(id);
    return changed;
  }

  /**
   * Inside a transaction: whoever watches the repo watches it under its new name. Call what is returned after the commit.
   * @param formerly names from which it moved in this same transaction
   */
  follow(from: RepoRef, to: string, formerly: readonly string[] = []): () => void {
    const names = [from.name, ...formerly];
    const ids = new Set(names.flatMap((name) => this.index.watchersOf({ ...from, name }).map(({ id }) => id)));
    const watchers = [...ids].flatMap((id) => this.#select.get<Row>(id) ?? []);
    const isIt = (item: RepoRef) => item.type === from.type && item.name.toLowerCase() === from.name.toLowerCase();
    for (const row of watchers) {
      const webhook = fromRow(row);
      this.#save({ ...webhook, watched: webhook.watched.map((item) => (isIt(item) ? { ...item, name: to } : item)) });
    }
    return () => {
      for (const { id } of watchers) this.#refresh(id);
    };
  }

  #save(webhook: Webhook): void {
    const { id, user, url, job, jobSecrets, watched, domains, secret, disabled, reason, disabledAt } = webhook;
    const { failures, failingSince, created, updated, deleted } = webhook;
    this.#replace.run(
      id,
      user,
      url,
      job && JSON.stringify(job),
      job && JSON.stringify(jobSecrets),
      JSON.stringify(watched),
      JSON.stringify(domains),
      secret,
      disabled === SUSPENDED ? 2 : Number(disabled),
      reason,
      disabledAt,
      failures,
      failingSince,
      created,
      updated,
      deleted,
    );
  }

  #refresh(id: string): void {
    const before = this.#live.get(id);
    if (before) {
      this.index.remove(before);
      this.#live.delete(id);
    }
    const row = this.#select.get<Row>(id);
    if (row && row.deleted === null) this.#remember(fromRow(row));
    else if (before) this.#byUser.get(before.user)?.delete(id);
  }

  #remember(webhook: Webhook): void {
    this.#live.set(webhook.id, webhook);
    const own = this.#byUser.get(webhook.user);
    if (own) own.add(webhook.id);
    else this.#byUser.set(webhook.user, new Set([webhook.id]));
    this.index.add(webhook);
  }
}

/** There are three lists of domains in all, and a start reads very many of them. */
const domainLists = new Map<string, Domain[]>();
function domainsOf(text: string): Domain[] {
  let list = domainLists.get(text);
  if (!list) {
    list = JSON.parse(text) as Domain[];
    domainLists.set(text, list);
  }
  return list;
}

function fromRow(row: Row): Webhook {
  const { id, user, url, secret, reason, failures, created, updated, deleted } = row;
  return {
    id,
    user,
    url,
    job: row.job === null ? null : JSON.parse(row.job),
    jobSecrets: row.job_secrets === null ? {} : JSON.parse(row.job_secrets),
    watched: JSON.parse(row.watched),
    domains: domainsOf(row.domains),
    secret,
    disabled: row.disabled === 2 ? SUSPENDED : row.disabled === 1,
    reason,
    disabledAt: row.disabled_at,
    failures,
    failingSince: row.failing_since,
    created,
    updated,
    deleted,
  };
}

function unknown(id: string): HttpError {
  return new HttpError(404, `there is no webhook ${id}`, { code: "webhook_unknown" });
}
