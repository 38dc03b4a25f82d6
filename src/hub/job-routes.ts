/** Jobs over HTTP, as the Hub's own clients call them. */
import { type Request, type Response, Router } from "express";
import { z } from "zod";
import { HttpError } from "../errors.ts";
import { nameProblem } from "../protocol/webhook.ts";
import { answer } from "./answer.ts";
import { type Callers, callerOf, isSameName } from "./callers.ts";
import { userIdOf } from "./ids.ts";
import { NO_NULL, NO_NULL_RULE, stages } from "./job.ts";
import type { Job, Jobs } from "./jobs.ts";
import { invalid, understand } from "./understand.ts";

const HEARTBEAT_MS = 15_000;
const MAX_LISTED = 500;
const MAX_WORDS = 1_000;

// Node will not hand on what holds one, and its refusal repeats the text, which may be a secret.
const word = z.string().regex(NO_NULL, NO_NULL_RULE);

const words = z.array(word).max(MAX_WORDS, `expected at most ${MAX_WORDS.toLocaleString("en")} words`);

const variables = z.record(
  z.string().regex(/^[A-Za-z_]\w*$/, "expected the name of a variable"),
  z
    .union([z.string(), z.number(), z.boolean()], "expected a text, a number, true or false")
    .transform(String)
    .pipe(word),
);

const newJob = z
  .object({
    dockerImage: z.string().min(1).nullish(),
    spaceId: z.string().min(1).nullish(),
    command: words.nullish(),
    arguments: words.nullish(),
    environment: variables.nullish(),
    secrets: variables.nullish(),
    flavor: z.string().nullish(),
    timeoutSeconds: z
      .number()
      .positive("expected more than 0 seconds")
      .max(2_000_000, "expected at most 2,000,000 seconds")
      .nullish(),
    labels: z.record(z.string(), z.string()).nullish(),
    volumes: z
      .array(z.unknown())
      .max(0, "none can be mounted here, where a Job is a command on this machine")
      .nullish(),
  })
  .refine(({ dockerImage, spaceId }) => (dockerImage ? !spaceId : spaceId), {
    path: ["dockerImage"],
    error: "a Job has a dockerImage or a spaceId, and not both",
  })
  .refine(({ command, arguments: args }) => (command ?? []).concat(args ?? [])[0], {
    path: ["command"],
    error: "name a command: here it runs on this machine, and not in the image",
  });

const LINES = "expected a number of lines";
const list = z.object({
  stage: z.union([z.enum(stages), z.array(z.enum(stages))], `expected one of ${stages.join(", ")}`).optional(),
});
const logs = z.object({ tail: z.coerce.number(LINES).int(LINES).min(0, LINES).optional() });

/** @param ending ends the logs that are still followed */
export function jobRoutes(jobs: Jobs, callers: Callers, ending: AbortSignal): Router {
  const routes = Router();
  const namespaceOf = (response: Response, name: string) => {
    const user = callerOf(response);
    const problem = nameProblem("user", name);
    if (problem)
      throw invalid(`namespace: expected ${problem}`, [{ path: "namespace", message: `expected ${problem}` }]);
    if (callers.mayActFor(user, name)) return isSameName(user, name) ? user : name;
    throw new HttpError(403, `you may not see the Jobs of ${name}`, { code: "namespace_forbidden" });
  };
  const jobOf = (request: Request<{ namespace: string; id: string }>, response: Response) =>
    jobs.get(namespaceOf(response, request.params.namespace), request.params.id);
  const shown = (job: Job) => shownJob(job, callers.isUser(job.namespace) ? "user" : "org");

  routes.post("/api/jobs/:namespace", async (request, response) => {
    const namespace = namespaceOf(response, request.params.namespace);
    jobs.assertOn();
    const { secrets, timeoutSeconds, dockerImage, spaceId, labels, ...given } = understand(newJob, request.body);
    const spec = {
      ...(dockerImage ? { dockerImage } : { spaceId: spaceId ?? undefined }),
      command: given.command ?? [],
      arguments: given.arguments ?? [],
      environment: given.environment ?? {},
      flavor: given.flavor ?? "cpu-basic",
      timeout: timeoutSeconds ?? undefined,
      labels: labels ?? undefined,
    };
    answer(request, response, shown(await jobs.start({ namespace, spec, secrets: secrets ?? {} })));
  });
  routes.get("/api/jobs/:namespace", (request, response) => {
    const { stage } = understand(list, request.query);
    const wanted = stage === undefined ? stages : [stage].flat();
    const found = jobs.list(namespaceOf(response, request.params.namespace), MAX_LISTED);
    answer(request, response, found.filter((job) => wanted.includes(job.stage)).map(shown));
  });
  routes.get("/api/jobs/:namespace/:id", (request, response) =>
    answer(request, response, shown(jobOf(request, response))),
  );
  routes.post("/api/jobs/:namespace/:id/cancel", async (request, response) => {
    answer(request, response, shown(await jobs.cancel(jobOf(request, response))));
  });
  routes.post("/api/jobs/:namespace/:id/duplicate", async (request, response) => {
    const { namespace, spec } = jobOf(request, response);
    answer(request, response, shown(await jobs.start({ namespace, spec, secrets: {} })));
  });
  routes.get("/api/jobs/:namespace/:id/logs", (request, response) => {
    const { tail } = understand(logs, request.query);
    streamLog(response, jobs, jobOf(request, response), tail, ending);
  });
  return routes;
}

/** `data: {"data", "timestamp"}` for each line, until the Job ends. */
function streamLog(response: Response, jobs: Jobs, job: Job, tail: number | undefined, ending: AbortSignal): void {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  const log = jobs.logOf(job);
  let at = tail === undefined ? 0 : Math.max(0, log.lines.length - tail);
  // The log itself is kept, so a slow reader is given the rest when it has read what it has.
  const pump = () => {
    for (let line = log.lines[at]; line; line = log.lines[at]) {
      if (response.writableNeedDrain) return;
      response.write(`data: ${JSON.stringify(line)}\n\n`);
      at++;
    }
    if (log.ended) response.end();
  };
  const heartbeat = setInterval(() => response.write(": still here\n\n"), HEARTBEAT_MS);
  const end = () => response.end();
  const unfollow = log.follow(pump);
  ending.addEventListener("abort", end);
  response.on("drain", pump);
  response.on("close", () => {
    clearInterval(heartbeat);
    unfollow();
    ending.removeEventListener("abort", end);
  });
  pump();
}

function shownJob(job: Job, type: "user" | "org") {
  const { id, namespace, spec, stage, message, created, started, finished, webhook } = job;
  const owner = { id: userIdOf(namespace), name: namespace, type };
  return {
    type: "job",
    id,
    createdAt: iso(created),
    startedAt: iso(started),
    finishedAt: iso(finished),
    ...spec,
    // What was asked for under this name; clients of webhooks read the other.
    ...(spec.timeout !== undefined && { timeoutSeconds: spec.timeout }),
    owner,
    initiator: webhook === null ? owner : { type: "webhook", id: webhook },
    status: { stage, message },
  };
}

function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
