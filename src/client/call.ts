/** One call of a hub: request, redirects, answer within bounds, retries. */
import { setTimeout as wait } from "node:timers/promises";
import { HubError, type HubErrorKind } from "./hub-error.ts";
import { type Answer, readAnswer } from "./read-answer.ts";
import { waitBeforeRetry } from "./retry.ts";
import { networkSentence, refusalOf, refusalSentence, shown, withoutBytes } from "./sentences.ts";

export interface Connection {
  /** `https://huggingface.co`, without a slash at its end. */
  endpoint: string;
  token: string | null;
  fetch: typeof globalThis.fetch;
  timeoutMs: number;
  userAgent: string;
  /** Waits; rejects when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
  random(): number;
}

export interface Call {
  method: "GET" | "POST" | "DELETE";
  /** Begins with a slash. */
  path: string;
  query?: URLSearchParams;
  body?: object;
  /** What of the body no error may repeat. */
  secrets?: readonly string[];
  signal?: AbortSignal | undefined;
  /** More patience than usual, milliseconds. */
  extraMs?: number;
  /** Is the answer's body of no interest? */
  ignoreBody?: boolean;
}

const MAX_REDIRECTS = 3;
const FOUND: Record<Answer["kind"], string> = {
  json: "JSON",
  "web page": "a web page",
  nothing: "nothing",
  "no JSON": "something that is no JSON",
  "too large": "more than is read of an answer",
};

export async function defaultSleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await wait(ms, undefined, { signal });
}

/** The answer's JSON; undefined where the body is of no interest. @throws HubError */
export async function call(connection: Connection, asked: Call): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      return await new Exchange(connection, asked).run();
    } catch (error) {
      if (!(error instanceof HubError) || !mayPass(error)) throw error;
      const ms = waitBeforeRetry(error, tries, connection.random);
      if (ms === null) throw error;
      await connection.sleep(ms, asked.signal).catch((cause: unknown) => {
        const { method, url } = error;
        throw new HubError(`${method} ${url} was cancelled`, { kind: "aborted", method, url, cause });
      });
    }
  }
}

/** Not after a timeout: whoever has waited for so long is told. */
function mayPass({ kind }: HubError): boolean {
  return kind === "refused" || kind === "unreachable" || kind === "cut";
}

/** One try. */
class Exchange {
  readonly #connection: Connection;
  readonly #call: Call;
  readonly #patienceMs: number;
  readonly #timer: AbortSignal;
  #url: URL;

  constructor(connection: Connection, asked: Call) {
    this.#connection = connection;
    this.#call = asked;
    this.#patienceMs = connection.timeoutMs + (asked.extraMs ?? 0);
    this.#timer = AbortSignal.timeout(this.#patienceMs);
    this.#url = new URL(`${connection.endpoint}${asked.path}`);
    if (asked.query) this.#url.search = asked.query.toString();
  }

  async run(): Promise<unknown> {
    const response = await this.#send();
    const answer = await readAnswer(response).catch((cause: unknown) => {
      throw this.#broken(cause, "cut", () => `the answer to ${this.#name} was cut before its end`);
    });
    if (!response.ok) throw this.#refused(response, answer);
    if (this.#call.ignoreBody) return undefined;
    if (answer.json !== undefined) return answer.json;
    const what = FOUND[answer.kind];
    const message = `${this.#name} was answered ${response.status} with ${what}: is ${this.#connection.endpoint} a hub?`;
    throw this.#error("not-understood", message, { status: response.status });
  }

  /** The answer's head, at the end of all redirects that may be followed. */
  async #send(): Promise<Response> {
    for (let redirects = 0; ; redirects++) {
      const response = await this.#fetch();
      if (response.status < 300 || response.status > 399) return response;
      await response.body?.cancel().catch(() => {});
      const target = URL.parse(response.headers.get("location") ?? "", this.#url.href);
      const stays = target?.origin === this.#url.origin;
      if (!target || !stays || this.#call.method !== "GET" || redirects >= MAX_REDIRECTS) {
        const whither = target ? ` to ${shown(target)}` : "";
        const why = !target || stays ? "which is not followed" : "where the token must not go";
        const message = `${this.#name} is redirected${whither}, ${why}`;
        throw this.#error("redirected", message, { status: response.status });
      }
      this.#url = target;
    }
  }

  async #fetch(): Promise<Response> {
    const { token, userAgent, fetch } = this.#connection;
    const { method, body, signal } = this.#call;
    const headers: Record<string, string> = { accept: "application/json", "user-agent": userAgent };
    if (token !== null) headers.authorization = `Bearer ${token}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    try {
      return await fetch(this.#url.href, {
        method,
        headers,
        signal: signal ? AbortSignal.any([signal, this.#timer]) : this.#timer,
        // The token is for this origin only; what may be followed is followed above.
        redirect: "manual",
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    } catch (cause) {
      const sentence = () => `${this.#url.origin} cannot be reached: ${networkSentence(cause)}`;
      throw this.#broken(cause, "unreachable", sentence);
    }
  }

  #refused(response: Response, answer: Answer): HubError {
    const { token } = this.#connection;
    const secrets = [...(token === null ? [] : [token]), ...(this.#call.secrets ?? [])];
    const refusal = refusalOf(response, answer, secrets);
    const sentence = refusalSentence(refusal, response.statusText, answer.kind === "web page");
    return this.#error("refused", `${this.#name} was answered ${sentence}`, refusal);
  }

  /** Cancelled, out of time, or whatever else broke the connection. */
  #broken(cause: unknown, otherwise: HubErrorKind, sentence: () => string): HubError {
    if (this.#call.signal?.aborted) return this.#error("aborted", `${this.#name} was cancelled`, { cause });
    if (!this.#timer.aborted) return this.#error(otherwise, sentence(), { cause: withoutBytes(cause) });
    return this.#error("timeout", `${this.#name} was not answered within ${this.#patienceMs / 1000} s`, { cause });
  }

  get #name(): string {
    return `${this.#call.method} ${shown(this.#url)}`;
  }

  #error(kind: HubErrorKind, message: string, more: object): HubError {
    return new HubError(message, { kind, method: this.#call.method, url: shown(this.#url), ...more });
  }
}
