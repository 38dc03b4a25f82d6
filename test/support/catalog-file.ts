/** A catalog of our own writing, in a file of its own. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Catalog, Resource } from "../../src/catalog/schema.ts";
import { folderWith } from "./cli.ts";

export function newResource(id: string, more: Partial<Resource> = {}): Resource {
  const url = `https://example.org/${id}`;
  return {
    id,
    title: `The resource ${id}`,
    url,
    category: "dataset",
    source: "other",
    status: "candidate",
    summary: `What there is to say of ${id}.`,
    primary_use: "trying",
    pashto_evidence: { evidence_text: "It is in Pashto.", evidence_url: url, markers: ["Pashto"] },
    tags: ["text"],
    ...more,
  };
}

export const SPEECH = newResource("pashto-speech", {
  title: "Pashto Speech",
  url: "https://huggingface.co/datasets/me/pashto-speech",
  source: "huggingface",
  status: "verified",
  summary: "Forty hours of read speech with transcripts.",
  primary_use: "speech recognition",
  license: "cc-by-4.0",
  tasks: ["automatic-speech-recognition"],
  tags: ["speech", "audio"],
});
export const WORDS = newResource("pashto-words", {
  title: "د پښتو د کلمو لویه ټولګه او د هغې د کارونې لنډ لارښود",
  url: "https://github.com/me/words",
  category: "code",
  source: "github",
  pashto_evidence: { evidence_text: "د پښتو کلمې", evidence_url: "https://github.com/me/words", markers: ["پښتو"] },
  tags: ["text", "words"],
});
export const BENCH = newResource("translation-bench", {
  title: "Translation benchmark",
  category: "benchmark",
  source: "zenodo",
  status: "verified",
  license: "mit",
  tags: ["translation", "text"],
});

export const CATALOG: Catalog = { version: "1.2.3", updated_on: "2026-01-02", resources: [SPEECH, WORDS, BENCH] };

export interface CatalogFolder extends AsyncDisposable {
  path: string;
  file: string;
  text(): Promise<string>;
  read(): Promise<Catalog>;
}

/** `catalog.json` in a folder of its own. */
export async function catalogFolder(content: Catalog | string = CATALOG): Promise<CatalogFolder> {
  const text = typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`;
  const folder = await folderWith({ "catalog.json": text });
  const file = join(folder.path, "catalog.json");
  const read = () => readFile(file, "utf8");
  return {
    path: folder.path,
    file,
    text: read,
    read: async () => JSON.parse(await read()),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
