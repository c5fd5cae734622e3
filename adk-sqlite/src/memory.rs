//! [`MemoryService`] of [`SqliteStore`]: entries are rows, and FTS5 finds them by their words.

use crate::SqliteStore;
use crate::error::Doing;
use crate::writer::Db;
use adk_journal::engine::{from_text, to_text};
use adk_journal::memory::{MAX_MEMORIES, MemoryEntry, MemoryMark, MemoryService, words};
use adk_journal::session::SessionKey;
use adk_model::{BoxFuture, Result};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeSet;

/// An entry with its serialized columns.
struct NewEntry {
    entry: MemoryEntry,
    content: String,
    words: String,
}

impl NewEntry {
    fn new(entry: MemoryEntry) -> Result<Self> {
        let words = words(&entry.content.text())
            .into_iter()
            .collect::<Vec<_>>()
            .join(" ");
        Ok(Self {
            content: to_text(&entry.content)?,
            entry,
            words,
        })
    }
}

/// Returns the word that marks the entries of a user in the index, in hexadecimal so that it is a
/// single word.
fn owner(app: &str, user: &str) -> String {
    let hex = |text: &str| {
        text.bytes()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    format!("{}x{}", hex(app), hex(user))
}

impl MemoryService for SqliteStore {
    fn added_until<'a>(
        &'a self,
        session: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Option<MemoryMark>>> {
        let key = session.clone();
        Box::pin(self.0.reader.read(move |connection| {
            let sql = "SELECT events, last FROM adkw_memory_marks
                WHERE app_name = ?1 AND user_id = ?2 AND session_id = ?3";
            let mark = connection.query_row(sql, [&key.app, &key.user, &key.id], |row| {
                Ok(MemoryMark {
                    events: row.get(0)?,
                    last: row.get(1)?,
                })
            });
            mark.optional().doing("read how far a session is in memory")
        }))
    }

    fn add_events_to_memory<'a>(
        &'a self,
        session: &'a SessionKey,
        entries: Vec<MemoryEntry>,
        until: MemoryMark,
    ) -> BoxFuture<'a, Result<()>> {
        let key = session.clone();
        Box::pin(async move {
            let entries = entries
                .into_iter()
                .map(NewEntry::new)
                .collect::<Result<Vec<_>>>()?;
            self.0
                .writer
                .write(move |db: &mut Db| add(&db.connection, &key, &entries, &until))
                .await
        })
    }

    fn search_memory<'a>(
        &'a self,
        app: &'a str,
        user: &'a str,
        query: &'a str,
    ) -> BoxFuture<'a, Result<Vec<MemoryEntry>>> {
        let (owner, wanted) = (owner(app, user), words(query));
        Box::pin(
            self.0
                .reader
                .read(move |connection| search(connection, &owner, &wanted)),
        )
    }
}

fn add(
    connection: &Connection,
    key: &SessionKey,
    entries: &[NewEntry],
    until: &MemoryMark,
) -> Result<()> {
    let what = "add to memory";
    let row = "INSERT INTO adkw_memory (app_name, user_id, session_id, id, author, time, content)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING";
    let mut row = connection.prepare_cached(row).doing(what)?;
    let index = "INSERT INTO adkw_memory_words (rowid, owner, words) VALUES (?1, ?2, ?3)";
    let mut index = connection.prepare_cached(index).doing(what)?;
    let owner = owner(&key.app, &key.user);
    for NewEntry {
        entry,
        content,
        words,
    } in entries
    {
        let MemoryEntry {
            id,
            author,
            timestamp,
            ..
        } = entry;
        let values = params![key.app, key.user, key.id, id, author, timestamp, content];
        if row.execute(values).doing(what)? > 0 {
            index
                .execute(params![connection.last_insert_rowid(), owner, words])
                .doing(what)?;
        }
    }
    let mark = "INSERT OR REPLACE INTO adkw_memory_marks VALUES (?1, ?2, ?3, ?4, ?5)";
    let values = params![key.app, key.user, key.id, until.events, until.last];
    connection.execute(mark, values).map(drop).doing(what)
}

fn search(
    connection: &Connection,
    owner: &str,
    wanted: &BTreeSet<String>,
) -> Result<Vec<MemoryEntry>> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let what = "search memory";
    // Words consist of letters and digits, so quotes need no escapes.
    let any = wanted
        .iter()
        .map(|word| format!("\"{word}\""))
        .collect::<Vec<_>>()
        .join(" OR ");
    let sql = "SELECT m.id, m.author, m.time, m.content FROM adkw_memory_words w
        JOIN adkw_memory m ON m.number = w.rowid
        WHERE adkw_memory_words MATCH ?1
        ORDER BY bm25(adkw_memory_words, 0, 1), m.time DESC, m.number DESC LIMIT ?2";
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let wanted = format!("owner : \"{owner}\" AND words : ({any})");
    let mut rows = statement.query(params![wanted, MAX_MEMORIES]).doing(what)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().doing(what)? {
        let content: String = row.get(3).doing(what)?;
        let mut entry = MemoryEntry::new(
            row.get::<_, String>(0).doing(what)?,
            from_text(&content, "an entry of memory")?,
        );
        (entry.author, entry.timestamp) = (row.get(1).doing(what)?, row.get(2).doing(what)?);
        found.push(entry);
    }
    Ok(found)
}
