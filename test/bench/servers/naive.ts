/** The plain way to be durable: one transaction a request. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isSecret, ready, validate } from "./work.ts";

const database = new DatabaseSync(join(process.env.BENCH_FOLDER ?? ".", "naive.sqlite"));
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
database.exec("CREATE TABLE inbox (id INTEGER PRIMARY KEY, webhook_id TEXT, state TEXT, payload TEXT)");
const insert = database.prepare("INSERT INTO inbox (webhook_id, state, payload) VALUES (?, 'pending', ?)");

const server = createServer((request, response) => {
  const answer = (status: number, body: unknown) => {
    const json = JSON.stringify(body);
    response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(json) });
    response.end(json);
  };
  if (!isSecret(String(request.headers["x-webhook-secret"]))) return answer(403, { error: "secret" });
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const text = Buffer.concat(chunks).toString("utf8");
    if (!validate(JSON.parse(text))) return answer(422, { error: "payload" });
    const { lastInsertRowid } = insert.run(String(request.headers["webhook-id"]), text);
    answer(202, { delivery: Number(lastInsertRowid) });
  });
});
server.listen(0, "127.0.0.1", () => ready((server.address() as AddressInfo).port));
