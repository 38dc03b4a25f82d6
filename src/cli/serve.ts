/** `hubhook serve`: the same start as `npm start`, its settings as options. */
import { type Command, InvalidArgumentError } from "commander";
import type { Env } from "../config.ts";

interface ServeOptions {
  port?: string;
  host?: string;
  handlers?: string;
  public?: string;
}

const EXAMPLES = `
Options win over the environment, which wins over .env.

Examples:
  $ hubhook serve
  $ hubhook serve --port 8080 --handlers examples
  $ WEBHOOK_SECRET=s3cret hubhook serve --host 0.0.0.0`;

export function define(command: Command): void {
  command
    .option("-p, --port <number>", "port to listen on; 0 takes any free one (PORT)", portNumber)
    .option("--host <address>", "address to listen on (HOST)")
    .option("--handlers <folder>", "folder of the handlers (HANDLERS_DIR)")
    .option("--public <folder>", "folder of the landing page (PUBLIC_DIR)")
    .addHelpText("after", EXAMPLES)
    .action(serve);
}

async function serve(options: ServeOptions): Promise<void> {
  const overrides: Env = {
    PORT: options.port,
    HOST: options.host,
    HANDLERS_DIR: options.handlers,
    PUBLIC_DIR: options.public,
  };
  const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined));
  const { main } = await import("../index.ts");
  await main(given);
}

function portNumber(text: string): string {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError("Write a number from 0 to 65535.");
  return text;
}
