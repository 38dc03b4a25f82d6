/**
 * Faults on purpose, for people who test their receivers: what the real Hub promises is at least once, in any order,
 * some time. The same seed makes the same choices in the same order of deliveries.
 * - `duplicate`: sent twice with the same `Webhook-Id`
 * - `reorder`: waits a moment, so that later ones overtake it
 * - `delay`: each waits this long
 * - `drop`: an attempt is not sent at all and counts as failed, so that the schedule sends it later
 * - `cut`: the connection ends in the middle of the body
 */
import { Readable } from "node:stream";
import type { Clock } from "../deliveries/clock.ts";
import type { Message, Outcome } from "./sender.ts";

const REORDER_MS = 1_000;
const LONGEST_DELAY_MS = 3_600_000;

const NAMES = ["duplicate", "reorder", "delay", "drop", "cut", "seed"] as const;
type Name = (typeof NAMES)[number];

export type ChaosSettings = Record<Name, number>;

/** Reads `duplicate=0.1,reorder=0.2,delay=2s,drop=0.05,cut=0.01,seed=7`. @throws RangeError saying what is expected */
export function parseChaos(text: string): ChaosSettings {
  const settings: ChaosSettings = { duplicate: 0, reorder: 0, delay: 0, drop: 0, cut: 0, seed: 1 };
  for (const entry of text.split(",").filter((one) => one.trim() !== "")) {
    const [name = "", value = ""] = entry.trim().split(/=(.*)/);
    if (!isName(name)) throw new RangeError(`chaos: "${name}" is none of ${NAMES.join(", ")}`);
    settings[name] = read(name, value);
  }
  return settings;
}

function isName(name: string): name is Name {
  return NAMES.some((known) => known === name);
}

function read(name: Name, value: string): number {
  if (name === "delay") {
    const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(value) ?? [];
    const ms = Number(amount) * { ms: 1, s: 1_000, m: 60_000 }[unit as "ms" | "s" | "m"];
    if (ms <= LONGEST_DELAY_MS) return ms;
    throw new RangeError(`chaos: delay=${value}: write a duration of at most an hour, as 500ms or 2s`);
  }
  const number = value === "" ? Number.NaN : Number(value);
  if (name === "seed" && Number.isInteger(number)) return number;
  if (name !== "seed" && number >= 0 && number <= 1) return number;
  throw new RangeError(`chaos: ${name}=${value}: write ${name === "seed" ? "a whole number" : "a share from 0 to 1"}`);
}

type Send = (message: Message & { body: string }, tools: { readonly signal: AbortSignal }) => Promise<Outcome>;

/** `send` with faults. */
export function withChaos(settings: ChaosSettings, send: (message: Message) => Promise<Outcome>, clock: Clock): Send {
  const random = seeded(settings.seed);
  return async (message, tools) => {
    // All the dice of a delivery at once: what one fault does must not change the luck of the others.
    const [reorder, drop, cut, duplicate, moment] = [random(), random(), random(), random(), random()];
    const wait = settings.delay + (reorder < settings.reorder ? REORDER_MS * moment : 0);
    if (wait > 0) await pause(wait, clock, tools.signal);
    if (drop < settings.drop)
      return { status: null, body: "", problem: "chaos: this attempt was dropped", planned: true };
    if (cut < settings.cut) {
      await send({ ...message, body: cutShort(message.body) });
      const problem = "chaos: the connection was cut in the middle of the body";
      return { status: null, body: "", problem, planned: true };
    }
    const outcome = await send(message);
    if (duplicate < settings.duplicate) await send(message);
    return outcome;
  };
}

function cutShort(body: string): Readable {
  const bytes = Buffer.from(body);
  return Readable.from(
    (function* () {
      yield bytes.subarray(0, Math.floor(bytes.length / 2));
      throw new Error("chaos");
    })(),
    { objectMode: false },
  );
}

function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.setTimer(done, ms);
    function done() {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done, { once: true });
  });
}

/** Mulberry32: small, and even enough for dice. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
