-- Upgrades version 3 to version 4: adds memory, which stays when its session is deleted.
CREATE TABLE adkw_memory (
    app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, session_id VARCHAR(128) NOT NULL,
    id TEXT NOT NULL, author TEXT NOT NULL, time TEXT NOT NULL, content TEXT NOT NULL,
    words TSVECTOR NOT NULL,
    PRIMARY KEY (app_name, user_id, session_id, id));
CREATE INDEX adkw_memory_words ON adkw_memory USING gin (words);
CREATE TABLE adkw_memory_marks (
    app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, session_id VARCHAR(128) NOT NULL,
    events BIGINT NOT NULL, last TEXT NOT NULL, PRIMARY KEY (app_name, user_id, session_id));
UPDATE adkw_meta SET value = '4' WHERE key = 'version';
