/** Moments and stretches of time, as they are typed and as they are shown. */
import { InvalidArgumentError } from "commander";

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const NAMES: [unit: number, name: string][] = [
  [UNITS.d, "d"],
  [UNITS.h, "h"],
  [UNITS.m, "min"],
  [UNITS.s, "s"],
];

/** `2h` (that long ago), or a time as `2026-11-21T10:00:00Z`; without a zone it is this machine's. */
export function momentOf(text: string): Date {
  const [, amount, unit] = /^(\d+(?:\.\d+)?) ?([smhd])$/i.exec(text.trim()) ?? [];
  const ms = UNITS[(unit ?? "").toLowerCase() as keyof typeof UNITS];
  const date = amount === undefined ? timeOf(text) : new Date(Date.now() - Number(amount) * ms);
  if (date && !Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError("Write how long ago, as 30m, 2h or 7d, or a time, as 2026-11-21T10:00:00Z.");
}

function timeOf(text: string): Date | undefined {
  return /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?$/.test(text) ? new Date(text) : undefined;
}

/** `340 ms`, `1.2 s`, `5 min`, `3 h`: rough on purpose. */
export function lasted(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : inOneUnit(ms);
}

/** How long ago it was: `now`, `12 s`, `3 h`. */
export function ageOf(time: string): string {
  const ms = Date.now() - Date.parse(time);
  return ms < 1000 ? "now" : inOneUnit(ms);
}

function inOneUnit(ms: number): string {
  const [unit, name] = NAMES.find(([size]) => ms >= size) ?? [UNITS.s, "s"];
  return `${Math.floor(ms / unit)} ${name}`;
}
