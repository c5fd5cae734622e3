-- Version 5 kept neither the times nor the usage of a run. Ended runs get the time of their
-- last event.
ALTER TABLE adkw_runs ADD COLUMN created INTEGER NOT NULL DEFAULT 0;
ALTER TABLE adkw_runs ADD COLUMN updated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE adkw_runs ADD COLUMN usage TEXT;
UPDATE adkw_runs SET created = iif(json_valid(record), coalesce(record ->> 'time', 0), 0);
UPDATE adkw_runs SET updated = max(created,
   coalesce((SELECT max(micros) FROM adkw_log WHERE run = number), 0),
   coalesce((SELECT max(micros) FROM adkw_tail WHERE run = number), 0));
