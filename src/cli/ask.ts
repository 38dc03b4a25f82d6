/** Questions at a terminal, one after the other. */
import { createInterface, type Interface } from "node:readline/promises";
import { Failure } from "./exit.ts";
import { harmless, note } from "./output.ts";

export interface Question {
  /** As `Title`. */
  label: string;
  /** A sentence that stands above it. */
  hint?: string | undefined;
  /** What Enter takes. */
  proposal?: string | undefined;
  /** Enter leaves it out. */
  optional?: true;
  /** What is wrong with an answer; with anything, it is asked again. */
  problems(answer: string): readonly Objection[];
}

export interface Objection {
  sentence: string;
  /** What was probably meant: Enter takes it the next time. */
  suggestion?: string | undefined;
}

export const NEEDED: Objection = { sentence: "this one is needed" };

export interface Conversation extends Disposable {
  /** @throws Failure when the person leaves: Ctrl-C, or the end of the input */
  ask(question: Question): Promise<string>;
}

/** @param leaving said when the person leaves, as `nothing was added` */
export function converse(leaving: string): Conversation {
  // One reader for all questions: what is typed ahead, or pasted, is the answer to the next one.
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answers: string[] = [];
  let wake = () => {};
  let left = false;
  lines.on("line", (line) => {
    answers.push(line);
    wake();
  });
  lines.once("close", () => {
    left = true;
    wake();
  });

  async function nextLine(prompt: string): Promise<string> {
    if (!left) show(lines, prompt);
    while (answers.length === 0 && !left) await new Promise<void>((resolve) => (wake = resolve));
    const line = answers.shift();
    if (line !== undefined) return line;
    note("");
    throw new Failure(leaving);
  }

  return {
    async ask({ label, hint, proposal, optional, problems }) {
      if (hint) note(hint);
      for (let offered = proposal ?? ""; ; ) {
        const offer = offered ? ` [${harmless(offered)}]` : optional ? " (Enter: none)" : "";
        const answer = (await nextLine(`${label}${offer}: `)).trim() || offered;
        if (answer === "" && optional) return "";
        const objections = answer === "" ? [NEEDED] : problems(answer);
        if (objections.length === 0) return answer;
        for (const { sentence } of objections) note(`  ${harmless(sentence)}`);
        offered = objections.find(({ suggestion }) => suggestion)?.suggestion ?? offered;
      }
    },
    [Symbol.dispose]: () => lines.close(),
  };
}

function show(lines: Interface, prompt: string): void {
  lines.setPrompt(prompt);
  lines.prompt();
}
