//! Implementation of [`Place`] for a folder.

use crate::support::Folder;
use adk_sqlite::SqliteStore;
use adk_store_kit::Place;
use rusqlite::Connection;

impl Place for Folder {
    type Store = SqliteStore;

    async fn new() -> Self {
        Self::new()
    }

    async fn open(&self) -> SqliteStore {
        SqliteStore::open(self.file()).await.unwrap()
    }

    fn address(&self) -> String {
        self.path().display().to_string()
    }

    fn at(address: &str) -> Self {
        Self::of_another_process(address.into())
    }

    async fn has_event(&self, id: &str) -> Option<bool> {
        let other = Connection::open(self.file()).unwrap();
        let sql = "SELECT count(*) = 1 FROM events WHERE id = ?1";
        Some(other.query_row(sql, [id], |row| row.get(0)).unwrap())
    }

    async fn request_key_count(&self) -> Option<usize> {
        let other = Connection::open(self.file()).unwrap();
        let sql = "SELECT count(*) FROM adkw_keys";
        Some(other.query_row(sql, [], |row| row.get(0)).unwrap())
    }

    async fn check(&self) {
        let other = Connection::open(self.file()).unwrap();
        let health = other.query_row("PRAGMA integrity_check", [], |row| row.get(0));
        assert_eq!(health, Ok("ok".to_owned()));
    }
}
