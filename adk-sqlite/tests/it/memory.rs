//! The common tests of memory services for [`SqliteStore`], repeated after the file is reopened.

use crate::support::Folder;
use crate::trees::memory::{self, Remembering};
use adk_build::memory::MemoryService;
use adk_build::session::SessionKey;
use adk_sqlite::SqliteStore;
use rusqlite::Connection;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_common_tests_of_memory_services_pass() {
    let folder = Folder::new();
    let (one, two) = (
        SqliteStore::open(folder.file()).await.unwrap(),
        SqliteStore::open(folder.file()).await.unwrap(),
    );
    memory::keeps(&Remembering::from_store(&one)).await;
    memory::together(
        &Remembering::from_store(&one),
        &Remembering::from_store(&two),
    )
    .await;
    drop((one, two));
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let key = SessionKey::new("memory", "new", "s");
    assert_eq!(store.added_until(&key).await.unwrap().unwrap().events, 4);
    // Deleting the rows of a user removes them from the index, too.
    assert_eq!(
        store
            .search_memory("memory", "one", "secretword")
            .await
            .unwrap()
            .len(),
        2
    );
    let other = Connection::open(folder.file()).unwrap();
    other
        .execute("DELETE FROM adkw_memory WHERE user_id = 'one'", [])
        .unwrap();
    assert!(
        store
            .search_memory("memory", "one", "secretword")
            .await
            .unwrap()
            .is_empty()
    );
    let count = "SELECT count(*) FROM adkw_memory_words('secretword')";
    assert_eq!(
        other
            .query_row(count, [], |row| row.get::<_, i64>(0))
            .unwrap(),
        1
    );
}
