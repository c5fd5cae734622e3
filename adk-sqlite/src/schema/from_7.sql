-- Version 7 had no index that ends a limited search for waits, or for runs of an owner or a
-- session.
ALTER TABLE adkw_waits ADD COLUMN session INTEGER NOT NULL DEFAULT 0;
UPDATE adkw_waits SET
   session = coalesce((SELECT r.session FROM adkw_runs r WHERE r.id = run), 0);
DROP INDEX IF EXISTS adkw_runs_driven; DROP INDEX IF EXISTS adkw_runs_session;
