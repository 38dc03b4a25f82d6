/**
 * Reads a catalog file from this machine or over HTTP. Somebody else may have named the URL: only public addresses are
 * asked, time and size have an end, and the token goes to the hub's origin alone.
 */
import { open } from "node:fs/promises";
import { Agent, type Dispatcher } from "undici";
import { StartError } from "../errors.ts";
import { ForbiddenTarget, guardedConnector, type Lookup } from "../http/address-guard.ts";
import { reasonOf } from "./file-errors.ts";
import { MAX_BYTES } from "./rules.ts";

const MAX_REDIRECTS = 5;
const CONNECT_TIMEOUT_MS = 10_000;
/** For everything, redirects too. Longer: a server that drips holds us; shorter: a large file over a slow line fails. */
const TIMEOUT_MS = 60_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The catalog could not be read. The message is a sentence and holds no token. */
export class CatalogUnreadable extends Error {
  override readonly name = "CatalogUnreadable";
}

export interface ReadOptions {
  /** The hub: its origin is always allowed, and only there goes the token. */
  endpoint: string;
  token: string | null;
  /** Beside public addresses: CIDR ranges, addresses and host names. */
  allowTargets: readonly string[];
  signal?: AbortSignal;
  /** Of all that is done for one URL: 60 s if nothing is said. */
  timeoutMs?: number;
  /** 256 MB if nothing is said. */
  maxBytes?: number;
  /** Who looks up names. */
  lookup?: Lookup;
}

export function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

/**
 * The bytes of a file or of what a URL leads to.
 * @throws CatalogUnreadable; StartError when `allowTargets` is not understood
 */
export async function readCatalogBytes(source: string, options: ReadOptions): Promise<Uint8Array> {
  const read = await readIfChanged(source, options, null);
  if (!read) throw new CatalogUnreadable(`${shown(parsed(source))} answered 304 though nothing was known of it`);
  return read.bytes;
}

/**
 * The same for whoever looks again and again.
 * @param tag what came with the bytes that are known (an `ETag`); null: none are, or nothing came with them
 * @returns null: it is still what is known
 * @throws CatalogUnreadable; StartError when `allowTargets` is not understood
 */
export async function readIfChanged(
  source: string,
  options: ReadOptions,
  tag: string | null,
): Promise<{ bytes: Uint8Array; tag: string | null } | null> {
  return isUrl(source) ? readUrl(source, options, tag) : { bytes: await readFile(source, options), tag: null };
}

async function readFile(path: string, { signal, maxBytes }: ReadOptions): Promise<Uint8Array> {
  try {
    await using file = await open(path);
    // Its size is not asked: a device or a pipe has none that is true.
    const stream = file.createReadStream({ autoClose: false, ...(signal && { signal }) });
    // Called off before it is read, it fails while nobody listens yet.
    stream.on("error", () => {});
    return await collect(stream, path, maxBytes);
  } catch (error) {
    if (error instanceof CatalogUnreadable) throw error;
    const why = reasonOf(error) ?? (error as Error).message;
    throw new CatalogUnreadable(`${path} cannot be read: ${why}`, { cause: error });
  }
}

/** @throws CatalogUnreadable when there is more than a catalog may have */
export async function collect(
  stream: AsyncIterable<Uint8Array>,
  name: string,
  maxBytes = MAX_BYTES,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    // Leaving the loop ends the stream, and whatever would still come.
    if (size > maxBytes) throw tooLarge(name, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(name: string, maxBytes: number): CatalogUnreadable {
  return new CatalogUnreadable(`${name} is larger than the ${maxBytes / 1e6} MB that are read`);
}

async function readUrl(source: string, options: ReadOptions, tag: string | null) {
  const { endpoint, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = options;
  const late = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([late, options.signal]) : late;
  const hub = new URL(endpoint).origin;
  let url = parsed(source);
  const agents = new Agents(hub, options);
  try {
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const response = await agents.get(url, { signal, token: url.origin === hub ? options.token : null, tag });
      const next = redirectOf(response, url);
      if (!next) return response.statusCode === 304 ? null : await answerOf(response, url, maxBytes);
      await response.body.dump({ limit: 1024 }).catch(() => {});
      url = next;
    }
    throw new CatalogUnreadable(`${shown(parsed(source))} redirects more than ${MAX_REDIRECTS} times`);
  } catch (error) {
    if (error instanceof CatalogUnreadable || error instanceof StartError) throw error;
    const ended = options.signal?.aborted
      ? "it was cancelled"
      : late.aborted && `it took longer than ${timeoutMs / 1000} s`;
    const problem = ended || sentence(error);
    throw new CatalogUnreadable(`${shown(url)} cannot be read: ${problem}`, { cause: error });
  } finally {
    await agents.close();
  }
}

interface Ask {
  signal: AbortSignal;
  token: string | null;
  tag: string | null;
}

/** One for the hub itself, wherever it is, and one for everybody else. */
class Agents {
  readonly #hub: string;
  readonly #own: Agent;
  readonly #others: Agent;

  constructor(hub: string, { allowTargets, lookup }: ReadOptions) {
    const agent = (allow: readonly string[], loopback: boolean) => {
      const guard = { allow, loopback, setting: "CATALOG_ALLOW_TARGETS", connectTimeoutMs: CONNECT_TIMEOUT_MS, lookup };
      return new Agent({ connect: guardedConnector(guard) });
    };
    this.#hub = hub;
    const { hostname } = new URL(hub);
    this.#own = agent([hostname.replace(/^\[(.*)\]$/, "$1")], true);
    this.#others = agent(allowTargets, false);
  }

  get({ origin, pathname, search }: URL, { signal, token, tag }: Ask) {
    const agent = origin === this.#hub ? this.#own : this.#others;
    // Nothing compressed: what is asked for so comes as it is, and a small answer cannot become a huge one.
    const headers = {
      accept: "application/json, */*;q=0.5",
      "accept-encoding": "identity",
      "user-agent": "hubhook",
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(tag !== null && { "if-none-match": tag }),
    };
    return agent.request({ origin, path: pathname + search, method: "GET", headers, signal });
  }

  async close(): Promise<void> {
    await Promise.all([this.#own.destroy(), this.#others.destroy()]);
  }
}

function redirectOf({ statusCode, headers }: Dispatcher.ResponseData, from: URL): URL | null {
  if (!REDIRECTS.has(statusCode)) return null;
  const { location } = headers;
  if (typeof location !== "string" || !URL.canParse(location, from.href))
    throw new CatalogUnreadable(`${shown(from)} redirects to no address`);
  const next = new URL(location, from);
  if (next.protocol !== "http:" && next.protocol !== "https:")
    throw new CatalogUnreadable(`${shown(from)} redirects to ${next.protocol} which is not asked`);
  return next;
}

async function answerOf(response: Dispatcher.ResponseData, url: URL, maxBytes: number) {
  const { etag } = response.headers;
  return { bytes: await bodyOf(response, url, maxBytes), tag: typeof etag === "string" ? etag : null };
}

async function bodyOf(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  url: URL,
  maxBytes: number,
): Promise<Uint8Array> {
  const refuse = (problem: string) => {
    body.on("error", () => {}).destroy();
    return new CatalogUnreadable(`${shown(url)} ${problem}`);
  };
  if (statusCode !== 200) throw refuse(`answered ${statusCode}${ADVICE[statusCode] ?? ""}`);
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity")
    throw refuse(`is compressed (${encoding}) though that was not asked for`);
  if (Number(headers["content-length"]) > maxBytes) {
    body.on("error", () => {}).destroy();
    throw tooLarge(shown(url), maxBytes);
  }
  return collect(body as AsyncIterable<Uint8Array>, shown(url), maxBytes);
}

const ADVICE: Record<number, string> = {
  401: ": it wants a token. HF_TOKEN is sent to the hub (HF_ENDPOINT) only",
  403: ": it may not be read with this token",
  404: ": there is no such file",
};

function parsed(source: string): URL {
  if (URL.canParse(source)) return new URL(source);
  throw new CatalogUnreadable(`"${source}" is no address: write it as https://example.org/catalog.json`);
}

/** How a file or a URL is named to people. */
export function nameOf(source: string): string {
  return isUrl(source) && URL.canParse(source) ? shown(new URL(source)) : source;
}

/** Without what may be secret in it. */
function shown({ origin, pathname, search }: URL): string {
  return `${origin}${pathname}${search && "?…"}`;
}

const SENTENCES: Record<string, string> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was cut before all had come",
  UND_ERR_SOCKET: "the connection was cut before all had come",
  UND_ERR_CONNECT_TIMEOUT: "it could not be reached in time",
  UND_ERR_HEADERS_TIMEOUT: "it took too long to answer",
  UND_ERR_BODY_TIMEOUT: "it stopped in the middle",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "less came than was announced",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host's name cannot be looked up now",
};

function sentence(thrown: unknown): string {
  const error = thrown as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
  if (error instanceof ForbiddenTarget) return error.message;
  const one = error.errors?.[0] ?? error;
  return SENTENCES[one.code ?? one.name] ?? `${one.message}${one.code ? ` (${one.code})` : ""}`;
}
