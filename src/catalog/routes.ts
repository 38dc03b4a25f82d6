/** `GET /api/catalog`, one resource of it, and the published schema. The page itself is a file of `public/`. */
import { createHash } from "node:crypto";
import { type Request, type Response, Router } from "express";
import { z } from "zod";
import { HttpError } from "../errors.ts";
import { requestIdOf } from "../http/answers.ts";
import { FACETS } from "./facets.ts";
import { jsonSchema } from "./json-schema.ts";
import type { LiveCatalog, Served } from "./live.ts";
import type { Problem } from "./problem.ts";
import { counted, problemLine } from "./problem-line.ts";
import { CATEGORIES, SOURCES, STATUSES, VOCABULARIES } from "./schema.ts";

interface RoutesOptions {
  live: LiveCatalog;
  /** The address under which the world reaches this: it stands in the schema's `$id`. */
  publicUrl(): string;
}

/** So many problems of a file are told to whoever asks for it. */
const TOLD = 20;

export const SCHEMA_PATH = "/schemas/catalog.schema.json";

/** A parameter may be given once or more often; empty it is as if it were not there. */
const listOf = <Item extends z.ZodType>(item: Item) =>
  z.preprocess(
    (given) => [given ?? []].flat().filter((one) => one !== ""),
    z.array(item).max(50, "expected 50 values at most"),
  );
const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, { error: `expected one of ${words.join(", ")}` });
const text = z.string().max(200, "expected 200 characters at most");
const whole = (least: number, most: number) => {
  const error = `expected a whole number from ${least} to ${most}`;
  return z
    .string({ error })
    .regex(/^\d{1,9}$/, error)
    .transform(Number)
    .refine((number) => number >= least && number <= most, error);
};
const sources = [...new Set(VOCABULARIES.flatMap((vocabulary) => SOURCES[vocabulary]))];

/** The words of `GET /api/catalog`. */
export const querySchema = z.strictObject(
  {
    q: z.string({ error: "expected one text" }).pipe(text).default(""),
    category: listOf(oneOf(CATEGORIES)),
    source: listOf(oneOf(sources)),
    status: listOf(oneOf(STATUSES)),
    tag: listOf(text),
    task: listOf(text),
    license: listOf(text),
    facets: z.stringbool({ error: "expected true or false" }).default(true),
    offset: whole(0, 10_000_000).default(0),
    limit: whole(1, 200).default(50),
  },
  { error: (issue) => (issue.code === "unrecognized_keys" ? unknownParameter(issue.keys) : undefined) },
);
const schemaQuery = z.strictObject({ sources: oneOf(VOCABULARIES).default("neutral") });

export function catalogRoutes({ live, publicUrl }: RoutesOptions): Router {
  const routes = Router();

  routes.get("/api/catalog", async (request, response) => {
    const { q, facets, offset, limit, ...filters } = understand(querySchema, request.query);
    const served = await servedBy(live);
    if (isKnown(request, response, live)) return;
    const found = served.search.query(q, filters, { offset, limit, facets });
    send(request, response, {
      catalog: about(served),
      // Whoever reads an older version is told so.
      ...(live.refusal && { refused: { errors: live.refusal.problems.length } }),
      total: found.total,
      resources: found.resources,
      ...(found.facets && { facets: found.facets }),
      ...(found.next !== null && { next: found.next }),
    });
  });

  routes.get("/api/catalog/:id", async (request, response) => {
    const { id } = request.params;
    const served = await servedBy(live);
    const resource = served.search.get(id);
    if (!resource)
      throw new HttpError(404, `the catalog has no resource ${JSON.stringify(id.slice(0, 200))}`, {
        code: "resource_unknown",
      });
    if (!isKnown(request, response, live)) send(request, response, { catalog: about(served), resource });
  });

  routes.get(SCHEMA_PATH, (request, response) => {
    const { sources } = understand(schemaQuery, request.query);
    const $id = `${publicUrl()}${SCHEMA_PATH}${sources === "neutral" ? "" : `?sources=${sources}`}`;
    const { $schema, ...schema } = jsonSchema(sources) as { $schema: string };
    const json = JSON.stringify({ $schema, $id, ...schema }, null, 2);
    response.set({ ETag: etag(json), "Cache-Control": "public, max-age=3600", "Access-Control-Allow-Origin": "*" });
    if (request.fresh) return void response.status(304).end();
    response.type("application/schema+json").send(json);
  });

  return routes;
}

/** @throws HttpError 503 while there is none that could be served */
async function servedBy(live: LiveCatalog): Promise<Served> {
  // Only the first reading is waited for.
  if (!live.served && !live.refusal) await live.idle();
  if (live.served) return live.served;
  const problems = live.refusal?.problems ?? [];
  const why =
    problems.length > 0
      ? `its file has ${counted(problems.length, "error")}`
      : "its file could not be read; the log tells why";
  throw new HttpError(503, `no catalog can be shown now: ${why}`, {
    code: problems.length > 0 ? "catalog_invalid" : "catalog_unreadable",
    headers: { "Retry-After": "10" },
    ...(problems.length > 0 && { issues: problems.slice(0, TOLD).map(issueOf) }),
  });
}

const issueOf = (problem: Problem) => ({ path: problem.pointer, message: problemLine(problem) });

/** Answers 304 to whoever has this very answer. It depends on the address, the version, and what is told of a newer one. */
function isKnown(request: Request, response: Response, { served, refusal }: LiveCatalog): boolean {
  response.set({
    ETag: `"${served?.tag}${refusal ? `-${refusal.problems.length}` : ""}"`,
    "Cache-Control": "no-cache",
  });
  if (!request.fresh) return false;
  response.status(304).end();
  return true;
}

function about({ search: { catalog }, vocabulary }: Served) {
  const { version, updated_on, resources } = catalog;
  return { version, updated_on, vocabulary, resources: resources.length };
}

function send(request: Request, response: Response, body: object): void {
  response.set("X-Request-Id", requestIdOf(request)).type("application/json").send(JSON.stringify(body));
}

const etag = (content: string) => `"${createHash("sha256").update(content).digest("base64url").slice(0, 16)}"`;

function unknownParameter(names: readonly string[]): string {
  return `unknown: ${names.join(", ")}; there are q, ${FACETS.join(", ")}, facets, offset, limit`;
}

function understand<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
  const list = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; ");
  throw new HttpError(400, `the request was not understood: ${list}`, { code: "request_invalid", issues });
}
