-- Upgrades version 1 to version 2: adds columns to search runs and waits by, and artifacts. A
-- user's artifacts have no session; deleting a session in ADK's table deletes its artifacts.
ALTER TABLE adkw_runs ADD COLUMN app TEXT NOT NULL DEFAULT '',
    ADD COLUMN workflow TEXT NOT NULL DEFAULT '';
ALTER TABLE adkw_waits ADD COLUMN app TEXT NOT NULL DEFAULT '', ADD COLUMN deadline BIGINT;
UPDATE adkw_runs r SET app = s.app_name, workflow = coalesce(r.record::json ->> 'workflow', '')
    FROM adkw_sessions s WHERE s.number = r.session;
UPDATE adkw_waits w SET app = r.app, deadline = (w.waiting::json ->> 'deadline')::bigint
    FROM adkw_runs r WHERE r.id = w.run;
DELETE FROM adkw_waits w USING adkw_runs r
    WHERE r.id = w.run AND w.answer IS NULL AND r.status NOT IN ('running', 'paused');
UPDATE adkw_runs r SET status = 'answered' WHERE status = 'paused' AND EXISTS
    (SELECT 1 FROM adkw_waits w WHERE w.run = r.id AND w.answer IS NOT NULL AND NOT w.seen);
DROP INDEX IF EXISTS adkw_runs_open;
CREATE INDEX adkw_runs_unfinished ON adkw_runs (app, id)
    WHERE status IN ('running', 'paused', 'answered');
CREATE INDEX adkw_runs_free ON adkw_runs (app, id)
    WHERE owner IS NULL AND status IN ('running', 'answered');
CREATE INDEX adkw_runs_driven ON adkw_runs (owner) WHERE owner IS NOT NULL;
CREATE INDEX adkw_runs_failed ON adkw_runs (app, id) WHERE status = 'failed';
CREATE INDEX adkw_waits_due ON adkw_waits (app, deadline)
    WHERE answer IS NULL AND deadline IS NOT NULL;
CREATE TABLE adkw_artifacts (
    app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, session_id VARCHAR(128),
    name TEXT NOT NULL, version BIGINT NOT NULL, part TEXT NOT NULL, data BYTEA,
    CONSTRAINT adkw_artifacts_session FOREIGN KEY (app_name, user_id, session_id)
        REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE UNIQUE INDEX adkw_artifacts_version
    ON adkw_artifacts (app_name, user_id, COALESCE(session_id, ''), name, version);
UPDATE adkw_meta SET value = '2' WHERE key = 'version';
