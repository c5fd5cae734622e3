-- Upgrades version 4 to version 5: adds indexes that end limited searches for waits, and for runs
-- of an owner or a session. Finished agents move to the row of the event.
ALTER TABLE adkw_log ADD COLUMN done TEXT;
ALTER TABLE adkw_waits ADD COLUMN session BIGINT NOT NULL DEFAULT 0;
UPDATE adkw_waits w SET session = r.session FROM adkw_runs r WHERE r.id = w.run;
DROP INDEX IF EXISTS adkw_runs_driven;
DROP INDEX IF EXISTS adkw_runs_session;
CREATE INDEX adkw_runs_driven ON adkw_runs (owner, app, id) WHERE owner IS NOT NULL;
CREATE INDEX adkw_runs_session ON adkw_runs (session, id);
CREATE INDEX adkw_runs_cancelled ON adkw_runs (app, id) WHERE status = 'cancelled';
CREATE INDEX adkw_waits_open ON adkw_waits (app, number) WHERE answer IS NULL;
CREATE INDEX adkw_waits_session ON adkw_waits (session) WHERE answer IS NULL;
UPDATE adkw_meta SET value = '5' WHERE key = 'version';
