//! [`ArtifactStore`] of [`PostgresStore`].

use crate::PostgresStore;
use crate::connection::PgConnection;
use crate::error::{Doing, is_without_session, postgres_error};
use adk_journal::session::{Location, SessionKey};
use adk_journal::{ArtifactStore, StoredPart};
use adk_model::{BoxFuture, Error, ErrorKind, Part, Result, StoreErrorKind};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Postgres, Row as _};
use std::sync::Arc;

/// Maximum length of a name in bytes. An index entry holds 2,704 bytes, and the ids of app, user
/// and session use up to 1,536 of them.
const LONGEST: usize = 1_024;

/// Maximum size of a version in bytes. The server accepts messages of up to 1 GiB, and closes the
/// connection after a larger one.
const MOST: usize = 500_000_000;

/// The columns that identify an artifact. The owner is `None` for a file of a user.
struct FileKey {
    session: SessionKey,
    owner: Option<String>,
    name: String,
}

impl FileKey {
    fn new(session: &SessionKey, name: &str) -> Result<Arc<Self>> {
        let refused = |fact: &str, help: &str| {
            let message =
                format!("Postgres cannot store an artifact with the name {name:.64?}: {fact}");
            Err(Error::new(ErrorKind::Store(StoreErrorKind::Other), message).with_help(help))
        };
        if name.contains('\0') {
            return refused(
                "the name contains a NUL character",
                "choose a name without NUL",
            );
        }
        if name.len() > LONGEST {
            let fact = format!("the name has {} bytes, the limit is {LONGEST}", name.len());
            return refused(&fact, "choose a shorter name");
        }
        let owner = (!name.starts_with("user:")).then(|| session.id.clone());
        Ok(Arc::new(Self {
            session: session.clone(),
            owner,
            name: name.to_owned(),
        }))
    }

    /// Returns a statement with parameters 1 to 4 of [`OF_FILE`] bound.
    fn query(&self, sql: String) -> Query<'_, Postgres, PgArguments> {
        let query = sqlx::query(AssertSqlSafe(sql));
        query
            .bind(&self.session.app)
            .bind(&self.session.user)
            .bind(&self.owner)
            .bind(&self.name)
    }
}

/// Condition for the versions of one artifact. It is spelled like the expressions of the index,
/// because otherwise Postgres does not use the index.
const OF_FILE: &str =
    "app_name = $1 AND user_id = $2 AND COALESCE(session_id, '') = COALESCE($3, '') AND name = $4";

impl ArtifactStore for PostgresStore {
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
            let (file, part) = (
                FileKey::new(session, name)?,
                Arc::new(StoredPart::new(&part)?),
            );
            let bytes = part.json.len() + part.data.as_ref().map_or(0, |data| data.len());
            if bytes > MOST {
                let message =
                    format!("the artifact `{name}` has {bytes} bytes, the limit is {MOST}");
                return Err(
                    Error::new(ErrorKind::Store(StoreErrorKind::TooLarge), message).with_help(
                        "store the data outside of the database, and save its address as \
                         `Part::file_data`",
                    ),
                );
            }
            self.0
                .call_in_transaction(Box::new(move |connection| {
                    let (file, part) = (file.clone(), part.clone());
                    Box::pin(async move { save(connection, &file, &part).await })
                }))
                .await
        })
    }

    fn load<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
        version: Option<u32>,
    ) -> BoxFuture<'a, Result<Option<Part>>> {
        Box::pin(async move {
            let file = FileKey::new(session, name)?;
            self.0
                .call_in_transaction(Box::new(move |connection| {
                    let file = file.clone();
                    Box::pin(async move { load(connection, &file, version).await })
                }))
                .await
        })
    }

    fn list<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, Result<Vec<String>>> {
        let key = session.clone();
        Box::pin(async move {
            self.0
                .call_in_transaction(Box::new(move |connection| {
                    let key = key.clone();
                    Box::pin(async move { list(connection, &key).await })
                }))
                .await
        })
    }

    fn versions<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Vec<u32>>> {
        Box::pin(async move {
            let file = FileKey::new(session, name)?;
            self.0
                .call_in_transaction(Box::new(move |connection| {
                    let file = file.clone();
                    Box::pin(async move { versions(connection, &file).await })
                }))
                .await
        })
    }

    fn delete<'a>(&'a self, session: &'a SessionKey, name: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let file = FileKey::new(session, name)?;
            self.0
                .call_in_transaction(Box::new(move |connection| {
                    let file = file.clone();
                    Box::pin(async move {
                        let delete =
                            file.query(format!("DELETE FROM adkw_artifacts WHERE {OF_FILE}"));
                        delete
                            .execute(connection)
                            .await
                            .map(drop)
                            .doing("delete an artifact")
                    })
                }))
                .await
        })
    }
}

async fn save(connection: &mut PgConnection, file: &FileKey, part: &StoredPart) -> Result<u32> {
    let what = "save an artifact";
    loop {
        let insert = file.query(format!(
            "INSERT INTO adkw_artifacts (app_name, user_id, session_id, name, version, part, data)
            SELECT $1, $2, $3, $4, COALESCE(max(version) + 1, 0), $5, $6 FROM adkw_artifacts
            WHERE {OF_FILE} ON CONFLICT DO NOTHING RETURNING version"
        ));
        let saved = insert
            .bind(&part.json)
            .bind(part.data.as_deref())
            .fetch_optional(&mut *connection)
            .await;
        match saved {
            Ok(Some(row)) => return version(&row),
            // Another transaction has inserted this version; the next statement sees it.
            Ok(None) => {}
            Err(error) if is_without_session(&error) => {
                return Err(file.session.missing().with_source(error));
            }
            Err(error) => return Err(postgres_error(what, error)),
        }
    }
}

fn version(row: &PgRow) -> Result<u32> {
    let what = "save an artifact";
    let version: i64 = row.try_get(0).doing(what)?;
    u32::try_from(version).map_err(|error| {
        Error::new(
            ErrorKind::Store(StoreErrorKind::Other),
            "the artifact has too many versions",
        )
        .with_source(error)
    })
}

async fn load(
    connection: &mut PgConnection,
    file: &FileKey,
    version: Option<u32>,
) -> Result<Option<Part>> {
    let what = "load an artifact";
    let select = file.query(format!(
        "SELECT part, data FROM adkw_artifacts
        WHERE {OF_FILE} AND ($5::bigint IS NULL OR version = $5)
        ORDER BY version DESC LIMIT 1"
    ));
    let row = select
        .bind(version.map(i64::from))
        .fetch_optional(connection)
        .await
        .doing(what)?;
    let Some(row) = row else { return Ok(None) };
    let data: Option<Vec<u8>> = row.try_get(1).doing(what)?;
    StoredPart {
        json: row.try_get(0).doing(what)?,
        data: data.map(Into::into),
    }
    .into_part()
    .map(Some)
}

async fn versions(connection: &mut PgConnection, file: &FileKey) -> Result<Vec<u32>> {
    let sql = format!("SELECT version FROM adkw_artifacts WHERE {OF_FILE} ORDER BY version");
    let rows = file
        .query(sql)
        .fetch_all(connection)
        .await
        .doing("list the versions of an artifact")?;
    rows.iter().map(version).collect()
}

async fn list(connection: &mut PgConnection, key: &SessionKey) -> Result<Vec<String>> {
    let what = "list artifacts";
    let sql = r#"SELECT DISTINCT name COLLATE "C" AS name FROM adkw_artifacts
        WHERE app_name = $1 AND user_id = $2 AND COALESCE(session_id, '') IN ($3, '')
            AND (session_id = $3 OR session_id IS NULL)
        ORDER BY name"#;
    let names = sqlx::query_scalar(sql)
        .bind(&key.app)
        .bind(&key.user)
        .bind(&key.id);
    names.fetch_all(connection).await.doing(what)
}
