//! [`ArtifactStore`] of [`SqliteStore`].

use crate::SqliteStore;
use crate::error::{Doing, corrupt_error};
use crate::statements::Statements;
use crate::writer::Db;
use adk_journal::session::{Location, SessionKey};
use adk_journal::{ArtifactStore, StoredPart};
use adk_model::{BoxFuture, Part, Result};
use adk_store::artifacts::{self, FileKey};
use adk_store::complete;
use rusqlite::Connection;

impl ArtifactStore for SqliteStore {
    fn session_location(&self) -> Option<Location> {
        Some(self.database())
    }

    fn save<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
        part: Part,
    ) -> BoxFuture<'a, Result<u32>> {
        Box::pin(async move {
            let (file, stored) = (FileKey::new(session, name), StoredPart::new(&part)?);
            drop(part);
            self.0
                .writer
                .write(move |db: &mut Db| save(&db.connection, &file, &stored))
                .await
        })
    }

    fn load<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
        version: Option<u32>,
    ) -> BoxFuture<'a, Result<Option<Part>>> {
        let file = FileKey::new(session, name);
        Box::pin(self.0.reader.read(move |connection| {
            complete(artifacts::load(&mut Statements(connection), &file, version))
        }))
    }

    fn list<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, Result<Vec<String>>> {
        let key = session.clone();
        Box::pin(
            self.0.reader.read(move |connection| {
                complete(artifacts::list(&mut Statements(connection), &key))
            }),
        )
    }

    fn versions<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Vec<u32>>> {
        let file = FileKey::new(session, name);
        Box::pin(self.0.reader.read(move |connection| {
            complete(artifacts::versions(&mut Statements(connection), &file))
        }))
    }

    fn delete<'a>(&'a self, session: &'a SessionKey, name: &'a str) -> BoxFuture<'a, Result<()>> {
        let file = FileKey::new(session, name);
        Box::pin(self.0.writer.write(move |db: &mut Db| {
            complete(artifacts::delete(&mut Statements(&db.connection), &file))
        }))
    }
}

fn save(connection: &Connection, file: &FileKey, part: &StoredPart) -> Result<u32> {
    if let Some(key) = file.session() {
        // A session that was deleted before this transaction gets no artifacts.
        let sql = "SELECT 1 FROM sessions WHERE app_name = ?1 AND user_id = ?2 AND id = ?3";
        let found = connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.exists([&key.app, &key.user, &key.id]));
        if !found.doing("save an artifact")? {
            return Err(key.missing());
        }
    }
    let saved = complete(artifacts::save(&mut Statements(connection), file, part))?;
    saved.ok_or_else(|| corrupt_error("the next version of the artifact exists".to_owned()))
}
