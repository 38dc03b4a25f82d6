/** Why the file system refuses, in words for a person. */

const REASONS: Record<string, string> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "this user may not do that to the file or to its folder",
  EPERM: "this user may not do that to the file or to its folder",
  EROFS: "it lies where nothing can be written",
  ENOSPC: "the disk is full, and it is as it was",
  EDQUOT: "the disk is full, and it is as it was",
  EFBIG: "it would be larger than files may be here, and it is as it was",
  ELOOP: "its symbolic links lead in a circle",
};

/** null: the error is none of the file system. */
export function reasonOf(error: unknown): string | null {
  const { code = "", syscall, message } = error as NodeJS.ErrnoException;
  return syscall === undefined ? null : Object.hasOwn(REASONS, code) ? (REASONS[code] as string) : message;
}
