/** Express as the Hub's guide for Node writes it: helmet, express.json, res.json. */
import type { AddressInfo } from "node:net";
import express from "express";
import helmet from "helmet";
import { handle, isSecret, ready, validate } from "./work.ts";

const app = express();
app.use(helmet());
app.use(express.json({ limit: "5mb" }));
app.post("/webhooks/bench", (request, response) => {
  if (!isSecret(String(request.headers["x-webhook-secret"])))
    return void response.status(403).json({ error: "secret" });
  const payload = validate(request.body);
  if (!payload) return void response.status(422).json({ error: "payload" });
  response.json(handle(payload));
});
const server = app.listen(0, "127.0.0.1", () => ready((server.address() as AddressInfo).port));
