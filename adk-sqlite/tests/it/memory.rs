//! Memory in the tables of [`SqliteStore`].

use crate::support::Folder;
use adk_build::StateDelta;
use adk_build::memory::MemoryService;
use adk_build::session::{SessionKey, SessionStore};
use adk_sqlite::SqliteStore;
use adk_store_kit::sessions::stored;
use rusqlite::Connection;

/// Deleting the rows of a user removes them from the index, too.
#[tokio::test]
async fn deleted_rows_are_not_found() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    for user in ["one", "two"] {
        let key = SessionKey::new("memory", user, "s");
        store
            .create(key.clone(), StateDelta::default())
            .await
            .unwrap();
        store
            .append(&key, vec![stored(1, "secretword")])
            .await
            .unwrap();
        store.add_session_to_memory(&store, &key).await.unwrap();
    }
    let other = Connection::open(folder.file()).unwrap();
    other
        .execute("DELETE FROM adkw_memory WHERE user_id = 'one'", [])
        .unwrap();
    for (user, many) in [("one", 0), ("two", 1)] {
        let found = store.search_memory("memory", user, "secretword").await;
        assert_eq!(found.unwrap().len(), many, "{user}");
    }
    let count = "SELECT count(*) FROM adkw_memory_words('secretword')";
    let count = other.query_row(count, [], |row| row.get::<_, i64>(0));
    assert_eq!(count, Ok(1));
}
