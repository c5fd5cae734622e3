-- Memory entries, which stay when their session is deleted. The full text index contains only
-- words.
CREATE TABLE IF NOT EXISTS adkw_memory (
    number INTEGER PRIMARY KEY, app_name TEXT NOT NULL, user_id TEXT NOT NULL,
    session_id TEXT NOT NULL, id TEXT NOT NULL, author TEXT NOT NULL, time TEXT NOT NULL,
    content TEXT NOT NULL, UNIQUE (app_name, user_id, session_id, id));
CREATE VIRTUAL TABLE IF NOT EXISTS adkw_memory_words USING fts5 (
    owner, words, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0');
CREATE TRIGGER IF NOT EXISTS adkw_memory_deleted AFTER DELETE ON adkw_memory BEGIN
    DELETE FROM adkw_memory_words WHERE rowid = old.number; END;
CREATE TABLE IF NOT EXISTS adkw_memory_marks (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
    events INTEGER NOT NULL, last TEXT NOT NULL,
    PRIMARY KEY (app_name, user_id, session_id)) WITHOUT ROWID;
