/**
 * Events: completed to the payload that the Hub would send, matched, and stored with a delivery for each webhook that
 * watches, all in one transaction. Sending is apart.
 */
import { createHash, randomUUID } from "node:crypto";
import type { NewDelivery } from "../deliveries/delivery.ts";
import { HttpError } from "../errors.ts";
import { ownerOf } from "../protocol/repo.ts";
import { type CompletePayload, completePayload } from "../protocol/sample.ts";
import { checkComplete, type EventGiven, namesOnly } from "./event-input.ts";
import type { HubFile } from "./file.ts";
import type { Quota } from "./quota.ts";
import { asKnown, type KnownRepo, keyOf, MAIN, Repos } from "./repos.ts";
import type { Domain, Webhook } from "./webhook.ts";
import type { WebhookStore } from "./webhook-store.ts";

const DAY_MS = 86_400_000;

/** Under which header of a stored delivery its event's id stands: webhooks of one event share the stored payload. */
export const EVENT_ID = "event-id";

export interface Published {
  /** Of the event. */
  id: string;
  /** Webhooks that it will be delivered to, and those whose quota is used up. */
  deliveries: number;
  overQuota: number;
  payload: Omit<CompletePayload, "webhook">;
}

/** What the events of one publication share, inside its transaction. */
interface Publication {
  repos: ReturnType<Repos["begin"]>;
  quota: ReturnType<Quota["count"]>;
  deliveries: NewDelivery[];
  /** Names that a repo had before it moved here: whoever watches it is found under them until the commit. */
  formerNames: Map<string, string[]>;
  afterCommit: (() => void)[];
}

interface EventsParts {
  file: HubFile;
  store: WebhookStore;
  quota: Quota;
  /** Where the hub is reached: it stands in the URLs of payloads. */
  endpoint(): string;
  isUser(name: string): boolean;
}

export class Events {
  readonly #parts: EventsParts;
  readonly #repos: Repos;
  readonly #known;
  readonly #remember;
  readonly #forget;

  constructor(parts: EventsParts) {
    const { database } = parts.file;
    this.#parts = parts;
    this.#repos = new Repos(database);
    this.#known = database.prepare(
      "SELECT body, answer FROM hub_publications WHERE user = ? AND key = ? AND created > ?",
    );
    this.#remember = database.prepare("INSERT OR REPLACE INTO hub_publications VALUES (?, ?, ?, ?, ?)");
    this.#forget = database.prepare("DELETE FROM hub_publications WHERE created <= ?");
  }

  /**
   * Publishes all or none. The same `key` within a day publishes nothing again and answers as the first time.
   * @throws HttpError 400 where an event makes no payload, 422 where the key came with other events before, 503 as `accept`
   */
  async publish(user: string, given: readonly EventGiven[], key?: string): Promise<Published[]> {
    const { file } = this.#parts;
    let afterCommit: (() => void)[] = [];
    let published: Published[] = [];
    const publish = () => {
      // It may run again, on its own, when a transaction that it shared with others failed.
      afterCommit = [];
      const body = key === undefined ? "" : hashOf(given);
      const known = key === undefined ? undefined : this.#answerOf(user, key, body);
      if (known) {
        published = known;
        return [];
      }
      const publication: Publication = {
        repos: this.#repos.begin(),
        quota: this.#parts.quota.count(),
        deliveries: [],
        formerNames: new Map(),
        afterCommit: [],
      };
      const { repos, quota, deliveries } = publication;
      published = given.map((one) => this.#publishOne(one, publication));
      quota.save();
      afterCommit = [repos.save(), ...publication.afterCommit];
      if (key !== undefined) {
        this.#forget.run(file.clock.now() - DAY_MS);
        this.#remember.run(user, key, body, JSON.stringify(published), file.clock.now());
      }
      return deliveries;
    };
    await file.deliveries.acceptAll(publish, undefined, () => {
      for (const follow of afterCommit) follow();
    });
    return published;
  }

  #answerOf(user: string, key: string, body: string): Published[] | undefined {
    const since = this.#parts.file.clock.now() - DAY_MS;
    const row = this.#known.get<{ body: string; answer: string }>(user, key, since);
    if (!row) return undefined;
    if (row.body === body) return JSON.parse(row.answer);
    throw new HttpError(422, "this Idempotency-Key was used for other events: take a new one for each publication", {
      code: "idempotency_key_reused",
    });
  }

  #publishOne(given: EventGiven, publication: Publication): Published {
    const { repos, quota, deliveries } = publication;
    const known = repos.find(given.repo);
    const { webhook: _, ...payload } = completePayload(asKnown(given, known), { endpoint: this.#parts.endpoint() });
    if (!namesOnly(given)) checkComplete(payload as CompletePayload);
    const { event, repo } = payload;

    const id = randomUUID();
    const text = JSON.stringify(payload);
    const headers = { [EVENT_ID]: id };
    const label = `${repo.type}:${repo.name}`;
    let overQuota = 0;
    const before = deliveries.length;
    for (const webhook of this.#watchers(payload, publication)) {
      if (!quota.take(webhook.id)) overQuota++;
      else
        deliveries.push({
          receiver: webhook.id,
          scope: event.scope,
          action: event.action,
          repo: label,
          payload: text,
          headers,
        });
    }
    this.#keep(payload, known, publication);
    return { id, deliveries: deliveries.length - before, overQuota, payload };
  }

  #watchers({ event, repo, movedTo }: Published["payload"], { formerNames }: Publication): Webhook[] {
    const domain: Domain = event.scope.split(".", 1)[0] === "discussion" ? "discussion" : "repo";
    const names = movedTo?.name === undefined ? [repo.name] : [repo.name, movedTo.name];
    const found = [...this.#parts.store.index.match(repo.type, names, domain, formerNames.get(keyOf(repo)))];
    const owner = ownerOf(repo.name);
    // What is private to a user stays so; an organisation's members are not known here, so everybody is one.
    return repo.private && this.#parts.isUser(owner)
      ? found.filter(({ user }) => user.toLowerCase() === owner.toLowerCase())
      : found;
  }

  /** What the next payload of this repo must agree with. */
  #keep(payload: Published["payload"], known: KnownRepo, publication: Publication): void {
    const { repos, formerNames, afterCommit } = publication;
    const { event, repo, movedTo, updatedConfig, updatedRefs, discussion } = payload;
    const name = `${event.scope}:${event.action}`;
    if (name === "repo:delete") {
      repos.forget(repo);
      return;
    }
    const pushed = updatedRefs?.findLast((one) => one.ref === MAIN);
    const now: KnownRepo = {
      id: repo.id,
      private: updatedConfig?.private ?? repo.private,
      head: pushed ? pushed.newSha : (repo.headSha ?? known.head),
      discussions: Math.max(known.discussions, discussion?.num ?? 0),
    };
    const newName = name === "repo:move" ? movedTo?.name : undefined;
    if (newName !== undefined) {
      repos.forget(repo);
      const formerly = formerNames.get(keyOf(repo));
      afterCommit.push(this.#parts.store.follow(repo, newName, formerly));
      formerNames.set(keyOf({ type: repo.type, name: newName }), [repo.name, ...(formerly ?? [])]);
    }
    repos.keep({ type: repo.type, name: newName ?? repo.name }, now);
  }
}

function hashOf(events: readonly EventGiven[]): string {
  return createHash("sha256").update(JSON.stringify(events)).digest("base64url");
}
