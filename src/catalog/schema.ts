/**
 * What a catalog file holds: language resources, each with evidence that it concerns the language. This is the one
 * source of the schema; the published JSON Schema is made from it. No level takes additional properties.
 */
import { z } from "zod";
import { codePoints, isDate, isHttpUri } from "./formats.ts";

export const CATEGORIES = ["dataset", "model", "benchmark", "tool", "paper", "project", "code"] as const;
export const STATUSES = ["verified", "candidate"] as const;

/** Where a resource lives, in neutral words or by the platforms' names: the same places in the same order. */
export const SOURCES = {
  neutral: [
    "model_hub",
    "browser_vendor",
    "data_science_site",
    "code_host_a",
    "code_host_b",
    "preprint_server",
    "scholarly_index",
    "doi_registrar_a",
    "research_repository",
    "data_archive",
    "doi_registrar_b",
    "social_company",
    "other",
  ],
  platform: [
    "huggingface",
    "mozilla",
    "kaggle",
    "github",
    "gitlab",
    "arxiv",
    "openalex",
    "crossref",
    "zenodo",
    "dataverse",
    "datacite",
    "meta",
    "other",
  ],
} as const;

/** One throughout a file. `other` belongs to both. */
export type Vocabulary = keyof typeof SOURCES;
export const VOCABULARIES = ["neutral", "platform"] as const satisfies readonly Vocabulary[];
export type Source = (typeof SOURCES)[Vocabulary][number];

/** A check that JSON Schema knows by `keywords`; `rule` is its name among the catalog's rules. */
const text = (rule: string, passes: (text: string) => boolean, keywords: Record<string, unknown>) =>
  z.string().refine(passes, { params: { rule } }).meta(keywords);

/** JSON Schema counts a text's length in code points. */
const atLeast = (minLength: number) =>
  text("too-short", (text) => text.length >= 2 * minLength || codePoints(text) >= minLength, { minLength });
const matching = (pattern: RegExp, description: string) =>
  text("pattern", (text) => pattern.test(text), { pattern: pattern.source, description });
const httpUri = text("url", isHttpUri, { format: "uri", pattern: "^https?://" });
const date = text("date", isDate, { format: "date" });

export const evidenceSchema = z.strictObject({
  /** What is said there of the language. */
  evidence_text: atLeast(3),
  evidence_url: httpUri,
  /** The words for the language that were found there. */
  markers: z.array(atLeast(1)).min(1),
});

const resourceOf = <const Words extends readonly [string, ...string[]]>(sources: Words) =>
  z.strictObject({
    id: matching(
      /^[a-z0-9][a-z0-9._-]*$/,
      "small letters (a-z), digits, dots, underscores and hyphens, a letter or digit first",
    ),
    title: atLeast(3),
    url: httpUri,
    category: z.enum(CATEGORIES),
    source: z.enum(sources),
    status: z.enum(STATUSES),
    summary: atLeast(10),
    primary_use: atLeast(3),
    pashto_evidence: evidenceSchema,
    tags: z.array(z.string()).min(1),
    license: z.string().optional(),
    tasks: z.array(z.string()).optional(),
  });

export const resourceSchemas = {
  neutral: resourceOf(SOURCES.neutral),
  platform: resourceOf(SOURCES.platform),
} as const;

const catalogOf = <Item extends z.ZodType>(resource: Item) =>
  z.strictObject({
    version: matching(/^\d+\.\d+\.\d+$/, "three numbers with dots between them, as 1.0.0"),
    updated_on: date,
    resources: z.array(resource),
  });

export const catalogSchemas = {
  neutral: catalogOf(resourceSchemas.neutral),
  platform: catalogOf(resourceSchemas.platform),
} as const;
/** The catalog around its resources, whatever they are. */
export const frameSchema = catalogOf(z.unknown());

export type Evidence = z.output<typeof evidenceSchema>;
export type Resource = Omit<z.output<typeof resourceSchemas.neutral>, "source"> & { source: Source };
export type Catalog = Omit<z.output<typeof catalogSchemas.neutral>, "resources"> & { resources: Resource[] };
export type Category = (typeof CATEGORIES)[number];
export type Status = (typeof STATUSES)[number];
