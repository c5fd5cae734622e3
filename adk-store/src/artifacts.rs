//! Artifacts as rows of `adkw_artifacts`, one for each version.

use crate::sql::{Columns, Connection, Dialect, Parameter, Query, all, execute};
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

    /// Returns parameters 1 to 4 of a statement that contains [`OF_FILE`].
    fn parameters(&self) -> [Parameter<'_>; 4] {
        let session_id = self.session().map(|session| &*session.id);
        let SessionKey { app, user, .. } = &self.session;
        [
            app.into(),
            user.into(),
            session_id.into(),
            (&self.name).into(),
        ]
    }
}

/// The condition for the versions of one artifact. It is spelled like the expressions of the index,
/// because otherwise a database does not use the index.
const OF_FILE: &str =
    "app_name = $1 AND user_id = $2 AND ifnull(session_id, '') = ifnull($3, '') AND name = $4";

/// Returns a statement in the spelling of a database.
fn query<'a, C: Connection>(
    text: &str,
    parameters: impl IntoIterator<Item = Parameter<'a>>,
) -> Query<'a> {
    let Dialect { mark, null_or, .. } = C::DIALECT;
    let text = text.replace('$', &mark.to_string());
    let mut query = Query::new(C::DIALECT, text.replace("ifnull", null_or));
    query.parameters = parameters.into_iter().collect();
    query
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
    let text = format!(
        "INSERT INTO adkw_artifacts (app_name, user_id, session_id, name, version, part, data)
        SELECT $1, $2, $3, $4, ifnull(max(version) + 1, 0), $5, $6 FROM adkw_artifacts
        WHERE {OF_FILE} ON CONFLICT DO NOTHING RETURNING version"
    );
    let part = [(&part.json).into(), Parameter::Bytes(part.data.as_deref())];
    let insert = query::<C>(&text, file.parameters().into_iter().chain(part));
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
    let text = format!("SELECT part, data FROM adkw_artifacts WHERE {OF_FILE}");
    let mut query = query::<C>(&text, file.parameters());
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
    let text = format!("SELECT version FROM adkw_artifacts WHERE {OF_FILE} ORDER BY version");
    let query = query::<C>(&text, file.parameters());
    all(
        connection,
        "list the versions of an artifact",
        query,
        version,
    )
    .await
}

/// Lists the names of the artifacts of a session and of its user, in the order of their bytes.
///
/// # Errors
/// When the database fails.
pub async fn list<C: Connection>(connection: &mut C, key: &SessionKey) -> Result<Vec<String>> {
    let text = "SELECT DISTINCT name FROM adkw_artifacts
        WHERE app_name = $1 AND user_id = $2 AND ifnull(session_id, '') IN ($3, '')
            AND (session_id = $3 OR session_id IS NULL)";
    let SessionKey { app, user, id, .. } = key;
    let query = query::<C>(text, [app.into(), user.into(), id.into()]);
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
    let text = format!("DELETE FROM adkw_artifacts WHERE {OF_FILE}");
    let delete = query::<C>(&text, file.parameters());
    execute(connection, "delete an artifact", delete)
        .await
        .map(drop)
}
