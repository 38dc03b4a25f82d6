/** What a Job is asked to do. Its secrets are never part of it. */
export interface JobSpec {
  /** Noted, not used: the command runs on this machine. Or `spaceId`. */
  dockerImage?: string | undefined;
  spaceId?: string | undefined;
  command: string[];
  arguments: string[];
  environment: Record<string, string>;
  flavor: string;
  /** Time limit, seconds. */
  timeout?: number | undefined;
  labels?: Record<string, string> | undefined;
}

/** Words and variables of a command end at a null character. */
export const NO_NULL = /^[^\0]*$/;
export const NO_NULL_RULE = "a null character cannot be handed to a command";

export const stages = ["SCHEDULING", "RUNNING", "COMPLETED", "ERROR", "CANCELED"] as const;
export type Stage = (typeof stages)[number];
