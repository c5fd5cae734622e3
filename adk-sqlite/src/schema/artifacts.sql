-- Versions of artifacts. A user's artifacts have no session; deleting a session in ADK's table
-- deletes its artifacts.
CREATE TABLE IF NOT EXISTS adkw_artifacts (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT, name TEXT NOT NULL,
    version INTEGER NOT NULL, part TEXT NOT NULL, data BLOB,
    FOREIGN KEY (app_name, user_id, session_id)
        REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE UNIQUE INDEX IF NOT EXISTS adkw_artifacts_version
    ON adkw_artifacts (app_name, user_id, ifnull(session_id, ''), name, version);
