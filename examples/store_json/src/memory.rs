//! [`MemoryService`] of [`JsonStore`].

use crate::JsonStore;
use crate::data::{Change, UserMemory};
use adk_journal::memory::{MAX_MEMORIES, MemoryEntry, MemoryMark, MemoryService, words};
use adk_journal::session::SessionKey;
use adk_model::{BoxFuture, Result};
use std::cmp::Reverse;
use std::future::ready;

impl MemoryService for JsonStore {
    fn added_until<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<MemoryMark>>> {
        Box::pin(ready(self.look(|data| {
            let user = data.memories.get(&(key.app.clone(), key.user.clone()));
            Ok(user.and_then(|user| user.marks.get(&key.id).cloned()))
        })))
    }

    fn add_events_to_memory<'a>(
        &'a self,
        key: &'a SessionKey,
        mut entries: Vec<MemoryEntry>,
        until: MemoryMark,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(ready(self.change(|data, changes| {
            if let Some(user) = data.memories.get(&(key.app.clone(), key.user.clone())) {
                let is_there = |entry: &MemoryEntry| {
                    user.entries
                        .iter()
                        .any(|(id, there)| *id == key.id && there.id == entry.id)
                };
                entries.retain(|entry| !is_there(entry));
            }
            let mark = (until.events, until.last);
            changes.push(Change::Memory(key.clone(), entries, mark));
            Ok(())
        })))
    }

    /// Reads all entries of the user, and counts their common words with the query.
    fn search_memory<'a>(
        &'a self,
        app: &'a str,
        user: &'a str,
        query: &'a str,
    ) -> BoxFuture<'a, Result<Vec<MemoryEntry>>> {
        let wanted = words(query);
        Box::pin(ready(self.look(|data| {
            let user = data.memories.get(&(app.to_owned(), user.to_owned()));
            let count =
                |entry: &MemoryEntry| words(&entry.content.text()).intersection(&wanted).count();
            let all = user
                .into_iter()
                .flat_map(|UserMemory { entries, .. }| entries);
            let ranked = all.map(|(_, entry)| (count(entry), entry));
            let mut found: Vec<_> = ranked.filter(|(count, _)| *count > 0).collect();
            found.sort_by_key(|(count, entry)| Reverse((*count, &entry.timestamp)));
            Ok(found
                .into_iter()
                .take(MAX_MEMORIES)
                .map(|(_, entry)| entry.clone())
                .collect())
        })))
    }
}
