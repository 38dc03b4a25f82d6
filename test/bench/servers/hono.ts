import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { handle, isSecret, ready, validate } from "./work.ts";

const app = new Hono();
app.post("/webhooks/bench", async (context) => {
  if (!isSecret(context.req.header("x-webhook-secret") ?? "")) return context.json({ error: "secret" }, 403);
  const payload = validate(await context.req.json());
  return payload ? context.json(handle(payload)) : context.json({ error: "payload" }, 422);
});
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => ready(port));
