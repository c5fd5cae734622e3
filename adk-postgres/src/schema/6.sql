-- Upgrades version 5 to version 6: adds tenants of an app, queued runs, and idempotency keys of
-- requests with the run or wait that each key is bound to.
ALTER TABLE adkw_runs ADD COLUMN tenant_of TEXT;
ALTER TABLE adkw_waits ADD COLUMN tenant_of TEXT;
CREATE INDEX adkw_runs_tenants ON adkw_runs (owner, tenant_of, id)
    WHERE tenant_of IS NOT NULL AND owner IS NOT NULL
    AND status IN ('queued', 'running', 'answered');
CREATE INDEX adkw_runs_tenants_free ON adkw_runs (tenant_of, id)
    WHERE tenant_of IS NOT NULL AND owner IS NULL AND status IN ('queued', 'running', 'answered');
CREATE INDEX adkw_waits_app ON adkw_waits (app, number) WHERE answer IS NULL;
CREATE INDEX adkw_waits_tenants ON adkw_waits (tenant_of, deadline)
    WHERE tenant_of IS NOT NULL AND answer IS NULL AND deadline IS NOT NULL;
DROP INDEX IF EXISTS adkw_runs_unfinished;
DROP INDEX IF EXISTS adkw_runs_free;
CREATE INDEX adkw_runs_unfinished ON adkw_runs (app, id)
    WHERE status IN ('queued', 'running', 'paused', 'answered');
CREATE INDEX adkw_runs_free ON adkw_runs (app, id)
    WHERE owner IS NULL AND status IN ('queued', 'running', 'answered');
CREATE TABLE adkw_keys (
    app TEXT NOT NULL, scope TEXT NOT NULL, key TEXT NOT NULL, target TEXT NOT NULL,
    digest TEXT NOT NULL, expires TIMESTAMP WITH TIME ZONE NOT NULL, PRIMARY KEY (app, scope, key));
CREATE INDEX adkw_keys_expires ON adkw_keys (expires);
UPDATE adkw_meta SET value = '6' WHERE key = 'version';
