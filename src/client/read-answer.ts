/** The body of an answer, as far as it is read. */

/** Far above what any list of webhooks needs; activity with its payloads is the largest answer there is. */
const MAX_BYTES = 32_000_000;

export interface Answer {
  /** undefined: it is no JSON. */
  json?: unknown;
  /** Otherwise: what it was in place of JSON. A web page is what proxies and error pages send. */
  kind: "json" | "web page" | "nothing" | "no JSON" | "too large";
}

/** Reads the body to its end or its bound. Rejects when the connection breaks. */
export async function readAnswer(response: Response): Promise<Answer> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  // Leaving the loop cancels the rest.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) return { kind: "too large" };
    text += decoder.decode(chunk, { stream: true });
  }
  text += decoder.decode();
  try {
    return { json: JSON.parse(text) as unknown, kind: "json" };
  } catch {
    if (text.trim() === "") return { kind: "nothing" };
    return { kind: isPage(text) || /\bhtml\b/i.test(typeOf(response)) ? "web page" : "no JSON" };
  }
}

function isPage(text: string): boolean {
  return /^\s*<(?:!doctype|html|head|body)\b/i.test(text);
}

function typeOf({ headers }: Response): string {
  return headers.get("content-type") ?? "";
}
