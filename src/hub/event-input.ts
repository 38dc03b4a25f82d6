/** An event as it is published: as little as its name and a repo's, and as much as the publisher cares to say. */
import { z } from "zod";
import { HttpError } from "../errors.ts";
import { documentedEventNames, effectiveEvent, isDocumentedEvent, scopes } from "../protocol/events.ts";
import { documentedEvents } from "../protocol/payload.ts";
import { repoTypes } from "../protocol/repo.ts";
import type { CompletePayload, PartialPayload } from "../protocol/sample.ts";
import { understand } from "./understand.ts";

/** Events in one request. */
export const MAX_EVENTS = 1_000;

const word = "[a-z][a-z0-9_-]*";
const part = "[A-Za-z0-9_][A-Za-z0-9._-]{0,95}";

const event = z
  .looseObject({
    event: z.looseObject({
      scope: z.string().regex(new RegExp(`^${word}(\\.${word})*$`), "expected a scope, as repo.content"),
      action: z.string().regex(new RegExp(`^${word}$`), "expected an action, as update"),
    }),
    repo: z.looseObject({
      type: z.enum(repoTypes, { error: `expected one of ${repoTypes.join(", ")}` }),
      name: z.string().regex(new RegExp(`^${part}(/${part})?$`), "expected a name as owner/name"),
    }),
  })
  .superRefine(({ event: { scope, action } }, context) => {
    const problem = nameProblem(scope, action);
    if (problem) context.addIssue({ code: "custom", path: ["event"], message: problem });
  })
  // Which webhook it goes to is for the hub to say.
  .transform(({ webhook: _, ...given }) => given as PartialPayload & { repo: { type: string; name: string } });

const batch = z.object({ events: z.array(event).min(1, "name at least one event").max(MAX_EVENTS) });

export type EventGiven = z.output<typeof event>;

/** @throws HttpError 400 naming what was not understood */
export function understandEvents(body: unknown): { events: EventGiven[]; batch: boolean } {
  const isBatch = typeof body === "object" && body !== null && "events" in body;
  return isBatch ? { ...understand(batch, body), batch: true } : { events: [understand(event, body)], batch: false };
}

/** Scopes of the future are taken below the known ones; at a known scope only its documented actions are. */
function nameProblem(scope: string, action: string): string | null {
  const name = `${scope}:${action}`;
  if (isDocumentedEvent(name)) return null;
  const known = scopes.some((one) => one === scope);
  if (!known && scopes.some((one) => scope.startsWith(`${one}.`))) return null;
  return `${name} is no event of the Hub: those are ${documentedEventNames.join(", ")}, and narrower scopes`;
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
  const result = documentedEvents[name].safeParse(held);
  if (result.success) return;
  const issues = result.error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
  const list = issues.map(({ path, message }) => `${path}: ${message}`).slice(0, 5);
  throw new HttpError(400, `this is no payload of ${name}: ${list.join("; ")}`, { code: "request_invalid", issues });
}
