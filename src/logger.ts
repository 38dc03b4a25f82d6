/**
 * The log goes to standard error: coloured lines on a terminal, one JSON object a line elsewhere.
 * What a person who starts the process should read goes to standard output by `announce`.
 */
import { styleText } from "node:util";
import winston from "winston";

export type Logger = winston.Logger;

interface LogOptions {
  level: string;
  /** null: `pretty` on a terminal, else `json`. */
  format: "pretty" | "json" | null;
  /** Where the lines go; standard error when left out. */
  stream?: NodeJS.WritableStream;
}

export function createLogger({ level, format, stream = process.stderr }: LogOptions): Logger {
  const terminal = "isTTY" in stream && stream.isTTY === true;
  const write = (format ?? (terminal ? "pretty" : "json")) === "json" ? jsonLine : terminal ? prettyLine : plainLine;
  return winston.createLogger({
    level,
    // Our own line instead of a chain of winston's formats: the chain costs more than all the rest of a request.
    format: { transform: write },
    transports: [new winston.transports.Stream({ stream, eol: "\n" })],
    exitOnError: false,
  });
}

/** For libraries and tests that want none. */
export function createSilentLogger(): Logger {
  return winston.createLogger({ silent: true, transports: [new winston.transports.Console()] });
}

/** One line for the person who started the process. */
export function announce(line: string): void {
  process.stdout.write(`${line}\n`);
}

type Info = winston.Logform.TransformableInfo;
const MESSAGE = Symbol.for("message");

function jsonLine(info: Info): Info {
  const { level, message, ...rest } = info;
  try {
    info[MESSAGE] = JSON.stringify({ time: now(), level, message, ...rest }, plainErrors);
  } catch (error) {
    info[MESSAGE] = JSON.stringify({ time: now(), level, message, unloggable: String(error) });
  }
  return info;
}

const plainErrors = (_key: string, value: unknown) =>
  value instanceof Error ? { name: value.name, message: value.message, stack: value.stack } : value;

const COLOURS = { error: "red", warn: "yellow", info: "cyan", debug: "gray" } as const;

// Words of a payload may hold line breaks or escape codes, which must not reach a terminal as such.
const PLAIN = /^[\x21-\x7e]+$/;

const plainLine = (info: Info) => line(info, false);
const prettyLine = (info: Info) => line(info, true);

function line(info: Info, colours: boolean): Info {
  const { level, message, error, ...rest } = info;
  const name = level.padEnd(5);
  const fields = Object.entries(rest)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === "string" && PLAIN.test(value) ? value : safeJson(value)}`)
    .join(" ");
  const detail =
    error instanceof Error ? `\n${error.stack ?? error.message}` : error === undefined ? "" : ` ${safeJson(error)}`;
  const paint = (colour: Parameters<typeof styleText>[0], text: string) =>
    colours && text ? styleText(colour, text) : text;
  const tail = fields && ` ${paint("gray", fields)}`;
  info[MESSAGE] =
    `${paint("gray", now().slice(11, 23))} ${paint(COLOURS[level as keyof typeof COLOURS] ?? "white", name)} ${message}${tail}${detail}`;
  return info;
}

function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

// A date is written once a millisecond, however many lines that millisecond brings.
let stamp = { at: 0, text: "" };
function now(): string {
  const at = Date.now();
  if (at !== stamp.at) stamp = { at, text: new Date(at).toISOString() };
  return stamp.text;
}
