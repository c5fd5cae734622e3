-- The newest rows of the log, for all sessions together (see `tail.rs`).
CREATE TABLE IF NOT EXISTS adkw_tail (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES adkw_sessions (number) ON DELETE CASCADE,
    place INTEGER NOT NULL, event_id TEXT NOT NULL, micros INTEGER NOT NULL, run INTEGER,
    slot TEXT, temp TEXT, done TEXT,
    UNIQUE (session, place));
CREATE UNIQUE INDEX IF NOT EXISTS adkw_tail_slot ON adkw_tail (run, slot) WHERE run IS NOT NULL;
