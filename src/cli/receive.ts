/** `hubhook receive`: one handler, one payload, no server. The same file runs as a Job that a webhook starts. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { type Command, Option } from "commander";
import { lazyWebhooks } from "../client/lazy.ts";
import { type Config, loadConfig } from "../config.ts";
import { HttpError, toError } from "../errors.ts";
import { createLogger } from "../logger.ts";
import { nearest } from "../nearest.ts";
import type { Endpoint } from "../receiver/endpoint.ts";
import { type LoadedHandlers, loadHandlers } from "../receiver/load-handlers.ts";
import { runOnce } from "../receiver/run-once.ts";
import { Failure, UsageError } from "./exit.ts";
import { type Format, formatOption, keepConsoleOffResult, note, printJson } from "./output.ts";
import { type SampleOptions, sampleFrom, sampleOptions } from "./sample.ts";

interface ReceiveOptions extends SampleOptions {
  payload?: string;
  event?: string;
  handlers?: string;
  format: Format;
}

const EXAMPLES = `
The result is printed as JSON, what the handler logs goes to standard error. Without --payload and --event the payload
is taken from WEBHOOK_PAYLOAD, as a Job finds it that a webhook has started. The process ends with the handler.

Examples:
  $ hubhook receive trigger_training --event repo.content:update --repo dataset:me/data
  $ hubhook receive trigger_training --payload payload.json
  $ hubhook trigger discussion:create --print | hubhook receive greet --payload -`;

export function define(command: Command): void {
  command
    .argument("<endpoint>", "name of the endpoint, as trigger_training")
    .addOption(new Option("--payload <file>", "file with the payload's JSON, - for standard input").conflicts("event"))
    .option("--event <scope:action>", "make a sample payload of this event");
  sampleOptions(command)
    .option("--handlers <folder>", "folder of the handlers (HANDLERS_DIR)")
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action(receive);
}

async function receive(name: string, options: ReceiveOptions): Promise<void> {
  keepConsoleOffResult();
  const config = loadConfig();
  const { handlerEnv } = config.receiver;
  const folder = options.handlers === undefined ? config.receiver.handlersDir : resolve(options.handlers);
  const body = await readPayload(options, config);
  const endpoint = pick(name, await loadHandlers(folder, handlerEnv));

  const surroundings = { log: createLogger(config.log), hub: config.hub, webhooks: lazyWebhooks(config.hub) };
  const { ignored, reply } = await runOnce(endpoint, body, surroundings, handlerEnv.WEBHOOK_ID).catch(
    (thrown: unknown) => {
      throw failed(endpoint, thrown);
    },
  );
  if (ignored) printJson({ ignored: true });
  else if (reply !== undefined) printJson(JSON.parse(reply), options.format);
  else if (options.format === "json") printJson(null);
  else note(`${endpoint.name} returned nothing: over HTTP that is 204.`);
}

async function readPayload(options: ReceiveOptions, config: Config): Promise<Buffer> {
  if (options.payload === "-") return buffer(process.stdin);
  if (options.payload !== undefined)
    return readFile(options.payload).catch((error: unknown) => {
      throw new Failure(`the payload cannot be read: ${toError(error).message}`);
    });
  if (options.event !== undefined)
    return Buffer.from(JSON.stringify(sampleFrom(options.event, options, config.hub.endpoint)));
  const text = config.receiver.handlerEnv.WEBHOOK_PAYLOAD;
  if (text !== undefined) return Buffer.from(text);
  throw new UsageError("there is no payload: give --payload FILE, or --event scope:action for a sample of one");
}

/** The endpoint of that name; what is wrong with other handlers is told, and stops nothing. */
function pick(written: string, { endpoints, broken }: LoadedHandlers): Endpoint {
  const name = written.replace(/^\/?(webhooks\/)?/, "");
  const endpoint = endpoints.find((one) => one.name === name);
  const problems = broken.map(({ file, problem }) => `${file}: ${problem}`);
  if (endpoint) {
    for (const problem of problems) note(`left out: ${problem}`);
    return endpoint;
  }
  const names = endpoints.map((one) => one.name);
  if (problems.length > 0)
    throw new Failure(
      [`there is no endpoint "${name}", and these handlers have problems:`, ...problems].join("\n  - "),
    );
  const near = nearest(name, names);
  const meant = near === undefined ? "" : `: did you mean ${near}?`;
  throw new UsageError(`there is no endpoint "${name}"${meant || "."} The endpoints are: ${names.join(", ")}`);
}

function failed({ name }: Endpoint, thrown: unknown): Failure {
  const error = toError(thrown);
  if (error instanceof HttpError && error.code !== "handler_failed")
    return new Failure(`${name}: over HTTP that is ${error.status}: ${error.message}`);
  const reason = error instanceof HttpError ? toError(error.cause) : error;
  // The stack is the person's own code, and the log of a Job is all they get to see.
  return new Failure(`${name} failed: ${reason.stack ?? reason.message}`);
}
