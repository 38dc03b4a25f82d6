/** A client for those who may never use it: it is read and made by its first call, and no start waits for it. */
import type { WebhooksApi } from "../protocol/webhooks-api.ts";
import type { WebhooksClient, WebhooksClientOptions } from "./client.ts";

export function lazyWebhooks(options: WebhooksClientOptions): WebhooksApi {
  let made: Promise<WebhooksClient> | undefined;
  const client = () => {
    made ??= import("./client.ts").then(({ WebhooksClient }) => new WebhooksClient(options));
    return made;
  };
  return {
    list: async (...words) => (await client()).list(...words),
    get: async (...words) => (await client()).get(...words),
    create: async (...words) => (await client()).create(...words),
    update: async (...words) => (await client()).update(...words),
    enable: async (...words) => (await client()).enable(...words),
    disable: async (...words) => (await client()).disable(...words),
    delete: async (...words) => (await client()).delete(...words),
    replay: async (...words) => (await client()).replay(...words),
    activity: async (...words) => (await client()).activity(...words),
  };
}
