/** Finds everything that is wrong with a catalog, with the place of each problem in the file. */
import type { Catalog, Vocabulary } from "./schema.ts";

export interface Problem {
  /** Name of the rule; `rules` in rules.ts has them all. */
  rule: string;
  severity: "error" | "warning";
  path: readonly (string | number)[];
  /** The path as a JSON Pointer (RFC 6901). */
  pointer: string;
  /** Id of the resource it stands in, where it has one that can be read. */
  resource: string | null;
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 code units as editors count. */
  column: number;
  /** A sentence without the path. */
  message: string;
  found?: string;
  allowed?: string;
  suggestion?: string;
  /** Malformed text: the line it stands in, cut where it is long, and below it a line with a caret. */
  excerpt?: string;
}

export interface Report {
  /** null when there are errors. */
  catalog: Catalog | null;
  /** null when no source tells: the file is unreadable, empty, or knows only `other`, which either one has. */
  vocabulary: Vocabulary | null;
  /** By their place in the file. */
  problems: Problem[];
}

export interface ValidateOptions {
  /** The catalog before: the version must be above its. */
  against?: Pick<Catalog, "version"> | null;
  /** Words for the language; none: nothing is looked for. */
  markers?: readonly string[];
  now?: Date;
  onProgress?: (progress: { done: number; total: number }) => void;
}

export function validateCatalog(_bytes: Uint8Array | string, _options: ValidateOptions = {}): Report {
  throw new Error("not there yet");
}
