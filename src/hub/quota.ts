/** How many deliveries a webhook had in the last 24 hours, counted by the hour. */
import type { HubFile } from "./file.ts";
import type { QuotaUse } from "./webhook.ts";

const HOUR_MS = 3_600_000;
const HOURS = 24;

export class Quota {
  readonly #limit: number;
  readonly #now: () => number;
  readonly #use;
  readonly #add;
  readonly #forget;
  #forgotten = 0;

  constructor({ database, clock }: HubFile, limit: number) {
    this.#limit = limit;
    this.#now = () => Math.floor(clock.now() / HOUR_MS);
    this.#use = database.prepare(
      `SELECT coalesce(sum(deliveries), 0) used, coalesce(sum(over), 0) over
       FROM hub_usage WHERE webhook = ? AND hour > ?`,
    );
    this.#add = database.prepare(
      `INSERT INTO hub_usage VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET deliveries = deliveries + excluded.deliveries, over = over + excluded.over`,
    );
    this.#forget = database.prepare("DELETE FROM hub_usage WHERE hour <= ?");
  }

  useOf(webhook: string): QuotaUse {
    const { used, over } = this.#use.get<{ used: number; over: number }>(webhook, this.#now() - HOURS) ?? NONE;
    return { limit: this.#limit, used, over };
  }

  /**
   * Inside a transaction: `take` counts one more delivery and says whether it is within the quota, `save` writes what
   * was counted. Many events at once often go to the same few webhooks.
   */
  count(): { take(webhook: string): boolean; save(): void } {
    const hour = this.#now();
    const uses = new Map<string, { used: number; taken: number; over: number }>();
    const useOf = (webhook: string) => {
      const { used } = this.#use.get<{ used: number }>(webhook, hour - HOURS) ?? NONE;
      const use = { used, taken: 0, over: 0 };
      uses.set(webhook, use);
      return use;
    };
    return {
      take: (webhook) => {
        const use = uses.get(webhook) ?? useOf(webhook);
        const within = use.used + use.taken < this.#limit;
        if (within) use.taken++;
        else use.over++;
        return within;
      },
      save: () => {
        for (const [webhook, { taken, over }] of uses) this.#add.run(webhook, hour, taken, over);
        if (hour > this.#forgotten) {
          this.#forget.run(hour - HOURS);
          this.#forgotten = hour;
        }
      },
    };
  }
}

const NONE = { used: 0, over: 0 };
