-- Upgrades version 2 to version 3: adds times in microseconds and the usage of runs. Ended runs
-- get the time of their last event.
ALTER TABLE adkw_runs ADD COLUMN created BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN updated BIGINT NOT NULL DEFAULT 0, ADD COLUMN usage TEXT;
UPDATE adkw_runs SET created = coalesce((record::json ->> 'time')::bigint, 0);
UPDATE adkw_runs r SET updated = greatest(r.created,
    (SELECT (extract(epoch FROM max(l.time)) * 1000000)::bigint FROM adkw_log l
        WHERE l.run = r.id));
UPDATE adkw_meta SET value = '3' WHERE key = 'version';
