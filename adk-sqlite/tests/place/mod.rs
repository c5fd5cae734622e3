//! Implementation of [`Place`] for a folder.

use crate::support::Folder;
use crate::trees::survival::Place;
use adk_sqlite::SqliteStore;
use rusqlite::Connection;

impl Place for Folder {
    type Store = SqliteStore;

    async fn open(&self) -> SqliteStore {
        SqliteStore::open(self.file()).await.unwrap()
    }

    fn address(&self) -> String {
        self.file().display().to_string()
    }

    async fn has(&self, id: &str) -> bool {
        let other = Connection::open(self.file()).unwrap();
        let sql = "SELECT count(*) = 1 FROM events WHERE id = ?1";
        other.query_row(sql, [id], |row| row.get(0)).unwrap()
    }
}
