/**
 * `hubhook completion <shell>`: a script for the shell, which asks `hubhook complete -- <words>` what may come next.
 *
 * What may come next is worked out by @bomb.sh/tab from the program itself, so that no list can fall behind, and its
 * script for fish is used as it is. Those for bash and zsh are ours: the library's stumble over the colon in `repo:create`,
 * run what was typed through `eval`, and the one for bash needs the package bash-completion.
 */
import tab from "@bomb.sh/tab";
import fromCommander from "@bomb.sh/tab/commander";
import { Argument, type Command } from "commander";
import { documentedEventNames } from "../protocol/events.ts";
import { domains } from "../protocol/webhook.ts";
import { print } from "./output.ts";
import { commands, makeProgram } from "./program.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

const SETUP = `
For this shell:
  $ eval "$(hubhook completion bash)"
  $ eval "$(hubhook completion zsh)"
  $ hubhook completion fish | source

For every shell to come, put that line into ~/.bashrc, into ~/.zshrc below compinit, or into ~/.config/fish/config.fish.
The shell must know the word hubhook: \`npm link\` in the project's folder puts it on the PATH.

Examples:
  $ hubhook completion bash`;

export function define(command: Command): void {
  command
    .addArgument(new Argument("<shell>", "whose script").choices(SHELLS))
    .addHelpText("after", SETUP)
    .action((shell: string) => {
      if (shell === "fish") tab.setup("hubhook", "hubhook", shell);
      else print(shell === "bash" ? BASH : ZSH);
    });
}

/** What stands for the value of an option, or for an argument, of this name. */
const VALUES: Record<string, readonly string[]> = {
  domain: domains,
  event: documentedEventNames,
  "scope:action": documentedEventNames,
  shell: SHELLS,
};

/** Answers with the words that may stand last. The words are those of the line; after a space the last one is empty. */
export function defineAnswers(command: Command): void {
  command
    .usage("-- [words...]")
    .argument("[words...]")
    .action(async (words: string[]) => {
      // The library adds these two of its own.
      const others = commands.filter(({ name }) => name !== "completion" && name !== "complete");
      const completion = fromCommander(await makeProgram(words, others), { completionCommandName: "completion" });
      for (const { options, arguments: positionals } of completion.commands.values())
        for (const [name, known] of [...options, ...positionals]) {
          const values = VALUES[name];
          if (values) known.handler = (complete) => values.forEach((value) => void complete(value, ""));
        }
      completion.parse(words);
    });
}

/** Nothing of the line is run. What readline takes for the word's beginning stays out of the answers. */
const BASH = `# Completion of hubhook in bash. To load it: eval "$(hubhook completion bash)"
_hubhook() {
  local line="\${COMP_LINE:0:COMP_POINT}" words word value before=""
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word="\${words[\${#words[@]} - 1]}"
  [[ $word == -*=* && $COMP_WORDBREAKS == *=* ]] && word="\${word#*=}"
  [[ $word == *:* && $COMP_WORDBREAKS == *:* ]] && before="\${word%:*}:"
  COMPREPLY=()
  while IFS=$'\\t' read -r value _; do
    [[ $value != :* && $value == "$word"* ]] && COMPREPLY+=("\${value#"$before"}")
  done < <(hubhook complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _hubhook hubhook`;

const ZSH = `#compdef hubhook
# Completion of hubhook in zsh. To load it: eval "$(hubhook completion zsh)"
_hubhook() {
  local value text
  local -a found
  while IFS=$'\\t' read -r value text; do
    [[ $value == :* ]] || found+=("\${value//:/\\\\:}\${text:+:$text}")
  done < <(hubhook complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  [[ $PREFIX == -*=* ]] && compset -P '*='
  _describe hubhook found
}
if [[ $funcstack[1] == _hubhook ]]; then _hubhook "$@"; else compdef _hubhook hubhook; fi`;
