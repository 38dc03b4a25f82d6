/** The published JSON Schema (draft 2020-12), made from the zod schema. */
import { z } from "zod";
import { catalogSchemas, type Vocabulary } from "./schema.ts";

/** The schema of a catalog that names its sources in these words. */
export function jsonSchema(vocabulary: Vocabulary): object {
  const { $schema, ...schema } = z.toJSONSchema(catalogSchemas[vocabulary], { target: "draft-2020-12" });
  return { $schema, title: `Catalog of language resources (${vocabulary} sources)`, ...schema };
}
