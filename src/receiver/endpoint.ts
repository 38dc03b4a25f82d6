/** An endpoint: one handler under one name, with its filter compiled. Made by the loader or by `addWebhook`. */
import picomatch from "picomatch";
import { z } from "zod";
import { type Issue, toError } from "../errors.ts";
import { filterTakes, isDocumentedEvent, scopes, scopeWithin } from "../protocol/events.ts";
import { checkable, documentedEvents, type WebhookPayload } from "../protocol/payload.ts";
import type { Handler, Mode, WebhookOptions } from "./webhook.ts";

export interface Endpoint {
  readonly name: string;
  /** `/webhooks/<name>` */
  readonly path: string;
  readonly mode: Mode;
  readonly description: string | null;
  readonly on: string[] | null;
  readonly repos: string[] | null;
  readonly refs: string[] | null;
  /** File that the handler came from, for people. */
  readonly file: string | null;
  readonly handler: Handler;
  readonly settings: unknown;
  readonly serial: "repo" | null;
  readonly rerun: boolean;
  readonly concurrency: number | null;
  /** Does the filter take this event? */
  takes(payload: WebhookPayload): boolean;
  /** Documented keys that the payload lacks; only asked for where the handler names its events. */
  lacks(payload: WebhookPayload): Issue[];
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

export const NAME_RULE =
  "one URL segment of letters, digits, `_`, `-` and `.`, beginning with a letter, a digit or `_`";

const texts = z.union([
  z
    .string()
    .min(1)
    .transform((one) => [one]),
  z.array(z.string().min(1)).min(1, "expected a string or a list of strings, found an empty list"),
]);
const repoGlob = /^[\w*{},!-]+:[^\s:]+$/;

const optionsSchema = z.strictObject({
  name: z.string().optional(),
  description: z.string().optional(),
  on: texts.optional(),
  repos: texts.optional(),
  refs: texts.optional(),
  mode: z.enum(["reply", "background"]).optional(),
  settings: z.unknown().optional(),
  serial: z.literal("repo").optional(),
  rerun: z.boolean().optional(),
  concurrency: z.int().min(1).optional(),
});

const BACKGROUND_ONLY = ["serial", "rerun", "concurrency"] as const;

const OPTION_NAMES = Object.keys(optionsSchema.shape).join(", ");

interface EndpointSource {
  options: WebhookOptions;
  handler: unknown;
  /** Name to take when neither the options nor the function have one. */
  fallbackName: string;
  file: string | null;
  /** Where the handler's own settings are read from. */
  env: Record<string, string | undefined>;
}

/** Makes an endpoint, or says in sentences all that is wrong with it. */
export function makeEndpoint(source: EndpointSource): { endpoint: Endpoint } | { problems: string[] } {
  const parsed = optionsSchema.safeParse(source.options);
  const problems = parsed.success ? [] : parsed.error.issues.map(optionProblem);
  // One unknown option must not hide what is wrong with the others.
  const known = optionsSchema.strip().safeParse(source.options);
  if (!known.success) return { problems };
  const options = known.data;

  const handler = source.handler;
  const name = endpointName(options.name, handler, source.fallbackName);
  if (typeof handler !== "function")
    problems.push(`expected a function behind webhook(options, …), found ${kindOf(handler)}`);
  else if (notCallable(handler)) problems.push(`expected a function, found ${notCallable(handler)}`);
  if (!NAME.test(name)) problems.push(`"${name}" cannot be the name of an endpoint: expected ${NAME_RULE}`);
  for (const filter of options.on ?? []) problems.push(...filterProblems(filter));
  for (const glob of options.repos ?? [])
    if (!repoGlob.test(glob))
      problems.push(`repos: "${glob}" is no \`type:owner/name\`, as dataset:me/data or model:me/*`);
  if (options.mode !== "background")
    for (const name of BACKGROUND_ONLY)
      if (options[name] !== undefined)
        problems.push(`option \`${name}\` needs mode "background": a reply is not stored`);
  const settings = readSettings(options.settings, source.env);
  problems.push(...settings.problems);
  if (problems.length > 0) return { problems };

  const on = options.on ?? null;
  const repos = options.repos ?? null;
  const refs = options.refs ?? null;
  return {
    endpoint: {
      name,
      path: `/webhooks/${name}`,
      mode: options.mode ?? "reply",
      description: options.description ?? null,
      on,
      repos,
      refs,
      file: source.file,
      handler: handler as Handler,
      settings: settings.value,
      serial: options.serial ?? null,
      rerun: options.rerun ?? false,
      concurrency: options.concurrency ?? null,
      takes: compileFilter(on, repos, refs),
      lacks: on === null ? () => NOTHING : lacking,
    },
  };
}

const NOTHING: Issue[] = [];

/** The explicit name, else the function's own, else the fallback (the export's or the file's). */
function endpointName(explicit: string | undefined, handler: unknown, fallback: string): string {
  if (explicit !== undefined) return explicit.replace(/^\//, "");
  const own = typeof handler === "function" ? handler.name : "";
  return own === "" || own === "default" ? fallback : own;
}

/** A class or a generator is a function to JavaScript, yet calling it answers nothing. */
function notCallable(handler: object): string | null {
  if (/^class\b/.test(Function.prototype.toString.call(handler))) return "a class";
  return /Generator/.test(handler.constructor.name) ? "a generator function" : null;
}

function compileFilter(on: string[] | null, repos: string[] | null, refs: string[] | null): Endpoint["takes"] {
  if (!on && !repos && !refs) return () => true;
  const isRepo = repos && picomatch(repos);
  const isRef = refs && picomatch(refs);
  return ({ event, repo, updatedRefs }) =>
    (!on || on.some((filter) => filterTakes(filter, event))) &&
    (!isRepo || isRepo(`${repo.type}:${repo.name ?? ""}`)) &&
    (!isRef || (updatedRefs ?? []).some(({ ref }) => typeof ref === "string" && isRef(ref)));
}

function lacking(payload: WebhookPayload): Issue[] {
  const name = `${payload.event.scope}:${payload.event.action}`;
  if (!isDocumentedEvent(name)) return NOTHING;
  const result = documentedEvents[name].safeParse(checkable(payload));
  return result.success ? NOTHING : issuesOf(result.error);
}

/** Zod's issues as ours: a path as one would write it in code, and a sentence. */
export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
}

function optionProblem(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys")
    return `unknown option ${issue.keys.map((key) => `\`${key}\``).join(", ")}: the options are ${OPTION_NAMES}`;
  const where = issue.path.length > 0 ? `option \`${issue.path.join(".")}\`: ` : "options: ";
  if (issue.code === "invalid_union") return `${where}expected a string or a list of strings`;
  return `${where}${issue.message}`;
}

function filterProblems(filter: string): string[] {
  const scope = filter.split(":")[0] ?? "";
  if (!/^[a-z][\w.-]*(:[\w-]+)?$/.test(filter))
    return [`on: "${filter}" is neither a scope nor \`scope:action\`, as discussion or discussion.comment:create`];
  if (scopes.some((known) => scopeWithin(scope, known))) return [];
  return [`on: "${scope}" is not a scope of the Hub: those are ${scopes.join(", ")}, and narrower ones`];
}

function readSettings(
  schema: unknown,
  env: Record<string, string | undefined>,
): { value?: unknown; problems: string[] } {
  if (schema === undefined) return { problems: [] };
  if (!(schema instanceof z.ZodType)) return { problems: [`settings: expected a zod object, found ${kindOf(schema)}`] };
  let result: z.ZodSafeParseResult<unknown>;
  try {
    result = schema.safeParse(env);
  } catch (error) {
    // Zod throws where a check must be awaited, and what a person's own check throws.
    return { problems: [`settings: the schema itself failed: ${toError(error).message}`] };
  }
  if (result.success) return { value: result.data, problems: [] };
  // Only names and rules: what stands in the environment may be a secret.
  return {
    problems: issuesOf(result.error).map(
      ({ path, message }) => `settings: ${path || "value"}: ${message} (set it in the environment or .env)`,
    ),
  };
}

export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
