/** `hubhook hub`: a hub on this machine, and `hubhook hub emit`: an event on it. */
import { type Command, InvalidArgumentError } from "commander";
import { loadConfig } from "../config.ts";
import { toError } from "../errors.ts";
import { createLogger } from "../logger.ts";
import { UsageError } from "./exit.ts";
import { defineEmit } from "./hub-emit.ts";
import { note, print } from "./output.ts";
import { version } from "./program.ts";
import { stay } from "./stay.ts";

interface HubOptions {
  port?: string;
  host?: string;
  data?: string;
  jobs?: true;
  chaos?: string;
}

const EXAMPLES = `
Everything lies in hub.sqlite in the data folder. No account, no network.
Options win over the environment (HUB_PORT, HUB_TOKEN, …), which wins over .env.

Examples:
  $ hubhook hub
  $ export HF_ENDPOINT=http://127.0.0.1:7861
  $ hubhook webhooks create --url http://127.0.0.1:7860/webhooks/x --watch user:me
  $ hubhook hub emit repo.content:update --repo dataset:me/data
  $ hubhook hub --chaos duplicate=0.1,reorder=0.2,delay=2s,drop=0.05,cut=0.01,seed=7`;

export function define(command: Command): void {
  command
    .option("-p, --port <number>", "port to listen on; 0 takes any free one (HUB_PORT)", portNumber)
    .option("--host <address>", "address to listen on; beyond this machine only with a token (HUB_HOST)")
    .option("--data <folder>", "folder of hub.sqlite (DATA_DIR)")
    .option("--jobs", "run Jobs as commands on this machine (HUB_JOBS=process)")
    .option("--chaos <faults>", "deliveries go wrong on purpose: shares of duplicate, reorder, drop, cut; delay; seed")
    .addHelpText("after", EXAMPLES)
    .action(start);
  defineEmit(command.command("emit").summary("let an event happen on a hub"));
}

async function start(options: HubOptions): Promise<void> {
  const overrides = {
    HUB_PORT: options.port,
    HUB_HOST: options.host,
    DATA_DIR: options.data,
    HUB_JOBS: options.jobs && "process",
  };
  const config = loadConfig(undefined, overrides);
  const { embeddedHub, deliveries, server } = config;
  const { tokens, jobPath, ...settings } = embeddedHub;
  const { dataDir, scheduleMs, backlog, retention } = deliveries;
  const { startHub, parseChaos } = await import("../hub/hub.ts");
  const chaos = options.chaos?.trim() || null;
  try {
    if (chaos !== null) parseChaos(chaos);
  } catch (error) {
    throw new UsageError(`--${toError(error).message}`);
  }
  const hub = await startHub({
    dataDir,
    settings: {
      ...settings,
      users: tokens.map(({ user, token }) => ({ name: user, token })),
      chaos,
      scheduleMs,
      backlog,
      retention,
      shutdownGraceMs: server.shutdownGraceMs,
    },
    log: createLogger(config.log),
    version,
    path: jobPath,
  });
  stay(hub);
  print(`The hub is up: HF_ENDPOINT=${hub.url}`);
  note(`Webhooks in a browser: ${hub.url}/settings/webhooks`);
  for (const notice of hub.notices) note(notice);
}

function portNumber(text: string): string {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError("Write a number from 0 to 65535.");
  return text;
}
