/** What callers may write of a webhook. The names of fields are the Hub's. */
import { z } from "zod";
import {
  type Domain,
  domainOf,
  domains,
  nameProblem,
  secretProblem,
  urlProblem,
  type WatchedItem,
  watchedTypes,
} from "../protocol/webhook.ts";
import { NO_NULL, NO_NULL_RULE } from "./job.ts";

export const MAX_WATCHED = 1_000;
/** There are fewer; some may be named twice, in either spelling. */
const MAX_DOMAINS = 10;
export const TOO_MANY_WATCHED = `a webhook watches at most ${MAX_WATCHED} items`;

const watchedItem = z
  .object({
    type: z.enum(watchedTypes, { error: `expected one of ${watchedTypes.join(", ")}` }),
    name: z.string(),
  })
  .superRefine(({ type, name }, context) => {
    const form = nameProblem(type, name);
    if (form === null) return;
    context.addIssue({ code: "custom", path: ["name"], message: `"${name.slice(0, 100)}": expected ${form}` });
  });

const watched = z.array(watchedItem).max(MAX_WATCHED, TOO_MANY_WATCHED).transform(withoutRepeats);

const domain = z
  .string()
  .transform((text) => domainOf(text) ?? text)
  .pipe(z.enum(domains, { error: `expected one of ${domains.join(", ")}` }));

const url = z.string().superRefine((text, context) => {
  const problem = urlProblem(text);
  if (problem) context.addIssue({ code: "custom", message: problem });
});

const secret = z.string().superRefine((text, context) => {
  // An empty one takes the secret away.
  const problem = text === "" ? null : secretProblem(text);
  if (problem) context.addIssue({ code: "custom", message: problem });
});

const jobSecrets = z.record(
  z.string().regex(/^[A-Za-z_]\w*$/, "expected the name of a variable"),
  z.string().regex(NO_NULL, NO_NULL_RULE),
);

const fields = {
  url: url.nullish(),
  jobSourceId: z.string().min(1).nullish(),
  domains: z
    .array(domain)
    .max(MAX_DOMAINS, `expected at most ${MAX_DOMAINS} domains`)
    .transform((given) => [...new Set(given)])
    .nullish(),
  secret: secret.nullish(),
  secrets: jobSecrets.nullish(),
};

const oneOfBoth = (given: { url?: string | null | undefined; jobSourceId?: string | null | undefined }) =>
  !(given.url && given.jobSourceId);
const BOTH = { path: ["url"], error: "a webhook has a url or a jobSourceId, not both" };

export const newWebhook = z
  .object({ ...fields, watched: watched.refine((items) => items.length > 0, "name at least one item to watch") })
  .refine(({ url, jobSourceId }) => url || jobSourceId, {
    path: ["url"],
    error: "a webhook needs a url or a jobSourceId",
  })
  .refine(oneOfBoth, BOTH)
  .refine(({ secrets, jobSourceId }) => !secrets || jobSourceId, {
    path: ["secrets"],
    error: "secrets are given to Jobs: name its jobSourceId too",
  });

/** Absent, null and `[]` keep what is there: the Hub's own client sends `watched: []` for "not given". */
export const webhookChange = z.object({ ...fields, watched: watched.nullish() }).refine(oneOfBoth, BOTH);

export type NewWebhook = z.output<typeof newWebhook>;
export type WebhookChange = z.output<typeof webhookChange>;

/** None or an empty list means both. */
export function chosenDomains(given: readonly Domain[] | null | undefined): Domain[] {
  return given && given.length > 0 ? domains.filter((domain) => given.includes(domain)) : [...domains];
}

function withoutRepeats(items: WatchedItem[]): WatchedItem[] {
  const seen = new Map(items.map((item) => [`${item.type}:${item.name.toLowerCase()}`, item]));
  return [...seen.values()];
}
