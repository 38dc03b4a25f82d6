/** From the bytes of a file to a value, with what is wrong with the text itself. */
import { isUtf8 } from "node:buffer";
import { findDuplicateKeys } from "./duplicate-keys.ts";
import { excerptAt } from "./lines.ts";
import { type Finding, foundText } from "./problem.ts";
import { MANY_LEVELS, MAX_BYTES, MAX_DEPTH } from "./rules.ts";
import { keysIn, listsIn, tooDeepAt } from "./scan.ts";
import { findSyntaxProblem } from "./syntax.ts";

export interface Text {
  /** Without a byte order mark: nobody counts it as a column. */
  bytes: Buffer;
  /** What is wrong with the text as such. */
  problems: Finding[];
  /** null: no value could be had. */
  parsed: Parsed | null;
}

interface Parsed {
  value: unknown;
  /** How many the text has, those counted twice that come twice; a few too many where strings look like keys. */
  keys: number;
}

export function readText(input: Uint8Array | string): Text {
  const given = typeof input === "string" ? Buffer.from(input) : asBuffer(input);
  const marked = given[0] === 0xef && given[1] === 0xbb && given[2] === 0xbf;
  const bytes = marked ? given.subarray(3) : given;
  const problems = marked ? [byteOrderMark()] : [];
  const result = parse(bytes);
  if ("rule" in result) return { bytes, problems: [...problems, result], parsed: null };
  return { bytes, problems, parsed: result };
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function parse(bytes: Buffer): Parsed | Finding {
  if (bytes.length > MAX_BYTES) return tooLarge(bytes);
  if (!isUtf8(bytes)) return notUtf8(bytes);
  const keys = keysIn(bytes);
  // An object must have a key before anything can lie in it.
  const tooDeep = keys + listsIn(bytes) > MANY_LEVELS ? tooDeepAt(bytes, MAX_DEPTH) : -1;
  if (tooDeep >= 0) return nestedTooDeep(tooDeep);
  try {
    return { value: JSON.parse(bytes.toString("utf8")), keys };
  } catch (error) {
    const found = findSyntaxProblem(bytes) ?? { offset: 0, message: (error as Error).message };
    const excerpt = bytes.length > 0 ? { excerpt: excerptAt(bytes, found.offset) } : {};
    return { rule: "syntax", path: [], ...found, ...excerpt };
  }
}

function byteOrderMark(): Finding {
  const message = "the file begins with a byte order mark: save it as UTF-8 without one";
  return { rule: "byte-order-mark", path: [], offset: 0, message };
}

function tooLarge({ length }: Buffer): Finding {
  const found = `${(length / 1e6).toFixed(1)} MB`;
  return { rule: "too-large", path: [], offset: 0, message: "the file is too large", found, allowed: "256 MB" };
}

function nestedTooDeep(offset: number): Finding {
  const message = `brackets lie deeper in one another here than the ${MAX_DEPTH} levels that are read`;
  return { rule: "too-deep", path: [], offset, message };
}

function notUtf8(bytes: Buffer): Finding {
  const [first, second] = bytes;
  const wide =
    (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || first === 0 || second === 0;
  if (wide) return { rule: "encoding", path: [], offset: 0, message: "the file looks like UTF-16: save it as UTF-8" };
  const text = bytes.toString("utf8");
  let offset = 0;
  let counted = 0;
  // A replacement character that stands in the file itself is none that the decoding put there.
  for (let at = text.indexOf("\ufffd"); at >= 0; at = text.indexOf("\ufffd", at + 1)) {
    offset += Buffer.byteLength(text.slice(counted, at));
    counted = at;
    if (bytes[offset] !== 0xef || bytes[offset + 1] !== 0xbf || bytes[offset + 2] !== 0xbd) break;
  }
  const byte = `0x${(bytes[offset] ?? 0).toString(16).padStart(2, "0")}`;
  const message = `the byte ${byte} is not UTF-8: save the file as UTF-8`;
  return { rule: "encoding", path: [], offset, message, excerpt: excerptAt(bytes, offset) };
}

/** What the parsed value does not show: that the text is too deep, or has keys twice. */
export function hiddenProblems(bytes: Uint8Array, limit: number): Finding[] {
  const tooDeep = tooDeepAt(bytes, MAX_DEPTH);
  if (tooDeep >= 0) return [nestedTooDeep(tooDeep)];
  return findDuplicateKeys(bytes, limit).map(({ path, offset, first }) => ({
    rule: "duplicate-key",
    path,
    offset,
    other: first,
    message: (line) =>
      `the key ${foundText(path.at(-1))} stands in this object already (line ${line}): only one can count`,
  }));
}
