/** The receiver's own API, as the inspector asks it. */

/** A Space that wakes up holds a request for a while; longer than this is no answer. */
const PATIENCE_MS = 20_000;

/** `status` 0: no answer at all. */
export class ApiError extends Error {
  constructor(status, { error, code, retryAfter } = {}) {
    super(error ?? `it answered with status ${status}`);
    this.status = status;
    this.code = code ?? "";
    /** Seconds. */
    this.retryAfter = retryAfter;
  }
}

/**
 * The JSON of the answer, null where there is none.
 * @param {string} path relative to the page
 * @param {{ method?: string, query?: object, body?: object, patient?: boolean, signal?: AbortSignal }} options
 *   `patient`: wait for however long it takes
 * @throws ApiError, and whatever aborting `signal` throws
 */
export async function ask(path, { method = "GET", query = {}, body, patient = false, signal } = {}) {
  const words = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== undefined));
  const signals = [signal, patient ? null : AbortSignal.timeout(PATIENCE_MS)].filter(Boolean);
  let response;
  let text;
  try {
    response = await fetch(words.size ? `${path}?${words}` : path, {
      method,
      cache: "no-store",
      signal: AbortSignal.any(signals),
      ...(body && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { error: error.name === "TimeoutError" ? "no answer in time" : "the connection failed" });
  }
  const answer = parsed(text);
  if (response.ok && (answer || !text)) return answer;
  const retryAfter = Number(response.headers.get("Retry-After")) || undefined;
  throw new ApiError(response.status, { ...(answer ?? { error: "what answers is no hubhook receiver" }), retryAfter });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
