/** The HTTP server under the Express app: its limits, its speed, its end. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Express, Request, Response } from "express";
import { StartError } from "../errors.ts";
import type { Lifecycle } from "./lifecycle.ts";

// An `import` of node:http reads all that it exports, also what loads a WebSocket client: 30 ms of every start.
const http = process.getBuiltinModule("node:http");

/** Milliseconds. Who is slower is answered 408. */
interface Limits {
  /** A header that takes longer than this to arrive is an attack or a dead connection. */
  headersMs: number;
  /** A whole request: the Hub itself gives up after 30 s. */
  requestMs: number;
  checkEveryMs: number;
}

const LIMITS: Limits = { headersMs: 10_000, requestMs: 30_000, checkEveryMs: 5000 };
const KEEP_ALIVE_MS = 65_000;
const MAX_HEADER_BYTES = 16_384;
const MAX_CONNECTIONS = 10_000;

export interface Listening {
  /** Where it is bound, as `http://127.0.0.1:7860`; for a wildcard address a host that can be opened here. */
  url: string;
  host: string;
  port: number;
  /** Takes nothing new, waits for what runs, at most `graceMs`; then ends every connection. */
  close(graceMs: number): Promise<void>;
}

/** Where to listen, and what a problem with it is told in: whose address it is, and the variables that set it. */
export interface Address {
  host: string;
  port: number;
  who: string;
  variables: { host: string; port: string };
}

/** @throws StartError when the address cannot be had. */
export async function listen(
  app: Express,
  lifecycle: Lifecycle,
  address: Address,
  limits: Limits = LIMITS,
): Promise<Listening> {
  const server = makeServer(app, limits);
  const closeUnused = unusedCloser(server);
  await bind(server, address);
  const { port } = server.address() as AddressInfo;
  const { host } = address;
  let closing: Promise<void> | null = null;
  return {
    url: `http://${openable(host)}:${port}`,
    host,
    port,
    close: (graceMs) => {
      closing ??= close(server, closeUnused, lifecycle, graceMs);
      return closing;
    },
  };
}

function makeServer(app: Express, { headersMs, requestMs, checkEveryMs }: Limits): Server {
  // Express gives every request and response its own prototype, which throws V8 off its fast paths. When the server
  // makes them with that very prototype from the start, Express's call changes nothing: about twice the requests.
  class Req extends http.IncomingMessage {}
  class Res<Request extends IncomingMessage = IncomingMessage> extends http.ServerResponse<Request> {}
  Object.setPrototypeOf(Req.prototype, app.request);
  Object.setPrototypeOf(Res.prototype, app.response);
  Object.assign(app, { request: Req.prototype, response: Res.prototype });

  // Called with a last resort of its own, or Express would make a new one for every request.
  const answer = (request: IncomingMessage, response: ServerResponse) =>
    app(request as Request, response as Response, () => response.destroy());
  const server = http.createServer(
    {
      IncomingMessage: Req,
      ServerResponse: Res,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: checkEveryMs,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    answer,
  );
  server.maxConnections = MAX_CONNECTIONS;
  // The app itself says "100 Continue", once it knows that it wants the body.
  server.on("checkContinue", answer);
  return server;
}

async function bind(server: Server, address: Address): Promise<void> {
  const bound = Promise.withResolvers<void>();
  server.once("error", bound.reject);
  server.listen(address.port, address.host, bound.resolve);
  try {
    await bound.promise;
  } catch (error) {
    throw new StartError(`${address.who} cannot listen:`, [bindProblem(error as NodeJS.ErrnoException, address)]);
  }
  server.off("error", bound.reject);
}

function bindProblem({ code, message }: NodeJS.ErrnoException, { host, port, variables }: Address): string {
  if (code === "EADDRINUSE")
    return (
      `port ${port} on ${host} is taken by another program: ` +
      `stop that one, or set ${variables.port} (0 takes any free port)`
    );
  if (code === "EACCES") return `this user may not use port ${port}: set ${variables.port} to one above 1023`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `${host} is no address of this machine: set ${variables.host} to 127.0.0.1, or to 0.0.0.0 for every address`;
  return message;
}

async function close(server: Server, closeUnused: () => void, lifecycle: Lifecycle, graceMs: number): Promise<void> {
  lifecycle.draining = true;
  const patience = Promise.withResolvers<void>();
  const timer = setTimeout(patience.resolve, graceMs);
  // While handlers end, the port stays open and answers 503: a sender learns more from that than from a closed door.
  await Promise.race([lifecycle.idle(), patience.promise]);
  lifecycle.endStreams();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A delivery whose body is still coming has its time too, and its connection is idle only after that.
  const sweep = setInterval(closeUnused, SWEEP_MS);
  closeUnused();
  await Promise.race([closed, patience.promise]);
  clearInterval(sweep);
  clearTimeout(timer);
  // Handlers that still run hear that time is up.
  lifecycle.abort();
  server.closeAllConnections();
  await closed;
}

const SWEEP_MS = 20;

/**
 * Gives the function that closes connections on which nothing is going on. To Node those that have never sent a byte,
 * which browsers open in advance, are not idle: they would hold up every shutdown to the end of its grace.
 */
function unusedCloser(server: Server): () => void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return () => {
    server.closeIdleConnections();
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
}

function openable(host: string): string {
  if (host === "0.0.0.0" || host === "") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
