import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { type Config, type Env, loadConfig, variables } from "../src/config.ts";
import { StartError } from "../src/errors.ts";
import { folderWith } from "./support/cli.ts";

const NOWHERE = { HF_TOKEN_PATH: "/nowhere" };
const load = (env: Env = {}) => loadConfig({ ...NOWHERE, ...env });

function problemsOf(env: Env): string[] {
  try {
    load(env);
  } catch (error) {
    if (error instanceof StartError) return error.problems;
    throw error;
  }
  return [];
}

describe("the settings", () => {
  it("have defaults that fit one person's machine", () => {
    expect(load()).toEqual({
      server: { port: 7860, host: "127.0.0.1", publicDir: resolve("public"), shutdownGraceMs: 10_000 },
      log: { level: "info", format: null },
      receiver: {
        publicUrl: null,
        secrets: [],
        handlersDir: resolve("src/handlers"),
        handlersOnError: "exit",
        bodyLimit: 5_000_000,
        replyDeadlineMs: 25_000,
        handlerEnv: NOWHERE,
      },
      deliveries: expect.objectContaining({
        dataDir: resolve("data"),
        concurrency: 16,
        attemptTimeoutMs: 300_000,
        scheduleMs: [5000, 30_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000],
        backlog: { count: 1_000_000, bytes: 1_000_000_000 },
      }),
      hub: { endpoint: "https://huggingface.co", token: null, tokenFile: null },
      embeddedHub: {
        host: "127.0.0.1",
        port: 7861,
        publicUrl: null,
        allowHosts: [],
        tokens: [],
        rateLimit: 10_000,
        allowTargets: [],
        timeoutMs: 30_000,
        connectTimeoutMs: 10_000,
        concurrency: 256,
        concurrencyPerTarget: 32,
        quota: 1000,
        suspendFailures: 100,
        suspendAfterMs: 86_400_000,
        jobs: null,
        jobsAtOnce: 2,
        jobTimeoutMs: 1_800_000,
        jobPath: expect.any(String),
      },
      catalog: {
        source: null,
        markers: ["Pashto", "Pukhto", "Pakhto", "Pushto", "ps", "ps_af", "pus", "pbt_Arab", "پښتو", "پشتو"],
        allowTargets: [],
      },
      space: null,
    });
  });

  it("take an empty value for none", () => {
    const names = Object.values(variables).flatMap(({ shape }) => Object.keys(shape));
    const empty = Object.fromEntries(names.map((name) => [name, ""]));
    const { token: _, ...hub } = loadConfig({ ...empty, ...NOWHERE }).hub;
    expect({ ...loadConfig({ ...empty, ...NOWHERE }), hub }).toEqual({ ...load(), hub });
  });

  const good: [string, string, (config: Config) => unknown, unknown][] = [
    ["PORT", "0", ({ server }) => server.port, 0],
    ["PORT", "65535", ({ server }) => server.port, 65_535],
    ["HOST", "::", ({ server }) => server.host, "::"],
    ["PUBLIC_DIR", "/srv/page", ({ server }) => server.publicDir, "/srv/page"],
    ["LOG_LEVEL", "debug", ({ log }) => log.level, "debug"],
    ["LOG_FORMAT", "json", ({ log }) => log.format, "json"],
    ["LOG_FORMAT", "pretty", ({ log }) => log.format, "pretty"],
    ["SHUTDOWN_GRACE", "500ms", ({ server }) => server.shutdownGraceMs, 500],
    ["SHUTDOWN_GRACE", "1.5s", ({ server }) => server.shutdownGraceMs, 1500],
    ["SHUTDOWN_GRACE", "0s", ({ server }) => server.shutdownGraceMs, 0],
    ["REPLY_DEADLINE", "2 H", ({ receiver }) => receiver.replyDeadlineMs, 7_200_000],
    ["REPLY_DEADLINE", "5m", ({ receiver }) => receiver.replyDeadlineMs, 300_000],
    ["BODY_LIMIT", "500kb", ({ receiver }) => receiver.bodyLimit, 500_000],
    ["BODY_LIMIT", "1B", ({ receiver }) => receiver.bodyLimit, 1],
    ["PUBLIC_URL", "https://hooks.example/base//", ({ receiver }) => receiver.publicUrl, "https://hooks.example/base"],
    ["PUBLIC_URL", "http://10.0.0.1:8080", ({ receiver }) => receiver.publicUrl, "http://10.0.0.1:8080"],
    ["WEBHOOK_SECRET", "a!~\"'\\#$=", ({ receiver }) => receiver.secrets, ["a!~\"'\\#$="]],
    ["HANDLERS_DIR", "examples", ({ receiver }) => receiver.handlersDir, resolve("examples")],
    ["HANDLERS_ON_ERROR", "skip", ({ receiver }) => receiver.handlersOnError, "skip"],
    ["DATA_DIR", "/data", ({ deliveries }) => deliveries.dataDir, "/data"],
    ["CONCURRENCY", "1", ({ deliveries }) => deliveries.concurrency, 1],
    ["ATTEMPT_TIMEOUT", "1h", ({ deliveries }) => deliveries.attemptTimeoutMs, 3_600_000],
    ["RETRY_SCHEDULE", "1s, 2m", ({ deliveries }) => deliveries.scheduleMs, [1000, 120_000]],
    ["BACKLOG_COUNT", "5", ({ deliveries }) => deliveries.backlog.count, 5],
    ["BACKLOG_SIZE", "2gb", ({ deliveries }) => deliveries.backlog.bytes, 2_000_000_000],
    ["RETENTION_AGE", "90d", ({ deliveries }) => deliveries.retention.ageMs, 7_776_000_000],
    ["RETENTION_COUNT", "10", ({ deliveries }) => deliveries.retention.count, 10],
    ["HF_ENDPOINT", "http://127.0.0.1:7861/", ({ hub }) => hub.endpoint, "http://127.0.0.1:7861"],
    ["HF_TOKEN", " hf_abc\n", ({ hub }) => hub.token, "hf_abc"],
    ["HF_TOKEN", "   ", ({ hub }) => hub.token, null],
    ["HUGGING_FACE_HUB_TOKEN", "hf_abc", ({ hub }) => hub.token, "hf_abc"],
    ["HUB_PORT", "0", ({ embeddedHub }) => embeddedHub.port, 0],
    ["HUB_HOST", "::1", ({ embeddedHub }) => embeddedHub.host, "::1"],
    ["HUB_PUBLIC_URL", "http://hub:7861/", ({ embeddedHub }) => embeddedHub.publicUrl, "http://hub:7861"],
    ["HUB_ALLOW_HOSTS", "hub, hub.local,", ({ embeddedHub }) => embeddedHub.allowHosts, ["hub", "hub.local"]],
    ["HUB_TOKEN", "hf_me", ({ embeddedHub }) => embeddedHub.tokens, [{ user: "me", token: "hf_me" }]],
    [
      "HUB_TOKENS",
      "a:hf_a, b:x:y",
      ({ embeddedHub }) => embeddedHub.tokens,
      [
        { user: "a", token: "hf_a" },
        { user: "b", token: "x:y" },
      ],
    ],
    ["HUB_RATE_LIMIT", "5", ({ embeddedHub }) => embeddedHub.rateLimit, 5],
    [
      "HUB_ALLOW_TARGETS",
      "10.0.0.0/8,receiver",
      ({ embeddedHub }) => embeddedHub.allowTargets,
      ["10.0.0.0/8", "receiver"],
    ],
    ["HUB_TIMEOUT", "1s", ({ embeddedHub }) => embeddedHub.timeoutMs, 1000],
    ["HUB_CONNECT_TIMEOUT", "1s", ({ embeddedHub }) => embeddedHub.connectTimeoutMs, 1000],
    ["HUB_CONCURRENCY", "1", ({ embeddedHub }) => embeddedHub.concurrency, 1],
    ["HUB_CONCURRENCY_PER_TARGET", "1", ({ embeddedHub }) => embeddedHub.concurrencyPerTarget, 1],
    ["HUB_QUOTA", "7", ({ embeddedHub }) => embeddedHub.quota, 7],
    ["HUB_SUSPEND_FAILURES", "7", ({ embeddedHub }) => embeddedHub.suspendFailures, 7],
    ["HUB_SUSPEND_AFTER", "7h", ({ embeddedHub }) => embeddedHub.suspendAfterMs, 25_200_000],
    ["HUB_JOBS", "process", ({ embeddedHub }) => embeddedHub.jobs, "process"],
    ["HUB_JOBS_AT_ONCE", "7", ({ embeddedHub }) => embeddedHub.jobsAtOnce, 7],
    ["HUB_JOB_TIMEOUT", "1m", ({ embeddedHub }) => embeddedHub.jobTimeoutMs, 60_000],
    [
      "CATALOG",
      "https://example.org/catalog.json",
      ({ catalog }) => catalog.source,
      "https://example.org/catalog.json",
    ],
    ["CATALOG_MARKERS", "Dari, prs", ({ catalog }) => catalog.markers, ["Dari", "prs"]],
    ["CATALOG_ALLOW_TARGETS", "10.0.0.0/8,files", ({ catalog }) => catalog.allowTargets, ["10.0.0.0/8", "files"]],
    ["SPACE_HOST", "me-hooks.hf.space", ({ space }) => space, { id: null, host: "me-hooks.hf.space" }],
    ["SPACE_ID", "me/hooks", ({ space }) => space, null],
  ];
  it.each(good)("read %s=%j", (name, value, part, expected) => {
    expect(part(load({ [name]: value }))).toEqual(expected);
  });

  it("are all read by the test above, but for those that go in pairs", () => {
    const names = Object.values(variables).flatMap(({ shape }) => Object.keys(shape));
    const together = ["WEBHOOK_SECRET_PREVIOUS", "HF_TOKEN_PATH", "HF_HOME", "XDG_CACHE_HOME"];
    const tried = new Set([...good.map(([name]) => name), ...together]);
    expect(names.filter((name) => !tried.has(name))).toEqual([]);
  });

  const bad: [string, string[], RegExp][] = [
    ["PORT", ["65536", "-1", "80.5", "http", "0x50", " 80", "1e3"], /port number from 0 to 65535/],
    ["LOG_LEVEL", ["verbose", "INFO"], /error, warn, info, debug/],
    ["LOG_FORMAT", ["yaml"], /pretty, json/],
    ["SHUTDOWN_GRACE", ["10", "ten seconds", "-1s", "1y", "1,5s", "1e3s", "s"], /500ms, 10s, 5m or 2h/],
    ["SHUTDOWN_GRACE", ["25d", "9999999h"], /at most 24d/],
    ["REPLY_DEADLINE", ["25", "forever"], /with its unit/],
    ["REPLY_DEADLINE", ["30d"], /at most 24d/],
    ["ATTEMPT_TIMEOUT", ["30d"], /at most 24d/],
    ["BODY_LIMIT", ["5", "5 megabytes", "-5mb", "5tb"], /500kb or 5mb/],
    ["BODY_LIMIT", ["0mb", "0.1b", "1gb"], /from 1b to 500mb/],
    ["PUBLIC_URL", ["hooks.example", "ftp://hooks.example", "https://", "//x", "javascript:alert(1)"], /whole address/],
    ["PUBLIC_URL", ["https://hooks.example/?a=b", "https://hooks.example/#top"], /without \? and #/],
    ["HF_ENDPOINT", ["huggingface.co", "file:///etc"], /whole address/],
    ["HANDLERS_ON_ERROR", ["ignore"], /exit, skip/],
    ["CONCURRENCY", ["0", "-1", "1.5", "many"], /whole number of at least 1/],
    ["RETRY_SCHEDULE", ["5s,,5m", "5s;5m", ","], /commas between them/],
    ["BACKLOG_COUNT", ["0", "x"], /whole number/],
    ["BACKLOG_SIZE", ["1"], /size with its unit/],
    ["RETENTION_AGE", ["30"], /duration with its unit/],
    ["RETENTION_COUNT", ["0"], /whole number/],
    ["HUB_JOBS", ["docker"], /off, process/],
    ["HUB_TIMEOUT", ["30d"], /at most 24d/],
  ];
  it.each(bad.flatMap(([name, values, mend]) => values.map((value) => ({ name, value, mend }))))(
    "refuse $name=$value, showing both and the mend",
    ({ name, value, mend }) => {
      expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(mend)]);
      expect(problemsOf({ [name]: value })[0]).toContain(`${name} is "${value}"`);
    },
  );

  it("are refused all at once", () => {
    const env = {
      PORT: "x",
      LOG_LEVEL: "x",
      BODY_LIMIT: "x",
      HF_ENDPOINT: "x",
      CONCURRENCY: "x",
      WEBHOOK_SECRET_PREVIOUS: "x",
    };
    const problems = problemsOf(env);
    expect(problems.map((problem) => problem.split(" ")[0]).sort()).toEqual(Object.keys(env).sort());
    let message = "";
    try {
      load(env);
    } catch (error) {
      message = (error as Error).message;
    }
    for (const problem of problems) expect(message).toContain(`\n  - ${problem}`);
    expect(message).toMatch(/environment or \.env/);
  });
});

describe("secrets and tokens in the settings", () => {
  it.each(["with space", "ümlaut", "tab\tinside", "line\nbreak", "emoji🤗"])(
    "may not hold what a header cannot carry: %j",
    (value) => {
      for (const name of ["WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS"]) {
        const problems = problemsOf({ WEBHOOK_SECRET: "fine", [name]: value });
        expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name} is not usable: .*visible ASCII`))]);
        expect(problems.join()).not.toContain(value);
      }
    },
  );

  it("are never shown in a problem, whatever else is wrong", () => {
    const env = { PORT: "x", WEBHOOK_SECRET: "se cret", WEBHOOK_SECRET_PREVIOUS: "old er", HF_TOKEN: "hf_x" };
    const text = problemsOf(env).join("\n");
    for (const value of ["se cret", "old er", "hf_x"]) expect(text).not.toContain(value);
  });

  it("are a pair while the secret is being changed: the new one first", () => {
    expect(load({ WEBHOOK_SECRET: "new", WEBHOOK_SECRET_PREVIOUS: "old" }).receiver.secrets).toEqual(["new", "old"]);
  });

  it("cannot be a previous one alone, which would leave the owner in the belief that there is a new one", () => {
    expect(problemsOf({ WEBHOOK_SECRET_PREVIOUS: "old" })).toEqual([expect.stringMatching(/without WEBHOOK_SECRET/)]);
  });

  it("include the token that was stored at login, where the Hub's own tools keep it", async () => {
    const files = { token: "hf_\r\nhome\n", other: " hf_path ", empty: "\n", "huggingface/token": "hf_cache" };
    await using home = await folderWith(files);
    const found = (env: Env) => {
      const { token, tokenFile } = loadConfig(env).hub;
      return [token, tokenFile];
    };
    const at = (name: string) => join(home.path, name);
    const other = { HF_HOME: home.path, HF_TOKEN_PATH: at("other") };
    expect(found({ HF_HOME: home.path })).toEqual(["hf_home", at("token")]);
    expect(found({ XDG_CACHE_HOME: home.path })).toEqual(["hf_cache", at("huggingface/token")]);
    expect(found({ XDG_CACHE_HOME: "/nowhere", HF_HOME: home.path })).toEqual(["hf_home", at("token")]);
    expect(found(other)).toEqual(["hf_path", at("other")]);
    expect(found({ FOLDER: home.path, HF_TOKEN_PATH: "$FOLDER/other" })).toEqual(["hf_path", at("other")]);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as Python takes it
    expect(found({ FOLDER: home.path, HF_HOME: "${FOLDER}" })).toEqual(["hf_home", at("token")]);
    expect(found({ HF_TOKEN_PATH: at("empty") })).toEqual([null, null]);
    expect(found({ HF_TOKEN_PATH: home.path })).toEqual([null, null]);
    expect(found({ HF_TOKEN_PATH: `~/${"x".repeat(20)}/nothing-$UNSET` })).toEqual([null, null]);
    expect(found({ ...other, HF_TOKEN: "hf_env" })).toEqual(["hf_env", null]);
    expect(found({ ...other, HUGGING_FACE_HUB_TOKEN: "hf_old" })).toEqual(["hf_old", null]);
    expect(found({ HUGGING_FACE_HUB_TOKEN: "hf_old", HF_TOKEN: "hf_env" })).toEqual(["hf_env", null]);
    expect(found({ ...other, HF_TOKEN: " ", HUGGING_FACE_HUB_TOKEN: "hf_old" })).toEqual(["hf_path", at("other")]);
  });
});

describe(".env.example", () => {
  it("lists every variable, in the same groups and order, and nothing else", async () => {
    const text = await readFile(resolve(import.meta.dirname, "../.env.example"), "utf8");
    const groups: string[][] = [];
    for (const line of text.split("\n")) {
      if (/^# --- .* ---$/.test(line)) groups.push([]);
      const [, name] = /^(?:# ?)?([A-Z][A-Z0-9_]*)=/.exec(line) ?? [];
      if (name !== undefined) groups.at(-1)?.push(name);
    }
    expect(groups).toEqual(Object.values(variables).map(({ shape }) => Object.keys(shape)));
  });

  it("shows the defaults as they are", async () => {
    const text = await readFile(resolve(import.meta.dirname, "../.env.example"), "utf8");
    const shown = Object.fromEntries(
      [...text.matchAll(/^#? ?([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    expect({ ...load(shown), receiver: { ...load(shown).receiver, handlerEnv: null } }).toEqual({
      ...load(),
      receiver: { ...load().receiver, handlerEnv: null },
    });
  });
});

describe("tokens of the embedded hub", () => {
  it.each([{ HUB_TOKEN: "hf_ä" }, { HUB_TOKENS: "alice" }, { HUB_TOKENS: "alice:hf_ä" }])(
    "are refused without being shown (%j)",
    (env) => {
      const [problem = ""] = problemsOf(env);
      expect(problem).toMatch(/^HUB_TOKENS? is not usable/);
      expect(problem).not.toContain("ä");
    },
  );
});
