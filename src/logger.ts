/**
 * The log goes to standard error: coloured lines on a terminal, one JSON object a line elsewhere.
 * What a person who starts the process should read goes to standard output by `announce`.
 */
import { createRequire } from "node:module";
import { styleText } from "node:util";
import type winston from "winston";
import { isError } from "./errors.ts";

/** From the gravest on. */
const LEVELS = ["error", "warn", "info", "debug"] as const;
type Level = (typeof LEVELS)[number];
type Write = (message: string, fields?: object) => void;

export interface Logger extends Record<Level, Write> {
  log(level: Level, message: string, fields?: object): void;
  /** For callers who would otherwise gather the fields of a line for nothing. */
  isInfoEnabled(): boolean;
}

interface LogOptions {
  level: Level;
  /** null: `pretty` on a terminal, else `json`. */
  format: "pretty" | "json" | null;
  /** Where the lines go; standard error when left out. */
  stream?: NodeJS.WritableStream;
}

export function createLogger(options: LogOptions): Logger {
  const enabled = (level: Level) => LEVELS.indexOf(level) <= LEVELS.indexOf(options.level);
  // winston is loaded by the first line: a receiver that has nothing to say at its start is up that much sooner.
  let made: winston.Logger | undefined;
  const log = (level: Level, message: string, fields?: object) => {
    if (!enabled(level)) return;
    made ??= makeWinston(options);
    made.log(level, message, fields);
  };
  return loggerOf(log, enabled("info"));
}

/** For libraries and tests that want none. */
export function createSilentLogger(): Logger {
  return loggerOf(() => {}, false);
}

function loggerOf(log: Logger["log"], info: boolean): Logger {
  const write = (level: Level) => (message: string, fields?: object) => log(level, message, fields);
  return {
    log,
    isInfoEnabled: () => info,
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
  };
}

function makeWinston({ level, format, stream = process.stderr }: LogOptions): winston.Logger {
  const { createLogger, transports }: typeof winston = createRequire(import.meta.url)("winston");
  const terminal = "isTTY" in stream && stream.isTTY === true;
  const write = (format ?? (terminal ? "pretty" : "json")) === "json" ? jsonLine : terminal ? prettyLine : plainLine;
  return createLogger({
    level,
    // Our own line instead of a chain of winston's formats: the chain costs more than all the rest of a request.
    format: { transform: write },
    transports: [new transports.Stream({ stream, eol: "\n" })],
    exitOnError: false,
  });
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
    // A field called `time` must not take the place of ours.
    const fields = "time" in rest ? { fields: rest } : rest;
    info[MESSAGE] = JSON.stringify({ time: now(), level, message, ...fields }, plainErrors);
  } catch (error) {
    info[MESSAGE] = JSON.stringify({ time: now(), level, message, unloggable: String(error) });
  }
  return info;
}

const plainErrors = (_key: string, value: unknown) => (isError(value) ? plainError(value) : value);

/** Deep enough for "fetch failed" because "connection refused"; causes may go in circles. */
const MAX_CAUSES = 5;

// Nothing else of an error: what clients of other services hang on theirs may hold the token of the request.
function plainError({ name, message, stack, cause }: Error, depth = 0): object {
  const because = isError(cause) && depth < MAX_CAUSES ? { cause: plainError(cause, depth + 1) } : {};
  return { name, message, stack, ...because };
}

const COLOURS = { error: "red", warn: "yellow", info: "cyan", debug: "gray" } as const;

// Words of a payload may hold line breaks or escape codes, which must not reach a terminal as such: neither may they
// look like a line of ours, nor steer it.
const PLAIN = /^[\x21-\x7e]+$/;
const CONTROL = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const escaped = (text: string) =>
  text.replace(CONTROL, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

const plainLine = (info: Info) => line(info, false);
const prettyLine = (info: Info) => line(info, true);

function line(info: Info, colours: boolean): Info {
  const { level, message, error, ...rest } = info;
  const name = level.padEnd(5);
  const fields = Object.entries(rest)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === "string" && PLAIN.test(value) ? value : safeJson(value)}`)
    .join(" ");
  const detail = isError(error) ? story(error) : error === undefined ? "" : ` ${safeJson(error)}`;
  const paint = (colour: Parameters<typeof styleText>[0], text: string) =>
    colours && text ? styleText(colour, text) : text;
  const tail = fields && ` ${paint("gray", fields)}`;
  info[MESSAGE] =
    `${paint("gray", now().slice(11, 23))} ${paint(COLOURS[level as keyof typeof COLOURS] ?? "white", name)} ${escaped(String(message))}${tail}${detail}`;
  return info;
}

/** The stack, then those of its causes. All is indented: no line of it begins as a line of the log does. */
function story(error: Error, depth = 0): string {
  const lines = (error.stack ?? `${error.name}: ${error.message}`)
    .split("\n")
    .map((one) => `\n    ${escaped(one.trim())}`);
  const { cause } = error;
  return lines.join("") + (isError(cause) && depth < MAX_CAUSES ? `\n    because of:${story(cause, depth + 1)}` : "");
}

function safeJson(value: unknown): string {
  try {
    return escaped(JSON.stringify(value, plainErrors) ?? String(value));
  } catch {
    return escaped(String(value));
  }
}

// A date is written once a millisecond, however many lines that millisecond brings.
let stamp = { at: 0, text: "" };
function now(): string {
  const at = Date.now();
  if (at !== stamp.at) stamp = { at, text: new Date(at).toISOString() };
  return stamp.text;
}
