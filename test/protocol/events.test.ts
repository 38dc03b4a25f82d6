import { describe, expect, it } from "@jest/globals";
import {
  type EventFilter,
  effectiveEvent,
  type FilteredPayload,
  filterTakes,
  isDocumentedEvent,
  scopes,
  scopeWithin,
} from "../../src/protocol/events.ts";
import type { EventPayload, WebhookPayload } from "../../src/protocol/payload.ts";

describe("an event is read as", () => {
  it.each([
    ["repo", "create", "repo", "create"],
    ["repo.content", "update", "repo.content", "update"],
    ["repo.content", "spin", "repo.content", "spin"],
    ["repo.config.doi", "update", "repo.config", "update"],
    ["repo.config.doi", "create", "repo.config", "update"],
    ["repo.config.doi.minor", "delete", "repo.config", "update"],
    ["repo.stars", "create", "repo", "update"],
    ["discussion.comment.reaction", "create", "discussion.comment", "update"],
    ["galaxy", "create", "galaxy", "create"],
    ["galaxy.star", "create", "galaxy.star", "create"],
    ["repository", "create", "repository", "create"],
    ["", "update", "", "update"],
    [".", "update", ".", "update"],
    ["__proto__", "update", "__proto__", "update"],
  ])("%s:%s → %s:%s", (scope, action, readScope, readAction) => {
    expect(effectiveEvent(scope, action)).toEqual({ scope: readScope, action: readAction });
  });
});

describe("a filter", () => {
  it.each([
    ["repo", "repo", "delete"],
    ["repo", "repo.content", "update"],
    ["repo", "repo.stars", "create"],
    ["repo:update", "repo", "update"],
    ["repo:update", "repo.stars", "create"],
    ["repo.content", "repo.content", "update"],
    ["repo.config:update", "repo.config.doi", "delete"],
    ["repo.config.doi", "repo.config.doi", "create"],
    ["repo.config.doi:create", "repo.config.doi", "create"],
    ["repo.config.doi:update", "repo.config.doi.minor", "create"],
    ["discussion", "discussion.comment", "create"],
    ["discussion:update", "discussion.poll", "create"],
    ["galaxy:spin", "galaxy", "spin"],
    ["galaxy", "galaxy.star", "spin"],
  ])("%s takes %s:%s", (filter, scope, action) => {
    expect(filterTakes(filter, { scope, action })).toBe(true);
  });

  it.each([
    ["repo", "discussion", "create"],
    ["repo", "repository", "create"],
    ["repo.content", "repo", "update"],
    ["repo:create", "repo", "update"],
    ["repo:update", "repo.content", "update"],
    ["repo:update", "repo.config.doi", "update"],
    ["repo:create", "repo.stars", "create"],
    ["repo.config:delete", "repo.config.doi", "delete"],
    ["repo.config.doi", "repo.config", "update"],
    ["repo.config.doi:update", "repo.config", "update"],
    ["discussion:create", "discussion.comment", "create"],
    ["discussion:update", "discussion.comment", "update"],
    ["galaxy:update", "galaxy.star", "spin"],
    ["repo:", "repo", "update"],
    ["", "repo", "update"],
  ])("%s leaves %s:%s out", (filter, scope, action) => {
    expect(filterTakes(filter, { scope, action })).toBe(false);
  });

  it("leaves an event without a scope out", () => {
    expect(filterTakes("repo", { action: "update" })).toBe(false);
    expect(filterTakes("repo:update", { action: "update" })).toBe(false);
  });
});

it("knows the documented scopes and events by name", () => {
  expect(scopes).toEqual(["repo", "repo.content", "repo.config", "discussion", "discussion.comment"]);
  expect(isDocumentedEvent("repo:move")).toBe(true);
  for (const name of ["repo:spin", "repo", "toString", "__proto__", ""]) expect(isDocumentedEvent(name)).toBe(false);
});

it("takes a scope for its own part, but not for a part of its word", () => {
  expect(scopeWithin("repo", "repo")).toBe(true);
  expect(scopeWithin("repo.content", "repo")).toBe(true);
  expect(scopeWithin("repository", "repo")).toBe(false);
  expect(scopeWithin("repo", "repo.content")).toBe(false);
});

// What follows only has to compile.

/** Compiles when the two types are the same. */
function same<A, B>(_proof: [A] extends [B] ? ([B] extends [A] ? true : never) : never) {}

/** A handler's way to be typed by its filter. */
function on<const Filter extends EventFilter>(
  _filter: Filter,
  _handle: (payload: FilteredPayload<Filter>) => unknown,
) {}

it("promises by type the keys of the event that a filter names, and no more", () => {
  same<FilteredPayload<"discussion.comment:create">, EventPayload<"discussion.comment:create">>(true);
  same<FilteredPayload<"repo:move">, EventPayload<"repo:move">>(true);
  // A scope takes events that are not documented, so nothing is promised.
  same<FilteredPayload<"repo.config.doi">, WebhookPayload>(true);
  same<FilteredPayload<"repo.config.doi:update">, WebhookPayload>(true);

  on("discussion:create", (payload) => payload.comment.content?.length);
  on("repo:move", ({ movedTo }) => movedTo.name.length);
  on("repo.content:update", ({ updatedRefs, updatedFiles }) => updatedRefs?.[0]?.ref ?? updatedFiles?.[0]?.path);
  on("repo:create", ({ repo }) => repo.url.api.length + repo.id.length);

  // @ts-expect-error a push has no comment
  on("repo.content:update", ({ comment }) => comment.content);
  // @ts-expect-error an update may be that of a narrower scope, which may lack the discussion
  on("discussion:update", ({ discussion }) => discussion.title);
  // @ts-expect-error other events of the scope have no comment
  on("discussion", ({ comment }) => comment.content);
  // @ts-expect-error no such scope
  on("galaxy", () => {});
  // @ts-expect-error no such action
  on("repo:spin", () => {});
  expect(on).toBeDefined();
});
