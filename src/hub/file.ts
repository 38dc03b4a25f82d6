/** The hub's one file: its own tables and its deliveries, which are written together. */
import { join } from "node:path";
import type { Clock } from "../deliveries/clock.ts";
import { type Database, openDatabase } from "../deliveries/database.ts";
import { type Deliveries, openDeliveries } from "../deliveries/deliveries.ts";
import type { Gate, MakeAttempt } from "../deliveries/delivery.ts";
import { HttpError } from "../errors.ts";
import { SCHEMA } from "./schema.ts";
import type { HubSettings } from "./settings.ts";

/** An attempt ends by the hub's own limits, one for answers and one for Jobs. */
const NO_LIMIT_MS = Number.POSITIVE_INFINITY;

interface OpenHubFile {
  dataDir: string;
  settings: HubSettings;
  clock: Clock;
  random?: (() => number) | undefined;
  gate: Gate;
  attempt: MakeAttempt;
  onProblem(problem: string): void;
}

export function hubFileIn(dataDir: string): string {
  return join(dataDir, "hub.sqlite");
}

export class HubFile {
  readonly clock: Clock;
  readonly database: Database;
  readonly deliveries: Deliveries;

  /** @throws StartError when another process has the file, or it cannot be written */
  constructor({ dataDir, settings, clock, random, gate, attempt, onProblem }: OpenHubFile) {
    this.clock = clock;
    this.database = openDatabase(hubFileIn(dataDir));
    try {
      this.database.migrate("hub", SCHEMA);
      const { concurrency, scheduleMs, backlog, retention } = settings;
      this.deliveries = openDeliveries({
        database: this.database,
        clock,
        ...(random && { random }),
        attempt,
        onProblem,
        settings: {
          concurrency,
          perReceiver: () => settings.concurrencyPerTarget,
          scheduleMs,
          backlog,
          retention,
          gate,
          attemptTimeoutMs: NO_LIMIT_MS,
        },
      });
    } catch (error) {
      this.database.close();
      throw error;
    }
  }

  /** Runs `work` in a transaction that it may share with others, then `committed`; resolves when it is on the disk. */
  readonly write = async (work: () => void, committed?: () => void): Promise<void> => {
    try {
      await this.deliveries.acceptAll([], work, committed);
    } catch (error) {
      throw error instanceof HttpError && error.code === "storage_unavailable" ? unwritten(error) : error;
    }
  };
}

function unwritten({ code, headers, cause }: HttpError): HttpError {
  const message = "the hub's disk is full or cannot be written, so nothing was changed: make room, then try again";
  return new HttpError(503, message, { code, headers, cause });
}
