-- Version 9 had no index by the user, the status or the tenant of a run, or by who may answer a
-- wait. Waits that cannot be read stay without `answered_by`.
ALTER TABLE adkw_runs ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
ALTER TABLE adkw_waits ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
ALTER TABLE adkw_waits ADD COLUMN answered_by TEXT;
UPDATE adkw_runs SET
   user_id = coalesce((SELECT s.user_id FROM adkw_sessions s WHERE s.number = session), '');
UPDATE adkw_waits SET
   user_id = coalesce((SELECT r.user_id FROM adkw_runs r WHERE r.id = run), ''),
   answered_by = iif(json_valid(waiting), substr(waiting -> 'by', 1, 200), NULL);
DROP INDEX IF EXISTS adkw_runs_unfinished; DROP INDEX IF EXISTS adkw_runs_failed;
DROP INDEX IF EXISTS adkw_runs_cancelled;
