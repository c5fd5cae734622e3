-- Tables of runs and of the log. Deleting a session in ADK's table deletes its rows here.
--
-- * `adkw_log`: the order of a session's events, with the run (by number) and the slot that each
--   event fills, and the agents that had finished by then.
-- * `adkw_runs`, `adkw_steps`, `adkw_waits`: the registry of runs and their journals. `epoch` is
--   the number of the latest claim of a run. `status` is `queued` for a run that waits for its
--   session, and `answered` for a paused run with an unread answer. `updated` is the time of the
--   last write in microseconds. A run that an engine above the store drives has the epoch 0, and
--   the owner `@` until it ends.
-- * `adkw_done`: agents that have finished after the last event of their run.
--
-- `answered_by` is the JSON of `by` of a wait, at most 200 characters.
--
-- `tenant_of` is the app that has the app of the run or wait as a tenant; null for an app that is
-- not a tenant.
--
-- Apart from ADK's rows, an event writes only its row in the log, because SQLite writes each
-- touched page as a whole.
CREATE TABLE IF NOT EXISTS adkw_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS adkw_sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, app_name TEXT NOT NULL, user_id TEXT NOT NULL,
    id TEXT NOT NULL, UNIQUE (app_name, user_id, id),
    FOREIGN KEY (app_name, user_id, id)
        REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS adkw_log (
    session INTEGER NOT NULL REFERENCES adkw_sessions (number) ON DELETE CASCADE,
    place INTEGER NOT NULL, event_id TEXT NOT NULL, micros INTEGER NOT NULL, run INTEGER,
    slot TEXT, temp TEXT, done TEXT,
    PRIMARY KEY (session, place)) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS adkw_log_slot ON adkw_log (run, slot) WHERE run IS NOT NULL;
CREATE TABLE IF NOT EXISTS adkw_runs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES adkw_sessions (number) ON DELETE CASCADE,
    status TEXT NOT NULL, error TEXT, owner TEXT, record TEXT NOT NULL,
    app TEXT NOT NULL DEFAULT '', workflow TEXT NOT NULL DEFAULT '',
    epoch INTEGER NOT NULL DEFAULT 1, created INTEGER NOT NULL DEFAULT 0,
    updated INTEGER NOT NULL DEFAULT 0, usage TEXT, tenant_of TEXT,
    user_id TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS adkw_runs_app ON adkw_runs (app, status, id);
CREATE INDEX IF NOT EXISTS adkw_runs_user ON adkw_runs (app, user_id, status, id);
CREATE INDEX IF NOT EXISTS adkw_runs_free ON adkw_runs (app, id)
    WHERE owner IS NULL AND status IN ('queued', 'running', 'answered');
CREATE INDEX IF NOT EXISTS adkw_runs_driven ON adkw_runs (owner, app, id) WHERE owner IS NOT NULL;
CREATE INDEX IF NOT EXISTS adkw_runs_tenants ON adkw_runs (owner, tenant_of, id)
    WHERE tenant_of IS NOT NULL AND status IN ('queued', 'running', 'answered');
CREATE INDEX IF NOT EXISTS adkw_runs_of_tenants ON adkw_runs (tenant_of, id)
    WHERE tenant_of IS NOT NULL;
CREATE INDEX IF NOT EXISTS adkw_runs_session ON adkw_runs (session, id);
CREATE TABLE IF NOT EXISTS adkw_steps (
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, key TEXT NOT NULL,
    value TEXT NOT NULL, PRIMARY KEY (run, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS adkw_done (
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, path TEXT NOT NULL,
    done TEXT NOT NULL, PRIMARY KEY (run, path)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS adkw_waits (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, key TEXT NOT NULL,
    waiting TEXT NOT NULL, answer TEXT, seen INTEGER NOT NULL DEFAULT 0,
    app TEXT NOT NULL DEFAULT '', deadline INTEGER, session INTEGER NOT NULL DEFAULT 0,
    tenant_of TEXT, user_id TEXT NOT NULL DEFAULT '', answered_by TEXT);
CREATE INDEX IF NOT EXISTS adkw_waits_run ON adkw_waits (run);
CREATE INDEX IF NOT EXISTS adkw_waits_open ON adkw_waits (app) WHERE answer IS NULL;
CREATE INDEX IF NOT EXISTS adkw_waits_user ON adkw_waits (app, user_id) WHERE answer IS NULL;
CREATE INDEX IF NOT EXISTS adkw_waits_answered_by ON adkw_waits (app, answered_by)
    WHERE answer IS NULL AND answered_by IS NOT NULL;
-- Processes of version 9 may still write: they know neither column.
CREATE TRIGGER IF NOT EXISTS adkw_runs_of_9 AFTER INSERT ON adkw_runs WHEN new.user_id = '' BEGIN
    UPDATE adkw_runs SET
        user_id = coalesce((SELECT s.user_id FROM adkw_sessions s WHERE s.number = session), '')
    WHERE number = new.number; END;
CREATE TRIGGER IF NOT EXISTS adkw_waits_of_9 AFTER INSERT ON adkw_waits WHEN new.user_id = '' BEGIN
    UPDATE adkw_waits SET
        user_id = coalesce((SELECT r.user_id FROM adkw_runs r WHERE r.id = run), ''),
        answered_by = iif(json_valid(waiting), substr(waiting -> 'by', 1, 200), NULL)
    WHERE number = new.number; END;
CREATE INDEX IF NOT EXISTS adkw_waits_session ON adkw_waits (session) WHERE answer IS NULL;
CREATE INDEX IF NOT EXISTS adkw_waits_due ON adkw_waits (app, deadline)
    WHERE answer IS NULL AND deadline IS NOT NULL;
CREATE INDEX IF NOT EXISTS adkw_waits_tenants ON adkw_waits (tenant_of, deadline)
    WHERE tenant_of IS NOT NULL AND answer IS NULL AND deadline IS NOT NULL;
