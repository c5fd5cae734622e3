//! [`export`] and [`import`]: a session as lines of JSON. The first line has its key and state,
//! each further line has one event in ADK's stored form.

use super::{EventFilter, Scope, SessionKey, SessionStore};
use crate::event::{Event, StateDelta};
use crate::{Error, ErrorKind, Result, StoreErrorKind};
use serde::{Deserialize, Serialize};

/// The number of events that are read or written together.
const MANY: usize = 1000;

#[derive(Serialize, Deserialize)]
struct Head {
    session: SessionKey,
    /// The session's own keys. Keys of the user and the app do not belong to the session.
    state: StateDelta,
}

/// Exports a session line by line, without line ends; returns `false` if it does not exist. Only
/// one page of the session is in memory at a time.
///
/// # Errors
/// When the store fails, or `line` does.
pub async fn export(
    store: &dyn SessionStore,
    key: &SessionKey,
    mut line: impl FnMut(&str) -> Result<()> + Send,
) -> Result<bool> {
    let Some(session) = store.read(key, &EventFilter::new().last(0)).await? else {
        return Ok(false);
    };
    let own = session
        .state
        .into_iter()
        .filter(|(key, _)| Scope::of(key) == Scope::Session);
    let head = Head {
        session: key.clone(),
        state: own.collect(),
    };
    let head = serde_json::to_string(&head);
    line(&head.map_err(|error| {
        transfer_error(format!("the state of `{key}` has no form in JSON: {error}"))
    })?)?;
    for first in (0..session.len).step_by(MANY) {
        let end = (first + MANY).min(session.len);
        let Some(page) = store
            .read(key, &EventFilter::new().places(first..end))
            .await?
        else {
            return Err(key.missing());
        };
        page.events
            .iter()
            .try_for_each(|event| line(&event.to_stored()?))?;
    }
    Ok(true)
}

/// Creates a session under a new key from the lines of an export. Its events set the keys of the
/// user and the app again.
///
/// # Errors
/// When a session of that key exists, a line is not from an export (the error has its number), or
/// the store fails. Then the session does not exist afterwards.
pub async fn import<I>(store: &dyn SessionStore, key: SessionKey, lines: I) -> Result<()>
where
    I: IntoIterator<Item = Result<String>, IntoIter: Send>,
{
    let mut lines = lines.into_iter();
    let head = lines.next().transpose()?.unwrap_or_default();
    let head: Head =
        serde_json::from_str(&head).map_err(|error| line_error(1, &error.to_string()))?;
    head.state
        .check_depth()
        .map_err(|error| too_deep(1, &error))?;
    store.create(key.clone(), head.state.clone()).await?;
    let imported = append(store, &key, lines).await;
    if imported.is_err() {
        store.delete(&key).await?;
    }
    imported
}

async fn append(
    store: &dyn SessionStore,
    key: &SessionKey,
    lines: impl Iterator<Item = Result<String>> + Send,
) -> Result<()> {
    let (mut page, mut last) = (Vec::with_capacity(MANY), 1);
    for (number, line) in lines.enumerate() {
        let event =
            Event::from_stored(&line?).map_err(|error| line_error(number + 2, error.message()))?;
        event
            .check_depth()
            .map_err(|error| too_deep(number + 2, &error))?;
        page.push(event);
        if page.len() == MANY {
            store
                .append(key, std::mem::take(&mut page))
                .await
                .map_err(|error| page_error(number + 2, MANY, error))?;
        }
        last = number + 2;
    }
    let many = page.len();
    if page.is_empty() {
        Ok(())
    } else {
        store
            .append(key, page)
            .await
            .map_err(|error| page_error(last, many, error))
    }
}

/// Adds the numbers of the lines to the error of a doubled event.
fn page_error(last: usize, many: usize, error: Error) -> Error {
    match error.kind() {
        ErrorKind::Store(StoreErrorKind::Exists) => {
            let first = last + 1 - many;
            let message = format!(
                "in the lines {first} to {last} of the import: {}",
                error.message()
            );
            Error::new(error.kind(), message)
                .with_help("remove the repeated lines; an export has each event once")
        }
        _ => error,
    }
}

fn too_deep(line: usize, error: &Error) -> Error {
    let message = format!(
        "line {line} of the import cannot be kept: {}",
        error.message()
    );
    Error::new(error.kind(), message).with_help(error.help().unwrap_or_default())
}

fn line_error(line: usize, why: &str) -> Error {
    transfer_error(format!(
        "line {line} of the import is not from an export: {why}"
    ))
}

fn transfer_error(message: String) -> Error {
    Error::new(ErrorKind::Store(StoreErrorKind::Corrupt), message).with_help(
        "each line is JSON: the first has `session` and `state`, the others are events as ADK \
         stores them",
    )
}
