//! Artifacts as rows of `adkw_artifacts`, one for each version.

use crate::sql::{Columns, Connection, Parameter, Query, all, execute};
use adk_journal::StoredPart;
use adk_journal::session::SessionKey;
use adk_model::{Error, ErrorKind, Part, Result, StoreErrorKind};

/// The columns that identify an artifact.
#[derive(Clone, Debug)]
pub struct FileKey {
    session: SessionKey,
    name: String,
}

impl FileKey {
    /// Makes the key of an artifact.
    pub fn new(session: &SessionKey, name: &str) -> Self {
        Self {
            session: session.clone(),
            name: name.to_owned(),
        }
    }

    /// Returns the session that the artifact belongs to. Returns `None` if it belongs to the user.
    pub fn session(&self) -> Option<&SessionKey> {
        (!self.name.starts_with("user:")).then_some(&self.session)
    }

    fn session_id(&self) -> Option<&str> {
        self.session().map(|session| &*session.id)
    }

    /// Appends the condition for the versions of the artifact. It is spelled like the expressions
    /// of the index, because otherwise the database does not use the index.
    fn push_condition<'a>(&'a self, query: &mut Query<'a>) {
        let session_id = format!("{}(session_id, '')", query.dialect().null_or);
        query.push(" WHERE app_name = ").bind(&self.session.app);
        query.push(" AND user_id = ").bind(&self.session.user);
        query.push(" AND ").push(&session_id).push(" = ");
        query.bind(self.session_id().unwrap_or_default());
        query.push(" AND name = ").bind(&self.name);
    }

    fn query<C: Connection>(&self, text: &str) -> Query<'_> {
        let mut query = Query::new(C::DIALECT, text);
        self.push_condition(&mut query);
        query
    }
}

/// Saves a version, and returns its number. Returns `None` if another transaction has taken the
/// number: the next call sees it.
///
/// # Errors
/// When the database fails.
pub async fn save<C: Connection>(
    connection: &mut C,
    file: &FileKey,
    part: &StoredPart,
) -> Result<Option<u32>> {
    let mut insert = Query::new(
        C::DIALECT,
        "INSERT INTO adkw_artifacts
            (app_name, user_id, session_id, name, part, data, version) SELECT ",
    );
    insert.bind(&file.session.app).push(", ");
    insert.bind(&file.session.user).push(", ");
    insert.bind(file.session_id()).push(", ");
    insert.bind(&file.name).push(", ");
    insert.bind(&part.json).push(", ");
    insert.bind(Parameter::Bytes(part.data.as_deref()));
    insert.push(", coalesce(max(version) + 1, 0) FROM adkw_artifacts");
    file.push_condition(&mut insert);
    insert.push(" ON CONFLICT DO NOTHING RETURNING version");
    let saved = all(connection, "save an artifact", insert, version).await?;
    Ok(saved.first().copied())
}

fn version(row: &dyn Columns) -> Result<u32> {
    u32::try_from(row.number(0)?).map_err(|error| {
        Error::new(
            ErrorKind::Store(StoreErrorKind::Other),
            "the artifact has too many versions",
        )
        .with_source(error)
    })
}

/// Loads a version, or the latest one.
///
/// # Errors
/// When the database fails, or the artifact cannot be read.
pub async fn load<C: Connection>(
    connection: &mut C,
    file: &FileKey,
    version: Option<u32>,
) -> Result<Option<Part>> {
    let mut query = file.query::<C>("SELECT part, data FROM adkw_artifacts");
    if let Some(version) = version {
        query.push(" AND version = ").bind(u64::from(version));
    }
    query.push(" ORDER BY version DESC LIMIT 1");
    let found = all(connection, "load an artifact", query, |row| {
        Ok(StoredPart {
            json: row.text(0)?,
            data: row.bytes(1)?.map(Into::into),
        })
    });
    let part = found.await?.pop();
    part.map(StoredPart::into_part).transpose()
}

/// Lists the versions of an artifact.
///
/// # Errors
/// When the database fails.
pub async fn versions<C: Connection>(connection: &mut C, file: &FileKey) -> Result<Vec<u32>> {
    let mut query = file.query::<C>("SELECT version FROM adkw_artifacts");
    query.push(" ORDER BY version");
    let what = "list the versions of an artifact";
    all(connection, what, query, version).await
}

/// Lists the names of the artifacts of a session and of its user, in the order of their bytes.
///
/// # Errors
/// When the database fails.
pub async fn list<C: Connection>(connection: &mut C, key: &SessionKey) -> Result<Vec<String>> {
    let text = "SELECT DISTINCT name FROM adkw_artifacts WHERE app_name = ";
    let mut query = Query::new(C::DIALECT, text);
    query.bind(&key.app).push(" AND user_id = ").bind(&key.user);
    query.push(" AND ").push(C::DIALECT.null_or);
    query.push("(session_id, '') IN ('', ").bind(&key.id);
    query.push(") AND (session_id IS NULL OR session_id = ");
    query.bind(&key.id).push(")");
    let names = all(connection, "list artifacts", query, |row| row.text(0));
    let mut names = names.await?;
    names.sort();
    Ok(names)
}

/// Deletes all versions of an artifact.
///
/// # Errors
/// When the database fails.
pub async fn delete<C: Connection>(connection: &mut C, file: &FileKey) -> Result<()> {
    let delete = file.query::<C>("DELETE FROM adkw_artifacts");
    execute(connection, "delete an artifact", delete)
        .await
        .map(drop)
}
