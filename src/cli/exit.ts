/** How a command ends other than well. Exit codes: 0 done, 1 failed, 2 wrong words. */

/** The command was understood and did not succeed. The message is a sentence, and says what to do next. */
export class Failure extends Error {
  override readonly name = "Failure";
}

/** The command was not understood: a wrong word, a missing one, or two that exclude each other. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
