/** Which events a filter takes. Pure: no payload is changed, nothing is looked up. */
import {
  type DocumentedEvent,
  documentedEvents,
  type EventPayload,
  type Scope,
  type WebhookPayload,
} from "./payload.ts";

/** `scope`, `scope:action`, or a narrower scope that the Hub may send one day. */
export type EventFilter = DocumentedEvent | Scope | `${Scope}.${string}`;

/** The payload type that a filter leaves: what it names is promised, what it merely lets through is not. */
export type FilteredPayload<Filter extends string> = Filter extends `${infer S}:update`
  ? (S extends Scope ? UndocumentedBelow<S> : WebhookPayload) | Documented<Filter>
  : Filter extends DocumentedEvent
    ? EventPayload<Filter>
    : Documented<Below<Filter>> | WebhookPayload;

type Documented<Name extends string> = Name extends DocumentedEvent ? EventPayload<Name> : never;
/** The documented events of a scope and of the scopes narrower than it. */
type Below<S extends string> = Extract<DocumentedEvent, `${S}:${string}` | `${S}.${string}`>;
/** An unknown narrower scope counts as `update` of the broader one, and nothing is promised of its keys. */
type UndocumentedBelow<S extends Scope> = WebhookPayload & { event: { scope: `${S}.${string}` } };

export const documentedEventNames = Object.keys(documentedEvents) as DocumentedEvent[];
export const scopes = [...new Set(documentedEventNames.map((name) => name.split(":")[0] as Scope))];
const known = new Set<string>(scopes);

export interface EventName {
  scope: string;
  action: string;
}

/** The event as the documentation lets us read it: an unknown narrower scope is `update` of the nearest known one. */
export function effectiveEvent(scope: string, action: string): EventName {
  if (known.has(scope)) return { scope, action };
  for (let broader = widen(scope); broader; broader = widen(broader))
    if (known.has(broader)) return { scope: broader, action: "update" };
  return { scope, action };
}

function widen(scope: string): string {
  return scope.slice(0, Math.max(0, scope.lastIndexOf(".")));
}

/** Is `scope` the same as `broader` or narrower than it? */
export function scopeWithin(scope: string, broader: string): boolean {
  return scope === broader || scope.startsWith(`${broader}.`);
}

/**
 * Does the filter take this event?
 * - `discussion` takes every action of `discussion` and of all scopes below it
 * - `discussion:update` takes that event, and unknown scopes below `discussion`, which count as its update
 */
export function filterTakes(filter: string, event: { scope?: string; action: string }): boolean {
  const { scope = "", action } = event;
  const [wantedScope = "", wantedAction] = filter.split(":");
  if (wantedAction === undefined) return scopeWithin(scope, wantedScope);
  if (scope === wantedScope) return action === wantedAction;
  if (wantedAction !== "update" || !scopeWithin(scope, wantedScope)) return false;
  return scopeWithin(wantedScope, effectiveEvent(scope, action).scope);
}

export function isDocumentedEvent(name: string): name is DocumentedEvent {
  return Object.hasOwn(documentedEvents, name);
}
