/** The catalog as a receiver serves it: what it mounts, and what it tells of the state of the file. */
import { basename } from "node:path";
import type { Router } from "express";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { LiveCatalog, type LiveOptions } from "./live.ts";
import { paths } from "./openapi.ts";
import { nameOf } from "./read.ts";
import { catalogRoutes } from "./routes.ts";

export interface ServedCatalog {
  live: LiveCatalog;
  routes(publicUrl: () => string): Router;
  /** For `/openapi.json`. */
  paths: ZodOpenApiPathsObject;
  /** What the owner should mend. */
  concerns(): string[];
}

/** Begins to read the catalog; whoever asks for it before it is read waits. */
export function serveCatalog(options: LiveOptions): ServedCatalog {
  const live = new LiveCatalog(options);
  live.start();
  const name = nameOf(options.source);
  return {
    live,
    routes: (publicUrl) => catalogRoutes({ live, publicUrl }),
    paths,
    // Told to everybody: a file is named, not where on the machine it lies.
    concerns: () => (live.refusal ? [live.refusal.sentence.replaceAll(name, basename(name))] : []),
  };
}
