/** Changes to a catalog's text: only what is meant to change does, and a file is replaced whole or not at all. */
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { reasonOf } from "./file-errors.ts";
import type { Span } from "./scan.ts";

/** What stands there (offsets in bytes) becomes `text`. */
export interface Edit extends Span {
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

/** The file is as it was, or as others left it. The message is a sentence. */
export class FileUnwritable extends Error {
  override readonly name = "FileUnwritable";
}

/** No change takes that long: whoever made the lock has died. */
const STALE_MS = 60_000;

/**
 * Puts a file in the place of another, through its name in one step: whoever reads sees the old or the new one, also
 * after a crash. It is written as `<file>.lock` first, which keeps others out who write in this way; so nobody's change
 * is lost between the look at `before` and the step. A link stays one; mode and owner are kept.
 *
 * Nothing in it waits, so that no signal can end the process between making the lock and taking it away.
 * @param before what the change was made from
 * @throws FileUnwritable when the file is no longer that, somebody else is at it, or the file system refuses
 */
export async function replaceFile(path: string, bytes: Uint8Array, before?: Uint8Array): Promise<void> {
  try {
    replace(path, bytes, before);
  } catch (error) {
    const why = reasonOf(error);
    if (why === null) throw error;
    // A file that is not there is made: what is missing is where it would lie.
    const missing = ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
    throw new FileUnwritable(`${path} cannot be written: ${missing ? "there is no such folder" : why}`, {
      cause: error,
    });
  }
}

function replace(path: string, bytes: Uint8Array, before?: Uint8Array): void {
  const old = statSync(path, { throwIfNoEntry: false });
  if (old && !old.isFile()) throw new FileUnwritable(`${path} cannot be written: it is no file`);
  const target = old ? realpathSync(path) : path;
  // Who may not write into the file may not put another one in its place either.
  if (old) accessSync(target, constants.W_OK);
  const lock = `${target}.lock`;
  const fd = openLock(lock, path, old ? 0o600 : 0o666);
  try {
    try {
      if (before && !(old && readFileSync(target).equals(before)))
        throw new FileUnwritable(`${path} was changed by somebody else meanwhile, and was left as it is: try again`);
      writeFileSync(fd, bytes);
      if (old) keepRights(fd, old);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(lock, target);
  } catch (error) {
    unlinkSync(lock);
    throw error;
  }
  syncFolder(dirname(target));
}

function openLock(lock: string, path: string, mode: number): number {
  try {
    return openSync(lock, "wx", mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    throw new FileUnwritable(
      age > STALE_MS
        ? `${lock} is left over from a change that was cut off: delete it, and try again`
        : `somebody else is changing ${path} right now: try again in a moment`,
    );
  }
}

function keepRights(fd: number, { mode, uid, gid }: Stats): void {
  const own = fstatSync(fd);
  if (own.uid !== uid || own.gid !== gid)
    try {
      fchownSync(fd, uid, gid);
    } catch {
      // Only an administrator may give files away.
    }
  fchmodSync(fd, mode & 0o7777);
}

function syncFolder(folder: string): void {
  try {
    const fd = openSync(folder, "r");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Not every file system can do this, and the file is replaced already.
  }
}
