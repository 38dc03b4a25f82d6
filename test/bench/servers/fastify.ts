import Fastify from "fastify";
import { handle, isSecret, ready, validate } from "./work.ts";

const app = Fastify({ bodyLimit: 5_000_000 });
app.post("/webhooks/bench", async (request, reply) => {
  if (!isSecret(String(request.headers["x-webhook-secret"]))) return reply.code(403).send({ error: "secret" });
  const payload = validate(request.body);
  return payload ? handle(payload) : reply.code(422).send({ error: "payload" });
});
await app.listen({ port: 0, host: "127.0.0.1" });
ready((app.server.address() as { port: number }).port);
