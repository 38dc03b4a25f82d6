/**
 * The payload that the Hub posts, version 3.
 *
 * Glossary
 * - event: something that happened on a repo, named by its scope (`discussion.comment`) and its action (`create`)
 * - documented event: one that the Hub's documentation lists with the keys it brings
 * - payload: the JSON that tells of one event
 * - watched item: what a webhook listens to, written `type:name` (`dataset:me/data`, `user:me`)
 *
 * Two schemas, on purpose. `payloadSchema` is what every endpoint demands, and it is little: the Hub adds scopes,
 * repo types and keys as it grows, and an event that is merely new must reach the handler. `documentedEvents` is what
 * a documented event promises; it is demanded only where a handler asks for that event by name.
 *
 * Source of the facts: https://huggingface.co/docs/hub/webhooks
 */
import { z } from "zod";

/** A word the Hub documents, open to those it will add. */
type Open<Known extends string> = Known | (string & {});

export type RepoType = "model" | "dataset" | "space" | "bucket";
export type Action = "create" | "update" | "delete" | "move";
export type DiscussionStatus = "draft" | "open" | "closed" | "merged";

const open = <Known extends string>() => z.string() as unknown as z.ZodType<Open<Known>, string>;
const url = z.object({ web: z.string(), api: z.string() });
const owner = z.object({ id: z.string() });

const repo = z.object({
  type: open<RepoType>(),
  /** `owner/name`; a few old repos have no owner, as `gpt2`. */
  name: z.string(),
  id: z.string(),
  private: z.boolean(),
  url,
  owner,
  /** Newest commit of the main branch. Not with discussions, never with buckets. */
  headSha: z.string().optional(),
  /** Of a Space: the part before `.hf.space`. */
  subdomain: z.string().optional(),
  tags: z.array(z.string()).optional(),
});

const discussion = z.object({
  id: z.string(),
  num: z.number(),
  title: z.string(),
  status: open<DiscussionStatus>(),
  author: owner,
  isPullRequest: z.boolean(),
  url,
  /** Of a pull request: the ref it wants to change, and the merge's commit once there is one. */
  changes: z.object({ base: z.string(), mergeCommitId: z.string().nullish() }).optional(),
  pinned: z.boolean().optional(),
});

const comment = z.object({
  id: z.string(),
  author: owner,
  /** Absent when the comment is hidden. */
  content: z.string().optional(),
  hidden: z.boolean(),
  url: z.object({ web: z.string() }),
});

const updatedRef = z.object({
  /** `refs/heads/main`, `refs/tags/v1`, `refs/pr/3`. */
  ref: z.string(),
  /** null: the ref is new. */
  oldSha: z.string().nullable(),
  /** null: the ref is gone. */
  newSha: z.string().nullable(),
});

const updatedFile = z.object({
  path: z.string(),
  action: open<"add" | "delete">(),
  xetHash: z.string().optional(),
  size: z.number().optional(),
});

const content = {
  /** Of git repos. A new pull request shows here too, as `refs/pr/N`. */
  updatedRefs: z.array(updatedRef).optional(),
  /** Of buckets; cut at 10,000, then `updatedFilesTruncated` is true. */
  updatedFiles: z.array(updatedFile).optional(),
  updatedFilesTruncated: z.boolean().optional(),
};

const movedTo = z.object({ name: z.string(), owner });
/** Only the keys that the Hub reports; `{}` when another setting changed. */
const updatedConfig = z.object({ private: z.boolean().optional() });
const sender = z.object({ id: z.string(), version: z.number() });

function event<Scope extends string, Action extends string, Keys extends z.ZodRawShape>(
  scope: Scope,
  action: Action,
  keys: Keys,
) {
  const name = z.object({ scope: z.literal(scope), action: z.literal(action) });
  return z.object({ event: name, repo, webhook: sender, ...keys });
}

/** Every documented event and what its payload holds. */
export const documentedEvents = {
  "repo:create": event("repo", "create", {}),
  "repo:update": event("repo", "update", {}),
  "repo:delete": event("repo", "delete", {}),
  "repo:move": event("repo", "move", { movedTo }),
  "repo.content:update": event("repo.content", "update", content).refine(
    (payload) => payload.updatedRefs !== undefined || payload.updatedFiles !== undefined,
    { path: ["updatedRefs"], error: "expected updatedRefs (git repos) or updatedFiles (buckets)" },
  ),
  "repo.config:update": event("repo.config", "update", { updatedConfig }),
  "discussion:create": event("discussion", "create", { discussion, comment }),
  "discussion:update": event("discussion", "update", { discussion }),
  "discussion:delete": event("discussion", "delete", { discussion }),
  "discussion.comment:create": event("discussion.comment", "create", { discussion, comment }),
  "discussion.comment:update": event("discussion.comment", "update", { discussion, comment }),
};

/** `scope:action`, as `repo.content:update`. */
export type DocumentedEvent = keyof typeof documentedEvents;
export type Scope = DocumentedEvent extends infer Name ? (Name extends `${infer S}:${string}` ? S : never) : never;
/** The payload of one documented event, or of a union of them. */
export type EventPayload<Name extends DocumentedEvent> = z.infer<(typeof documentedEvents)[Name]>;

export type Repo = z.infer<typeof repo>;
export type Discussion = z.infer<typeof discussion>;
export type Comment = z.infer<typeof comment>;
export type UpdatedRef = z.infer<typeof updatedRef>;
export type UpdatedFile = z.infer<typeof updatedFile>;

/**
 * Any payload. What is not marked optional is always there; the rest depends on the event, and may be missing in
 * events that the documentation does not know yet. Ask for an event by name (`on`) to have its keys promised.
 */
export interface WebhookPayload {
  event: { scope?: Open<Scope>; action: Open<Action> };
  repo: Partial<Repo> & Pick<Repo, "type">;
  webhook?: Partial<z.infer<typeof sender>>;
  discussion?: Partial<Discussion>;
  comment?: Partial<Comment>;
  updatedRefs?: UpdatedRef[];
  updatedFiles?: UpdatedFile[];
  updatedFilesTruncated?: boolean;
  updatedConfig?: z.infer<typeof updatedConfig>;
  movedTo?: Partial<z.infer<typeof movedTo>>;
}

const anyObject = z.looseObject({}).optional();

/** What every payload must have, and the least a handler may lean on without asking for an event by name. */
export const payloadSchema = z.looseObject({
  event: z.looseObject({ scope: z.string().optional(), action: z.string().min(1) }),
  repo: z.looseObject({ type: z.string().min(1), name: z.string().optional() }),
  webhook: anyObject,
  discussion: anyObject,
  comment: anyObject,
  movedTo: anyObject,
  updatedConfig: anyObject,
  updatedRefs: z.array(z.looseObject({})).optional(),
  updatedFiles: z.array(z.looseObject({})).optional(),
});

/**
 * What `payloadSchema` accepts for sure, told in a tenth of the time; of the rest it must be asked. The tests hold one
 * against the other.
 */
export function isPlainPayload(value: unknown): value is WebhookPayload {
  if (!isObject(value) || !isObject(value.event) || !isObject(value.repo)) return false;
  const { event, repo } = value;
  return (
    isWord(event.action) &&
    (event.scope === undefined || typeof event.scope === "string") &&
    isWord(repo.type) &&
    (repo.name === undefined || typeof repo.name === "string") &&
    OBJECTS.every((key) => value[key] === undefined || isObject(value[key])) &&
    LISTS.every((key) => value[key] === undefined || isListOfObjects(value[key]))
  );
}

const OBJECTS = ["webhook", "discussion", "comment", "movedTo", "updatedConfig"];
const LISTS = ["updatedRefs", "updatedFiles"];

const isWord = (value: unknown) => typeof value === "string" && value !== "";
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isListOfObjects = (value: unknown) => Array.isArray(value) && value.every(isObject);

/** As many files as the Hub itself names in one payload. */
const MAX_CHECKED = 10_000;

/**
 * What of a payload is worth checking: of a list no more than its first 10,000 entries. A few megabytes of wrong
 * entries would become millions of issues, and those seconds and gigabytes.
 */
export function checkable<Payload>(payload: Payload): Payload {
  if (typeof payload !== "object" || payload === null) return payload;
  const { updatedRefs, updatedFiles, repo } = payload as Partial<Record<string, unknown>>;
  const tags = (repo as { tags?: unknown } | null | undefined)?.tags;
  if (!isLong(updatedRefs) && !isLong(updatedFiles) && !isLong(tags)) return payload;
  return {
    ...payload,
    ...(isLong(updatedRefs) && { updatedRefs: updatedRefs.slice(0, MAX_CHECKED) }),
    ...(isLong(updatedFiles) && { updatedFiles: updatedFiles.slice(0, MAX_CHECKED) }),
    ...(isLong(tags) && { repo: { ...(repo as object), tags: tags.slice(0, MAX_CHECKED) } }),
  };
}

const isLong = (list: unknown): list is unknown[] => Array.isArray(list) && list.length > MAX_CHECKED;

/** `dataset:me/data`; the type alone where an event names no repo. */
export function repoLabel({ repo }: WebhookPayload): string {
  return repo.name === undefined ? repo.type : `${repo.type}:${repo.name}`;
}
