/** The words that describe an event on the command line, and the payload they make. */
import { type Command, Option } from "commander";
import { nearest } from "../nearest.ts";
import { documentedEventNames, isDocumentedEvent, scopes, scopeWithin } from "../protocol/events.ts";
import { parseRepo, type RepoRef } from "../protocol/repo.ts";
import { type CompletePayload, completePayload, type PartialPayload } from "../protocol/sample.ts";
import { assign } from "./assign.ts";
import { UsageError } from "./exit.ts";
import { note } from "./output.ts";

export interface SampleOptions {
  repo?: string | undefined;
  set: string[];
}

export function sampleOptions(command: Command): Command {
  return command
    .option("--repo <type:owner/name>", "the repo it happened on (default: model:me/my-model)")
    .addOption(
      new Option("--set <path=value>", "set a key of the payload; repeatable")
        .argParser((text: string, before: string[]) => [...before, text])
        .default([], "none"),
    );
}

/**
 * The payload of `scope:action`. What `--set` says goes in first and the rest is filled in to agree with it, so that
 * one word is enough to turn a discussion into a pull request.
 * @throws UsageError
 */
export function sampleFrom(eventName: string, options: SampleOptions, endpoint: string): CompletePayload {
  checkEventName(eventName);
  const [scope = "", action = ""] = eventName.split(":");
  const repo = repoOption(options.repo);
  const given = { event: { scope, action }, ...(repo && { repo }) };
  for (const assignment of options.set) assign(given, assignment);
  return completePayload(given as PartialPayload, { endpoint });
}

/** What `--repo` names, if anything. @throws UsageError */
export function repoOption(text: string | undefined): RepoRef | undefined {
  const repo = text === undefined ? undefined : parseRepo(text);
  if (repo === null)
    throw new UsageError(
      `--repo "${text}": write type:owner/name, as model:me/m, dataset:me/d, space:me/s or bucket:me/b`,
    );
  return repo;
}

/** @throws UsageError */
export function checkEventName(name: string): void {
  if (isDocumentedEvent(name)) return;
  if (isNarrower(name)) {
    const slip = nearest(name, documentedEventNames, 2);
    const typo = slip === undefined ? "" : ` Did you mean ${slip}?`;
    note(`${name} is not documented: a receiver should take it as an update of the broader scope.${typo}`);
    return;
  }
  const near = nearest(name, documentedEventNames);
  const meant = near === undefined ? "." : `: did you mean ${near}?`;
  throw new UsageError(
    [
      `"${name}" is no event of the Hub${meant} The events are:`,
      ...documentedEventNames.map((event) => `  ${event}`),
      "and narrower scopes that the Hub may add, as repo.config.doi:update",
    ].join("\n"),
  );
}

/** An event of a scope that the Hub may add one day below a documented one. */
function isNarrower(name: string): boolean {
  if (!/^[a-z]+(\.[a-z][a-z0-9_-]*)+:[a-z][a-z0-9_-]*$/.test(name)) return false;
  const [scope = ""] = name.split(":");
  return scopes.every((known) => known !== scope) && scopes.some((known) => scopeWithin(scope, known));
}
