/** Which receiver or endpoint a command speaks to, and whether the secret goes along. */
import type { Config } from "../config.ts";
import { nearest } from "../nearest.ts";
import { Failure, UsageError } from "./exit.ts";
import { note } from "./output.ts";

/** What the local receiver says of an endpoint. */
interface EndpointEntry {
  name: string;
  path: string;
}

/** More than one endpoint, and none named. */
export class Undecided extends UsageError {
  readonly names: string[];

  constructor(names: string[]) {
    super(`the receiver has ${names.length} endpoints: say by --to which one is meant`);
    this.names = names;
  }
}

/**
 * `to` is a URL, or the name of an endpoint of the local receiver; left out, the receiver's only endpoint is meant.
 * @throws Undecided when it has several, UsageError for a wrong word, Failure when no receiver answers.
 */
export async function findTarget(to: string | undefined, server: Config["server"]): Promise<URL> {
  if (to !== undefined && /^https?:/i.test(to)) {
    if (!URL.canParse(to))
      throw new UsageError(`--to "${to}" is no address: write it as http://127.0.0.1:7860/webhooks/name`);
    return new URL(to);
  }
  const name = to?.replace(/^\/?(webhooks\/)?/, "");
  if (name !== undefined && !/^[\w.-]+$/.test(name))
    throw new UsageError(
      `--to "${to}": write the name of an endpoint, or an address that begins with http:// or https://`,
    );

  const receiver = localReceiver(server);
  const endpoints = await askEndpoints(receiver);
  const names = endpoints.map((endpoint) => endpoint.name);
  if (names.length === 0)
    throw new Failure(`the receiver on ${receiver} has no endpoint yet: write a handler, and start it again`);
  if (name === undefined && names.length > 1) throw new Undecided(names);

  const endpoint = name === undefined ? endpoints[0] : endpoints.find((one) => one.name === name);
  if (endpoint) return new URL(endpoint.path, receiver);
  const near = nearest(name ?? "", names);
  const meant = near === undefined ? "." : `: did you mean ${near}?`;
  throw new UsageError(`the receiver has no endpoint "${name}"${meant} Its endpoints are: ${names.join(", ")}`);
}

/** The receiver that the settings describe. */
export function localReceiver({ host, port }: Config["server"]): string {
  return `http://${openable(host)}:${port}`;
}

/** What is set in the environment is for this machine; elsewhere a secret goes only when it is asked for. */
export function secretFor(url: URL, given: string | undefined, secrets: readonly string[]): string | null {
  if (given !== undefined) {
    if (/^[\x21-\x7e]+$/.test(given)) return given;
    throw new UsageError("--secret: visible ASCII characters only, without spaces: it is sent in a header");
  }
  const [own] = secrets;
  if (own === undefined) return null;
  if (isLoopback(url.hostname)) return own;
  note(`WEBHOOK_SECRET was not sent, since ${url.hostname} is not this machine: use --secret to send one.`);
  return null;
}

/** The address without what may be secret in it. */
export function shown(url: URL): string {
  return `${url.origin}${url.pathname}${url.search && "?…"}`;
}

async function askEndpoints(receiver: string): Promise<EndpointEntry[]> {
  let response: Response;
  try {
    response = await fetch(`${receiver}/api/endpoints`, { redirect: "manual", signal: AbortSignal.timeout(5000) });
  } catch (error) {
    const advice = "is it running? Start it by `npm start`, set PORT to where it listens, or name an address by --to";
    throw new Failure(`no receiver answers on ${receiver}: ${advice}`, { cause: error });
  }
  const answer = (await response.json().catch(() => null)) as { endpoints?: unknown } | null;
  if (!response.ok || !Array.isArray(answer?.endpoints))
    throw new Failure(`what answers on ${receiver} is no hubhook receiver: set PORT to where yours listens`);
  return answer.endpoints.filter(isEntry);
}

function isEntry(value: unknown): value is EndpointEntry {
  const { name, path } = (value ?? {}) as Partial<EndpointEntry>;
  return typeof name === "string" && typeof path === "string" && /^\/(?!\/)/.test(path);
}

function openable(host: string): string {
  if (host === "0.0.0.0" || host === "localhost") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
