/** What a resource is asked for, in the order of the questions. */
import { type Command, Option } from "commander";
import type { Draft, DraftField } from "../catalog/draft.ts";
import { CATEGORIES } from "../catalog/schema.ts";

export interface Field {
  name: DraftField;
  flag: string;
  label: string;
  /** Of the flag, for help. */
  about: string;
  /** Stands above the question where the label does not say it all. */
  hint?: string;
  list?: true;
  optional?: true;
  /** It has a good default, so it is not asked for. */
  silent?: true;
}

export const FIELDS: readonly Field[] = [
  { name: "url", flag: "--url", label: "URL", about: "where it lives" },
  { name: "title", flag: "--title", label: "Title", about: "its name, as it is written there" },
  { name: "id", flag: "--id", label: "Id", about: "its id in the catalog (default: made from the title)" },
  { name: "category", flag: "--category", label: "Category", about: CATEGORIES.join(", ") },
  { name: "source", flag: "--source", label: "Source", about: "the platform it lives on (default: told by the url)" },
  {
    name: "status",
    flag: "--status",
    label: "Status",
    about: "verified or candidate (default: candidate)",
    silent: true,
  },
  { name: "summary", flag: "--summary", label: "Summary", about: "what it is, in a sentence or two" },
  { name: "primary_use", flag: "--use", label: "Use", about: "what it is mainly used for, in a few words" },
  {
    name: "evidence_text",
    flag: "--evidence",
    label: "Evidence",
    about: "what is said there that shows that it concerns the language",
    hint: "What is said there that shows that it concerns the language? Best in its own words.",
  },
  {
    name: "evidence_url",
    flag: "--evidence-url",
    label: "Evidence URL",
    about: "where that is said (default: the url)",
  },
  {
    name: "markers",
    flag: "--marker",
    label: "Markers",
    about: "a word for the language in the evidence; repeatable (default: those of CATALOG_MARKERS that stand in it)",
    hint: "Which words of the evidence name the language? Commas between them.",
    list: true,
  },
  { name: "tags", flag: "--tag", label: "Tags, commas between them", about: "a tag; repeatable", list: true },
  {
    name: "tasks",
    flag: "--task",
    label: "Tasks, commas between them",
    about: "a task that it is for; repeatable (optional)",
    list: true,
    optional: true,
  },
  {
    name: "license",
    flag: "--license",
    label: "License",
    about: "its license, as cc-by-4.0 (optional)",
    optional: true,
  },
];

export function fieldOptions(command: Command): Command {
  for (const field of FIELDS) {
    const { flag, about, list } = field;
    const option = new Option(`${flag} <${placeholderOf(field)}>`, about);
    command.addOption(list ? option.argParser((text: string, before: string[] = []) => [...before, text]) : option);
  }
  return command;
}

function placeholderOf({ name, list }: Field): string {
  if (list) return name.replace(/s$/, "");
  if (/url$/.test(name)) return "url";
  return /^(title|summary|primary_use|evidence_text)$/.test(name) ? "text" : name;
}

/** What the flags say, without blanks around it. */
export function draftOf(options: Record<string, unknown>): Draft {
  const entries = FIELDS.flatMap(({ name, flag, list }) => {
    const given = options[flag.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
    if (given === undefined) return [];
    return [[name, list ? (given as string[]).map(trimmed).filter(Boolean) : trimmed(given as string)]];
  });
  return Object.fromEntries(entries) as Draft;
}

/** An answer at the terminal as a value of the field. */
export function answered({ list }: Field, answer: string): string | string[] {
  return list ? answer.split(/[,،]/).map(trimmed).filter(Boolean) : trimmed(answer);
}

/** A value as it is proposed at the terminal, and as `answered` reads it. */
export function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}

function trimmed(text: string): string {
  return text.trim();
}
