/** From one vocabulary for sources to the other. */
import { locate } from "./locate.ts";
import { counted, errorsOf } from "./problem-line.ts";
import type { Resource, Vocabulary } from "./schema.ts";
import { translate } from "./sources.ts";
import { type Problem, validateCatalog } from "./validate.ts";
import { type Edit, edited } from "./write.ts";

export interface Converted {
  bytes: Uint8Array;
  /** How many sources were named anew. */
  changed: number;
}

/** The file has errors other than two vocabularies side by side, which a conversion mends. */
export class NotConvertible extends Error {
  override readonly name = "NotConvertible";
  readonly problems: Problem[];

  constructor(problems: Problem[]) {
    super(`the file has ${counted(problems.length, "error")}`);
    this.problems = problems;
  }
}

/** All stays as it was, byte for byte, but the words of the sources. @throws NotConvertible */
export function convertSources(bytes: Uint8Array, to: Vocabulary): Converted {
  const { problems } = validateCatalog(bytes);
  const errors = errorsOf(problems).filter(({ rule }) => rule !== "mixed-vocabulary");
  if (errors.length > 0) throw new NotConvertible(errors);
  const { resources } = JSON.parse(Buffer.from(bytes).toString("utf8")) as { resources: Resource[] };
  const spans = locate(
    bytes,
    resources.map((_, index) => ["resources", index, "source"]),
  );
  const edits: Edit[] = [];
  for (const [index, { source }] of resources.entries()) {
    const span = spans[index];
    const word = translate(source, to);
    if (span && word !== undefined && word !== source) edits.push({ ...span, text: JSON.stringify(word) });
  }
  return { bytes: edited(bytes, edits), changed: edits.length };
}
