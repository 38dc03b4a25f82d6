/** The process behind `hubhook`: environment, signals, exit code. */
import { inspect } from "node:util";
import dotenv from "dotenv";
import { StartError, toError } from "../errors.ts";
import { Failure, UsageError } from "./exit.ts";
import { flushed, note, noteError } from "./output.ts";
import { CommanderError, commandNamed, exitCodeOf, makeProgram } from "./program.ts";
import { type Service, staying } from "./stay.ts";

dotenv.config({ quiet: true });
const args = process.argv.slice(2);

// A server ends by its own signals, in good order; everything else ends at once.
if (commandNamed(args)?.staysUp?.(args)) {
  const code = await run();
  if (code !== 0) process.exitCode = code;
  const service = staying();
  if (service) stopOnSignals(service);
} else {
  // A secret among the words need not stand in the machine's list of processes for as long as a hub takes to answer.
  process.title = ["hubhook", commandNamed(args)?.name].filter(Boolean).join(" ");
  process.once("SIGINT", () => process.exit(130));
  process.once("SIGTERM", () => process.exit(143));
  process.once("uncaughtException", (error) => void explain(error).then(end));
  process.once("beforeExit", () => {
    noteError("nothing is running any more and no result has come: something is awaited that never ends");
    process.exit(1);
  });
  void run().then(end);
}

/** Ends a service in good order; the second signal means now. */
function stopOnSignals(service: Service): void {
  let stopping = false;
  const stop = async () => {
    if (stopping) process.exit(130);
    stopping = true;
    await service.close();
    await end(0);
  };
  process.on("SIGINT", () => void stop());
  process.on("SIGTERM", () => void stop());
}

/** What a library or a person's handler left open must not hold up the end. */
async function end(code: number): Promise<void> {
  await flushed();
  process.exit(code);
}

async function run(): Promise<number> {
  try {
    const program = await makeProgram(args);
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    return explain(error);
  }
}

/** Says in a sentence what went wrong, and gives the exit code. */
async function explain(thrown: unknown): Promise<number> {
  // Commander has written its own already.
  if (thrown instanceof CommanderError) return exitCodeOf(thrown);
  const error = toError(thrown);
  const foreseen = error instanceof UsageError || error instanceof Failure || error instanceof StartError;
  const detailed = await isVerbose();
  if (foreseen) noteError(error.message);
  else noteError(`unexpected: ${error.message}${detailed ? "" : " (--verbose shows where it comes from)"}`);
  const detail = foreseen ? error.cause : error;
  if (detailed && detail !== undefined) note(inspect(detail));
  return error instanceof UsageError ? 2 : 1;
}

async function isVerbose(): Promise<boolean> {
  if (args.includes("--verbose")) return true;
  const { loadConfig } = await import("../config.ts");
  try {
    return loadConfig().log.level === "debug";
  } catch {
    return false;
  }
}
