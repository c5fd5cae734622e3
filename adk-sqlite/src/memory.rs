//! [`MemoryService`] of [`SqliteStore`]: entries are rows, and FTS5 finds them by their words.

use crate::SqliteStore;
use crate::error::Doing;
use crate::statements::{ReadRow, Statements};
use crate::writer::Db;
use adk_journal::engine::to_text;
use adk_journal::memory::{MAX_MEMORIES, MemoryEntry, MemoryMark, MemoryService};
use adk_journal::session::SessionKey;
use adk_model::{BoxFuture, Result};
use adk_store::complete;
use adk_store::memory::{added_until, any_word, indexed_words, memory_entry, set_added_until};
use rusqlite::{Connection, params};

/// An entry with its serialized columns.
struct NewEntry {
    entry: MemoryEntry,
    content: String,
    words: String,
}

impl NewEntry {
    fn new(entry: MemoryEntry) -> Result<Self> {
        Ok(Self {
            content: to_text(&entry.content)?,
            words: indexed_words(&entry),
            entry,
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
        Box::pin(
            self.0
                .reader
                .read(move |connection| complete(added_until(&mut Statements(connection), &key))),
        )
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
        let (owner, wanted) = (owner(app, user), any_word(query, '"', " OR "));
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
    complete(set_added_until(&mut Statements(connection), key, until))
}

fn search(connection: &Connection, owner: &str, any: &str) -> Result<Vec<MemoryEntry>> {
    if any.is_empty() {
        return Ok(Vec::new());
    }
    let what = "search memory";
    let sql = "SELECT m.id, m.author, m.time, m.content FROM adkw_memory_words w
        JOIN adkw_memory m ON m.number = w.rowid
        WHERE adkw_memory_words MATCH ?1
        ORDER BY bm25(adkw_memory_words, 0, 1), m.time DESC, m.number DESC LIMIT ?2";
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let wanted = format!("owner : \"{owner}\" AND words : ({any})");
    let mut rows = statement.query(params![wanted, MAX_MEMORIES]).doing(what)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().doing(what)? {
        found.push(memory_entry(&ReadRow(row, what))?);
    }
    Ok(found)
}
