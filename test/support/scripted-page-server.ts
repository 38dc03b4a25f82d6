import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";
import type { EndpointEntry, EndpointsAnswer } from "../../src/receiver/status.ts";

/** What a receiver says, together with what only some receivers say. */
type Answer = EndpointsAnswer & { urlExpiresAt?: string };

/** An answer of `GET /api/endpoints`; a number is a bare status. */
export type Scripted = Answer | number | "hang up" | "never answer";

const PUBLIC = new URL("../../public/", import.meta.url);
const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'self' https://huggingface.co";

/**
 * Serves `public/` under the receiver's content policy, for the states that a real receiver cannot be brought into at
 * will. `answer` may be changed while it runs; `mount` is the folder it pretends to be served under.
 */
export async function startScriptedPageServer(answer: Scripted, { mount = "/" } = {}) {
  const script = { answer };
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    if (path === `${mount}api/endpoints`) {
      const { answer } = script;
      if (answer === "never answer") return;
      if (answer === "hang up") return void request.socket.destroy();
      if (typeof answer === "number") return void response.writeHead(answer).end();
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    }
    const file = path === mount ? "index.html" : path.slice(mount.length);
    const content = path.startsWith(mount) ? await readFile(new URL(file, PUBLIC)).catch(() => null) : null;
    const headers = { "content-type": types[extname(file)] ?? "text/plain", "content-security-policy": policy };
    response.writeHead(content ? 200 : 404, headers).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${mount}`,
    script,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An endpoint as the receiver would tell of it. */
export function endpointAnswer(name: string, more: Partial<EndpointEntry> = {}): EndpointEntry {
  const path = `/webhooks/${name}`;
  return {
    name,
    path,
    url: `https://me-hubhook.hf.space${path}`,
    mode: "reply",
    on: null,
    repos: null,
    refs: null,
    description: null,
    file: `${name}.ts`,
    ...more,
  };
}

export function endpointsAnswer(more: Partial<Answer> = {}): Answer {
  const endpoints = [
    endpointAnswer("trigger_training", { description: "Answers dataset and model updates" }),
    endpointAnswer("discussion-greeter", {
      on: ["discussion:create"],
      description: "Greets whoever opens a discussion",
    }),
  ];
  return { url: "https://me-hubhook.hf.space", secret: true, endpoints, broken: [], notices: [], ...more };
}
