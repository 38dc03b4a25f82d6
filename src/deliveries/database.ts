import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { StartError, toError } from "../errors.ts";

/** The one file that names the driver. Everything above it speaks SQL through `Database`. */
export type Value = string | number | null | Uint8Array;
export type Row = Record<string, Value>;

export interface Statement {
  /** Runs it and returns how many rows it changed. */
  run(...values: Value[]): number;
  get<T = Row>(...values: Value[]): T | undefined;
  all<T = Row>(...values: Value[]): T[];
}

/** An open SQLite file with one owner. Everything on it is synchronous but the wait for the disk. */
export interface Database {
  readonly file: string;
  prepare(sql: string): Statement;
  exec(sql: string): void;
  /**
   * All of `work` or nothing. A throw rolls back and is thrown on. When this returns the operating system has it, and
   * it stays however this process ends; after `toDisk` a power cut does not take it away either. What a power cut
   * leaves is always a beginning of what was committed, in order.
   */
  transaction<T>(work: () => T): T;
  /** Resolves when all that was committed before the call is on the disk. */
  toDisk(): Promise<void>;
  /** The same, and nobody does anything meanwhile. */
  toDiskNow(): void;
  /** Like `transaction`, inside one: a throw takes back `work` and leaves the rest of the transaction. */
  savepoint<T>(work: () => T): T;
  /** Brings the tables of `owner` up to the last of `steps`; each runs once, in order. Refuses a newer file. */
  migrate(owner: string, steps: readonly string[]): void;
  /** Bytes of the file and its log. */
  sizeOnDisk(): number;
  close(): void;
}

/**
 * How much is written before it is folded into the main file. Smaller: a pause of some milliseconds comes often enough
 * to show in the 99th percentile; larger: the pause is longer and the log beside the file grows (64 MB here).
 */
const CHECKPOINT_PAGES = 16_000;

/**
 * Opens or makes the file (0600, a folder that is missing 0700) and takes its lock.
 *
 * The lock is SQLite's own exclusive mode: the operating system releases it when the process dies, however it dies.
 * It also does without shared memory, which network and bucket file systems often lack.
 *
 * @throws StartError if another process has the file, or if it cannot be read or written
 */
export function openDatabase(file: string): Database {
  const folder = dirname(file);
  makeFile(file, folder);
  let driver: DatabaseSync | undefined;
  try {
    driver = new DatabaseSync(file, { timeout: 0 });
    // Order matters: auto_vacuum only takes before the first table, the locking mode only before the first read.
    driver.exec("PRAGMA locking_mode = EXCLUSIVE");
    driver.exec("PRAGMA auto_vacuum = INCREMENTAL");
    driver.exec("PRAGMA journal_mode = WAL");
    // It is the one difference between FULL and NORMAL that a commit of FULL waits for the disk: `toDisk` does that here.
    driver.exec("PRAGMA synchronous = NORMAL");
    driver.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    driver.exec("PRAGMA cache_size = -16000");
    driver.exec("BEGIN EXCLUSIVE; COMMIT");
    return wrap(driver, file);
  } catch (error) {
    driver?.close();
    throw openingError(error, file, folder);
  }
}

/** @throws StartError when it cannot be made or written */
function makeFile(file: string, folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = statSync(file, { throwIfNoEntry: false });
    // What is there is not opened: the close would end the locks that this process itself may have on it.
    if (found?.isFile()) accessSync(file, constants.R_OK | constants.W_OK);
    else closeSync(openSync(file, "a", 0o600));
    chmodSync(file, 0o600);
  } catch (error) {
    const { message } = toError(error);
    const mend = /^(EEXIST|ENOTDIR)/.test(message)
      ? `${fileInTheWay(folder)} is a file: move it away, or name a folder with DATA_DIR`
      : `${message}: make the folder ${folder} writable for this user, or name another one with DATA_DIR`;
    throw new StartError(`the database ${file} cannot be opened for writing`, [mend]);
  }
}

/** What stands where this path needs a folder. */
function fileInTheWay(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found || path === dirname(path) ? path : fileInTheWay(dirname(path));
}

function wrap(driver: DatabaseSync, file: string): Database {
  const begin = driver.prepare("BEGIN IMMEDIATE");
  const commit = driver.prepare("COMMIT");
  const checkpoint = driver.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
  // SQLite has its log beside the file itself, also where that was named by a link.
  const logFile = `${realpathSync(file)}-wal`;
  // SQLite keeps this one as long as the database is open; its locks are on the other, where a second descriptor would end them.
  const log = openSync(logFile, "r+");
  let gap = false;
  /**
   * After a wait that failed, the system may have forgotten what it did not write, so that no later wait tells of it;
   * and what follows a gap in the log is lost with it. So all of the log is brought into the main file, and begun anew.
   */
  const closeGap = () => {
    if (!gap) return;
    if (checkpoint.get()?.busy !== 0) throw notOnDisk(new Error("the log cannot be brought into the main file"));
    gap = false;
  };
  const failedWait = (error: unknown) => {
    gap = true;
    return notOnDisk(toError(error));
  };
  const database: Database = {
    file,
    prepare: (sql) => wrapStatement(driver.prepare(sql)),
    exec: (sql) => driver.exec(sql),
    transaction(work) {
      begin.run();
      try {
        const result = work();
        commit.run();
        return result;
      } catch (error) {
        // A full disk has rolled back by itself.
        if (driver.isTransaction) driver.exec("ROLLBACK");
        throw error;
      }
    },
    toDisk: () =>
      new Promise((resolve, reject) => {
        closeGap();
        fdatasync(log, (error) => (error ? reject(failedWait(error)) : resolve()));
      }),
    toDiskNow() {
      closeGap();
      try {
        fdatasyncSync(log);
      } catch (error) {
        throw failedWait(error);
      }
    },
    savepoint(work) {
      driver.exec("SAVEPOINT inner_work");
      try {
        const result = work();
        driver.exec("RELEASE inner_work");
        return result;
      } catch (error) {
        if (driver.isTransaction) driver.exec("ROLLBACK TO inner_work; RELEASE inner_work");
        throw error;
      }
    },
    migrate: (owner, steps) => migrate(database, owner, steps),
    sizeOnDisk: () => sizeOf(file) + sizeOf(logFile),
    close() {
      if (!driver.isOpen) return;
      closeSync(log);
      driver.close();
    },
  };
  return database;
}

/** As SQLite reports it when it waits for the disk itself. */
function notOnDisk(error: Error): Error {
  return Object.assign(new Error(`disk I/O error: ${error.message}`, { cause: error }), { errcode: IO_ERROR });
}

function wrapStatement(statement: StatementSync): Statement {
  return {
    run: (...values) => Number(statement.run(...values).changes),
    get: <T>(...values: Value[]) => statement.get(...values) as T | undefined,
    all: <T>(...values: Value[]) => statement.all(...values) as T[],
  };
}

function migrate(database: Database, owner: string, steps: readonly string[]): void {
  database.exec("CREATE TABLE IF NOT EXISTS schema_versions (owner TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT");
  const row = database.prepare("SELECT version FROM schema_versions WHERE owner = ?").get<{ version: number }>(owner);
  const version = row?.version ?? 0;
  if (version > steps.length)
    throw new StartError(`the database ${database.file} was written by a newer hubhook`, [
      `its ${owner} tables have version ${version}, this hubhook knows ${steps.length}: ` +
        "start the newer hubhook again, or name another folder with DATA_DIR",
    ]);
  for (const [at, step] of steps.entries()) {
    if (at < version) continue;
    database.transaction(() => {
      database.exec(step);
      database.prepare("INSERT OR REPLACE INTO schema_versions VALUES (?, ?)").run(owner, at + 1);
    });
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

const BUSY = 5;
const IO_ERROR = 10;
const NOT_A_DATABASE = [11, 26];
/** Internal, out of memory, interrupted, read-only, input/output, corrupt, full, cannot open, not a database. */
const STORAGE = [2, 7, 8, 9, IO_ERROR, 11, 13, 14, 26];

function errorCode(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return undefined;
  return Number(error.errcode) & 0xff;
}

/** Is it the disk (full, read-only, broken), and not a mistake in the work? */
export function isStorageError(error: unknown): boolean {
  const code = errorCode(error);
  return code !== undefined && STORAGE.includes(code);
}

/** A storage error at the start, as a sentence. Other errors stay what they are. */
export function openingError(error: unknown, file: string, folder = dirname(file)): Error {
  if (error instanceof StartError) return error;
  const code = errorCode(error);
  if (code === BUSY)
    return new StartError(`the folder ${folder} is in use: another process has ${file} open`, [
      "stop the other hubhook first, or give this one a folder of its own with DATA_DIR",
    ]);
  const ofTheSystem = error instanceof Error && "syscall" in error;
  if (!isStorageError(error) && !ofTheSystem) return toError(error);
  const why = toError(error).message;
  if (code !== undefined && NOT_A_DATABASE.includes(code))
    return new StartError(`the database ${file} is damaged (${why})`, [
      "put a backup in its place, or move it away to start with an empty one",
    ]);
  return new StartError(`the database ${file} cannot be opened (${why})`, [
    `look at the free space and the permissions of ${folder}, or name another folder with DATA_DIR`,
  ]);
}
