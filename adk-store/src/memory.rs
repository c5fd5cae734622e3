//! Memory as rows of `adkw_memory`, and how much of each session is in memory.

use crate::sql::{Columns, Connection, first, sql};
use adk_journal::engine::from_text;
use adk_journal::memory::{MemoryEntry, MemoryMark, words};
use adk_journal::session::SessionKey;
use adk_model::Result;

/// Returns how much of a session is in memory.
///
/// # Errors
/// When the database fails.
pub async fn added_until<C: Connection>(
    connection: &mut C,
    key: &SessionKey,
) -> Result<Option<MemoryMark>> {
    let sql = sql!(
        "SELECT events, last FROM adkw_memory_marks
        WHERE app_name = $1 AND user_id = $2 AND session_id = $3"
    );
    let wanted = [(&key.app).into(), (&key.user).into(), (&key.id).into()];
    let what = "read how far a session is in memory";
    first(connection, what, sql, &wanted, |row| {
        Ok(MemoryMark {
            events: usize::try_from(row.number(0)?).unwrap_or(0),
            last: row.text(1)?,
        })
    })
    .await
}

/// Stores how much of a session is in memory.
///
/// # Errors
/// When the database fails.
pub async fn set_added_until<C: Connection>(
    connection: &mut C,
    key: &SessionKey,
    until: &MemoryMark,
) -> Result<()> {
    let sql = sql!(
        "INSERT INTO adkw_memory_marks VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (app_name, user_id, session_id) DO UPDATE
        SET events = EXCLUDED.events, last = EXCLUDED.last"
    );
    let row = [
        (&key.app).into(),
        (&key.user).into(),
        (&key.id).into(),
        (until.events as u64).into(),
        (&until.last).into(),
    ];
    connection
        .execute("add to memory", sql, &row)
        .await
        .map(drop)
}

/// Parses an entry from a row of id, author, time and content.
///
/// # Errors
/// When the row cannot be read.
pub fn memory_entry(row: &dyn Columns) -> Result<MemoryEntry> {
    let content = from_text(&row.text(3)?, "an entry of memory")?;
    let mut entry = MemoryEntry::new(row.text(0)?, content);
    (entry.author, entry.timestamp) = (row.text(1)?, row.text(2)?);
    Ok(entry)
}

/// Returns the words of an entry for the index, separated by spaces. A word contains no space.
pub fn indexed_words(entry: &MemoryEntry) -> String {
    let words = words(&entry.content.text());
    words.into_iter().collect::<Vec<_>>().join(" ")
}

/// Returns the condition of a search that any of these words satisfies. Words consist of letters
/// and digits, so quotes need no escapes. Empty for a text without words.
pub fn any_word(text: &str, quote: char, or: &str) -> String {
    let quoted = words(text)
        .into_iter()
        .map(|word| format!("{quote}{word}{quote}"));
    quoted.collect::<Vec<_>>().join(or)
}
