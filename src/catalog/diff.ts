/** What is different between two catalogs, resource by resource. In what order they stand makes no difference. */
import type { Catalog, Resource } from "./schema.ts";
import { translate } from "./sources.ts";

export interface FieldChange {
  /** `title`, `pashto_evidence.markers` */
  field: string;
  /** Left out where the field was not there. */
  old?: string | string[];
  /** Left out where the field is not there any more. */
  new?: string | string[];
}

export interface ChangedResource {
  id: string;
  title: string;
  fields: FieldChange[];
}

export interface CatalogDiff {
  version: { old: string; new: string };
  updated_on: { old: string; new: string };
  added: Resource[];
  removed: Resource[];
  changed: ChangedResource[];
}

/** Sources are compared by what they mean: the same place has a name in either vocabulary. */
export function diffCatalogs(before: Catalog, after: Catalog): CatalogDiff {
  const old = new Map(before.resources.map((resource) => [resource.id, resource]));
  const kept = new Set(after.resources.map(({ id }) => id));
  return {
    version: { old: before.version, new: after.version },
    updated_on: { old: before.updated_on, new: after.updated_on },
    added: after.resources.filter(({ id }) => !old.has(id)),
    removed: before.resources.filter(({ id }) => !kept.has(id)),
    changed: after.resources.flatMap((resource) => {
      const fields = changedFields(old.get(resource.id) ?? resource, resource);
      return fields.length > 0 ? [{ id: resource.id, title: resource.title, fields }] : [];
    }),
  };
}

export function isSame({ version, updated_on, added, removed, changed }: CatalogDiff): boolean {
  const heads = [version, updated_on].every((one) => one.old === one.new);
  return heads && added.length + removed.length + changed.length === 0;
}

function changedFields(before: Resource, after: Resource): FieldChange[] {
  const old = fieldsOf(before);
  const now = fieldsOf(after);
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((field) => {
    const [was, is] = [old.get(field), now.get(field)];
    if (meaning(field, was) === meaning(field, is)) return [];
    return [{ field, ...(was !== undefined && { old: was }), ...(is !== undefined && { new: is }) }];
  });
}

function fieldsOf({ pashto_evidence, ...rest }: Resource): Map<string, string | string[]> {
  const evidence = Object.entries(pashto_evidence).map(([key, value]) => [`pashto_evidence.${key}`, value] as const);
  return new Map([...Object.entries(rest), ...evidence]);
}

function meaning(field: string, value: string | string[] | undefined): string | undefined {
  return JSON.stringify(field === "source" && typeof value === "string" ? translate(value, "neutral") : value);
}
