-- Version 8 knew no tenants, no queued runs and no keys of requests.
ALTER TABLE adkw_runs ADD COLUMN tenant_of TEXT;
ALTER TABLE adkw_waits ADD COLUMN tenant_of TEXT;
DROP INDEX IF EXISTS adkw_runs_unfinished; DROP INDEX IF EXISTS adkw_runs_free;
