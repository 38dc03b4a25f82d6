/** Changes to a catalog's text: only what is meant to change does, and a file is replaced whole or not at all. */
import { randomBytes } from "node:crypto";
import { open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** What stands from `start` to `end` (offsets in bytes) becomes `text`. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** The text with edits that do not overlap, all else byte for byte as it was. */
export function edited(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let kept = 0;
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start)) {
    parts.push(bytes.subarray(kept, start), Buffer.from(text));
    kept = end;
  }
  return Buffer.concat([...parts, bytes.subarray(kept)]);
}

export class FileChanged extends Error {
  override readonly name = "FileChanged";
}

/**
 * Puts a file in the place of another, through its name in one step: whoever reads sees the old or the new one, also
 * after a crash. A link stays one, and the file's mode is kept.
 * @param before what the change was made from
 * @throws FileChanged when the file is no longer that
 */
export async function replaceFile(path: string, bytes: Uint8Array, before?: Uint8Array): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const mode = await stat(target).then(
    (stats) => stats.mode & 0o777,
    () => 0o666,
  );
  const temporary = join(dirname(target), `.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    // As late as can be: what is left of the gap is the time of one rename.
    if (before && !(await readFile(target)).equals(before))
      throw new FileChanged(`${path} has changed meanwhile, and was left as it is: try again`);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
