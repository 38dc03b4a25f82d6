/** The questions of `hubhook catalog add`, and what is said of each answer. */
import {
  choicesOf,
  type Draft,
  type DraftField,
  fieldProblems,
  proposalsFor,
  sourceWord,
  twinOf,
} from "../catalog/draft.ts";
import type { EditableCatalog } from "../catalog/edit.ts";
import { counted } from "../catalog/problem-line.ts";
import type { Problem } from "../catalog/validate.ts";
import { converse, NEEDED, type Objection } from "./ask.ts";
import { answered, FIELDS, type Field, textOf } from "./catalog-fields.ts";
import { type Found, idsOf } from "./catalog-file.ts";
import { harmless, note } from "./output.ts";

/** What the new resource is written into. */
export interface Place {
  file: string;
  catalog: EditableCatalog;
  /** Words for the language. */
  markers: readonly string[];
}

/** The draft with all that follows from it. */
export function completed(draft: Draft, { catalog, markers }: Place): Draft {
  const ids = new Set(idsOf(catalog.resources));
  const { vocabulary } = catalog;
  return { ...proposalsFor(draft, { vocabulary, markers, isTaken: (id) => ids.has(id) }), ...draft };
}

/** Asks for all that the draft has not yet. @throws Failure when the person leaves */
export async function interview(given: Draft, place: Place): Promise<Draft> {
  note(`A new resource for ${place.file}, which has ${counted(place.catalog.resources.length, "resource")} so far.`);
  note("Enter takes what stands in brackets. Ctrl-C leaves the file as it is.\n");
  using conversation = converse("nothing was added");
  let draft = given;
  for (const field of FIELDS) {
    const { name, label, optional, silent } = field;
    if (draft[name] !== undefined) continue;
    const proposal = completed(draft, place)[name];
    const choices = choicesOf(name, place.catalog.vocabulary);
    const withAnswer = (text: string): Draft => ({ ...draft, [name]: valueFrom(text, field, choices, place) });
    const answer = silent
      ? (textOf(proposal) ?? "")
      : await conversation.ask({
          label,
          hint: choices ? `One of ${choices.join(", ")}.` : field.hint,
          proposal: textOf(proposal),
          ...(optional && { optional }),
          problems: (text) => objectionsTo(field, withAnswer(text), place),
        });
    if (answer !== "") draft = withAnswer(answer);
    // Asked about at the end; said now, before all the rest is typed.
    if (name === "title") for (const alike of alikeTo(draft, place)) note(`  ${alike}`);
  }
  return draft;
}

function valueFrom(text: string, field: Field, choices: readonly string[] | undefined, { catalog }: Place) {
  if (!choices) return answered(field, text);
  const word = begun(text, choices);
  return field.name === "source" ? sourceWord(word, catalog.vocabulary) : word;
}

/** The only choice that begins so; else what was typed, for the validator to judge. */
function begun(answer: string, choices: readonly string[]): string {
  const word = answer.trim().toLowerCase();
  const [only, ...others] = choices.filter((choice) => choice.startsWith(word));
  return only === undefined || others.length > 0 ? word : only;
}

function objectionsTo({ name }: Field, draft: Draft, { catalog }: Place): Objection[] {
  if (draft[name]?.length === 0) return [NEEDED];
  const taken = takenBy(name, draft, catalog.resources);
  const found = fieldProblems(name, draft, catalog.vocabulary);
  return [
    ...found.map((problem) => ({ sentence: sentenceOf(problem), suggestion: problem.suggestion })),
    ...(taken === undefined ? [] : [{ sentence: taken }]),
  ];
}

export function sentenceOf({ rule, message, suggestion, allowed }: Problem): string {
  if (suggestion !== undefined) return `${message}: did you mean ${suggestion}?`;
  if (allowed === undefined) return message;
  return `${message}: write ${rule === "not-allowed" ? "one of " : ""}${allowed}`;
}

/** Which resource has this id or url already, in a sentence. */
export function takenBy(field: DraftField, draft: Draft, resources: readonly unknown[]): string | undefined {
  if (field !== "id" && field !== "url") return undefined;
  const twin = twinOf(field, draft, resources);
  if (twin === undefined) return undefined;
  const { id = `resources[${twin}]`, title } = resources[twin] as Found;
  if (field === "url") return `${id} has this url already`;
  return `${title === undefined ? `resources[${twin}]` : `"${title}"`} has the id ${id} already`;
}

/** That another resource has nearly the same title, in a sentence; none where none has. */
export function alikeTo(draft: Draft, { catalog }: Place): string[] {
  const twin = twinOf("title", draft, catalog.resources);
  if (twin === undefined) return [];
  const { id = `resources[${twin}]`, title } = catalog.resources[twin] as Found;
  return [harmless(`${id} has nearly the same title, "${title}"`)];
}
