/**
 * Guessing tokens takes for ever: so many wrong ones from one address, and no other is looked at for a while. Two
 * things keep that from the innocent, who often share an address behind a proxy or on one machine:
 * - a program that goes on with one old token guesses nothing, and counts once;
 * - a user who was let in from this address is let in again, whatever others try there; within bounds, as those may be
 *   guessing that very token.
 */
import { hash } from "node:crypto";
import { FailedTries } from "../http/failed-tries.ts";

/** Wrong tokens a minute beyond which nobody is let in: of a whole office at work there are fewer. */
const FLOOD = 1_000;

/** Beyond so many the oldest are forgotten: they count, or wait, once more. */
const MAX_REMEMBERED = 10_000;

/** Whose token it is; how long to wait; or neither: it is nobody's. */
export type Tried = { user: string } | { waitSeconds: number } | null;

export class TokenTries {
  readonly #userWith: (token: string) => string | undefined;
  readonly #failed = new FailedTries();
  readonly #flood = new FailedTries(FLOOD);
  readonly #wrong = new Set<string>();
  readonly #letIn = new Set<string>();

  constructor(userWith: (token: string) => string | undefined) {
    this.#userWith = userWith;
  }

  /** @param client the address that it comes from */
  try(token: string, client: string): Tried {
    const user = this.#userWith(token);
    const pass = `${client} ${user}`;
    const before = user !== undefined && this.#letIn.has(pass);
    const waitSeconds = (before ? this.#flood : this.#failed).waitSeconds(client);
    if (user === undefined) this.#count(token, client);
    if (waitSeconds > 0) return { waitSeconds };
    if (user === undefined) return null;
    if (!before) remember(this.#letIn, pass);
    return { user };
  }

  #count(token: string, client: string): void {
    const wrong = `${client} ${hash("sha256", token)}`;
    if (this.#wrong.has(wrong)) return;
    remember(this.#wrong, wrong);
    this.#failed.add(client);
    this.#flood.add(client);
  }
}

function remember(known: Set<string>, one: string): void {
  const [oldest] = known;
  if (known.size >= MAX_REMEMBERED && oldest !== undefined) known.delete(oldest);
  known.add(one);
}
