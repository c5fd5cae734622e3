//! [`ArtifactStore`] of [`SqliteStore`].

use crate::SqliteStore;
use crate::error::Doing;
use crate::writer::Db;
use adk_journal::session::{Location, SessionKey};
use adk_journal::{ArtifactStore, StoredPart};
use adk_model::{BoxFuture, Part, Result};
use rusqlite::{Connection, OptionalExtension, ToSql, params};

/// The columns that identify an artifact. The owner is `None` for a file of a user.
struct FileKey {
    session: SessionKey,
    owner: Option<String>,
    name: String,
}

impl FileKey {
    fn new(session: &SessionKey, name: &str) -> Self {
        let owner = (!name.starts_with("user:")).then(|| session.id.clone());
        Self {
            session: session.clone(),
            owner,
            name: name.to_owned(),
        }
    }

    /// Returns parameters 1 to 4 of a statement that contains [`OF_FILE`].
    fn row(&self) -> [&dyn ToSql; 4] {
        [
            &self.session.app,
            &self.session.user,
            &self.owner,
            &self.name,
        ]
    }
}

/// Condition for the versions of one artifact. It is spelled like the expressions of the index,
/// because otherwise SQLite does not use the index.
const OF_FILE: &str =
    "app_name = ?1 AND user_id = ?2 AND ifnull(session_id, '') = ifnull(?3, '') AND name = ?4";

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
        Box::pin(
            self.0
                .reader
                .read(move |connection| load(connection, &file, version)),
        )
    }

    fn list<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, Result<Vec<String>>> {
        let key = session.clone();
        Box::pin(self.0.reader.read(move |connection| {
            let what = "list artifacts";
            let sql = "SELECT DISTINCT name FROM adkw_artifacts
                WHERE app_name = ?1 AND user_id = ?2 AND ifnull(session_id, '') IN (?3, '')
                    AND (session_id = ?3 OR session_id IS NULL)
                ORDER BY name";
            let mut statement = connection.prepare_cached(sql).doing(what)?;
            let names = statement
                .query_map([&key.app, &key.user, &key.id], |row| row.get(0))
                .doing(what)?;
            names.map(|name| name.doing(what)).collect()
        }))
    }

    fn versions<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Vec<u32>>> {
        let file = FileKey::new(session, name);
        Box::pin(self.0.reader.read(move |connection| {
            let what = "list the versions of an artifact";
            let sql =
                format!("SELECT version FROM adkw_artifacts WHERE {OF_FILE} ORDER BY version");
            let mut statement = connection.prepare_cached(&sql).doing(what)?;
            let versions = statement
                .query_map(&file.row()[..], |row| row.get(0))
                .doing(what)?;
            versions.map(|version| version.doing(what)).collect()
        }))
    }

    fn delete<'a>(&'a self, session: &'a SessionKey, name: &'a str) -> BoxFuture<'a, Result<()>> {
        let file = FileKey::new(session, name);
        Box::pin(self.0.writer.write(move |db: &mut Db| {
            let sql = format!("DELETE FROM adkw_artifacts WHERE {OF_FILE}");
            db.connection
                .execute(&sql, &file.row()[..])
                .map(drop)
                .doing("delete an artifact")
        }))
    }
}

fn save(connection: &Connection, file: &FileKey, part: &StoredPart) -> Result<u32> {
    let what = "save an artifact";
    if let Some(id) = &file.owner {
        // A session that was deleted before this transaction gets no artifacts.
        let sql = "SELECT 1 FROM sessions WHERE app_name = ?1 AND user_id = ?2 AND id = ?3";
        let found = connection.prepare_cached(sql).and_then(|mut statement| {
            statement.exists([&file.session.app, &file.session.user, id])
        });
        if !found.doing(what)? {
            return Err(file.session.missing());
        }
    }
    let sql = format!(
        "INSERT INTO adkw_artifacts (app_name, user_id, session_id, name, version, part, data)
        SELECT ?1, ?2, ?3, ?4, ifnull(max(version) + 1, 0), ?5, ?6 FROM adkw_artifacts
        WHERE {OF_FILE} RETURNING version"
    );
    let [app, user, owner, name] = file.row();
    let row = params![app, user, owner, name, part.json, part.data.as_deref()];
    connection
        .query_row(&sql, row, |row| row.get(0))
        .doing(what)
}

fn load(connection: &Connection, file: &FileKey, version: Option<u32>) -> Result<Option<Part>> {
    let what = "load an artifact";
    let sql = format!(
        "SELECT part, data FROM adkw_artifacts WHERE {OF_FILE} AND (?5 IS NULL OR version = ?5)
        ORDER BY version DESC LIMIT 1"
    );
    let [app, user, owner, name] = file.row();
    let row = connection.query_row(&sql, params![app, user, owner, name, version], |row| {
        Ok(StoredPart {
            json: row.get(0)?,
            data: row.get::<_, Option<Vec<u8>>>(1)?.map(Into::into),
        })
    });
    row.optional()
        .doing(what)?
        .map(StoredPart::into_part)
        .transpose()
}
