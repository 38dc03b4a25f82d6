/** Jobs: what was asked for, what runs, what became of it. A webhook's Job is a clone of the one it names. */
import { HttpError, toError } from "../errors.ts";
import type { HubFile } from "./file.ts";
import { newId } from "./ids.ts";
import type { JobSpec, Stage } from "./job.ts";
import { JobLog, type LogLine } from "./job-log.ts";
import { type JobEnd, runProcess } from "./job-process.ts";
import type { JobDelivery, JobOutcome } from "./outbox.ts";
import type { HubSettings } from "./settings.ts";
import type { Webhook } from "./webhook.ts";

export interface Job {
  id: string;
  namespace: string;
  spec: JobSpec;
  stage: Stage;
  message: string | null;
  webhook: string | null;
  delivery: string | null;
  created: number;
  started: number | null;
  finished: number | null;
}

interface Live {
  job: Job;
  log: JobLog;
  canceled: AbortController;
  ended: Promise<Job>;
}

interface Start {
  namespace: string;
  spec: JobSpec;
  secrets: Record<string, string>;
  webhook?: string;
  delivery?: JobDelivery;
  env?: Record<string, string>;
}

const OFF = "Jobs are off here: HUB_JOBS=process lets them run as commands on this machine";
const STOPPED = "the hub stopped while it ran";
/** Between tries to write down how a Job ended. */
const RECORD_AGAIN_MS = 1_000;
/** Ended Jobs that are kept. */
const MAX_KEPT = 10_000;

export class Jobs {
  readonly #file: HubFile;
  readonly #settings: HubSettings;
  readonly #path: string;
  readonly #live = new Map<string, Live>();
  #waiting: (() => void)[] = [];
  readonly #save;
  readonly #select;
  readonly #selectLog;
  readonly #selectNamespace;
  readonly #list;
  readonly #forget;
  #running = 0;
  #closed = false;

  /** @param path where commands are looked for */
  constructor(file: HubFile, settings: HubSettings, path: string) {
    const { database } = file;
    this.#file = file;
    this.#settings = settings;
    this.#path = path;
    this.#save = database.prepare("INSERT OR REPLACE INTO hub_jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#select = database.prepare(`SELECT ${COLUMNS} FROM hub_jobs WHERE id = ? AND namespace = ?`);
    this.#selectLog = database.prepare("SELECT log FROM hub_jobs WHERE id = ?");
    this.#selectNamespace = database.prepare("SELECT namespace FROM hub_jobs WHERE id = ?");
    this.#list = database.prepare(`SELECT ${COLUMNS} FROM hub_jobs WHERE namespace = ? ORDER BY id DESC LIMIT ?`);
    this.#forget = database.prepare(
      `DELETE FROM hub_jobs WHERE finished IS NOT NULL AND id <= (SELECT id FROM hub_jobs ORDER BY id DESC LIMIT 1 OFFSET ${MAX_KEPT})`,
    );
    database
      .prepare("UPDATE hub_jobs SET stage = 'ERROR', message = ?, finished = ? WHERE finished IS NULL")
      .run(STOPPED, file.clock.now());
  }

  /** Runs as soon as there is room. @throws HttpError 403 where Jobs are off */
  async start(given: Omit<Start, "webhook" | "delivery">): Promise<Job> {
    this.assertOn();
    return (await this.#start(given)).job;
  }

  /** Runs a webhook's Job to its end. */
  async runFor(webhook: Webhook, delivery: JobDelivery, signal: AbortSignal): Promise<JobOutcome> {
    if (this.#settings.jobs === null) return { problem: OFF };
    const { job: spec, jobSecrets: secrets, secret, user, id } = webhook;
    if (!spec) throw new TypeError("a webhook without a url has a Job");
    const [type = "", name = ""] = delivery.repo.split(/:(.*)/);
    const env = {
      WEBHOOK_PAYLOAD: delivery.payload,
      WEBHOOK_ID: delivery.webhookId,
      WEBHOOK_REPO_ID: name,
      WEBHOOK_REPO_TYPE: type,
      ...(secret !== null && { WEBHOOK_SECRET: secret }),
    };
    const live = await this.#start({ namespace: user, spec, secrets, webhook: id, delivery, env });
    const stop = () => live.canceled.abort(new Error(STOPPED));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    const { stage, message } = await live.ended;
    signal.removeEventListener("abort", stop);
    const problem =
      stage === "COMPLETED" ? null : `Job ${live.job.id} did not complete (${stage}): ${message ?? "no reason given"}`;
    return { job: live.job.id, problem, canceled: stage === "CANCELED" };
  }

  /** Why no Job runs here; null where they do. */
  get off(): string | null {
    return this.#settings.jobs === null ? OFF : null;
  }

  assertOn(): void {
    if (this.off !== null) throw new HttpError(403, this.off, { code: "jobs_off" });
  }

  /** The newest first. */
  list(namespace: string, limit: number): Job[] {
    return this.#list.all<Row>(namespace, limit).map((row) => this.#live.get(row.id)?.job ?? fromRow(row));
  }

  find(namespace: string, id: string): Job | undefined {
    const row = this.#select.get<Row>(id, namespace);
    return row && (this.#live.get(id)?.job ?? fromRow(row));
  }

  /** Of whichever namespace the caller may see. */
  findFor(mayActFor: (namespace: string) => boolean, id: string): Job | undefined {
    const namespace = this.#selectNamespace.get<{ namespace: string }>(id)?.namespace;
    return namespace !== undefined && mayActFor(namespace) ? this.find(namespace, id) : undefined;
  }

  /** @throws HttpError 404 */
  get(namespace: string, id: string): Job {
    const job = this.find(namespace, id);
    if (!job) throw new HttpError(404, `there is no Job ${id} of ${namespace}`, { code: "job_unknown" });
    return job;
  }

  logOf({ id }: Job): JobLog {
    const live = this.#live.get(id);
    if (live) return live.log;
    const text = this.#selectLog.get<{ log: string | null }>(id)?.log;
    const log = new JobLog(() => this.#file.clock.now(), text ? (JSON.parse(text) as LogLine[]) : []);
    log.ended = true;
    return log;
  }

  /** Resolves when it has ended; one that has ended already stays as it is. */
  async cancel(job: Job): Promise<Job> {
    const live = this.#live.get(job.id);
    if (!live) return job;
    live.canceled.abort(new Canceled("it was canceled"));
    return live.ended;
  }

  async close(): Promise<void> {
    const all = [...this.#live.values()];
    for (const { canceled } of all) canceled.abort(new Error(STOPPED));
    await Promise.all(all.map(({ ended }) => ended));
    this.#closed = true;
  }

  async #start({ namespace, spec, secrets, webhook, delivery, env = {} }: Start): Promise<Live> {
    const now = this.#file.clock.now();
    const job: Job = {
      id: newId(now),
      namespace,
      spec,
      stage: "SCHEDULING",
      message: null,
      webhook: webhook ?? null,
      delivery: delivery?.id ?? null,
      created: now,
      started: null,
      finished: null,
    };
    await this.#file.write(() => {
      this.#keep(job, null);
      this.#forget.run();
    });
    const log = new JobLog(() => this.#file.clock.now());
    const canceled = new AbortController();
    const variables = { ...spec.environment, ...secrets, ...env, JOB_ID: job.id };
    const live: Live = { job, log, canceled, ended: this.#run(job, log, canceled.signal, variables) };
    this.#live.set(job.id, live);
    return live;
  }

  async #run(job: Job, log: JobLog, signal: AbortSignal, env: Record<string, string>): Promise<Job> {
    const { clock } = this.#file;
    await this.#room(signal);
    let end: JobEnd;
    try {
      if (signal.aborted) end = { problem: signal.reason.message };
      else {
        Object.assign(job, { stage: "RUNNING", started: clock.now() });
        log.add(`===== Job started at ${new Date(clock.now()).toISOString()} =====`);
        const { spec } = job;
        const timeoutMs = spec.timeout === undefined ? this.#settings.jobTimeoutMs : spec.timeout * 1000;
        const command = [...spec.command, ...spec.arguments];
        end = await runProcess({ command, env, timeoutMs }, { log, clock, signal, path: this.#path });
      }
    } catch (error) {
      end = { problem: `it could not be started: ${toError(error).message}` };
    }
    this.#leave();
    const canceled = signal.aborted && signal.reason instanceof Canceled;
    const stage: Stage = end.problem === null ? "COMPLETED" : canceled ? "CANCELED" : "ERROR";
    Object.assign(job, { stage, message: end.problem, finished: clock.now() });
    log.end();
    this.#record(job, log);
    return job;
  }

  /** On a disk that is full the end waits, and is told from memory until there is room for it. */
  #record(job: Job, log: JobLog): void {
    if (this.#closed) return;
    const { database, clock } = this.#file;
    try {
      // Of its own: this is also how the last ones end, when deliveries take nothing any more.
      database.transaction(() => this.#keep(job, log));
      database.toDiskNow();
      this.#live.delete(job.id);
    } catch {
      clock.setTimer(() => this.#record(job, log), RECORD_AGAIN_MS, true);
    }
  }

  async #room(signal: AbortSignal): Promise<void> {
    while (this.#running >= this.#settings.jobsAtOnce && !signal.aborted) {
      const turn = Promise.withResolvers<void>();
      this.#waiting.push(turn.resolve);
      const leaveQueue = () => {
        // Or the next free place would be given to who no longer waits.
        this.#waiting = this.#waiting.filter((resolve) => resolve !== turn.resolve);
        turn.resolve();
      };
      signal.addEventListener("abort", leaveQueue, { once: true });
      await turn.promise;
      signal.removeEventListener("abort", leaveQueue);
    }
    this.#running++;
  }

  #leave(): void {
    this.#running--;
    this.#waiting.shift()?.();
  }

  #keep(job: Job, log: JobLog | null): void {
    const { id, namespace, spec, stage, message, webhook, delivery, created, started, finished } = job;
    const text = log && JSON.stringify(log.lines);
    this.#save.run(
      id,
      namespace,
      JSON.stringify(spec),
      stage,
      message,
      webhook,
      delivery,
      created,
      started,
      finished,
      text,
    );
  }
}

class Canceled extends Error {
  override readonly name = "Canceled";
}

const COLUMNS = "id, namespace, spec, stage, message, webhook, delivery, created, started, finished";

interface Row extends Omit<Job, "spec"> {
  spec: string;
}

function fromRow(row: Row): Job {
  return { ...row, spec: JSON.parse(row.spec) };
}
