//! The common tests of artifact stores for [`SqliteStore`], repeated after the file is reopened.

use crate::support::Folder;
use crate::trees::artifacts::{self, Stores};
use adk_build::session::{SessionKey, SessionStore};
use adk_build::{ArtifactStore, FolderArtifacts, Part, StateDelta};
use adk_sqlite::SqliteStore;
use rusqlite::Connection;

#[tokio::test]
async fn the_common_tests_of_artifact_stores_pass() {
    let folder = Folder::new();
    let stores = Stores::from_store(&SqliteStore::open(folder.file()).await.unwrap());
    artifacts::keeps(&stores, true).await;
    artifacts::refuses_depth(&stores).await;
    artifacts::goes_with_the_session(&stores).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn saves_at_the_same_time_have_versions_of_their_own() {
    let folder = Folder::new();
    let (one, two) = (
        SqliteStore::open(folder.file()).await.unwrap(),
        SqliteStore::open(folder.file()).await.unwrap(),
    );
    artifacts::together(vec![Stores::from_store(&one), Stores::from_store(&two)]).await;
}

#[tokio::test]
async fn a_resumed_run_loads_its_artifacts() {
    artifacts::lasts(&Folder::new(), Into::into).await;
    let folder = Folder::new();
    let beside = |_| {
        FolderArtifacts::open(folder.path().join("artifacts"))
            .unwrap()
            .into()
    };
    artifacts::lasts(&folder, beside).await;
}

#[tokio::test]
async fn a_runner_without_a_store_refuses_to_save() {
    let folder = Folder::new();
    artifacts::refuses(SqliteStore::open(folder.file()).await.unwrap()).await;
}

/// ADK deletes sessions with foreign keys on, and does not know the tables of artifacts.
#[tokio::test]
async fn a_session_that_another_program_deletes_takes_its_files_along() {
    let folder = Folder::new();
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    let key = SessionKey::new("a", "u", "s");
    sqlite
        .create(key.clone(), StateDelta::default())
        .await
        .unwrap();
    for name in ["a", "user:a"] {
        sqlite.save(&key, name, Part::text("x")).await.unwrap();
    }
    let other = Connection::open(folder.file()).unwrap();
    other
        .execute_batch("PRAGMA foreign_keys=ON; DELETE FROM sessions")
        .unwrap();
    assert_eq!(
        ArtifactStore::list(&sqlite, &key).await.unwrap(),
        ["user:a"]
    );
}

/// The index consists of expressions, so SQLite uses it only for the same expressions.
#[tokio::test]
async fn a_version_is_found_by_the_index() {
    let folder = Folder::new();
    drop(SqliteStore::open(folder.file()).await.unwrap());
    let connection = Connection::open(folder.file()).unwrap();
    let sql =
        "EXPLAIN QUERY PLAN SELECT part FROM adkw_artifacts WHERE app_name = ?1 AND user_id = ?2
        AND ifnull(session_id, '') = ifnull(?3, '') AND name = ?4 ORDER BY version DESC LIMIT 1";
    let plan: String = connection
        .query_row(sql, ["a", "u", "s", "n"], |row| row.get("detail"))
        .unwrap();
    assert!(
        plan.contains("adkw_artifacts_version") && plan.contains("name=?"),
        "{plan}"
    );
}
