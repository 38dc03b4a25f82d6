/** A server that does what a script says, for whatever posts to it. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/**
 * - `hang`: takes the request and never answers
 * - `reset`: cuts the connection without an answer
 * - `cut`: begins an answer and cuts the connection
 * - `huge`: answers 200 without end
 */
export type Behaviour =
  | { status: number; headers?: Record<string, string>; body?: string }
  | "hang"
  | "reset"
  | "cut"
  | "huge";

export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Target extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  url: string;
  port: number;
  requests: ReceivedRequest[];
  /** Resolves when that many requests have come. */
  received(count: number): Promise<void>;
}

/** Does one thing for each request in turn, and the last one for all that follow. */
export async function startTarget(...script: [Behaviour, ...Behaviour[]]): Promise<Target> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const body = await text(request).catch(() => null);
    // Cut on the way: nothing has arrived.
    if (body === null) return;
    const behaviour = script[Math.min(requests.length, script.length - 1)] ?? script[0];
    requests.push({ method, url, headers, body });
    server.emit("received");
    perform(behaviour, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    async received(count) {
      while (requests.length < count) await once(server, "received");
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function perform(behaviour: Behaviour, response: ServerResponse): void {
  if (behaviour === "hang") return;
  if (behaviour === "reset") response.socket?.resetAndDestroy();
  else if (behaviour === "cut") {
    response.writeHead(200, { "content-length": 100 });
    response.write("{", () => response.socket?.destroy());
  } else if (behaviour === "huge") {
    response.writeHead(200);
    const pour = () => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", pour).on("error", () => {});
    pour();
  } else response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body);
}
