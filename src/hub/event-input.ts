/** An event as it is published: as little as its name and a repo's, and as much as the publisher cares to say. */
import { z } from "zod";
import { documentedEventNames, effectiveEvent, isDocumentedEvent, scopes } from "../protocol/events.ts";
import { documentedEvents } from "../protocol/payload.ts";
import { repoTypes } from "../protocol/repo.ts";
import type { CompletePayload, PartialPayload } from "../protocol/sample.ts";
import { understand } from "./understand.ts";

/** Events in one request. */
export const MAX_EVENTS = 1_000;

/** Entries of one list: as many files as the Hub itself names in a payload. */
const MAX_ENTRIES = 10_000;
const LONGEST_ID = 100;
const LONGEST_REF = 250;
const MAX_NUM = 1_000_000_000;

const word = "[a-z][a-z0-9_-]*";
const part = "[A-Za-z0-9_][A-Za-z0-9._-]{0,95}";

const text = z.string();
const upTo = (length: number) => text.max(length, `expected at most ${length} characters`);
const id = upTo(LONGEST_ID);
const sha = upTo(LONGEST_ID);
const repoName = text.regex(new RegExp(`^${part}(/${part})?$`), "expected a name as owner/name");
const NUM = `expected a whole number from 1 to ${MAX_NUM.toLocaleString("en")}`;
const num = z.number(NUM).refine((given) => Number.isInteger(given) && given >= 1 && given <= MAX_NUM, NUM);
const listOf = <Entry extends z.ZodType>(entry: Entry) =>
  z.array(entry).max(MAX_ENTRIES, `expected at most ${MAX_ENTRIES.toLocaleString("en")} entries`);
/** Any of its keys may be left out, and others be there. */
const some = <Shape extends z.ZodRawShape>(shape: Shape) => z.looseObject(shape).partial();
const url = some({ web: text, api: text });
const owner = some({ id });

const event = z
  .looseObject({
    event: z.looseObject({
      scope: id.regex(new RegExp(`^${word}(\\.${word})*$`), "expected a scope, as repo.content"),
      action: id.regex(new RegExp(`^${word}$`), "expected an action, as update"),
    }),
    repo: some({ id, private: z.boolean(), url, owner, headSha: sha, subdomain: text, tags: listOf(text) }).extend({
      type: z.enum(repoTypes, { error: `expected one of ${repoTypes.join(", ")}` }),
      name: repoName,
    }),
    // Whichever event it is: the hub itself reads and remembers some of this.
    movedTo: some({ name: repoName, owner }).optional(),
    updatedConfig: some({ private: z.boolean() }).optional(),
    updatedRefs: listOf(some({ ref: upTo(LONGEST_REF), oldSha: sha.nullable(), newSha: sha.nullable() })).optional(),
    updatedFiles: listOf(some({ path: text, action: text, xetHash: text, size: z.number() })).optional(),
    discussion: some({ id, num, title: text, status: text, author: owner, isPullRequest: z.boolean(), url }).optional(),
    comment: some({ id, author: owner, content: text, hidden: z.boolean(), url }).optional(),
  })
  .superRefine(({ event: { scope, action } }, context) => {
    const problem = nameProblem(scope, action);
    if (problem) context.addIssue({ code: "custom", path: ["event"], message: problem });
  })
  // Which webhook it goes to is for the hub to say.
  .transform(({ webhook: _, ...given }) => given as PartialPayload & { repo: { type: string; name: string } });

const batch = z.object({
  events: z
    .array(z.looseObject({}))
    .min(1, "name at least one event")
    .max(MAX_EVENTS, `expected at most ${MAX_EVENTS.toLocaleString("en")} events`),
});

export type EventGiven = z.output<typeof event>;

/** @throws HttpError 400 naming what was not understood */
export function understandEvents(body: unknown): { events: EventGiven[]; batch: boolean } {
  const isBatch = typeof body === "object" && body !== null && "events" in body;
  if (!isBatch) return { events: [understand(event, body)], batch: false };
  // One by one, up to the first that is wrong: of 1,000 there could be millions of things to say.
  const events = understand(batch, body).events.map((one, index) => understand(event, one, `events.${index}`));
  return { events, batch: true };
}

/** Scopes of the future are taken below the known ones; at a known scope only its documented actions are. */
function nameProblem(scope: string, action: string): string | null {
  const name = `${scope}:${action}`;
  if (isDocumentedEvent(name)) return null;
  const known = scopes.some((one) => one === scope);
  if (!known && scopes.some((one) => scope.startsWith(`${one}.`))) return null;
  return `${name.slice(0, 2 * LONGEST_ID)} is no event of the Hub: those are ${documentedEventNames.join(", ")}, and narrower scopes`;
}

/**
 * Is it no more than `event` and a repo's `type` and `name`, which are understood already? The hub makes up the rest
 * then, and what it makes up needs no check: the tests do that for every event.
 */
export function namesOnly(given: EventGiven): boolean {
  return Object.keys(given).length === 2 && Object.keys(given.repo).length === 2;
}

/** @throws HttpError 400 when what the publisher said makes a payload that the documentation does not allow */
export function checkComplete(payload: CompletePayload): void {
  const { scope, action } = effectiveEvent(payload.event.scope, payload.event.action);
  const name = `${scope}:${action}`;
  if (!isDocumentedEvent(name)) return;
  const held = { ...payload, event: { ...payload.event, scope, action }, webhook: { id: "", version: 3 } };
  understand(documentedEvents[name], held);
}
