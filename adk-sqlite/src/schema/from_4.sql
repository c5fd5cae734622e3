-- Version 4 had no columns to search runs and waits by.
ALTER TABLE adkw_runs ADD COLUMN app TEXT NOT NULL DEFAULT '';
ALTER TABLE adkw_runs ADD COLUMN workflow TEXT NOT NULL DEFAULT '';
ALTER TABLE adkw_runs ADD COLUMN epoch INTEGER NOT NULL DEFAULT 1;
ALTER TABLE adkw_waits ADD COLUMN app TEXT NOT NULL DEFAULT '';
ALTER TABLE adkw_waits ADD COLUMN deadline INTEGER;
UPDATE adkw_runs SET
   app = (SELECT s.app_name FROM adkw_sessions s WHERE s.number = session),
   workflow = iif(json_valid(record), record ->> 'workflow', '');
UPDATE adkw_waits SET app = coalesce((SELECT r.app FROM adkw_runs r WHERE r.id = run), ''),
   deadline = iif(json_valid(waiting), waiting ->> 'deadline', NULL);
DELETE FROM adkw_waits WHERE answer IS NULL
   AND run IN (SELECT id FROM adkw_runs WHERE status NOT IN ('running', 'paused'));
UPDATE adkw_runs SET status = 'answered' WHERE status = 'paused' AND id IN
   (SELECT run FROM adkw_waits WHERE answer IS NOT NULL AND NOT seen);
DROP INDEX IF EXISTS adkw_runs_open;
