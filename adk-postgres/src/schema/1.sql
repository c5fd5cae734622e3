-- Tables of runs and of the log, in version 1. Deleting a session in ADK's table deletes its rows
-- here.
--
-- * `adkw_sessions`: the length of a session's log, and the update time of the session when this
--   crate last read or wrote it (`seen`). If its `update_time` differs, another program has
--   written to the session. `takes` counts repeated claims and cancellations of its runs.
-- * `adkw_log`: the order of a session's events, with the run and the slot that each event fills,
--   and the agents that had finished by then.
-- * `adkw_owners`: processes, with the time until which they count as alive.
-- * `adkw_runs`, `adkw_steps`, `adkw_waits`: the registry of runs and their journals. `epoch` is
--   the number of the latest claim of a run. `status` is `queued` for a run that waits for its
--   session, and `answered` for a paused run with an unread answer. `updated` is the time of the
--   last write. A run that an engine above the store drives has the epoch 0, and the owner `@`
--   until it ends.
-- * `adkw_done`: agents that have finished after the last event of their run.
-- * `tenant_of`: the app that has the app of the run or wait as a tenant; null for an app that is
--   not a tenant.
-- * `exact`, `adkw_shared`: exact texts of values that `jsonb` changes.
CREATE TABLE adkw_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO adkw_meta VALUES ('version', '1');
CREATE TABLE adkw_sessions (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, app_name VARCHAR(128) NOT NULL,
    user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL, len BIGINT NOT NULL DEFAULT 0,
    seen TIMESTAMP WITHOUT TIME ZONE, latest TIMESTAMP WITHOUT TIME ZONE NOT NULL,
    takes BIGINT NOT NULL DEFAULT 0, exact JSONB NOT NULL DEFAULT '{}',
    UNIQUE (app_name, user_id, id),
    FOREIGN KEY (app_name, user_id, id)
        REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE TABLE adkw_shared (
    app_name VARCHAR(128) NOT NULL, scope TEXT NOT NULL, user_id VARCHAR(128) NOT NULL,
    exact JSONB NOT NULL, PRIMARY KEY (app_name, scope, user_id));
CREATE TABLE adkw_log (
    session BIGINT NOT NULL REFERENCES adkw_sessions (number) ON DELETE CASCADE,
    place BIGINT NOT NULL, event_id VARCHAR(128) NOT NULL,
    time TIMESTAMP WITHOUT TIME ZONE NOT NULL, run TEXT, slot TEXT, temp TEXT, exact TEXT,
    PRIMARY KEY (session, place), CONSTRAINT adkw_log_event UNIQUE (session, event_id));
CREATE UNIQUE INDEX adkw_log_slot ON adkw_log (run, slot) WHERE run IS NOT NULL;
CREATE TABLE adkw_owners (id TEXT PRIMARY KEY, expires TIMESTAMP WITH TIME ZONE NOT NULL);
CREATE TABLE adkw_runs (
    id TEXT PRIMARY KEY,
    session BIGINT NOT NULL REFERENCES adkw_sessions (number) ON DELETE CASCADE,
    status TEXT NOT NULL, error TEXT, owner TEXT, epoch BIGINT NOT NULL, record TEXT NOT NULL);
CREATE INDEX adkw_runs_open ON adkw_runs (id) WHERE status IN ('running', 'paused');
CREATE INDEX adkw_runs_session ON adkw_runs (session);
CREATE TABLE adkw_steps (
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, key TEXT NOT NULL,
    value TEXT NOT NULL, PRIMARY KEY (run, key));
CREATE TABLE adkw_done (
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, path TEXT NOT NULL,
    done TEXT NOT NULL, PRIMARY KEY (run, path));
CREATE TABLE adkw_waits (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, key TEXT NOT NULL,
    waiting TEXT NOT NULL, answer TEXT, seen BOOLEAN NOT NULL DEFAULT FALSE);
CREATE INDEX adkw_waits_run ON adkw_waits (run);
