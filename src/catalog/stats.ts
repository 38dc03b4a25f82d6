/** What a catalog holds, in numbers. */
import type { Catalog, Resource } from "./schema.ts";

/** A value as the catalog writes it, and how many resources have it. */
export interface Count {
  value: string;
  count: number;
}
/** The most frequent first. */
export type Counts = Count[];

export interface CatalogStats {
  version: string;
  updated_on: string;
  resources: number;
  verified: number;
  category: Counts;
  source: Counts;
  license: Counts;
  tag: Counts;
  task: Counts;
}

export function statsOf({ version, updated_on, resources }: Catalog): CatalogStats {
  const counted = (valuesOf: (resource: Resource) => readonly string[]) => countsOf(resources, valuesOf);
  return {
    version,
    updated_on,
    resources: resources.length,
    verified: resources.filter(({ status }) => status === "verified").length,
    category: counted(({ category }) => [category]),
    source: counted(({ source }) => [source]),
    license: counted(({ license }) => (license === undefined ? [] : [license])),
    tag: counted(({ tags }) => tags),
    task: counted(({ tasks = [] }) => tasks),
  };
}

/** A resource that has a value twice counts once. */
function countsOf(resources: readonly Resource[], valuesOf: (resource: Resource) => readonly string[]): Counts {
  const counts = new Map<string, number>();
  for (const resource of resources)
    for (const value of new Set(valuesOf(resource))) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}
