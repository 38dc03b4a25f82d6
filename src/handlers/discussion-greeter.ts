import { z } from "zod";
import { webhook } from "../receiver/webhook.ts";

/** Explicit name, filter and settings: the payload is typed by `on`, the settings by their schema. */
export const greeter = webhook(
  {
    name: "discussion-greeter",
    description: "Greets whoever opens a discussion",
    on: "discussion:create",
    settings: z.object({ GREETING: z.string().default("Thank you for opening") }),
  },
  (payload, context) => {
    const { discussion, repo } = payload;
    const kind = discussion.isPullRequest ? "pull request" : "discussion";
    context.log.info("a new discussion", { repo: repo.name, num: discussion.num });
    return { greeting: `${context.settings.GREETING} ${kind} #${discussion.num}: ${discussion.title}` };
  },
);
