//! Artifacts in the tables of [`PostgresStore`].

use crate::support::{Database, quick};
use adk_build::session::{SessionKey, SessionStore};
use adk_build::{ArtifactStore, Part, StateDelta};
use adk_postgres::PostgresStore;
use adk_store_kit::Place as _;

/// ADK deletes sessions, and does not know the tables of artifacts.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_session_that_another_program_deletes_takes_its_files_along() {
    let database = Database::new().await;
    let postgres = database.open().await;
    let key = SessionKey::new("a", "u", "s");
    postgres
        .create(key.clone(), StateDelta::default())
        .await
        .unwrap();
    for name in ["a", "user:a"] {
        postgres.save(&key, name, Part::text("x")).await.unwrap();
    }
    database.execute("DELETE FROM sessions").await;
    assert_eq!(
        ArtifactStore::list(&postgres, &key).await.unwrap(),
        ["user:a"]
    );
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_name_that_is_too_long_is_an_error() {
    let postgres = PostgresStore::connect_with(&Database::new().await.url, quick())
        .await
        .unwrap();
    // Ids of the maximum length, with characters of four bytes that cannot be compressed.
    let random = |from: u32, length: u32| -> String {
        let char =
            |n: u32| char::from_u32(0x1_0000 + (from + n).wrapping_mul(40_503) % 0xa_0000).unwrap();
        (0..length).map(char).collect()
    };
    let key = SessionKey::new(random(0, 128), random(1_000, 128), random(2_000, 128));
    postgres
        .create(key.clone(), StateDelta::default())
        .await
        .unwrap();
    let longest = random(3_000, 256);
    assert_eq!(longest.len(), 1_024);
    assert_eq!(
        postgres
            .save(&key, &longest, Part::text("x"))
            .await
            .unwrap(),
        0
    );
    let error = postgres
        .save(&key, &format!("{longest}a"), Part::text("x"))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("1025 bytes") && error.to_string().contains("1024"),
        "{error}"
    );
}
