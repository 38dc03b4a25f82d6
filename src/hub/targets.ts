/**
 * What webhooks share: the host they lead to. Only so many attempts run against one, and one that gives no answer at
 * all is left alone for a while: its deliveries wait without using up their attempts or anybody else's place. Then a
 * single one is let through to see, and its success lets in the rest. An answer of any status counts as alive.
 */
import type { Gate } from "../deliveries/delivery.ts";

/** Unanswered attempts in a row after which a target counts as dead. Fewer: one restart of it would do. */
const DEAD_AFTER = 5;
const FIRST_PAUSE_MS = 5_000;
/** Longer: a target that came back would wait for its deliveries; shorter: a dead one costs more attempts. */
const LONGEST_PAUSE_MS = 300_000;
/** Whoever was refused for want of room is asked again when one leaves; this is only the last resort. */
const ASK_AGAIN_MS = 1_000;

interface Target {
  running: number;
  unanswered: number;
  pausedUntil: number;
  refused: Set<string>;
}

export class Targets implements Gate {
  readonly #limitOf: (host: string) => number;
  readonly #now: () => number;
  readonly #hostOf: (webhook: string) => string;
  readonly #targets = new Map<string, Target>();
  /** Under which hosts a webhook's attempts were let in: its url may change while they run. */
  readonly #inside = new Map<string, string[]>();

  constructor(limitOf: (host: string) => number, now: () => number, hostOf: (webhook: string) => string) {
    this.#limitOf = limitOf;
    this.#now = now;
    this.#hostOf = hostOf;
  }

  enter(webhook: string): number {
    const host = this.#hostOf(webhook);
    const target = this.#targetOf(host);
    const pause = target.pausedUntil === 0 ? 0 : target.pausedUntil - this.#now();
    if (pause > 0) return Math.ceil(pause);
    const limit = target.unanswered >= DEAD_AFTER ? 1 : this.#limitOf(host);
    if (target.running >= limit) {
      target.refused.add(webhook);
      return ASK_AGAIN_MS;
    }
    target.running++;
    const inside = this.#inside.get(webhook);
    if (inside) inside.push(host);
    else this.#inside.set(webhook, [host]);
    return 0;
  }

  leave(webhook: string): string | undefined {
    const inside = this.#inside.get(webhook);
    const host = inside?.pop() ?? this.#hostOf(webhook);
    if (inside?.length === 0) this.#inside.delete(webhook);
    const target = this.#targetOf(host);
    target.running--;
    const next = target.refused.values().next().value;
    if (next !== undefined) target.refused.delete(next);
    else if (target.running <= 0 && target.unanswered === 0) this.#targets.delete(host);
    return next;
  }

  answered(host: string): void {
    const target = this.#targets.get(host);
    if (!target) return;
    target.unanswered = 0;
    target.pausedUntil = 0;
  }

  unanswered(host: string): void {
    const target = this.#targetOf(host);
    // Those that ran when it was found dead tell nothing new.
    if (target.pausedUntil > this.#now()) return;
    target.unanswered++;
    const beyond = target.unanswered - DEAD_AFTER;
    if (beyond >= 0)
      target.pausedUntil = this.#now() + Math.min(FIRST_PAUSE_MS * 2 ** Math.min(beyond, 20), LONGEST_PAUSE_MS);
  }

  /** Somebody asks for another try now. */
  endPause(host: string): void {
    const target = this.#targets.get(host);
    if (target) target.pausedUntil = 0;
  }

  #targetOf(host: string): Target {
    let target = this.#targets.get(host);
    if (!target) {
      target = { running: 0, unanswered: 0, pausedUntil: 0, refused: new Set() };
      this.#targets.set(host, target);
    }
    return target;
  }
}
