/**
 * The embedded hub: it stores webhooks, takes events, matches, delivers, keeps the activity and replays, all over the
 * real Hub's own HTTP interface. Receivers meet it over HTTP only, also on the same machine.
 */
import { type Clock, systemClock } from "../deliveries/clock.ts";
import { openingError } from "../deliveries/database.ts";
import { StartError } from "../errors.ts";
import type { Lookup } from "../http/address-guard.ts";
import { Lifecycle } from "../http/lifecycle.ts";
import { isLoopback, type Listening, listen } from "../http/server.ts";
import type { Logger } from "../logger.ts";
import { Activity } from "./activity.ts";
import { addressOf } from "./address.ts";
import { createHubApp } from "./app.ts";
import { Callers } from "./callers.ts";
import { parseChaos, withChaos } from "./chaos.ts";
import { Events } from "./events.ts";
import { HubFile, hubFileIn } from "./file.ts";
import { Jobs } from "./jobs.ts";
import { Outbox } from "./outbox.ts";
import { Quota } from "./quota.ts";
import { type Message, Sender } from "./sender.ts";
import { DEFAULT_HUB_SETTINGS, type HubSettings } from "./settings.ts";
import { watchHealth } from "./suspension.ts";
import { Targets } from "./targets.ts";
import { WebhookStore } from "./webhook-store.ts";
import { Webhooks } from "./webhooks.ts";

export { parseChaos };

export interface HubOptions {
  /** Where `hub.sqlite` lies. */
  dataDir: string;
  settings?: Partial<HubSettings>;
  log: Logger;
  version: string;
  /** Where the commands of Jobs are looked for. */
  path?: string;
  clock?: Clock;
  /** 0 to 1, for the jitter of retries. */
  random?: () => number;
  /** Looks names up; the system's when left out. */
  lookup?: Lookup;
}

export interface RunningHub {
  /** Where it listens, as `http://127.0.0.1:7861`. */
  url: string;
  port: number;
  /** What whoever starts it should know. */
  notices: string[];
  /** Resolves when no delivery runs and none could begin now. */
  idle(): Promise<void>;
  /** Takes nothing new, lets attempts end within the grace, then ends every connection. */
  close(): Promise<void>;
}

/** No webhook's url has such a host: Jobs share one place of their own. */
const JOBS_HOST = " jobs";

/** @throws StartError when the address or the file cannot be had, or the settings contradict each other */
export async function startHub(options: HubOptions): Promise<RunningHub> {
  try {
    return await start(options);
  } catch (error) {
    // The file is tidied up while the parts are made, and the disk may be too full for that.
    throw openingError(error, hubFileIn(options.dataDir));
  }
}

async function start(options: HubOptions): Promise<RunningHub> {
  const settings: HubSettings = { ...DEFAULT_HUB_SETTINGS, ...options.settings };
  refuseContradictions(settings);
  const { log, version } = options;
  const { host, port, shutdownGraceMs } = settings;
  const loopback = isLoopback(host);

  let bound: { url: string } = { url: `http://${host}:${port}` };
  const endpoint = () => settings.publicUrl ?? bound.url;
  const hostOfWebhook = (id: string) => {
    const url = store.get(id)?.url;
    return url ? addressOf(url).host : JOBS_HOST;
  };
  const limits = (target: string) => (target === JOBS_HOST ? settings.jobsAtOnce : settings.concurrencyPerTarget);
  const { clock = systemClock } = options;
  const sender = new Sender({ ...settings, clock, loopback, allow: settings.allowTargets, lookup: options.lookup });
  const file = new HubFile({
    ...options,
    clock,
    settings,
    // Both are asked only once everything below is made.
    gate: { enter: (id) => targets.enter(id), leave: (id) => targets.leave(id) },
    attempt: (delivery, tools) => outbox.attempt(delivery, tools),
    onProblem: (problem) => log.error(problem),
  });
  const { deliveries } = file;
  const cancelWaiting = (receiver: string) => deliveries.cancel({ receiver });
  const targets = new Targets(limits, () => clock.monotonic(), hostOfWebhook);
  const store = new WebhookStore(file.database, file.write, clock.now() - settings.retention.ageMs);
  const quota = new Quota(file, settings.quota);
  const jobs = new Jobs(file, settings, options.path ?? DEFAULT_PATH);
  const callers = new Callers(settings);
  const webhooks = new Webhooks({
    file,
    store,
    quota,
    cancelWaiting,
    jobSpec: (user, id) => jobs.findFor((namespace) => callers.mayActFor(user, namespace), id)?.spec,
  });
  const chaos = settings.chaos === null ? null : parseChaos(settings.chaos);
  const post = (message: Message) => sender.send(message);
  const send = chaos ? withChaos(chaos, post, clock) : post;
  const suspend = async (id: string, reason: string) => {
    // The Hub sends its owner a mail.
    if (await webhooks.suspend(id, reason))
      log.warn(`webhook ${id} is suspended until it is enabled again: ${reason}`, { webhook: id });
  };
  const outbox = new Outbox({
    webhook: (id) => store.get(id),
    send,
    runJob: (...args) => jobs.runFor(...args),
    targets,
    health: watchHealth({ file, store, settings, suspend }),
    cancelWaiting,
    userAgent: `hubhook-hub/${version}`,
  });
  const activity = new Activity({
    deliveries,
    owned: (user, id) => store.ownedEver(user, id),
    endPause: ({ url }) => url !== null && targets.endPause(addressOf(url).host),
    timeoutMs: settings.timeoutMs,
    setTimer: (run, ms) => clock.setTimer(run, ms),
  });
  const events = new Events({ file, store, quota, endpoint, isUser: (name) => callers.isUser(name) });
  const troubles = () => {
    const health = deliveries.health();
    return health.ok ? [] : [`events cannot be stored since ${health.since.toISOString()}: ${health.problem}`];
  };

  const lifecycle = new Lifecycle();
  const end = async (graceMs: number) => {
    // The attempts first: a Job or an answer that is cut off by this stop is then no failure of theirs.
    await deliveries.close(graceMs);
    await jobs.close();
    await sender.close();
    file.database.close();
  };
  let listening: Listening;
  try {
    const rooms = { webhooks, events, activity, jobs, callers };
    const app = createHubApp({ ...rooms, settings, clock, log, lifecycle, endpoint, troubles });
    const address = { host, port, who: "The hub", variables: { host: "HUB_HOST", port: "HUB_PORT" } };
    listening = await listen(app, lifecycle, address);
  } catch (error) {
    await end(0);
    throw error;
  }
  bound = listening;
  deliveries.start();
  return {
    url: listening.url,
    port: listening.port,
    notices: noticesOf(settings, callers),
    idle: () => deliveries.idle(),
    close: async () => {
      const until = performance.now() + shutdownGraceMs;
      deliveries.hold();
      await listening.close(shutdownGraceMs);
      await end(Math.max(0, until - performance.now()));
    },
  };
}

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

function refuseContradictions({ host, users, jobs, chaos }: HubSettings): void {
  const problems: string[] = [];
  const loopback = isLoopback(host);
  if (!loopback && users.length === 0)
    problems.push(`HUB_HOST is ${host}, open to others, and there is no token: set HUB_TOKEN, or listen on 127.0.0.1`);
  if (!loopback && jobs !== null)
    problems.push(
      "HUB_JOBS=process runs commands on this machine, and only for this machine: set HUB_HOST to 127.0.0.1",
    );
  for (const [index, { token }] of users.entries())
    if (users.findIndex((other) => other.token === token) !== index)
      problems.push("HUB_TOKEN and HUB_TOKENS give one token to two users: give each its own");
  try {
    if (chaos !== null) parseChaos(chaos);
  } catch (error) {
    problems.push(String((error as Error).message));
  }
  if (problems.length > 0) throw new StartError("The hub cannot start with these settings:", problems);
}

function noticesOf({ host, publicUrl, jobs, chaos }: HubSettings, callers: Callers): string[] {
  const notices: string[] = [];
  if (!isLoopback(host) && publicUrl === null)
    notices.push("Payloads name it by this address: HUB_PUBLIC_URL sets the one under which others reach it.");
  if (callers.open) notices.push("No token is set: whoever reaches this hub is its user `me`. HUB_TOKEN sets one.");
  if (jobs !== null) notices.push("Jobs run as commands on this machine, as this user.");
  if (chaos !== null) notices.push(`Chaos is on (${chaos}): deliveries go wrong on purpose.`);
  return notices;
}
