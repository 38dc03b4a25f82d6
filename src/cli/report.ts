/** What `hubhook trigger` says of what it sent. Anything but 2xx is a failure, as it is to the Hub. */
import { STATUS_CODES } from "node:http";
import { Failure } from "./exit.ts";
import { type Format, harmless, paint, print, printJson } from "./output.ts";
import type { Sent } from "./send.ts";
import { shown } from "./target.ts";

interface Delivered {
  event: string;
  url: URL;
  format: Format;
}

/** Prints one delivery. @throws Failure when it did not succeed. */
export function reportOne(sent: Sent, { event, url, format }: Delivered): void {
  const { deliveryId, answer, trouble } = sent;
  const ms = rounded(sent.ms);
  if (format === "json") {
    const reply = answer && (answer.cut ? answer.text : jsonOrText(answer.text));
    printJson({
      event,
      to: shown(url),
      deliveryId,
      status: answer?.status ?? null,
      ms,
      reply,
      error: trouble?.code ?? null,
    });
  } else if (answer) {
    const status = `${answer.status} ${answer.statusText || (STATUS_CODES[answer.status] ?? "")}`.trim();
    print(`${paint(succeeded(sent) ? "green" : "red", harmless(status))} in ${ms} ms from ${shown(url)}`);
    if (answer.text) print(harmless(answer.text.trimEnd()));
    if (answer.cut) print(paint("gray", "… the rest of the reply was not read"));
  }
  if (!succeeded(sent)) throw new Failure(whatNow(sent, url));
}

/** Prints many deliveries in sum. @throws Failure when one did not succeed. */
export function reportMany(all: Sent[], { event, url, format }: Delivered): void {
  const outcomes = Map.groupBy(all, ({ answer, trouble }) => (answer ? `${answer.status}` : (trouble?.code ?? "")));
  const counts = [...outcomes].map(([outcome, group]) => [outcome, group.length] as const);
  const times = all.map(({ ms }) => ms).sort((a, b) => a - b);
  const ms = { median: rounded(percentile(times, 50)), p99: rounded(percentile(times, 99)) };
  if (format === "json")
    printJson({ event, to: shown(url), count: all.length, outcomes: Object.fromEntries(counts), ms });
  else {
    for (const [outcome, count] of counts)
      print(`${paint(outcome.startsWith("2") ? "green" : "red", outcome)} × ${count}`);
    print(`median ${ms.median} ms, p99 ${ms.p99} ms from ${shown(url)}`);
  }
  const failed = all.filter((sent) => !succeeded(sent));
  if (failed[0])
    throw new Failure(`${failed.length} of ${all.length} deliveries failed; the first: ${whatNow(failed[0], url)}`);
}

function succeeded({ answer }: Sent): boolean {
  return answer !== null && answer.status >= 200 && answer.status < 300;
}

function whatNow({ answer, trouble }: Sent, url: URL): string {
  const to = shown(url);
  if (trouble?.code === "ECONNREFUSED")
    return `nothing listens on ${url.host}: is it running? Start it by \`npm start\``;
  if (answer === null) return `${to}: ${trouble?.message}`;
  const { status, location } = answer;
  if (status >= 300 && status < 400) {
    const whither = location === null ? "" : ` to ${harmless(location)}`;
    return `${to} redirects${whither}, and the Hub does not follow: name the address where it ends`;
  }
  const said = `${to} answered ${status}`;
  if (status === 401) return `${said}: it wants a secret, so set WEBHOOK_SECRET or use --secret`;
  if (status === 403) return `${said}: it has another secret than the one that was sent`;
  if (status === 404) return `${said}: there is no such endpoint; a receiver lists its own on /api/endpoints`;
  return `${said}: to the Hub that is a failed delivery, which it tries again`;
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The value that so many percent do not exceed. */
function percentile(sorted: number[], percent: number): number {
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
