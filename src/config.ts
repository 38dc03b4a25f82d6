/**
 * Every setting of the process, read once from the environment into one nested object. What is off is null.
 * The object holds secrets: hand on the part that is needed, and never log it.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { z } from "zod";
import { StartError } from "./errors.ts";

export type Env = Record<string, string | undefined>;

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZES = { b: 1, kb: 1000, mb: 1_000_000, gb: 1_000_000_000 };

function unit(units: Record<string, number>, expected: string) {
  const form = new RegExp(`^(\\d+(?:\\.\\d+)?) ?(${Object.keys(units).join("|")})$`, "i");
  return z.string().transform((text, context) => {
    const [, amount, name] = form.exec(text.trim()) ?? [];
    if (amount !== undefined && name !== undefined) return Number(amount) * (units[name.toLowerCase()] ?? 1);
    context.addIssue({ code: "custom", message: expected });
    return z.NEVER;
  });
}

/** Milliseconds, written `500ms`, `10s`, `5m`, `2h`. */
const duration = unit(UNITS, "write a duration with its unit, as 500ms, 10s, 5m or 2h");
/** Bytes, written `5mb`. */
const size = unit(SIZES, "write a size with its unit, as 500kb or 5mb");

/** What a timer waits: one longer than this many milliseconds would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const wait = duration.refine((ms) => ms <= MAX_TIMER_MS, "write a duration of at most 24d");

/** A body becomes one string, and those have a limit of their own at about 512 MB. */
const bodySize = size.refine((bytes) => bytes >= 1 && bytes <= 500_000_000, "write a size from 1b to 500mb");

const count = z.string().transform((text, context) => {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  context.addIssue({ code: "custom", message: "write a whole number of at least 1" });
  return z.NEVER;
});

const durations = z.string().transform((text, context) => {
  const gaps = text.split(",").map((one) => duration.safeParse(one.trim()));
  if (gaps.every((gap) => gap.success)) return gaps.map((gap) => gap.data);
  context.addIssue({ code: "custom", message: "write durations with commas between them, as 5s,30s,5m" });
  return z.NEVER;
});

const port = z.string().transform((text, context) => {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  context.addIssue({ code: "custom", message: "write a port number from 0 to 65535 (0: any free port)" });
  return z.NEVER;
});

const httpUrl = z
  .url({ protocol: /^https?$/, error: "write a whole address, as https://example.com" })
  .refine((text) => !/[?#]/.test(text), "write the address without ? and #: paths are put behind it")
  .transform((text) => text.replace(/\/+$/, ""));

// The Hub sends the secret as a header in clear, so nothing but visible ASCII arrives as it was typed.
const secret = z
  .string()
  .regex(/^[\x21-\x7e]+$/, "use visible ASCII characters only, without spaces: the Hub sends it in a header");

/** `a,b,c` as a list without empty entries. */
const list = z.string().transform((text) =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== ""),
);

const TOKEN_RULE = "use visible ASCII characters only, without spaces: callers send it in a header";
const token = z.string().regex(/^[\x21-\x7e]+$/, TOKEN_RULE);

/** `user:token,user:token` as pairs. */
const userTokens = list.transform((entries, context) => {
  const pairs = entries.map((entry) => /^([A-Za-z0-9][A-Za-z0-9._-]{0,95}):([\x21-\x7e]+)$/.exec(entry));
  if (pairs.every((pair) => pair !== null)) return pairs.map(([, user = "", token = ""]) => ({ user, token }));
  context.addIssue({
    code: "custom",
    message: "write user:token pairs with commas between them, as alice:hf_a,bob:hf_b",
  });
  return z.NEVER;
});

const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, { error: `write one of ${words.join(", ")}` });

/** The variables, in the groups and the order of `.env.example`. */
export const variables = {
  server: z.object({
    PORT: port.prefault("7860"),
    HOST: z.string().default("127.0.0.1"),
    PUBLIC_DIR: z.string().default("public"),
    LOG_LEVEL: oneOf(["error", "warn", "info", "debug"]).default("info"),
    LOG_FORMAT: oneOf(["pretty", "json"]).optional(),
    SHUTDOWN_GRACE: wait.prefault("10s"),
  }),
  receiver: z.object({
    PUBLIC_URL: httpUrl.optional(),
    WEBHOOK_SECRET: secret.optional(),
    WEBHOOK_SECRET_PREVIOUS: secret.optional(),
    HANDLERS_DIR: z.string().default("src/handlers"),
    HANDLERS_ON_ERROR: oneOf(["exit", "skip"]).default("exit"),
    BODY_LIMIT: bodySize.prefault("5mb"),
    REPLY_DEADLINE: wait.prefault("25s"),
  }),
  deliveries: z.object({
    DATA_DIR: z.string().default("data"),
    CONCURRENCY: count.prefault("16"),
    ATTEMPT_TIMEOUT: wait.prefault("5m"),
    RETRY_SCHEDULE: durations.prefault("5s,30s,5m,30m,2h,5h,10h"),
    BACKLOG_COUNT: count.prefault("1000000"),
    BACKLOG_SIZE: size.prefault("1gb"),
    RETENTION_AGE: duration.prefault("30d"),
    RETENTION_COUNT: count.prefault("1000000"),
  }),
  hub: z.object({
    HF_ENDPOINT: httpUrl.prefault("https://huggingface.co"),
    HF_TOKEN: z.string().optional(),
    HUGGING_FACE_HUB_TOKEN: z.string().optional(),
    HF_TOKEN_PATH: z.string().optional(),
    HF_HOME: z.string().optional(),
    XDG_CACHE_HOME: z.string().optional(),
  }),
  embeddedHub: z.object({
    HUB_PORT: port.prefault("7861"),
    HUB_HOST: z.string().default("127.0.0.1"),
    HUB_PUBLIC_URL: httpUrl.optional(),
    HUB_ALLOW_HOSTS: list.prefault(""),
    HUB_TOKEN: token.optional(),
    HUB_TOKENS: userTokens.prefault(""),
    HUB_RATE_LIMIT: count.prefault("10000"),
    HUB_ALLOW_TARGETS: list.prefault(""),
    HUB_TIMEOUT: wait.prefault("30s"),
    HUB_CONNECT_TIMEOUT: wait.prefault("10s"),
    HUB_CONCURRENCY: count.prefault("256"),
    HUB_CONCURRENCY_PER_TARGET: count.prefault("32"),
    HUB_QUOTA: count.prefault("1000"),
    HUB_SUSPEND_FAILURES: count.prefault("100"),
    HUB_SUSPEND_AFTER: duration.prefault("24h"),
    HUB_JOBS: oneOf(["off", "process"]).default("off"),
    HUB_JOBS_AT_ONCE: count.prefault("2"),
    HUB_JOB_TIMEOUT: wait.prefault("30m"),
  }),
  extras: z.object({
    CATALOG: z.string().optional(),
    CATALOG_MARKERS: list.prefault("Pashto,Pukhto,Pakhto,Pushto,ps,ps_af,pus,pbt_Arab,پښتو,پشتو"),
    CATALOG_ALLOW_TARGETS: list.prefault(""),
  }),
  space: z.object({
    SPACE_ID: z.string().optional(),
    SPACE_HOST: z.string().optional(),
  }),
};

export type Config = ReturnType<typeof loadConfig>;

/** What was read is never shown in a problem of these. */
const SECRET_VARIABLES = new Set([
  "WEBHOOK_SECRET",
  "WEBHOOK_SECRET_PREVIOUS",
  "HF_TOKEN",
  "HUGGING_FACE_HUB_TOKEN",
  "HUB_TOKEN",
  "HUB_TOKENS",
]);

/**
 * Reads the settings. `env` is the process's environment unless a test or a script gives its own; `overrides` win.
 * @throws StartError naming every variable that was not understood, and the mend.
 */
export function loadConfig(env: Env = process.env, overrides: Env = {}) {
  const isGiven = ([, value]: [string, string | undefined]) => value !== undefined && value !== "";
  const given = Object.fromEntries([env, overrides].flatMap((one) => Object.entries(one).filter(isGiven)));
  const problems: string[] = [];
  const read = <Group extends z.ZodObject>(group: Group): z.output<Group> => {
    const result = group.safeParse(given);
    if (result.success) return result.data;
    for (const issue of result.error.issues) {
      const name = String(issue.path[0]);
      const found = SECRET_VARIABLES.has(name) ? "is not usable" : `is "${given[name]}"`;
      problems.push(`${name} ${found}: ${issue.message}`);
    }
    // Never used: the problems below are thrown before anybody looks at it.
    return {} as z.output<Group>;
  };
  const server = read(variables.server);
  const receiver = read(variables.receiver);
  const deliveries = read(variables.deliveries);
  const hub = read(variables.hub);
  const embedded = read(variables.embeddedHub);
  const extras = read(variables.extras);
  const space = read(variables.space);
  if (given.WEBHOOK_SECRET_PREVIOUS && !given.WEBHOOK_SECRET)
    problems.push("WEBHOOK_SECRET_PREVIOUS is set without WEBHOOK_SECRET: set the new secret there, or remove it");
  if (problems.length > 0) throw new StartError("The settings have problems (environment or .env file):", problems);

  return {
    server: {
      port: server.PORT,
      host: server.HOST,
      publicDir: resolve(server.PUBLIC_DIR),
      shutdownGraceMs: server.SHUTDOWN_GRACE,
    },
    log: { level: server.LOG_LEVEL, format: server.LOG_FORMAT ?? null },
    receiver: {
      publicUrl: receiver.PUBLIC_URL ?? null,
      /** Those that open an endpoint, newest first; none: every endpoint is open to everyone. */
      secrets: [receiver.WEBHOOK_SECRET, receiver.WEBHOOK_SECRET_PREVIOUS].filter((one) => one !== undefined),
      handlersDir: resolve(receiver.HANDLERS_DIR),
      handlersOnError: receiver.HANDLERS_ON_ERROR,
      bodyLimit: receiver.BODY_LIMIT,
      replyDeadlineMs: receiver.REPLY_DEADLINE,
      /** Where handlers' own settings are read from, each through the schema that its handler declares. */
      handlerEnv: given as Env,
    },
    deliveries: {
      dataDir: resolve(deliveries.DATA_DIR),
      concurrency: deliveries.CONCURRENCY,
      attemptTimeoutMs: deliveries.ATTEMPT_TIMEOUT,
      scheduleMs: deliveries.RETRY_SCHEDULE,
      backlog: { count: deliveries.BACKLOG_COUNT, bytes: deliveries.BACKLOG_SIZE },
      retention: { ageMs: deliveries.RETENTION_AGE, count: deliveries.RETENTION_COUNT },
    },
    /** `tokenFile`: where the stored token was found; null for one of the environment. */
    hub: { endpoint: hub.HF_ENDPOINT, ...findToken(hub, given) },
    embeddedHub: {
      host: embedded.HUB_HOST,
      port: embedded.HUB_PORT,
      publicUrl: embedded.HUB_PUBLIC_URL ?? null,
      /** Names under which it may be asked, beside its address. */
      allowHosts: embedded.HUB_ALLOW_HOSTS,
      /** None: open to whoever reaches it, as user `me`, and bound to loopback only. */
      tokens: [
        ...(embedded.HUB_TOKEN === undefined ? [] : [{ user: "me", token: embedded.HUB_TOKEN }]),
        ...(embedded.HUB_TOKENS ?? []),
      ],
      /** Requests of one user in five minutes. */
      rateLimit: embedded.HUB_RATE_LIMIT,
      /** Beside public addresses: CIDR ranges, addresses and host names. */
      allowTargets: embedded.HUB_ALLOW_TARGETS,
      timeoutMs: embedded.HUB_TIMEOUT,
      connectTimeoutMs: embedded.HUB_CONNECT_TIMEOUT,
      concurrency: embedded.HUB_CONCURRENCY,
      concurrencyPerTarget: embedded.HUB_CONCURRENCY_PER_TARGET,
      /** Deliveries of one webhook in 24 hours. */
      quota: embedded.HUB_QUOTA,
      suspendFailures: embedded.HUB_SUSPEND_FAILURES,
      suspendAfterMs: embedded.HUB_SUSPEND_AFTER,
      jobs: embedded.HUB_JOBS === "off" ? null : embedded.HUB_JOBS,
      jobsAtOnce: embedded.HUB_JOBS_AT_ONCE,
      jobTimeoutMs: embedded.HUB_JOB_TIMEOUT,
      /** Where the commands of Jobs are looked for. */
      jobPath: given.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    },
    catalog: {
      /** A file or a URL; null: no catalog is shown. */
      source: extras.CATALOG ?? null,
      /** Words for the language that the catalog is about. */
      markers: extras.CATALOG_MARKERS,
      /** Beside public addresses and the hub's: CIDR ranges, addresses and host names. */
      allowTargets: extras.CATALOG_ALLOW_TARGETS,
    },
    /** Set by the Hub on a Space. */
    space: space.SPACE_HOST ? { id: space.SPACE_ID ?? null, host: space.SPACE_HOST } : null,
  };
}

/**
 * The token that the official client would use: of the environment, else the one that `hf auth login` stored.
 * Source: `utils/_auth.py` and `constants.py` of huggingface_hub 2.4. One that has expired is not renewed here.
 */
function findToken(hub: z.output<typeof variables.hub>, env: Env): { token: string | null; tokenFile: string | null } {
  const given = cleaned(hub.HF_TOKEN ?? hub.HUGGING_FACE_HUB_TOKEN ?? "");
  if (given !== null) return { token: given, tokenFile: null };
  const home = hub.HF_HOME ?? `${hub.XDG_CACHE_HOME ?? "~/.cache"}/huggingface`;
  const file = expanded(hub.HF_TOKEN_PATH ?? `${home}/token`, env);
  try {
    const stored = cleaned(readFileSync(file, "utf8"));
    if (stored !== null) return { token: stored, tokenFile: file };
  } catch {
    // Nobody has logged in here.
  }
  return { token: null, tokenFile: null };
}

function cleaned(token: string): string | null {
  return token.replace(/[\r\n]/g, "").trim() || null;
}

/** `~` and `$NAME` at their value, as Python's expanduser and expandvars put them. */
function expanded(path: string, env: Env): string {
  return path
    .replace(/^~(?=\/|$)/, () => homedir())
    .replace(/\$(?:(\w+)|\{(\w+)\})/g, (whole, name: string | undefined, braced = "") => env[name ?? braced] ?? whole);
}
