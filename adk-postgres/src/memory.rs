//! [`MemoryService`] of [`PostgresStore`]: entries are rows, and a `tsvector` finds them by their
//! words.

use crate::PostgresStore;
use crate::connection::PgConnection;
use crate::error::Doing;
use crate::statements::ReadRow;
use adk_journal::engine::to_text;
use adk_journal::memory::{MAX_MEMORIES, MemoryEntry, MemoryMark, MemoryService};
use adk_journal::session::SessionKey;
use adk_model::{BoxFuture, Result};
use adk_store::memory::{added_until, any_word, indexed_words, memory_entry, set_added_until};

/// Entries by column, as arguments of one statement.
#[derive(Default)]
struct NewEntries {
    ids: Vec<String>,
    authors: Vec<String>,
    times: Vec<String>,
    contents: Vec<String>,
    /// Words of each entry, separated by spaces. A word contains no space.
    words: Vec<String>,
}

impl NewEntries {
    fn new(entries: Vec<MemoryEntry>) -> Result<Self> {
        let mut all = Self::default();
        for entry in entries {
            all.words.push(indexed_words(&entry));
            all.contents.push(to_text(&entry.content)?);
            all.ids.push(entry.id);
            all.authors.push(entry.author);
            all.times.push(entry.timestamp);
        }
        Ok(all)
    }
}

impl MemoryService for PostgresStore {
    fn added_until<'a>(
        &'a self,
        session: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Option<MemoryMark>>> {
        let read = self.0.transact_with(session.clone(), |connection, key| {
            Box::pin(added_until(connection, key))
        });
        Box::pin(read)
    }

    fn add_events_to_memory<'a>(
        &'a self,
        session: &'a SessionKey,
        entries: Vec<MemoryEntry>,
        until: MemoryMark,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let new = (session.clone(), NewEntries::new(entries)?, until);
            let add = self.0.transact_with(new, |connection, (key, new, until)| {
                Box::pin(add(connection, key, new, until))
            });
            add.await
        })
    }

    fn search_memory<'a>(
        &'a self,
        app: &'a str,
        user: &'a str,
        query: &'a str,
    ) -> BoxFuture<'a, Result<Vec<MemoryEntry>>> {
        Box::pin(async move {
            let any = any_word(query, '\'', " | ");
            // User ids contain no NUL, and Postgres rejects NUL in parameters.
            if any.is_empty() || app.contains('\0') || user.contains('\0') {
                return Ok(Vec::new());
            }
            let wanted = (app.to_owned(), user.to_owned(), any);
            let found = self
                .0
                .transact_with(wanted, |connection, (app, user, any)| {
                    Box::pin(search(connection, app, user, any))
                });
            found.await
        })
    }
}

async fn add(
    connection: &mut PgConnection,
    key: &SessionKey,
    new: &NewEntries,
    until: &MemoryMark,
) -> Result<()> {
    let what = "add to memory";
    let rows = "INSERT INTO adkw_memory
            (app_name, user_id, session_id, id, author, time, content, words)
        SELECT $1, $2, $3, n.id, n.author, n.time, n.content,
            array_to_tsvector(string_to_array(n.words, ' '))
        FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
            n (id, author, time, content, words)
        ON CONFLICT DO NOTHING";
    let rows = sqlx::query(rows)
        .bind(&key.app)
        .bind(&key.user)
        .bind(&key.id);
    let rows = rows
        .bind(&new.ids)
        .bind(&new.authors)
        .bind(&new.times)
        .bind(&new.contents)
        .bind(&new.words);
    rows.execute(&mut *connection).await.doing(what)?;
    set_added_until(connection, key, until).await
}

async fn search(
    connection: &mut PgConnection,
    app: &str,
    user: &str,
    any: &str,
) -> Result<Vec<MemoryEntry>> {
    let what = "search memory";
    let sql =
        "SELECT id, author, time, content FROM adkw_memory, (SELECT $3::text::tsquery AS wanted) q
        WHERE app_name = $1 AND user_id = $2 AND words @@ wanted
        ORDER BY ts_rank(words, wanted) DESC, time DESC, id DESC LIMIT $4";
    let query = sqlx::query(sql)
        .bind(app)
        .bind(user)
        .bind(any)
        .bind(MAX_MEMORIES as i64);
    let rows = query.fetch_all(connection).await.doing(what)?;
    let read = |row| memory_entry(&ReadRow(row, what));
    rows.iter().map(read).collect()
}
