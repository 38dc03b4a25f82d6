/** Who fails for long enough is suspended, until its user enables it again. */
import type { HubFile } from "./file.ts";
import type { Health } from "./outbox.ts";
import type { HubSettings } from "./settings.ts";
import type { Webhook } from "./webhook.ts";
import type { WebhookStore } from "./webhook-store.ts";

interface SuspensionParts {
  file: HubFile;
  store: WebhookStore;
  settings: HubSettings;
  suspend(id: string, reason: string): Promise<void>;
}

export function watchHealth({ file, store, settings, suspend }: SuspensionParts): Health {
  const change = async (id: string, change: (webhook: Webhook) => Webhook) => {
    try {
      return await store.change(id, change);
    } catch {
      // Deleted meanwhile, or the disk is full: the attempt itself tells of that.
      return undefined;
    }
  };
  return {
    async recovered({ id, url }) {
      await change(id, (webhook) => (webhook.url === url ? { ...webhook, failures: 0, failingSince: null } : webhook));
    },
    async failed({ id, url }, problem) {
      const now = file.clock.now();
      const webhook = await change(id, (before) => {
        // It leads elsewhere by now: this was another target's failure.
        if (before.url !== url) return before;
        return { ...before, failures: before.failures + 1, failingSince: before.failingSince ?? now };
      });
      if (!webhook || webhook.disabled || webhook.failingSince === null) return;
      const tooMany = webhook.failures >= settings.suspendFailures;
      const tooLong = now - webhook.failingSince >= settings.suspendAfterMs;
      if (!tooMany || !tooLong) return;
      const since = new Date(webhook.failingSince).toISOString();
      const reason = `${webhook.failures} attempts in a row failed since ${since}; the last one: ${problem}`;
      // Deleted meanwhile, or the disk is full: the next failure comes here again.
      await suspend(id, reason).catch(() => {});
    },
  };
}
