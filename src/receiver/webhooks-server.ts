/**
 * A receiver in a script or a notebook, in the words of the Python library: handlers are added one by one and the
 * server is launched by hand, or by itself when the program would otherwise end.
 */
import { type RunningReceiver, startReceiver } from "../app.ts";
import { loadConfig } from "../config.ts";
import { StartError } from "../errors.ts";
import { createLogger } from "../logger.ts";
import { announceStart } from "./announce.ts";
import { type Endpoint, makeEndpoint } from "./endpoint.ts";
import type { Ui } from "./pages.ts";
import { Registry } from "./registry.ts";
import { type DefinedWebhook, type Handler, isDefinedWebhook } from "./webhook.ts";

export type { RunningReceiver } from "../app.ts";
export type { Ui } from "./pages.ts";
export * from "./webhook.ts";

export interface WebhooksServerOptions {
  /** Default: `WEBHOOK_SECRET` of the environment. */
  webhookSecret?: string;
  /** A folder or a file to serve as the landing page, or an Express handler. Default: `PUBLIC_DIR`. */
  ui?: Ui;
}

export interface LaunchOptions {
  /** Default: `PORT` of the environment, else 7860. 0 takes any free port. */
  port?: number;
  /** Default: `HOST` of the environment, else 127.0.0.1. */
  host?: string;
}

/**
 * @example
 * const server = new WebhooksServer({ webhookSecret: "s3cret" });
 * server.addWebhook("/train", async (payload) => ({ repo: payload.repo.name }));
 * await server.launch();
 */
export class WebhooksServer {
  readonly #options: WebhooksServerOptions;
  readonly #registry = new Registry();
  #running: Promise<RunningReceiver> | null = null;
  #launched: RunningReceiver | null = null;

  constructor(options: WebhooksServerOptions = {}) {
    this.#options = options;
  }

  /**
   * Adds an endpoint; the name may be left out when the function has one. Works on a running server too.
   * @throws StartError when the name is taken or no name, or when the handler is no function.
   */
  addWebhook(name: string, handler: Handler | DefinedWebhook): void;
  addWebhook(handler: Handler | DefinedWebhook): void;
  addWebhook(first: string | Handler | DefinedWebhook, second?: Handler | DefinedWebhook): void {
    this.#registry.add(this.#toEndpoint(first, second));
  }

  /** As `addWebhook`, but a handler of the same name gives way: what a notebook's cell needs when it is run again. */
  replaceWebhook(first: string | Handler | DefinedWebhook, second?: Handler | DefinedWebhook): void {
    this.#registry.replace(this.#toEndpoint(first, second));
  }

  /**
   * Starts the server, once: a second call gives the running one, until that has been closed.
   * @throws StartError when a setting is not understood or the port is taken.
   */
  launch(options: LaunchOptions = {}): Promise<RunningReceiver> {
    this.#running ??= this.#start(options).catch((error: unknown) => {
      // Another try may find the port free.
      this.#running = null;
      throw error;
    });
    return this.#running;
  }

  async #start({ port, host }: LaunchOptions): Promise<RunningReceiver> {
    const { webhookSecret } = this.#options;
    if (webhookSecret === "") throw new StartError("The server cannot start:", [EMPTY_SECRET]);
    const config = loadConfig(undefined, { PORT: port?.toString(), HOST: host, WEBHOOK_SECRET: webhookSecret });
    const log = createLogger(config.log);
    const ui = this.#options.ui ?? config.server.publicDir;
    const receiver = await startReceiver({ config, log, registry: this.#registry, ui });
    announceStart(receiver.status, log);
    this.#launched = receiver;
    const close = async () => {
      await receiver.close();
      // The next launch() is a new start, not the closed one.
      if (this.#launched !== receiver) return;
      this.#launched = null;
      this.#running = null;
    };
    return { ...receiver, close };
  }

  #toEndpoint(first: string | Handler | DefinedWebhook, second?: Handler | DefinedWebhook): Endpoint {
    const given = typeof first === "string" ? second : first;
    const { options, handler } = isDefinedWebhook(given) ? given : { options: {}, handler: given };
    const named = typeof first === "string" ? { ...options, name: first } : options;
    const env = loadConfig().receiver.handlerEnv;
    const made = makeEndpoint({ options: named, handler, fallbackName: "", file: null, env });
    if ("problems" in made) throw new StartError("The webhook cannot be added:", made.problems);
    if (made.endpoint.mode === "background" && this.#launched?.storesDeliveries === false) {
      const problem =
        "the server was launched without a store for deliveries: add the first background webhook before launch()";
      throw new StartError("The webhook cannot be added:", [problem]);
    }
    return made.endpoint;
  }
}

const EMPTY_SECRET = "webhookSecret is empty, which protects nothing: give one, or leave it out to use WEBHOOK_SECRET";

let shared: { server: WebhooksServer; byHand: boolean } | null = null;

/** A handler that can start the server it is registered on. */
export type LaunchableHandler<Given extends Handler> = Given & {
  launch(options?: LaunchOptions): Promise<RunningReceiver>;
};

/**
 * Registers a handler on the one shared server, which starts by itself when the program would otherwise end, or at
 * once by `await handler.launch()`. After a launch by hand the same name may be registered again.
 *
 * @example
 * export const train = webhookEndpoint(async function train(payload) {
 *   return { repo: payload.repo.name };
 * });
 */
export function webhookEndpoint<Given extends Handler>(handler: Given): LaunchableHandler<Given>;
export function webhookEndpoint<Given extends Handler>(name: string, handler: Given): LaunchableHandler<Given>;
export function webhookEndpoint(first: string | Handler, second?: Handler): LaunchableHandler<Handler> {
  const { server, byHand } = sharedServer();
  if (byHand) server.replaceWebhook(first, second);
  else if (typeof first === "string") server.addWebhook(first, second as Handler);
  else server.addWebhook(first);
  return Object.assign((typeof first === "string" ? second : first) as Handler, {
    launch: (options?: LaunchOptions) => {
      if (shared) shared.byHand = true;
      return server.launch(options);
    },
  });
}

function sharedServer() {
  if (shared) return shared;
  const server = new WebhooksServer();
  shared = { server, byHand: false };
  process.once("beforeExit", () => {
    // Who launched by hand has also closed by hand, or the program would not end.
    if (shared?.byHand) return;
    server.launch().catch((error: unknown) => {
      process.stderr.write(`${error instanceof StartError ? error.message : String(error)}\n`);
      process.exitCode = 1;
    });
  });
  return shared;
}
