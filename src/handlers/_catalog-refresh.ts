import { readFile } from "node:fs/promises";
import { z } from "zod";
import { counted, errorsOf, problemLine } from "../catalog/problem-line.ts";
import { readCatalogBytes } from "../catalog/read.ts";
import { type Problem, validateCatalog } from "../catalog/validate.ts";
import { replaceFile } from "../catalog/write.ts";
import { parseRepo, repoUrls } from "../protocol/repo.ts";
import { type HandlerContext, PermanentError, webhook } from "../receiver/webhook.ts";

/*
 * Keeps the catalog that this receiver serves as it is in a dataset repo: a push to main that is without errors is
 * published, and what is wrong in one, or in a pull request, is reported. It writes a file and comments on the Hub, so
 * it is not loaded as it stands: rename it to `catalog-refresh.ts`, set what is below, and let a webhook watch the repo.
 */
const settings = z.object({
  /** The dataset, as me/catalog. Events of other repos are left alone. */
  CATALOG_REPO: z.string().refine((name) => parseRepo(`dataset:${name}`) !== null, "write it as owner/name"),
  /** Where the file is in the repo. */
  CATALOG_PATH: z
    .string()
    .regex(/^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[^/].*$/, "write a path without . and .., as data/catalog.json")
    .default("catalog.json"),
  /** The file that the receiver serves, and that is written here. */
  CATALOG: z.string().refine((source) => !/^https?:/i.test(source), "name a file: nothing can be written to a URL"),
  CATALOG_MARKERS: z.string().default("Pashto,Pukhto,Pakhto,Pushto,ps,ps_af,pus,pbt_Arab,پښتو,پشتو"),
  /** log: errors are in the log of the delivery. comment: on the Hub too, under the pull request or as a discussion. */
  CATALOG_REPORT: z.enum(["log", "comment"]).default("log"),
});
type Context = HandlerContext<z.output<typeof settings>>;

export const refresh = webhook(
  {
    name: "catalog-refresh",
    description: "Publishes the catalog of a dataset repo when it has changed and is without errors",
    on: "repo.content:update",
    refs: ["refs/heads/main", "refs/pr/*"],
    mode: "background",
    // Two pushes, one after the other: the older one must not be published last.
    serial: "repo",
    settings,
  },
  async ({ repo, updatedRefs = [] }, context) => {
    if (repo.type !== "dataset" || repo.name !== context.settings.CATALOG_REPO) return { ignored: "another repo" };
    const done: Record<string, unknown> = {};
    for (const { ref, newSha } of updatedRefs) {
      const [, pullRequest] = /^refs\/pr\/(\d{1,9})$/.exec(ref) ?? [];
      if (newSha === null || (ref !== "refs/heads/main" && !pullRequest)) continue;
      if (!/^[0-9a-f]{40}$/.test(newSha)) throw new PermanentError("the payload names a commit that is none");
      done[ref] = pullRequest ? await check(newSha, pullRequest, context) : await publish(newSha, context);
    }
    return done;
  },
);

async function publish(sha: string, context: Context) {
  const { CATALOG } = context.settings;
  const before = await readFile(CATALOG).catch(() => null);
  const bytes = await fetchCatalog(sha, context);
  if (before?.equals(bytes)) return "published before";
  const { catalog, errors, warnings } = inspect(bytes, before, context);
  if (!catalog) {
    const title = "The catalog has errors and was not published";
    await report(errors, sha, context, "discussions", (text) => ({ title, description: text, pullRequest: false }));
    return { errors: errors.length };
  }
  // In one step: whoever reads the file meanwhile sees the old one or the new one, never a part.
  await replaceFile(CATALOG, bytes, before ?? undefined);
  context.log.info(`published version ${catalog.version}`, { resources: catalog.resources.length, warnings });
  return { published: catalog.version, resources: catalog.resources.length, warnings };
}

/** A pull request is looked at, and published when it is merged. */
async function check(sha: string, pullRequest: string, context: Context) {
  const before = await readFile(context.settings.CATALOG).catch(() => null);
  const { catalog, errors, warnings } = inspect(await fetchCatalog(sha, context), before, context);
  if (catalog) return { version: catalog.version, warnings };
  await report(errors, sha, context, `discussions/${pullRequest}/comment`, (comment) => ({ comment }));
  return { errors: errors.length };
}

function inspect(bytes: Uint8Array, before: Uint8Array | null, { settings }: Context) {
  const markers = settings.CATALOG_MARKERS.split(",").map((marker) => marker.trim());
  const against = before && validateCatalog(before).catalog;
  const { catalog, problems } = validateCatalog(bytes, { against, markers: markers.filter(Boolean) });
  const errors = errorsOf(problems);
  return { catalog, errors, warnings: problems.length - errors.length };
}

/** Addresses are made of `HF_ENDPOINT` and what was checked above: the token must go nowhere that a payload names. */
function fetchCatalog(sha: string, { settings, hub, signal }: Context): Promise<Uint8Array> {
  const path = settings.CATALOG_PATH.split("/").map(encodeURIComponent).join("/");
  const { web } = repoUrls({ type: "dataset", name: settings.CATALOG_REPO }, hub.hubUrl);
  const options = { endpoint: hub.hubUrl, token: hub.accessToken ?? null, allowTargets: [], signal };
  return readCatalogBytes(`${web}/resolve/${sha}/${path}`, options);
}

const REPORTED = 20;

async function report(
  errors: Problem[],
  sha: string,
  { settings, hub, signal, log }: Context,
  path: string,
  bodyOf: (text: string) => object,
): Promise<void> {
  const lines = errors.slice(0, REPORTED).map((problem) => problemLine(problem));
  if (errors.length > REPORTED) lines.push(`and ${errors.length - REPORTED} more`);
  for (const line of lines) log.warn(line);
  if (settings.CATALOG_REPORT !== "comment") return;
  if (!hub.accessToken) throw new PermanentError("CATALOG_REPORT=comment needs HF_TOKEN, a token that may write there");
  // Messages quote the file: inside a block of code nothing of it is a link, a picture or a call to somebody.
  const quoted = lines.join("\n").replaceAll("`", "'");
  const text = `\`${settings.CATALOG_PATH.replaceAll("`", "'")}\` of commit ${sha} has ${counted(errors.length, "error")}:\n\n\`\`\`text\n${quoted}\n\`\`\`\n`;
  const { api } = repoUrls({ type: "dataset", name: settings.CATALOG_REPO }, hub.hubUrl);
  const response = await fetch(`${api}/${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${hub.accessToken}` },
    body: JSON.stringify(bodyOf(text)),
    redirect: "error",
    signal,
  });
  if (!response.ok)
    throw new Error(
      `the Hub answered ${response.status} to the comment: may HF_TOKEN write to ${settings.CATALOG_REPO}?`,
    );
}
