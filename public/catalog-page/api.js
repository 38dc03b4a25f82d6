/** The receiver's catalog, as the page asks for it. */

/** A Space that wakes up holds a request for a while; longer than this is no answer. */
const PATIENCE_MS = 20_000;

/** `status` 0: no answer at all. */
export class ApiError extends Error {
  constructor(status, { error, code, issues } = {}) {
    super(error ?? `it answered with status ${status}`);
    this.status = status;
    this.code = code ?? "";
    this.issues = issues ?? [];
  }
}

/**
 * The answer, with the `tag` of the catalog's version that it was made from.
 * @param {string} path relative to the page
 * @param {{ query?: URLSearchParams, signal?: AbortSignal }} options
 * @throws ApiError, and whatever aborting `signal` throws
 */
export async function ask(path, { query, signal } = {}) {
  const signals = [signal, AbortSignal.timeout(PATIENCE_MS)].filter(Boolean);
  let response;
  let text;
  try {
    response = await fetch(query?.size ? `${path}?${query}` : path, { signal: AbortSignal.any(signals) });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { error: error.name === "TimeoutError" ? "no answer in time" : "the connection failed" });
  }
  const answer = parsed(text);
  if (response.ok && answer) return { ...answer, tag: response.headers.get("ETag") ?? "" };
  throw new ApiError(response.status, answer ?? { error: "what answers is no hubhook receiver" });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
