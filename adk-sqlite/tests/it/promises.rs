//! The promises of every store, for [`SqliteStore`](adk_sqlite::SqliteStore) in a folder.

use crate::support::Folder;

adk_store_kit::promises! {
    // The file `values.rs` has the suite `values`.
    Folder: sessions, artifacts, memory, limits, runs, updates, lists, cancel, retries, keys, queue,
    people, questions, tenants, changes, driven, kills
}
