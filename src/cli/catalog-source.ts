/** The catalog that a verb is given: a file, a URL, or standard input. */
import { CatalogUnreadable, collect, nameOf as nameOfPlace, readCatalogBytes } from "../catalog/read.ts";
import type { Config } from "../config.ts";
import { Failure } from "./exit.ts";

export const STDIN = "-";

/** @throws Failure */
export async function readSource(source: string, { hub, catalog }: Config): Promise<Uint8Array> {
  try {
    if (source === STDIN) return await collect(process.stdin, "standard input");
    return await readCatalogBytes(source, { ...hub, allowTargets: catalog.allowTargets });
  } catch (error) {
    if (error instanceof CatalogUnreadable) throw new Failure(error.message, { cause: error.cause });
    throw error;
  }
}

/** How it is named to people: of a URL without what may be secret in it. */
export function nameOf(source: string): string {
  return source === STDIN ? "standard input" : nameOfPlace(source);
}
