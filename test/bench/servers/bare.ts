/** The floor: nothing but node:http. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { handle, isSecret, ready, validate } from "./work.ts";

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
    const payload = validate(JSON.parse(Buffer.concat(chunks).toString("utf8")));
    if (payload) answer(200, handle(payload));
    else answer(422, { error: "payload" });
  });
});
server.listen(0, "127.0.0.1", () => ready((server.address() as AddressInfo).port));
