/**
 * What ends a Job whose hub can no longer do it. A hub that is killed has no last word, so a shell waits beside each
 * Job, on a pipe that the operating system closes when the hub is gone, however it went. It acts in that moment, so the
 * process id that it was told cannot belong to somebody else by then.
 */
import { spawn } from "node:child_process";
import type { Writable } from "node:stream";

/**
 * A hub may be killed between starting a Job and saying so. The pipe ends only after the Job has its folder, as a
 * process that is being made holds the pipe too; so by then the Job is found there, where there is a /proc to look.
 */
const SCRIPT = `
folder=$(cd "$1" && pwd -P) || exit
read -r group
while read -r line; do :; done
[ -z "$group" ] || kill -s KILL -- "-$group"
for process in /proc/[0-9]*; do
  case $(readlink "$process/cwd") in
    "$folder" | "$folder"/*) kill -s KILL "\${process#/proc/}" ;;
  esac
done
rm -rf -- "$folder"`;

export interface JobGuard {
  /** The Job runs now, as this process group. */
  watch(group: number): void;
  /** The Job has ended: nobody is to be ended any more. */
  release(): void;
}

/** @param folder goes with the Job */
export function guardJob(folder: string): JobGuard {
  const shell = spawn("/bin/sh", ["-c", SCRIPT, "hubhook-job-guard", folder], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    stdio: ["pipe", "ignore", "ignore"],
    // A signal to the hub's group, as Ctrl-C in a terminal, is not for it.
    detached: true,
  });
  // Without it, as where no process can be had, a Job runs as well; only a hub that is killed would leave it behind.
  shell.on("error", () => {});
  const told: Writable | undefined = shell.stdin;
  told?.on("error", () => {});
  return {
    watch: (group) => void told?.write(`${group}\n`),
    release: () => void shell.kill("SIGKILL"),
  };
}
