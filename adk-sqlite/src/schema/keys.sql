-- Idempotency keys of requests. Each is bound to a run or wait, and has an expiry in microseconds.
CREATE TABLE IF NOT EXISTS adkw_keys (
    app TEXT NOT NULL, scope TEXT NOT NULL, key TEXT NOT NULL, target TEXT NOT NULL,
    digest TEXT NOT NULL, expires INTEGER NOT NULL, PRIMARY KEY (app, scope, key)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS adkw_keys_expires ON adkw_keys (expires);
