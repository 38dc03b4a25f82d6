/** What the hub remembers of repos, so that one payload agrees with the next: ids, privacy, the newest commit. */
import { randomBytes } from "node:crypto";
import type { Database } from "../deliveries/database.ts";
import type { RepoRef } from "../protocol/repo.ts";
import type { EventGiven } from "./event-input.ts";
import { idOf } from "./ids.ts";

export const MAIN = "refs/heads/main";

export interface KnownRepo extends RepoRef {
  id: string;
  private: boolean;
  /** Newest commit of the main branch. */
  head: string | null;
  /** The number of its newest discussion. */
  discussions: number;
}

export class Repos {
  readonly #find;
  readonly #save;
  readonly #remove;

  constructor(database: Database) {
    this.#find = database.prepare("SELECT id, private, head, discussions FROM hub_repos WHERE type = ? AND name = ?");
    this.#save = database.prepare("INSERT OR REPLACE INTO hub_repos VALUES (?, ?, ?, ?, ?, ?)");
    this.#remove = database.prepare("DELETE FROM hub_repos WHERE type = ? AND name = ?");
  }

  /** A repo that was never heard of is as good as one: it is remembered once something is saved of it. */
  find({ type, name }: RepoRef): KnownRepo {
    const row = this.#find.get<Row>(type, name.toLowerCase());
    if (!row) return { type, name, id: idOf("repo", type, name), private: false, head: null, discussions: 0 };
    return { type, name, ...row, private: row.private === 1 };
  }

  save({ type, name, id, private: hidden, head, discussions }: KnownRepo): void {
    this.#save.run(type, name.toLowerCase(), id, Number(hidden), head, discussions);
  }

  remove({ type, name }: RepoRef): void {
    this.#remove.run(type, name.toLowerCase());
  }
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
  if (known.type === "bucket") return completed;
  const pushes = scope === "repo.content" && given.updatedFiles === undefined;
  const updatedRefs = pushes ? (given.updatedRefs ?? [{}]).map((ref) => pushed(ref, known)) : given.updatedRefs;
  const toMain = updatedRefs?.some((ref) => ref?.ref === MAIN);
  if (known.head !== null && !toMain) completed.repo = { headSha: known.head, ...completed.repo };
  return updatedRefs === undefined ? completed : { ...completed, updatedRefs };
}

type GivenRef = NonNullable<EventGiven["updatedRefs"]>[number];

function pushed(ref: GivenRef, known: KnownRepo): GivenRef {
  if (ref?.ref !== undefined && ref.ref !== MAIN) return ref;
  const newSha = randomBytes(20).toString("hex");
  return { ref: MAIN, newSha, ...(known.head !== null && { oldSha: known.head }), ...ref };
}
