/** From an event to the webhooks that watch for it, at a cost that does not grow with those that do not. */
import { ownerOf, type RepoRef } from "../protocol/repo.ts";
import type { Domain, WatchedItem, Webhook } from "./webhook.ts";

export class WatchIndex {
  readonly #watchers = new Map<string, Set<Webhook>>();

  add(webhook: Webhook): void {
    for (const item of webhook.watched) {
      const key = keyOf(item);
      const watchers = this.#watchers.get(key);
      if (watchers) watchers.add(webhook);
      else this.#watchers.set(key, new Set([webhook]));
    }
  }

  remove(webhook: Webhook): void {
    for (const item of webhook.watched) {
      const key = keyOf(item);
      const watchers = this.#watchers.get(key);
      watchers?.delete(webhook);
      if (watchers?.size === 0) this.#watchers.delete(key);
    }
  }

  /**
   * Of those that are enabled, each once, however many of its items fit.
   * @param names of a repo that moves, the old and the new one
   * @param formerly names under which the repo itself is still watched here, and its owner is not
   */
  match(type: string, names: readonly string[], domain: Domain, formerly: readonly string[] = []): Set<Webhook> {
    const found = new Set<Webhook>();
    const keys = [...names.flatMap((name) => keysOf({ type, name })), ...formerly.map((name) => keyOf({ type, name }))];
    for (const key of keys)
      for (const webhook of this.#watchers.get(key) ?? [])
        if (webhook.disabled === false && webhook.domains.includes(domain)) found.add(webhook);
    return found;
  }

  /** Who watches this very repo by its name, be it disabled: it goes on watching when it is enabled again. */
  watchersOf(repo: RepoRef): Webhook[] {
    return [...(this.#watchers.get(keyOf(repo)) ?? [])];
  }
}

/** Under which keys the watchers of a repo stand. Whether its owner is a user or an organisation, the event does not say. */
function keysOf(repo: RepoRef): string[] {
  const owner = ownerOf(repo.name).toLowerCase();
  return [keyOf(repo), `owner:${owner}`];
}

function keyOf({ type, name }: WatchedItem | RepoRef): string {
  return `${type === "user" || type === "org" ? "owner" : type}:${name.toLowerCase()}`;
}
