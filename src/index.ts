/** The process of the receiver: settings, start, stop on signals, exit code. */
import { realpathSync } from "node:fs";
import { config as loadEnvFile } from "dotenv";
import { type RunningReceiver, startReceiver } from "./app.ts";
import { type Env, loadConfig } from "./config.ts";
import { StartError, toError } from "./errors.ts";
import { createLogger, type Logger } from "./logger.ts";
import { announceStart } from "./receiver/announce.ts";
import { loadHandlers, refuseBroken } from "./receiver/load-handlers.ts";
import { Registry } from "./receiver/registry.ts";

/** Starts the receiver and lives until a signal. `overrides` win over the environment, which wins over `.env`. */
export async function main(overrides: Env = {}): Promise<void> {
  try {
    loadEnvFile({ quiet: true });
    const config = loadConfig(undefined, overrides);
    const log = createLogger(config.log);
    const receiver = await start(config, log);
    // Before the announcement: whoever reads that it is ready may stop it in the same breath.
    stopOnSignals(receiver, log);
    announceStart(receiver.status, log);
  } catch (error) {
    // What stops a start is written for people; anything else is a bug of ours and keeps its stack.
    process.stderr.write(`${error instanceof StartError ? error.message : (toError(error).stack ?? error)}\n`);
    // Not by the exit code alone: a handler's module may have opened what keeps the process alive, with nothing to serve.
    process.exit(1);
  }
}

async function start(config: ReturnType<typeof loadConfig>, log: Logger): Promise<RunningReceiver> {
  const { handlersDir, handlersOnError, handlerEnv } = config.receiver;
  const { endpoints, broken } = await loadHandlers(handlersDir, handlerEnv);
  if (handlersOnError === "exit") refuseBroken(broken);
  for (const { file, problem } of broken) log.error(`left out: ${problem}`, { file });
  const registry = new Registry();
  for (const endpoint of endpoints) registry.add(endpoint);
  registry.broken.push(...broken);

  return startReceiver({ config, log, registry, ui: config.server.publicDir });
}

function stopOnSignals(receiver: RunningReceiver, log: Logger): void {
  let stopping = false;
  const stop = async (reason: string, code: number) => {
    // The second signal means now.
    if (stopping) process.exit(code || 130);
    stopping = true;
    log.info(`stopping: ${reason}`);
    process.exitCode = code;
    try {
      await receiver.close();
      log.info("stopped");
    } catch (error) {
      log.error("the stop failed", { error: toError(error) });
    }
    // A handler that ignores its signal must not keep the process alive.
    process.exit(code);
  };
  process.on("SIGTERM", () => void stop("SIGTERM", 0));
  process.on("SIGINT", () => void stop("SIGINT", 0));
  // A promise that a handler left behind is no reason to take the other handlers down.
  process.on("unhandledRejection", (reason) =>
    log.error("a handler left a failing promise behind", { error: toError(reason) }),
  );
  // After this nothing is sure any more: end in good order, and let the container start anew.
  process.on("uncaughtException", (error) => {
    log.error("an error that nobody caught", { error });
    void stop("uncaught error", 1);
  });
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename) await main();
