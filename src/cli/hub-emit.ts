/** `hubhook hub emit`: lets an event happen on a running hub. The hub completes it, matches and delivers. */
import type { Command } from "commander";
import { loadConfig } from "../config.ts";
import { toError } from "../errors.ts";
import { assign } from "./assign.ts";
import { Failure, UsageError } from "./exit.ts";
import { type Format, formatOption, harmless, print, printJson } from "./output.ts";
import { checkEventName, repoOption, type SampleOptions, sampleOptions } from "./sample.ts";

interface EmitOptions extends SampleOptions {
  hub?: string;
  token?: string;
  format: Format;
}

const EXAMPLES = `
The hub fills in what is not said, so that it agrees with what happened to the repo before.

Examples:
  $ hubhook hub emit repo.content:update --repo dataset:me/data
  $ hubhook hub emit repo:move --repo model:me/old --set movedTo.name=me/new
  $ hubhook hub emit discussion:create --set discussion.title="How was this made?"
  $ hubhook hub emit repo:create --hub http://127.0.0.1:8000 --token hf_alice`;

export function defineEmit(command: Command): void {
  command.description("Let an event happen on a hub.").argument("<scope:action>", "the event, as repo.content:update");
  sampleOptions(command)
    .option("--hub <address>", "the hub (default: HUB_PUBLIC_URL, else this machine's at HUB_PORT)")
    .option("--token <token>", "token of a user of that hub (default: the first of HUB_TOKEN and HUB_TOKENS)")
    .addOption(formatOption())
    .helpOption("-h, --help", "print help")
    .addHelpText("after", EXAMPLES)
    .action(emit);
}

async function emit(name: string, options: EmitOptions): Promise<void> {
  const { embeddedHub } = loadConfig();
  checkEventName(name);
  const [scope = "", action = ""] = name.split(":");
  const repo = repoOption(options.repo) ?? { type: "model", name: "me/my-model" };
  const event: Record<string, unknown> = { event: { scope, action }, repo: { ...repo } };
  for (const assignment of options.set) assign(event, assignment);
  const hub = (options.hub ?? embeddedHub.publicUrl ?? `http://127.0.0.1:${embeddedHub.port}`).replace(/\/+$/, "");
  if (!/^https?:$/.test(URL.parse(hub)?.protocol ?? ""))
    throw new UsageError(`--hub "${harmless(hub)}": write a whole address, as http://127.0.0.1:7861`);
  // A hub without tokens wants to see some all the same: a web page could not send one.
  const token = options.token ?? embeddedHub.tokens[0]?.token ?? "any";
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new UsageError("--token: use visible ASCII characters only, without spaces: it is sent in a header");
  const { deliveries, overQuota, ...rest } = await post(hub, token, event);
  if (options.format === "json") return printJson({ deliveries, overQuota, ...rest });
  print(`${name} of ${repo.type}:${harmless(repo.name)} goes to ${deliveries} webhook${deliveries === 1 ? "" : "s"}`);
  if (overQuota > 0) print(`${overQuota} more would get it, but have used up their quota of today`);
}

/** A hub answers when the event is on the disk. */
const PATIENCE_MS = 30_000;

interface Published {
  id: string;
  deliveries: number;
  overQuota: number;
  payload: unknown;
}

async function post(hub: string, token: string, event: unknown): Promise<Published> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  let response: Response;
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    response = await fetch(`${hub}/api/hub/events`, { method: "POST", headers, body: JSON.stringify(event), signal });
  } catch (error) {
    if (toError(error).name === "TimeoutError")
      throw new Failure(`${hub} did not answer within ${PATIENCE_MS / 1000} s: see what its log says`);
    throw new Failure(`no hub answers at ${hub}: start one by \`hubhook hub\`, or name another with --hub`, {
      cause: error,
    });
  }
  const body = (await response.json().catch(() => ({}))) as Published & { error?: string };
  if (!response.ok)
    throw new Failure(harmless(body.error ?? `${hub} answered ${response.status}: is it a hub of hubhook?`));
  return body;
}
