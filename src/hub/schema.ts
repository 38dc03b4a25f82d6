/**
 * The hub's tables beside those of its deliveries, in steps that run once each. A step that was released is never
 * edited: add the next one.
 */
export const SCHEMA = [
  `
  CREATE TABLE hub_webhooks (
    id TEXT PRIMARY KEY,
    user TEXT NOT NULL,
    url TEXT,                   -- or a Job
    job TEXT,                   -- JSON: the spec that its runs are clones of
    job_secrets TEXT,           -- JSON
    watched TEXT NOT NULL,      -- JSON
    domains TEXT NOT NULL,      -- JSON
    secret TEXT,
    disabled INTEGER NOT NULL,  -- 0 enabled, 1 disabled by its user, 2 suspended after failures
    reason TEXT,
    disabled_at INTEGER,
    failures INTEGER NOT NULL,  -- attempts failed in a row
    failing_since INTEGER,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    deleted INTEGER             -- kept a while, so that its activity can still be read
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX hub_webhooks_deleted ON hub_webhooks (deleted) WHERE deleted IS NOT NULL;

  CREATE TABLE hub_usage (
    webhook TEXT NOT NULL,
    hour INTEGER NOT NULL,      -- since 1970
    deliveries INTEGER NOT NULL,
    over INTEGER NOT NULL,      -- not delivered: over the quota
    PRIMARY KEY (webhook, hour)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE hub_repos (
    type TEXT NOT NULL,
    name TEXT NOT NULL,         -- lower case, as it is looked up
    id TEXT NOT NULL,
    private INTEGER NOT NULL,
    head TEXT,
    discussions INTEGER NOT NULL,
    PRIMARY KEY (type, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE hub_publications (
    user TEXT NOT NULL,
    key TEXT NOT NULL,          -- Idempotency-Key
    body TEXT NOT NULL,         -- its hash
    answer TEXT NOT NULL,
    created INTEGER NOT NULL,
    PRIMARY KEY (user, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE hub_jobs (
    id TEXT PRIMARY KEY,
    namespace TEXT NOT NULL,
    spec TEXT NOT NULL,         -- JSON, without secrets
    stage TEXT NOT NULL,
    message TEXT,
    webhook TEXT,               -- the webhook and the delivery that started it
    delivery TEXT,
    created INTEGER NOT NULL,
    started INTEGER,
    finished INTEGER,
    log TEXT                    -- JSON lines {data, timestamp}; once it has ended
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX hub_jobs_by_namespace ON hub_jobs (namespace, id);
  `,
];
