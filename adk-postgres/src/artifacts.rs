//! [`ArtifactStore`] of [`PostgresStore`].

use crate::PostgresStore;
use crate::connection::PgConnection;
use crate::error::is_without_session;
use adk_journal::session::{Location, SessionKey};
use adk_journal::{ArtifactStore, StoredPart};
use adk_model::{BoxFuture, Error, ErrorKind, Part, Result, StoreErrorKind};
use adk_store::artifacts::{self, FileKey};
use std::sync::Arc;

/// Maximum length of a name in bytes. An index entry holds 2,704 bytes, and the ids of app, user
/// and session use up to 1,536 of them.
const LONGEST: usize = 1_024;

/// Maximum size of a version in bytes. The server accepts messages of up to 1 GiB, and closes the
/// connection after a larger one.
const MOST: usize = 500_000_000;

/// Returns the key of an artifact, if Postgres can store its name.
fn file_key(session: &SessionKey, name: &str) -> Result<Arc<FileKey>> {
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
    Ok(Arc::new(FileKey::new(session, name)))
}

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
            let (file, part) = (file_key(session, name)?, Arc::new(StoredPart::new(&part)?));
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
                .transact_with(
                    (session.clone(), file, part),
                    |connection, (key, file, part)| Box::pin(save(connection, key, file, part)),
                )
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
            let file = file_key(session, name)?;
            self.0
                .transact_with((file, version), |connection, (file, version)| {
                    Box::pin(artifacts::load(connection, file, *version))
                })
                .await
        })
    }

    fn list<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, Result<Vec<String>>> {
        Box::pin(self.0.transact_with(session.clone(), |connection, key| {
            Box::pin(artifacts::list(connection, key))
        }))
    }

    fn versions<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Vec<u32>>> {
        Box::pin(async move {
            let file = file_key(session, name)?;
            self.0
                .transact_with(file, |connection, file| {
                    Box::pin(artifacts::versions(connection, file))
                })
                .await
        })
    }

    fn delete<'a>(&'a self, session: &'a SessionKey, name: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let file = file_key(session, name)?;
            self.0
                .transact_with(file, |connection, file| {
                    Box::pin(artifacts::delete(connection, file))
                })
                .await
        })
    }
}

async fn save(
    connection: &mut PgConnection,
    session: &SessionKey,
    file: &FileKey,
    part: &StoredPart,
) -> Result<u32> {
    loop {
        match artifacts::save(connection, file, part).await {
            Ok(Some(version)) => return Ok(version),
            Ok(None) => {}
            Err(error) if is_without_session(&error) => {
                return Err(session.missing().with_source(error));
            }
            Err(error) => return Err(error),
        }
    }
}
