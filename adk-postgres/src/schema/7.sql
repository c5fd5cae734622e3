-- Upgrades version 6 to version 7: adds indexes by the user, the status and the tenant of a run,
-- and by who may answer a wait. `answered_by` is the JSON of `by` of a wait, at most 200
-- characters.
ALTER TABLE adkw_runs ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
ALTER TABLE adkw_waits ADD COLUMN user_id TEXT NOT NULL DEFAULT '', ADD COLUMN answered_by TEXT;
UPDATE adkw_runs r SET user_id = s.user_id FROM adkw_sessions s WHERE s.number = r.session;
UPDATE adkw_waits w SET user_id = r.user_id, answered_by = CASE WHEN w.waiting LIKE '%"by":%'
        THEN left((w.waiting::json -> 'by')::text, 200) END
    FROM adkw_runs r WHERE r.id = w.run;
DROP INDEX IF EXISTS adkw_runs_unfinished;
DROP INDEX IF EXISTS adkw_runs_failed;
DROP INDEX IF EXISTS adkw_runs_cancelled;
DROP INDEX IF EXISTS adkw_waits_app;
CREATE INDEX adkw_runs_app ON adkw_runs (app, status, id);
CREATE INDEX adkw_runs_user ON adkw_runs (app, user_id, status, id);
CREATE INDEX adkw_runs_of_tenants ON adkw_runs (tenant_of, id) WHERE tenant_of IS NOT NULL;
CREATE INDEX adkw_waits_user ON adkw_waits (app, user_id, number) WHERE answer IS NULL;
CREATE INDEX adkw_waits_answered_by ON adkw_waits (app, answered_by)
    WHERE answer IS NULL AND answered_by IS NOT NULL;
-- Processes of version 6 may still write: they do not know the columns.
CREATE FUNCTION adkw_runs_of_6() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.user_id := coalesce(
        (SELECT s.user_id FROM adkw_sessions s WHERE s.number = NEW.session), '');
    RETURN NEW; END $$;
CREATE FUNCTION adkw_waits_of_6() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.user_id := coalesce((SELECT r.user_id FROM adkw_runs r WHERE r.id = NEW.run), '');
    IF NEW.waiting LIKE '%"by":%' THEN
        NEW.answered_by := left((NEW.waiting::json -> 'by')::text, 200);
    END IF;
    RETURN NEW; END $$;
CREATE TRIGGER adkw_runs_of_6 BEFORE INSERT ON adkw_runs FOR EACH ROW
    WHEN (NEW.user_id = '') EXECUTE FUNCTION adkw_runs_of_6();
CREATE TRIGGER adkw_waits_of_6 BEFORE INSERT ON adkw_waits FOR EACH ROW
    WHEN (NEW.user_id = '') EXECUTE FUNCTION adkw_waits_of_6();
UPDATE adkw_meta SET value = '7' WHERE key = 'version';
