/** The first place where text is no JSON, in words for the person who wrote it: JSON.parse itself says too little. */
import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, COLON, COMMA, OPEN_LIST, OPEN_OBJECT, QUOTE, skipSpace } from "./scan.ts";

export interface SyntaxProblem {
  /** In bytes. */
  offset: number;
  message: string;
  suggestion?: string;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WORDS = new Set(["true", "false", "null"]);
const MEANT: Record<string, string> = {
  True: "true",
  TRUE: "true",
  False: "false",
  FALSE: "false",
  None: "null",
  NULL: "null",
  nil: "null",
  undefined: "null",
  NaN: "null",
};

/** What may come next. `first…` stands behind an opening bracket, where the closing one is allowed too. */
type Expected = "value" | "first value" | "key" | "first key" | "colon" | "comma" | "nothing";

/** null: the text is well-formed. It is walked with a stack of its own, so that depth is no danger. */
export function findSyntaxProblem(bytes: Uint8Array): SyntaxProblem | null {
  const open: number[] = [];
  let expected: Expected = "value";
  let at = skipSpace(bytes, 0);
  let lastComma = -1;
  for (; at < bytes.length; at = skipSpace(bytes, at)) {
    const byte = bytes[at] ?? 0;
    if (expected === "nothing") return { offset: at, message: `there is ${shown(bytes, at)} behind the end` };
    if (expected === "colon") {
      if (byte !== COLON)
        return { offset: at, message: `a colon should stand behind the key, not ${shown(bytes, at)}` };
      at++;
      expected = "value";
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      const wanted = open.at(-1) === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_LIST;
      if (open.length === 0) return { offset: at, message: `${shown(bytes, at)} closes nothing` };
      if (expected === "value" && lastComma === -1) return { offset: at, message: "a value is missing here" };
      if (expected === "value" || expected === "key")
        return { offset: lastComma, message: "there is a comma too many: nothing follows it, so remove it" };
      if (byte !== wanted)
        return { offset: at, message: `${shown(bytes, at)} stands where "${String.fromCharCode(wanted)}" should` };
      open.pop();
      at++;
      expected = afterValue(open);
    } else if (expected === "comma") {
      if (byte !== COMMA) return { offset: at, message: `a comma is missing before ${shown(bytes, at)}` };
      lastComma = at++;
      expected = open.at(-1) === OPEN_OBJECT ? "key" : "value";
      continue;
    } else if (expected === "key" || expected === "first key") {
      if (byte !== QUOTE)
        return { offset: at, message: `a key in double quotes should stand here, not ${shown(bytes, at)}` };
      const end = checkString(bytes, at);
      if (typeof end !== "number") return end;
      at = end;
      expected = "colon";
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      open.push(byte);
      at++;
      expected = byte === OPEN_OBJECT ? "first key" : "first value";
    } else {
      const end = byte === QUOTE ? checkString(bytes, at) : checkWord(bytes, at);
      if (typeof end !== "number") return end;
      at = end;
      expected = afterValue(open);
    }
    lastComma = -1;
  }
  if (expected === "nothing") return null;
  return { offset: bytes.length, message: atEnd(bytes, open) };
}

function afterValue(open: readonly number[]): Expected {
  return open.length === 0 ? "nothing" : "comma";
}

function atEnd(bytes: Uint8Array, open: readonly number[]): string {
  if (bytes.length === 0 || (open.length === 0 && skipSpace(bytes, 0) === bytes.length)) return "the file is empty";
  const closing = open.map((byte) => (byte === OPEN_OBJECT ? "}" : "]")).reverse();
  const shownClosing = closing.length > 8 ? `${closing.slice(0, 8).join("")}…` : closing.join("");
  return `the file ends too early: "${shownClosing}" should still come`;
}

/** The offset behind the string, or what is wrong inside it. */
function checkString(bytes: Uint8Array, start: number): number | SyntaxProblem {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return at + 1;
    if (byte < 0x20) {
      const line = byte === 0x0a || byte === 0x0d;
      const written = line ? "\\n" : byte === 0x09 ? "\\t" : `\\u00${byte.toString(16).padStart(2, "0")}`;
      const what = line ? "a text does not end on its line" : "a control character stands in a text";
      return { offset: at, message: `${what}: close it by a quote, or write ${written} for what is meant` };
    }
    if (byte === BACKSLASH) {
      const behind = Buffer.from(bytes.subarray(at + 1, at + 6)).toString("latin1");
      if (/^u[0-9a-fA-F]{4}/.test(behind)) at += 5;
      else if (/^["\\/bfnrt]/.test(behind)) at++;
      else
        return { offset: at, message: "this backslash begins no escape that JSON knows: write \\\\ for a backslash" };
    }
  }
  return { offset: start, message: "this text never ends: its closing quote is missing" };
}

function checkWord(bytes: Uint8Array, start: number): number | SyntaxProblem {
  const word = wordAt(bytes, start);
  if (WORDS.has(word) || NUMBER.test(word)) return start + word.length;
  const meant = MEANT[word];
  const numeric = /^[-+.\d]/.test(word) ? "no number that JSON knows" : "no value that JSON knows";
  const message = `${shown(bytes, start)} is ${numeric}`;
  return { offset: start, message, ...(meant !== undefined && { suggestion: meant }) };
}

function wordAt(bytes: Uint8Array, start: number): string {
  const ahead = Buffer.from(bytes.subarray(start, start + MAX_WORD)).toString("latin1");
  return /^[-+.\w]*/.exec(ahead)?.[0] ?? "";
}

/** Longer than any number that is meant. */
const MAX_WORD = 1000;
const MAX_SHOWN = 20;

function shown(bytes: Uint8Array, at: number): string {
  const word = wordAt(bytes, at);
  if (word.length > MAX_SHOWN) return `"${word.slice(0, MAX_SHOWN)}…"`;
  if (word !== "") return `"${word}"`;
  const [character = ""] = Buffer.from(bytes.subarray(at, at + 4)).toString("utf8");
  if (character === "'") return "a single quote (JSON knows double quotes only)";
  if (character === "/" || character === "#") return `"${character}" (JSON knows no comments)`;
  if (/[\p{C}\p{Z}]/u.test(character)) return `an invisible character (${codePointOf(character)})`;
  return character === '"' ? "a text" : `"${character}"`;
}

function codePointOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
