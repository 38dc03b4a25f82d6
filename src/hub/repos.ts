/** What the hub remembers of repos, so that one payload agrees with the next: ids, privacy, the newest commit. */
import type { Database } from "../deliveries/database.ts";
import type { RepoRef } from "../protocol/repo.ts";
import type { EventGiven } from "./event-input.ts";
import { idOf, newSha } from "./ids.ts";

export const MAIN = "refs/heads/main";

export interface KnownRepo {
  id: string;
  private: boolean;
  /** Newest commit of the main branch. */
  head: string | null;
  /** The number of its newest discussion. */
  discussions: number;
}

/** A repo as a publication leaves it; null: forgotten. */
interface Told {
  readonly type: string;
  /** Lower case, as it is looked up. */
  readonly name: string;
  readonly known: KnownRepo | null;
  readonly by: { committed: boolean };
}

/** After so many characters told, the older map goes: they last for some 5,000 repos, in a megabyte or two of memory. */
const HELD_CHARS = 500_000;

export class Repos {
  readonly #find;
  readonly #save;
  readonly #remove;
  /**
   * What was last told of a repo, which saves reading it. It counts once it is committed; until then, and after a
   * rollback, the table is read. Held is only what was read before: of many a repo one event is all that is ever heard.
   * Two maps, of which the older goes as a whole: that is the cheapest bound there is.
   */
  #held = new Map<string, Told>();
  #heldBefore = new Map<string, Told>();
  #heldChars = 0;

  constructor(database: Database) {
    this.#find = database.prepare("SELECT id, private, head, discussions FROM hub_repos WHERE type = ? AND name = ?");
    this.#save = database.prepare("INSERT OR REPLACE INTO hub_repos VALUES (?, ?, ?, ?, ?, ?)");
    this.#remove = database.prepare("DELETE FROM hub_repos WHERE type = ? AND name = ?");
  }

  /**
   * Inside a transaction, for one publication: each of its events sees what the ones before it told, `save` writes
   * every repo once. After the commit call what `save` returns.
   */
  begin() {
    const by = { committed: false };
    const told = new Map<string, Told>();
    const tell = ({ type, name }: RepoRef, known: KnownRepo | null) => {
      told.set(keyOf({ type, name }), { type, name: name.toLowerCase(), known, by });
    };
    return {
      /** A repo that was never heard of is as good as one: it is remembered once something is kept of it. */
      find: ({ type, name }: RepoRef): KnownRepo => {
        const key = keyOf({ type, name });
        const one = told.get(key) ?? this.#held.get(key) ?? this.#heldBefore.get(key);
        if (one && (one.by === by || one.by.committed)) return one.known ?? unheard(type, name);
        const known = this.#read(type, name);
        if (known) this.#hold(key, { type, name: name.toLowerCase(), known, by });
        return known ?? unheard(type, name);
      },
      keep: (ref: RepoRef, known: KnownRepo) => tell(ref, known),
      forget: (ref: RepoRef) => tell(ref, null),
      save: (): (() => void) => {
        for (const [key, one] of told) this.#write(key, one);
        return () => {
          by.committed = true;
        };
      },
    };
  }

  #read(type: string, name: string): KnownRepo | null {
    const row = this.#find.get<Row>(type, name.toLowerCase());
    return row ? { id: row.id, private: row.private === 1, head: row.head, discussions: row.discussions } : null;
  }

  #write(key: string, one: Told): void {
    const { type, name, known } = one;
    if (known) this.#save.run(type, name, known.id, Number(known.private), known.head, known.discussions);
    else this.#remove.run(type, name);
    if (this.#held.has(key) || this.#heldBefore.has(key)) this.#hold(key, one);
  }

  #hold(key: string, one: Told): void {
    if (this.#heldChars > HELD_CHARS) {
      this.#heldBefore = this.#held;
      this.#held = new Map();
      this.#heldChars = 0;
    }
    this.#held.set(key, one);
    this.#heldChars += key.length + (one.known?.id.length ?? 0) + (one.known?.head?.length ?? 0);
  }
}

/** The same for names that differ only in case. */
export function keyOf({ type, name }: RepoRef): string {
  return `${type}:${name.toLowerCase()}`;
}

function unheard(type: string, name: string): KnownRepo {
  return { id: idOf("repo", type, name), private: false, head: null, discussions: 0 };
}

interface Row {
  id: string;
  private: number;
  head: string | null;
  discussions: number;
}

/** The event with what is remembered of its repo where the publisher says nothing: a push to main goes on from its head. */
export function asKnown(given: EventGiven, known: KnownRepo): EventGiven {
  const { scope, action } = given.event;
  const ofDiscussion = scope === "discussion" || scope.startsWith("discussion.");
  const completed = { ...given, repo: { id: known.id, private: known.private, ...given.repo } };
  if (ofDiscussion) {
    const opened = scope === "discussion" && action === "create" ? 1 : 0;
    const num = given.discussion?.num ?? Math.max(1, known.discussions + opened);
    return { ...completed, discussion: { id: idOf("discussion", known.id, String(num)), num, ...given.discussion } };
  }
  if (given.repo.type === "bucket") return completed;
  const pushes = scope === "repo.content" && given.updatedFiles === undefined;
  const updatedRefs = pushes ? (given.updatedRefs ?? [{}]).map((ref) => pushed(ref, known)) : given.updatedRefs;
  const toMain = updatedRefs?.some((ref) => ref?.ref === MAIN);
  if (known.head !== null && !toMain) completed.repo = { headSha: known.head, ...completed.repo };
  return updatedRefs === undefined ? completed : { ...completed, updatedRefs };
}

type GivenRef = NonNullable<EventGiven["updatedRefs"]>[number];

function pushed(ref: GivenRef, known: KnownRepo): GivenRef {
  if (ref?.ref !== undefined && ref.ref !== MAIN) return ref;
  return { ref: MAIN, newSha: newSha(), ...(known.head !== null && { oldSha: known.head }), ...ref };
}
