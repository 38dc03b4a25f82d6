/**
 * Complete payloads: what the Hub would send of an event, made from as little as its name and a repo's.
 * What is made up follows from the repo's name, so that a repo has the same ids in every payload.
 */
import { hash } from "node:crypto";
import { effectiveEvent } from "./events.ts";
import type { DocumentedEvent, EventPayload, Repo, UpdatedRef, WebhookPayload } from "./payload.ts";
import { HUB_ENDPOINT, ownerOf, parseRepo, type RepoRef, repoUrls } from "./repo.ts";

type Incomplete<T> = T extends object ? { [Key in keyof T]?: Incomplete<T[Key]> } : T;

/** What is known of a payload: its event, and as much as one cares to say of the rest. Unknown keys are kept. */
export type PartialPayload = Incomplete<WebhookPayload> & { event: { scope: string; action: string } };

export type CompletePayload = WebhookPayload & {
  event: { scope: string; action: string };
  repo: Repo;
  webhook: { id: string; version: number };
};

interface Options {
  /** The hub that the URLs in the payload lead to; the real Hub when left out. */
  endpoint?: string | undefined;
}

const MAIN = "refs/heads/main";
const WEBHOOK_ID = hexId("webhook");
const SAMPLE_REPO = { type: "model", name: "me/my-model" };

/**
 * A complete payload of a documented event.
 *
 * @param options.repo `type:owner/name`, `model:me/my-model` when left out. A bucket's `repo.content:update` lists files
 * in place of refs.
 * @throws RangeError when `repo` is not written so.
 * @example samplePayload("repo.content:update", { repo: "dataset:me/data" })
 */
export function samplePayload<Name extends DocumentedEvent>(
  name: Name,
  options: Options & { repo?: string | undefined } = {},
): EventPayload<Name> {
  const repo = options.repo === undefined ? SAMPLE_REPO : parseRepo(options.repo);
  if (!repo) throw new RangeError(`"${options.repo}" is no repo: write type:owner/name, as dataset:me/data`);
  const [scope = "", action = ""] = name.split(":");
  // The compiler cannot follow a name into keys; the tests hold every event against its own schema.
  return completePayload({ event: { scope, action }, repo }, options) as unknown as EventPayload<Name>;
}

/**
 * Fills in what is missing. What is given stands as it is, be it wrong, and what is filled in agrees with it: URLs
 * with the repo's name, `headSha` with the push to main, `changes` with `isPullRequest`. A scope that is not
 * documented gets the keys of the broader one.
 */
export function completePayload(given: PartialPayload, options: Options = {}): CompletePayload {
  const { scope, action } = effectiveEvent(text(given.event?.scope, ""), text(given.event?.action, ""));
  const ref = { type: text(given.repo?.type, SAMPLE_REPO.type), name: text(given.repo?.name, SAMPLE_REPO.name) };
  const urls = repoUrls(ref, options.endpoint ?? HUB_ENDPOINT);
  const ofRepo = scope === "repo" || scope.startsWith("repo.");
  const ofDiscussion = scope === "discussion" || scope.startsWith("discussion.");
  const withComment = scope === "discussion.comment" || (scope === "discussion" && action === "create");

  // Hashes are most of what a payload costs: what is given is not made up beside.
  const missing = {
    event: given.event,
    repo: {
      ...ref,
      id: given.repo?.id ?? hexId("repo", ref.type, ref.name),
      private: given.updatedConfig?.private ?? false,
      url: urls,
      owner: { id: given.repo?.owner?.id ?? ownerId(ref.name) },
      ...(ofRepo && ref.type !== "bucket" && { headSha: headSha(given, ref) }),
      ...(ref.type === "space" && { subdomain: ref.name.toLowerCase().replace(/[^a-z0-9]+/g, "-") }),
      tags: [],
    },
    ...(scope === "repo" && action === "move" && { movedTo: movedTo(given, ref) }),
    ...(scope === "repo.content" && content(given, ref)),
    ...(scope === "repo.config" &&
      !given.updatedConfig && { updatedConfig: { private: given.repo?.private ?? false } }),
    ...(ofDiscussion && { discussion: discussion(given, ref, urls) }),
    ...(withComment && { comment: comment(given, ref, urls) }),
    webhook: { id: WEBHOOK_ID, version: 3 },
  };
  return merge(missing, given) as CompletePayload;
}

function content(given: PartialPayload, ref: RepoRef) {
  const { updatedRefs, updatedFiles } = given;
  if (updatedRefs === undefined && (updatedFiles !== undefined || ref.type === "bucket"))
    return { updatedFiles: forEach(updatedFiles, (file) => updatedFile(text(file?.action, "add"))) };
  const head = headSha(given, ref);
  return { updatedRefs: forEach(updatedRefs, (pushed) => updatedRef(pushed, head)) };
}

function updatedFile(action: string) {
  const added = { xetHash: hex(64, "file"), size: 1024 };
  return { path: "data/file.bin", action, ...(action !== "delete" && added) };
}

/** A branch moves on; a tag or a pull request is new, as they mostly are. */
function updatedRef(given: Partial<UpdatedRef> | undefined, head: string) {
  const ref = text(given?.ref, MAIN);
  const oldSha = ref.startsWith("refs/heads/") ? (given?.oldSha ?? hex(40, "before", head, ref)) : null;
  const newSha = ref === MAIN ? head : (given?.newSha ?? hex(40, "after", head, ref));
  return { ref, oldSha, newSha };
}

function headSha({ repo, updatedRefs }: PartialPayload, ref: RepoRef): string {
  if (isText(repo?.headSha)) return repo.headSha;
  const toMain = Array.isArray(updatedRefs) ? updatedRefs.find((pushed) => pushed?.ref === MAIN) : undefined;
  return isText(toMain?.newSha) ? toMain.newSha : hex(40, "head", ref.type, ref.name);
}

function movedTo(given: PartialPayload, ref: RepoRef) {
  const name = text(given.movedTo?.name, `${ref.name}-moved`);
  return { name, owner: { id: ownerId(name) } };
}

function discussion(given: PartialPayload, ref: RepoRef, urls: { web: string; api: string }) {
  const num = given.discussion?.num ?? 1;
  const status = text(given.discussion?.status, "open");
  const isPullRequest = given.discussion?.isPullRequest ?? given.discussion?.changes !== undefined;
  const merged = status === "merged" && { mergeCommitId: hex(40, "merge", ref.type, ref.name, `${num}`) };
  return {
    id: hexId("discussion", ref.type, ref.name, `${num}`),
    num,
    title: isPullRequest ? "Mend a typo in README.md" : "How was this made?",
    status,
    author: { id: userId("author") },
    isPullRequest,
    url: { web: `${urls.web}/discussions/${num}`, api: `${urls.api}/discussions/${num}` },
    ...(isPullRequest && { changes: { base: MAIN, ...merged } }),
  };
}

function comment(given: PartialPayload, ref: RepoRef, urls: { web: string }) {
  const num = `${given.discussion?.num ?? 1}`;
  const id = text(given.comment?.id, hexId("comment", ref.type, ref.name, num));
  const page = text(given.discussion?.url?.web, `${urls.web}/discussions/${num}`);
  const hidden = given.comment?.hidden ?? false;
  return {
    id,
    author: { id: text(given.discussion?.author?.id, userId("author")) },
    ...(!hidden && { content: "Thank you for sharing this." }),
    hidden,
    url: { web: `${page}#${id}` },
  };
}

/** `given` over `missing`, key by key and element by element. */
function merge(missing: unknown, given: unknown): unknown {
  if (given === undefined || given === missing) return missing;
  if (Array.isArray(missing) && Array.isArray(given)) return given.map((value, index) => merge(missing[index], value));
  if (!isRecord(missing) || !isRecord(given)) return given;
  const merged: Record<string, unknown> = { ...missing, ...given };
  for (const key of Object.keys(given)) {
    const value = given[key];
    // Most of what is given is text, which simply stands.
    const stands = value !== undefined && typeof value !== "object";
    if (!stands && Object.hasOwn(missing, key)) merged[key] = merge(missing[key], value);
  }
  return merged;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** One entry for each that is given, or a single one when nothing is said. */
function forEach<Given, Entry>(given: Given[] | undefined, make: (given: Given | undefined) => Entry): Entry[] {
  return Array.isArray(given) ? given.map(make) : [make(undefined)];
}

/** Given values come from people who test what goes wrong: anything may stand where the types say string. */
function text(value: unknown, otherwise: string): string {
  return isText(value) ? value : otherwise;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Owners are few and come with every event, so their ids are remembered: so many, and none of an endless name. */
const ownerIds = new Map<string, string>();
const OWNERS_REMEMBERED = 1_000;
const LONGEST_NAME = 200;

function ownerId(repo: string): string {
  const owner = ownerOf(repo);
  const known = ownerIds.get(owner);
  if (known !== undefined) return known;
  const id = userId(owner);
  if (ownerIds.size === OWNERS_REMEMBERED) ownerIds.clear();
  if (repo.length <= LONGEST_NAME) ownerIds.set(owner, id);
  return id;
}

function userId(name: string): string {
  return hexId("user", name);
}

function hexId(...seed: string[]): string {
  return hex(24, ...seed);
}

function hex(length: number, ...seed: string[]): string {
  return hash("sha256", seed.join("\n")).slice(0, length);
}
