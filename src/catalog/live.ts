/**
 * The catalog that is served: read at the start and again whenever it changes. A version with errors is never served;
 * the one before it goes on, and what is wrong is told until it is mended.
 */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { counted, errorsOf, problemLine } from "./problem-line.ts";
import { CatalogUnreadable, isUrl, type ReadOptions, readIfChanged } from "./read.ts";
import type { Vocabulary } from "./schema.ts";
import { type CatalogSearch, openSearchGently } from "./search.ts";
import { type Problem, validateCatalog } from "./validate.ts";

/** One version as it is served. */
export interface Served {
  search: CatalogSearch;
  /** null where no source tells. */
  vocabulary: Vocabulary | null;
  /** Another one for every other content. */
  tag: string;
}

/** Why the newest version is not served. */
export interface Refusal {
  /** For the log and `/ready`. */
  sentence: string;
  /** Errors of the catalog; none where it could not even be read. */
  problems: Problem[];
}

export interface LiveOptions extends Omit<ReadOptions, "signal"> {
  /** A file or a URL. */
  source: string;
  /** Words for the language. */
  markers: readonly string[];
  log: { info(message: string, fields?: object): void; error(message: string, fields?: object): void };
  /** How often to look for a change. Default: a file every second, a URL every minute. */
  everyMs?: number;
}

const FILE_EVERY_MS = 1_000;
const URL_EVERY_MS = 60_000;
/** So many problems are named in a sentence. */
const NAMED = 3;

export class LiveCatalog {
  readonly #options: LiveOptions;
  readonly #isUrl: boolean;
  readonly #closing = new AbortController();
  #served: Served | null = null;
  #refusal: Refusal | null = null;
  /** Of the bytes that were looked at last, be they served or not. */
  #tag = "";
  /** Of the file, or of the URL's answer, when it was read last; null: nothing is known. */
  #mark: string | null = null;
  #work: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#isUrl = isUrl(options.source);
  }

  /** Begins to read, and to look for changes. */
  start(): void {
    void this.reload();
    this.#later();
  }

  /** null: no version without errors has been there yet. */
  get served(): Served | null {
    return this.#served;
  }

  /** null: the newest version is served, or the first one is still being read. */
  get refusal(): Refusal | null {
    return this.#refusal;
  }

  /** Looks now whether there is another version. */
  reload(): Promise<void> {
    this.#work = this.#work.then(() => this.#look());
    return this.#work;
  }

  /** Resolves when nothing is being read. */
  async idle(): Promise<void> {
    let seen: Promise<void>;
    do {
      seen = this.#work;
      await seen;
    } while (seen !== this.#work);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.idle();
  }

  #later(): void {
    const everyMs = this.#options.everyMs ?? (this.#isUrl ? URL_EVERY_MS : FILE_EVERY_MS);
    this.#timer = setTimeout(async () => {
      await this.reload();
      if (!this.#closing.signal.aborted) this.#later();
    }, everyMs);
    this.#timer.unref();
  }

  /** Never throws: what goes wrong becomes the refusal. */
  async #look(): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    const { source, markers, endpoint, token, allowTargets } = this.#options;
    try {
      // A file's mark is taken before reading: what is written meanwhile is seen the next time.
      const mark = this.#isUrl ? this.#mark : await markOf(source);
      if (!this.#isUrl && mark !== null && mark === this.#mark) return;
      const read = await readIfChanged(source, { endpoint, token, allowTargets, signal }, this.#isUrl ? mark : null);
      if (!read) return;
      const { bytes } = read;
      this.#mark = this.#isUrl ? read.tag : mark;
      const tag = createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
      if (tag === this.#tag) return;
      if (tag === this.#served?.tag) return this.#back(tag);
      const { catalog, vocabulary, problems } = validateCatalog(bytes, { markers });
      this.#tag = tag;
      if (!catalog) return this.#refuse(errorsOf(problems));
      this.#serve({ search: await openSearchGently(catalog, signal), vocabulary, tag }, problems.length);
    } catch (error) {
      if (signal.aborted) return;
      [this.#mark, this.#tag] = [null, ""];
      this.#refuse([], error);
    }
  }

  /** The newest version is the one that is served, after another one or none. */
  #back(tag: string): void {
    this.#tag = tag;
    this.#refusal = null;
    this.#options.log.info("the catalog is again as it is served");
  }

  #serve(served: Served, warnings: number): void {
    this.#served = served;
    this.#refusal = null;
    const { version, resources } = served.search.catalog;
    this.#options.log.info(`the catalog is served at /catalog, version ${version}`, {
      resources: resources.length,
      warnings,
    });
  }

  #refuse(problems: Problem[], error?: unknown): void {
    const before = this.#served ? `version ${this.#served.search.catalog.version} is served on` : "none is served";
    const why = problems.length > 0 ? inWords(problems) : reason(error);
    const sentence = `the catalog's newest version is not taken, ${before}: ${why}`;
    // Said once, not at every look.
    if (sentence !== this.#refusal?.sentence) this.#options.log.error(sentence);
    this.#refusal = { sentence, problems };
  }
}

/** As `12 errors: line 3, column 7: …; line 9, …; and 10 more`. */
function inWords(problems: Problem[]): string {
  const named = problems.slice(0, NAMED).map((problem) => problemLine(problem));
  const more = problems.length - named.length;
  return `${counted(problems.length, "error")}: ${named.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

function reason(error: unknown): string {
  return error instanceof CatalogUnreadable ? error.message : `it could not be read (${(error as Error).message})`;
}

/** Another one after every change of the file; null where there is none, and reading it tells why. */
async function markOf(file: string): Promise<string | null> {
  const found = await stat(file, { bigint: true }).catch(() => null);
  return found ? `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}` : null;
}
