/** Its secret check is an HMAC over the body, which is its users' work, so it keeps it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createNodeMiddleware, Webhooks } from "@octokit/webhooks";
import { handle, ready, SECRET, validate } from "./work.ts";

const webhooks = new Webhooks({ secret: SECRET });
webhooks.on("push", ({ payload }) => {
  const valid = validate(payload);
  if (valid) handle(valid);
});
const server = createServer(createNodeMiddleware(webhooks, { path: "/webhooks/bench" }));
server.listen(0, "127.0.0.1", () => ready((server.address() as AddressInfo).port));
