/**
 * The tables, in steps that run once each. A step that was released is never edited: add the next one.
 *
 * What a delivery is stays apart from what it carries, so that a change of state rewrites a hundred bytes and no payload.
 * Deliveries that arrived and were not looked at yet (state 0) are in no index but the primary key: accepting one
 * touches the ends of two tables, and the dispatcher reads them from `seen_to` on in order of arrival.
 * States: 0 fresh, 1 succeeded, 2 waiting, 3 running, 4 failed, 5 cancelled; 0 and 2 are `pending` to everybody else.
 * While its first attempt runs, a delivery is fresh in its row and running by its mark.
 */
export const SCHEMA = [
  `
  CREATE TABLE deliveries_receivers (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

  CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    receiver INTEGER NOT NULL,
    key TEXT,                 -- the sender's id of the event, unique for its receiver
    serial TEXT,              -- deliveries of one receiver that share it run one at a time
    scope TEXT NOT NULL,
    action TEXT NOT NULL,
    repo TEXT NOT NULL,
    state INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,  -- made so far
    tries INTEGER NOT NULL DEFAULT 0,     -- of those, the ones that count in the present schedule
    due INTEGER,              -- schedule time; set only while waiting, null while waiting for its serial turn
    started INTEGER,
    created INTEGER NOT NULL,
    finished INTEGER,
    replay_of INTEGER,
    content INTEGER NOT NULL,
    bytes INTEGER NOT NULL,   -- of payload that this delivery brought along
    error TEXT
  ) STRICT;
  CREATE INDEX deliveries_by_receiver ON deliveries (receiver, id);
  CREATE INDEX deliveries_by_state ON deliveries (state, id) WHERE state >= 2;
  CREATE INDEX deliveries_due ON deliveries (receiver, due, id) WHERE due IS NOT NULL;
  CREATE INDEX deliveries_serial ON deliveries (receiver, serial, id) WHERE serial IS NOT NULL AND state IN (0, 2, 3);

  CREATE TABLE deliveries_content (
    id INTEGER PRIMARY KEY,
    uses INTEGER NOT NULL,    -- deliveries that carry it: replays and one event's deliveries share theirs
    headers TEXT,
    payload TEXT NOT NULL
  ) STRICT;

  CREATE TABLE deliveries_attempts (
    delivery INTEGER NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    ms INTEGER,
    outcome TEXT NOT NULL,
    error TEXT,
    log TEXT,
    response TEXT,
    PRIMARY KEY (delivery, number)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE deliveries_keys (
    hash INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (hash, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE deliveries_tally (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    fresh INTEGER NOT NULL, waiting INTEGER NOT NULL, running INTEGER NOT NULL,
    succeeded INTEGER NOT NULL, failed INTEGER NOT NULL, cancelled INTEGER NOT NULL,
    bytes INTEGER NOT NULL,       -- brought along by what is not finished
    last_id INTEGER NOT NULL,
    seen_to INTEGER NOT NULL,     -- no fresh delivery has this id or a lower one
    keys_to INTEGER NOT NULL,     -- the keys of all deliveries up to here are in deliveries_keys
    clock INTEGER NOT NULL,       -- schedule time at the last commit
    id_lead INTEGER NOT NULL,     -- the most by which an id ever ran ahead of the wall clock, milliseconds
    probe BLOB
  ) STRICT;
  INSERT INTO deliveries_tally VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL);
  `,
  // Keys in runs of thousands: one row for each key was a third of what accepting cost.
  `
  DROP TABLE deliveries_keys;
  CREATE TABLE deliveries_keys (
    last INTEGER PRIMARY KEY, -- the newest delivery of this run
    hashes BLOB NOT NULL,     -- of the keys, 32 bits each, as this machine writes numbers
    ids BLOB NOT NULL         -- of their deliveries, 64 bits each
  ) STRICT;
  ALTER TABLE deliveries_tally ADD COLUMN key_seed INTEGER NOT NULL DEFAULT 0;  -- of the hashes
  UPDATE deliveries_tally SET key_seed = abs(random() % 4294967296), keys_to = 0;
  `,
  // A delivery's first attempt changes its row when it ends, not when it begins as well.
  `
  ALTER TABLE deliveries_tally ADD COLUMN marks BLOB;  -- fresh deliveries whose first attempt runs: ids and begins, 64 bits each
  `,
];
