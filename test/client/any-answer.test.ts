import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { HubError, WebhooksClient } from "../../src/client/client.ts";

const ID = "654bbbc16f2ec14d77f109cc";
const SECRET = "never-to-be-shown";

/** Nearly right more often than not: what is merely wild is refused at the first look. */
const webhook = fc.record(
  {
    id: fc.oneof(fc.constant(ID), fc.jsonValue()),
    url: fc.oneof(fc.webUrl(), fc.jsonValue()),
    watched: fc.oneof(fc.array(fc.record({ type: fc.string(), name: fc.string() })), fc.jsonValue()),
    domains: fc.oneof(fc.array(fc.string()), fc.jsonValue()),
    disabled: fc.oneof(fc.boolean(), fc.string(), fc.jsonValue()),
    secret: fc.constant(SECRET),
    job: fc.oneof(
      fc.record({ secrets: fc.constant({ TOKEN: SECRET }), environment: fc.jsonValue(), command: fc.jsonValue() }),
      fc.jsonValue(),
    ),
    quota: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const headers = fc.dictionary(
  fc.constantFrom("retry-after", "ratelimit", "x-error-message", "x-error-code", "x-request-id", "location"),
  fc.stringMatching(/^[\x20-\x7e]{0,40}$/),
);
const answer = fc.record({
  status: fc.constantFrom(200, 201, 204, 302, 400, 401, 404, 429, 500, 503),
  headers,
  body: fc.oneof(
    fc.string(),
    fc.jsonValue().map((value) => JSON.stringify(value)),
    webhook.map((one) => JSON.stringify({ webhook: one })),
    fc.array(webhook).map((list) => JSON.stringify(list)),
    fc.array(fc.jsonValue()).map((deliveries) => JSON.stringify({ deliveries })),
  ),
});

const calls: ((client: WebhooksClient) => Promise<unknown>)[] = [
  (client) => client.list(),
  (client) => client.get(ID),
  (client) => client.create({ url: "https://example.com/x", watched: ["user:me"], secret: SECRET }),
  (client) => client.update(ID, { secret: SECRET }),
  (client) => client.enable(ID),
  (client) => client.delete(ID),
  (client) => client.replay(ID, "1"),
  (client) => client.activity(ID),
  (client) => client.publish({}),
  (client) => client.whoami(),
];

describe("whatever a hub answers", () => {
  it("is a result or a HubError within a few tries, and tells no secret", async () => {
    const property = fc.asyncProperty(answer, fc.constantFrom(...calls), async ({ status, headers, body }, call) => {
      let requests = 0;
      const client = new WebhooksClient({
        sleep: async () => {},
        fetch: async () => {
          requests++;
          return new Response(status === 204 ? null : body, { status, headers });
        },
      });
      const result = await call(client).catch((error: unknown) => error);
      if (result instanceof Error) {
        expect(result).toBeInstanceOf(HubError);
        expect(result.message).toMatch(/\S/);
      }
      expect(`${JSON.stringify(result)} ${result}`).not.toContain(SECRET);
      expect(requests).toBeLessThanOrEqual(8);
    });
    await fc.assert(property, { numRuns: 400 });
  });
});
