/** What the catalog adds to `/openapi.json`. */
import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { FACETS } from "./facets.ts";
import { CATEGORIES, resourceSchemas, SOURCES, STATUSES, VOCABULARIES } from "./schema.ts";

const resource = z.union([resourceSchemas.neutral, resourceSchemas.platform]);
const about = z.object({
  version: z.string(),
  updated_on: z.string(),
  vocabulary: z.enum(VOCABULARIES).nullable(),
  resources: z.number(),
});
const facet = z.array(z.object({ value: z.string(), count: z.number() }));
const found = z.object({
  catalog: about,
  refused: z.object({ errors: z.number() }).optional(),
  total: z.number(),
  resources: z.array(resource),
  facets: z.object(Object.fromEntries(FACETS.map((name) => [name, facet]))).optional(),
  next: z.number().optional(),
});
const failed = z.looseObject({ error: z.string(), code: z.string(), requestId: z.string() });

const json = (schema: z.ZodType, type = "application/json") => ({ content: { [type]: { schema } } });
const failure = (description: string) => ({ description, ...json(failed) });
const query = (name: string, schema: z.ZodType, description: string) => ({
  name,
  in: "query" as const,
  schema: schema as never,
  description,
});
const several = (words: readonly [string, ...string[]] | null) => z.array(words ? z.enum(words) : z.string());
const anySource = [...new Set(VOCABULARIES.flatMap((vocabulary) => SOURCES[vocabulary]))] as [string, ...string[]];

export const paths: ZodOpenApiPathsObject = {
  "/api/catalog": {
    get: {
      summary: "Search in the catalog of language resources",
      security: [],
      parameters: [
        query("q", z.string(), "Words, all of which must be found; the last one may be only begun"),
        query("category", several(CATEGORIES), "Any of these"),
        query("source", several(anySource), "Any of these, in either vocabulary"),
        query("status", several(STATUSES), "Any of these"),
        query("tag", several(null), "Any of these"),
        query("task", several(null), "Any of these"),
        query("license", several(null), "Any of these"),
        query("facets", z.boolean(), "Count what each filter would leave; by default they are"),
        query("offset", z.int().min(0), "How many come before the first one that is wanted"),
        query("limit", z.int().min(1).max(200), "How many are wanted at most; by default 50"),
      ],
      responses: {
        200: { description: "What was found, the best first; `next` is the offset of the next page", ...json(found) },
        304: { description: "Nothing has changed since the answer with this ETag" },
        400: failure("A parameter was not understood"),
        503: failure("There is no version of the catalog without errors; `issues` names some"),
      },
    },
  },
  "/api/catalog/{id}": {
    get: {
      summary: "One resource of the catalog",
      security: [],
      parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
      responses: {
        200: { description: "The resource", ...json(z.object({ catalog: about, resource })) },
        404: failure("The catalog has no such resource"),
        503: failure("There is no version of the catalog without errors"),
      },
    },
  },
  "/schemas/catalog.schema.json": {
    get: {
      summary: "The JSON Schema (draft 2020-12) of a catalog file",
      security: [],
      parameters: [query("sources", z.enum(VOCABULARIES), "Which words name the sources; by default neutral ones")],
      responses: { 200: { description: "The schema", ...json(z.looseObject({}), "application/schema+json") } },
    },
  },
};
