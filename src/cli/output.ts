/**
 * What the command line says, and the only place that writes to standard output: results there, so that they can be
 * piped; sentences for the person to standard error.
 */
import { Console } from "node:console";
import { styleText } from "node:util";
import { Option } from "commander";

export type Format = "text" | "json";

export function formatOption(): Option {
  return new Option("--format <format>", "for people or for programs").choices(["text", "json"]).default("text");
}

export type ListFormat = "table" | "json" | "quiet";

export function listFormatOption(): Option {
  return new Option("--format <format>", "for people, for programs, or ids only")
    .choices(["table", "json", "quiet"])
    .default("table");
}

type Style = Parameters<typeof styleText>[0];

/** Whoever read our output may have had enough (`| head`): no reason to fail, nor to say so. */
const gone = new Set<NodeJS.WriteStream>();
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    gone.add(stream);
  });

function write(stream: NodeJS.WriteStream, text: string | Uint8Array): void {
  if (!gone.has(stream)) stream.write(text);
}

/** A line of the result. */
export function print(line: string): void {
  write(process.stdout, `${line}\n`);
}

/** A result that is a file: byte for byte, with no line end of ours. */
export function printBytes(bytes: Uint8Array): void {
  write(process.stdout, bytes);
}

/** A result as JSON: over several lines for people, one line for programs. */
export function printJson(value: unknown, format: Format = "json"): void {
  print(JSON.stringify(value, null, format === "text" ? 2 : 0).replace(UNSEEN, escaped));
}

/** What JSON leaves as it is, and a terminal may obey. Spelt out it is the same JSON. */
const UNSEEN = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A sentence for the person, beside the result. */
export function note(sentence: string): void {
  write(process.stderr, `${sentence}\n`);
}

/** How far something long has come, on a terminal only: each takes the place of the one before, null of the last. */
export function noteProgress(text: string | null): void {
  if (process.stderr.isTTY) write(process.stderr, `\r\u001b[K${text ?? ""}`);
}

export function noteError(sentence: string): void {
  note(`${styleText("red", "hubhook:", { stream: process.stderr })} ${sentence}`);
}

/** Coloured on a terminal only, and not where NO_COLOR is set. */
export function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/**
 * Words from elsewhere must not steer the terminal, nor be read in another order than they have: control characters
 * and marks of direction are dropped, line ends and tabs stay.
 */
export function harmless(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "");
}

/** Columns of the terminal; in a pipe there is no end to a line. */
export function lineWidth(): number {
  // A terminal that nobody has given a size says 0, or nothing.
  return process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
}

/** Can a person answer a question here? */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks beside the result, and resolves to whether the answer was yes. Ctrl-C and the end of the input say no. */
export async function confirm(question: string): Promise<boolean> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const closed = new Promise<null>((resolve) => lines.once("close", () => resolve(null)));
    const answer = await Promise.race([lines.question(`${question} [y/N] `), closed]);
    // Then nobody has ended the question's line either.
    if (answer === null) note("");
    return answer !== null && /^\s*y(es)?\s*$/i.test(answer);
  } finally {
    lines.close();
  }
}

/**
 * Asks for a secret beside the result, and shows nothing of what is typed. null: Ctrl-C, the end of the input, or
 * nothing was typed.
 */
export async function askSecret(question: string): Promise<string | null> {
  const [{ createInterface }, { Writable }] = await Promise.all([
    import("node:readline/promises"),
    import("node:stream"),
  ]);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  write(process.stderr, `${question} `);
  try {
    const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    return (await Promise.race([lines.question(""), closed])) || null;
  } finally {
    lines.close();
    note("");
  }
}

/** Far more than any secret has: what is longer is another file than was meant, and need not be read to its end. */
const MOST_INPUT = 100_000;

/** Standard input, without the line end that an editor or `echo` leaves; cut where it is longer than any secret. */
export async function readInput(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += chunk as string;
    if (text.length > MOST_INPUT) break;
  }
  return text.replace(/\r?\n$/, "");
}

/** What a person's code logs goes beside the result, not into it. */
export function keepConsoleOffResult(): void {
  globalThis.console = new Console(process.stderr, process.stderr);
}

/** Resolves when everything said so far has left the process. */
export async function flushed(): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    if (!gone.has(stream)) await new Promise<void>((resolve) => stream.write("", () => resolve()));
}
