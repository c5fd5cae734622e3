//! [`MemoryService`]: a search by words in earlier sessions.
//!
//! Give a runner a `store` that keeps memory, or a
//! `memory_service`, add sessions with
//! `SessionHandle::add_to_memory`, and list
//! `load_memory` or `preload_memory`
//! in `tools` of an agent.

use crate::session::{EventFilter, SessionKey, SessionStore};
use crate::sync::lock;
use crate::{BoxFuture, Content, Event, Part, Result};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

/// The highest number of entries in the result of a search.
pub const MAX_MEMORIES: usize = 20;

/// The number of events of a session that are read and added together.
const PAGE: usize = 500;

/// The longest word for a search, in characters, and the highest number of words of a text. A
/// Postgres index can hold these.
const LONGEST_WORD: usize = 48;
const MOST_WORDS: usize = 4_096;

/// A memory of one event: ADK's `MemoryEntry`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct MemoryEntry {
    /// The id of the event, unique within its session.
    pub id: String,
    /// The text of the event, without other parts.
    pub content: Content,
    /// The author: `user`, or the name of an agent. Empty when the author is unknown.
    pub author: String,
    /// The time in UTC by ISO 8601, such as `2026-11-26T11:36:27Z`. Empty when the time is
    /// unknown.
    pub timestamp: String,
}

impl MemoryEntry {
    /// Creates an entry with an id and a content, but without author and time.
    pub fn new(id: impl Into<String>, content: Content) -> Self {
        Self {
            id: id.into(),
            content,
            ..Self::default()
        }
    }

    /// Creates the entry of an event; `None` if the event has no text. Calls of tools, their
    /// results, thoughts, files and state are not part of memory.
    pub fn of_event(event: &Event) -> Option<Self> {
        let content = event.content.as_ref()?;
        let parts: Vec<_> = content
            .parts
            .iter()
            .filter(|part| matches!(part, Part::Text(_)))
            .cloned()
            .collect();
        let content = Content::new(content.role, parts);
        if content.text().trim().is_empty() {
            return None;
        }
        let (id, author) = (event.id.to_string(), event.author.to_string());
        Some(Self {
            id,
            content,
            author,
            timestamp: iso(event.timestamp),
        })
    }
}

/// The position up to which a session was added to memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryMark {
    /// The number of added events of its log.
    pub events: usize,
    /// The id of the last added event. It distinguishes a session from an earlier session of the
    /// same key.
    pub last: String,
}

/// A search over earlier sessions of a user: ADK's memory service.
///
/// An entry belongs to a user of an app, and stays when its session is deleted, as in ADK. The
/// services of this library search by [words]: entries with more or rarer words of the query come
/// first.
pub trait MemoryService: Send + Sync + 'static {
    /// Returns the position up to which a session was added; `None` if it never was.
    ///
    /// # Errors
    /// When the service fails.
    fn added_until<'a>(
        &'a self,
        session: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Option<MemoryMark>>>;

    /// Adds entries of a session and the new position together, or neither. Entries with existing
    /// ids are not changed.
    ///
    /// # Errors
    /// When the service fails.
    fn add_events_to_memory<'a>(
        &'a self,
        session: &'a SessionKey,
        entries: Vec<MemoryEntry>,
        until: MemoryMark,
    ) -> BoxFuture<'a, Result<()>>;

    /// Returns entries that match a query, best first: at most [`MAX_MEMORIES`] entries of that
    /// user of that app.
    ///
    /// # Errors
    /// When the service fails.
    fn search_memory<'a>(
        &'a self,
        app: &'a str,
        user: &'a str,
        query: &'a str,
    ) -> BoxFuture<'a, Result<Vec<MemoryEntry>>>;

    /// Adds the events of a session since the last call. A repeated call adds no event twice. The
    /// call holds only one page of events in memory, for any length of the session.
    ///
    /// # Errors
    /// When the session does not exist, or the store or the service fails. Some events may be added
    /// then; the next call continues after them.
    fn add_session_to_memory<'a>(
        &'a self,
        sessions: &'a dyn SessionStore,
        session: &'a SessionKey,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut mark = self.added_until(session).await?.unwrap_or_default();
            loop {
                // The page begins with the last added event, to check that the session is still the
                // same.
                let first = mark.events.saturating_sub(1);
                let filter = EventFilter::new().places(first..first.saturating_add(PAGE));
                let page = sessions
                    .read(session, &filter)
                    .await?
                    .ok_or_else(|| session.missing())?;
                let (end, is_last) = (
                    page.first + page.events.len(),
                    page.first + page.events.len() >= page.len,
                );
                let mut new = &page.events[..];
                if mark.events > 0 {
                    match new.split_first() {
                        Some((last, rest)) if last.id.to_string() == mark.last => new = rest,
                        _ => {
                            mark = MemoryMark::default();
                            continue;
                        }
                    }
                }
                let Some(last) = new.last() else {
                    return Ok(());
                };
                mark = MemoryMark {
                    events: end,
                    last: last.id.to_string(),
                };
                let entries = new
                    .iter()
                    .filter_map(|event| MemoryEntry::of_event(event))
                    .collect();
                self.add_events_to_memory(session, entries, mark.clone())
                    .await?;
                if is_last {
                    return Ok(());
                }
            }
        })
    }
}

/// Returns the words by which a search finds a text: runs of letters and digits in lower case, each
/// once. A character of a script without spaces is a word of its own.
///
/// ```
/// # use adk_build as adk;
/// let words = adk::memory::words("Tell me: is it O'Neill's cat? 猫です");
/// assert!(words.iter().eq(["cat", "is", "it", "me", "neill", "o", "s", "tell", "す", "で", "猫"]));
/// ```
pub fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for run in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|run| !run.is_empty())
    {
        for word in run.split_inclusive(is_own_word) {
            let (word, own) = match word.char_indices().next_back() {
                Some((at, last)) if is_own_word(last) => word.split_at(at),
                _ => (word, ""),
            };
            for word in [word, own].into_iter().filter(|word| !word.is_empty()) {
                if words.len() == MOST_WORDS {
                    return words;
                }
                words.insert(
                    word.chars()
                        .flat_map(char::to_lowercase)
                        .take(LONGEST_WORD)
                        .collect(),
                );
            }
        }
    }
    words
}

/// Returns whether a character is an ideograph or a syllable of a script without spaces between
/// words.
fn is_own_word(c: char) -> bool {
    matches!(
        c,
        '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{2e80}'..='\u{a4cf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// Formats microseconds since 1970 as a time in UTC by ISO 8601, to the second:
/// `2026-11-26T11:36:27Z`. The latest time is the end of the year 9999.
pub fn iso(micros: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_micros(micros.min(LATEST));
    humantime::format_rfc3339_seconds(time).to_string()
}

/// The end of the year 9999, in microseconds since 1970.
const LATEST: u64 = 253_402_300_799_999_999;

/// Memory for as long as the process lives. Each search reads all entries of the user.
#[derive(Debug, Default)]
pub struct InMemoryMemoryService {
    users: Mutex<HashMap<(String, String), UserMemory>>,
}

#[derive(Debug, Default)]
struct UserMemory {
    entries: Vec<(BTreeSet<String>, MemoryEntry)>,
    /// The sessions and ids of the entries.
    ids: HashSet<(String, String)>,
    marks: HashMap<String, MemoryMark>,
}

impl InMemoryMemoryService {
    /// Creates a service without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds entries of a session and the new position, as
    /// [`add_events_to_memory`](MemoryService::add_events_to_memory) does.
    pub fn add(&self, session: &SessionKey, entries: Vec<MemoryEntry>, until: MemoryMark) {
        let mut users = lock(&self.users);
        let user = (session.app.clone(), session.user.clone());
        let user = users.entry(user).or_default();
        for entry in entries {
            if user.ids.insert((session.id.clone(), entry.id.clone())) {
                user.entries.push((words(&entry.content.text()), entry));
            }
        }
        user.marks.insert(session.id.clone(), until);
    }
}

impl MemoryService for InMemoryMemoryService {
    fn added_until<'a>(
        &'a self,
        session: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Option<MemoryMark>>> {
        let users = lock(&self.users);
        let user = users.get(&(session.app.clone(), session.user.clone()));
        let mark = user.and_then(|user| user.marks.get(&session.id)).cloned();
        Box::pin(ready(Ok(mark)))
    }

    fn add_events_to_memory<'a>(
        &'a self,
        session: &'a SessionKey,
        entries: Vec<MemoryEntry>,
        until: MemoryMark,
    ) -> BoxFuture<'a, Result<()>> {
        self.add(session, entries, until);
        Box::pin(ready(Ok(())))
    }

    fn search_memory<'a>(
        &'a self,
        app: &'a str,
        user: &'a str,
        query: &'a str,
    ) -> BoxFuture<'a, Result<Vec<MemoryEntry>>> {
        let wanted = words(query);
        let users = lock(&self.users);
        let entries = users
            .get(&(app.to_owned(), user.to_owned()))
            .into_iter()
            .flat_map(|user| &user.entries);
        let ranked = entries.map(|(words, entry)| (words.intersection(&wanted).count(), entry));
        let mut found: Vec<_> = ranked.filter(|(count, _)| *count > 0).collect();
        found.sort_by_key(|(count, entry)| Reverse((*count, &entry.timestamp)));
        let found = found
            .into_iter()
            .take(MAX_MEMORIES)
            .map(|(_, entry)| entry.clone())
            .collect();
        Box::pin(ready(Ok(found)))
    }
}

impl From<InMemoryMemoryService> for Arc<dyn MemoryService> {
    fn from(service: InMemoryMemoryService) -> Self {
        Arc::new(service)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_the_date_of_its_day() {
        let day = 86_400_000_000;
        let dates = [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
        ];
        for (days, date) in dates
            .into_iter()
            .chain([(20_783, "2026-11-26"), (47_540, "2100-02-28")])
        {
            assert_eq!(iso(days * day), format!("{date}T00:00:00Z"));
            assert_eq!(iso((days + 1) * day - 1), format!("{date}T23:59:59Z"));
        }
        assert_eq!(iso(u64::MAX), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn words_fit_into_an_index() {
        let long = "ß".repeat(1_000);
        assert!(
            words(&long)
                .iter()
                .all(|word| word.chars().count() == LONGEST_WORD)
        );
        let many: String = (0..10_000).map(|n| format!("{n} ")).collect();
        assert_eq!(words(&many).len(), MOST_WORDS);
        assert!(words("?! -- \0 \u{1F408}").is_empty());
    }
}
