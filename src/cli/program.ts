/** The table of commands. A command's file is read only when it is named, so that help is quick. */
import { readFileSync } from "node:fs";
import { Command, type CommanderError } from "commander";

interface CommandEntry {
  name: string;
  summary: string;
  load(): Promise<{ define(command: Command): void }>;
  /** Not for people: left out of the help. */
  hidden?: true;
  /** It is a server: it goes on after its start, and ends in good order on SIGINT and SIGTERM. */
  staysUp?: (args: readonly string[]) => boolean;
}

export const commands: readonly CommandEntry[] = [
  {
    name: "serve",
    summary: "start the receiver",
    load: () => import("./serve.ts"),
    staysUp: () => true,
  },
  {
    name: "trigger",
    summary: "send an event to an endpoint, as the Hub would",
    load: () => import("./trigger.ts"),
  },
  {
    name: "deliveries",
    summary: "list, inspect and replay what background handlers were sent",
    load: () => import("./deliveries.ts"),
  },
  {
    name: "receive",
    summary: "run one handler once, without a server",
    load: () => import("./receive.ts"),
  },
  {
    name: "webhooks",
    summary: "list, make, change and test the webhooks of a hub",
    load: () => import("./webhooks.ts"),
  },
  {
    name: "hub",
    summary: "start a hub of your own, whose webhooks really fire",
    load: () => import("./hub.ts"),
    staysUp: (args) => !args.includes("emit"),
  },
  {
    name: "catalog",
    summary: "keep a catalog of language resources",
    load: () => import("./catalog.ts"),
  },
  {
    name: "completion",
    summary: "print the script that completes hubhook in a shell",
    load: () => import("./completion.ts"),
  },
  {
    name: "complete",
    summary: "answer that script",
    hidden: true,
    load: async () => ({ define: (await import("./completion.ts")).defineAnswers }),
  },
];

export const version = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }
).version;

const EXAMPLES = `
Examples:
  $ hubhook serve --port 8080
  $ hubhook trigger repo.content:update --repo dataset:me/data
  $ hubhook receive trigger_training --event repo.content:update
  $ hubhook deliveries ls --state failed
  $ hubhook webhooks ls
  $ hubhook hub
  $ hubhook catalog validate catalog.json

Exit codes: 0 done, 1 failed, 2 wrong words.`;

/** The command that the arguments name, if any: the first word that is no option. */
export function commandNamed(args: readonly string[]): CommandEntry | undefined {
  const word = args.find((arg) => !arg.startsWith("-"));
  return commands.find(({ name }) => name === word);
}

/** The program for these arguments: every command is named, those that the arguments name are complete. */
export async function makeProgram(args: readonly string[], entries = commands): Promise<Command> {
  const program = new Command("hubhook")
    .description("Webhooks of the Hugging Face Hub: write one function, receive events.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print help of a command")
    .option("--verbose", "show where an unexpected error comes from, and whom webhooks acts as")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(oneSentence(text, pathOf(program, args))) })
    .showHelpAfterError(false)
    .addHelpText("after", EXAMPLES);
  for (const { name, summary, hidden = false, load } of entries) {
    const command = program
      .command(name, { hidden })
      .summary(summary)
      .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
      .helpOption("-h, --help", "print help");
    // Not only the first word: `hubhook help trigger` names one too.
    if (args.includes(name)) (await load()).define(command);
  }
  return program;
}

/** The words that name a command, as `hubhook webhooks info`: its own help lists its options. */
function pathOf(program: Command, args: readonly string[]): string {
  const names = [program.name()];
  let command = program;
  for (const word of args.filter((arg) => !arg.startsWith("-"))) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (!next) break;
    names.push(next.name());
    command = next;
  }
  return names.join(" ");
}

/** Commander's `error: …` with its suggestion on a second line, as one sentence that says where to read on. */
function oneSentence(text: string, command: string): string {
  const [sentence = "", suggestion] = text
    .replace(/^error: /, "")
    .trim()
    .split("\n");
  const next = suggestion?.replace(/^\((.*)\)$/, "$1") ?? `see \`${command} --help\``;
  return `hubhook: ${sentence.replace(/\.$/, "")}: ${next.charAt(0).toLowerCase()}${next.slice(1)}\n`;
}

export { CommanderError } from "commander";

/** Commander ends help and `--version` by an error too; those ended well. */
export function exitCodeOf(error: CommanderError): number {
  return error.exitCode === 0 ? 0 : 2;
}
