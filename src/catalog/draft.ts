/** A resource that is being written: what each answer lacks, and what can be proposed for the next one. */
import { crossChecker } from "./cross.ts";
import { sourceOfUrl } from "./hosts.ts";
import { proposedId } from "./ids.ts";
import { markerFinder } from "./markers.ts";
import { errorsOf } from "./problem-line.ts";
import { CATEGORIES, type Resource, SOURCES, STATUSES, VOCABULARIES, type Vocabulary } from "./schema.ts";
import { translate, vocabularyOf } from "./sources.ts";
import { type Problem, validateCatalog } from "./validate.ts";

/** The fields of a resource, flat. */
export interface Draft {
  id?: string;
  title?: string;
  url?: string;
  category?: string;
  source?: string;
  status?: string;
  summary?: string;
  primary_use?: string;
  license?: string;
  tasks?: string[];
  evidence_text?: string;
  evidence_url?: string;
  markers?: string[];
  tags?: string[];
}

export type DraftField = keyof Draft;

const EVIDENCE: readonly DraftField[] = ["evidence_text", "evidence_url", "markers"];

/** @param vocabulary null: the file has none yet, so either will do */
export function choicesOf(field: DraftField, vocabulary: Vocabulary | null): readonly string[] | undefined {
  if (field === "category") return CATEGORIES;
  if (field === "status") return STATUSES;
  if (field !== "source") return undefined;
  return vocabulary ? SOURCES[vocabulary] : [...new Set(VOCABULARIES.flatMap((one) => SOURCES[one]))];
}

/** The file's word for a source, whichever one it was named by; what is in neither vocabulary stays as it is. */
export function sourceWord(word: string, vocabulary: Vocabulary | null): string {
  return (vocabulary && translate(word, vocabulary)) ?? word;
}

/** What the validator says of this field of a resource. */
export function fieldProblems(field: DraftField, draft: Draft, vocabulary: Vocabulary | null): Problem[] {
  const [source] = SOURCES[vocabulary ?? vocabularyOf([draft]) ?? "neutral"];
  // The other one tells the vocabulary.
  const other = { ...VALID, source };
  const resources = [other, { ...other, id: "other", [field]: draft[field] }].map(resourceFrom);
  const text = JSON.stringify({ version: "1.0.0", updated_on: "2000-01-01", resources });
  const path = ["resources", 1, ...(EVIDENCE.includes(field) ? ["pashto_evidence"] : []), field];
  const { problems } = validateCatalog(text, { markers: [] });
  return errorsOf(problems).filter((problem) => path.every((step, index) => problem.path[index] === step));
}

/** Without what the draft leaves out; not checked. */
export function resourceFrom(draft: Draft): Resource {
  const { id, title, url, category, source, status, summary, primary_use, license, tasks, tags, ...evidence } = draft;
  const { evidence_text, evidence_url, markers } = evidence;
  const pashto_evidence = { evidence_text, evidence_url, markers };
  return {
    ...{ id, title, url, category, source, status, summary, primary_use },
    pashto_evidence,
    tags,
    ...(license !== undefined && { license }),
    ...(tasks !== undefined && { tasks }),
  } as Resource;
}

interface Surroundings {
  vocabulary: Vocabulary | null;
  /** Words for the language. */
  markers: readonly string[];
  isTaken(id: string): boolean;
}

/** What follows from the rest of the draft, as far as there is anything. */
export function proposalsFor(draft: Draft, { vocabulary, markers, isTaken }: Surroundings): Draft {
  const { title = "", url = "", evidence_text = "" } = draft;
  const found = markers.filter((marker) => markerFinder([marker])(`${evidence_text}\n${title}`));
  return {
    id: proposedId(title, url, isTaken),
    source: sourceOfUrl(url, vocabulary ?? "neutral"),
    status: "candidate",
    ...(url && { evidence_url: url }),
    ...(found.length > 0 && { markers: found }),
  };
}

/** The place of the first resource that has this id, the same url or nearly the same title, as the rules have it. */
export function twinOf(field: "id" | "url" | "title", draft: Draft, resources: readonly unknown[]): number | undefined {
  const all = [...resources, { [field]: draft[field] }];
  let twin: number | undefined;
  const check = crossChecker(all, [], ({ path, other }) => {
    if (path[1] === resources.length && path[2] === field && Array.isArray(other)) twin = other[1];
  });
  for (const index of all.keys()) check(index);
  return twin;
}

/** Nothing is wrong with any of these, so that what is found is about the field that is looked at. */
const VALID: Draft = {
  id: "id",
  title: "title",
  url: "https://example.org",
  category: "dataset",
  status: "candidate",
  summary: "a summary of it",
  primary_use: "use",
  evidence_text: "evidence",
  evidence_url: "https://example.org",
  markers: ["marker"],
  tags: ["tag"],
};
