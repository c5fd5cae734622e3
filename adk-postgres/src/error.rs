//! Conversion of Postgres errors into errors of ADK with a remedy.

use adk_model::{Error, ErrorKind, StoreErrorKind};
pub(crate) use adk_store::corrupt_error;
use sqlx::Error as Sql;
use sqlx::postgres::{PgDatabaseError, PgSeverity};

/// Converts an error of Postgres. `doing` completes "Postgres failed to ...".
pub(crate) fn postgres_error(doing: &str, error: Sql) -> Error {
    let (kind, help) = kind(&error);
    let message = match error
        .as_database_error()
        .and_then(|error| error.try_downcast_ref::<PgDatabaseError>())
    {
        Some(error) => format!(
            "Postgres failed to {doing}: {} ({})",
            error.message(),
            error.code()
        ),
        None => format!("Postgres failed to {doing}: {error}"),
    };
    let error = Error::new(ErrorKind::Store(kind), message).with_source(error);
    match help {
        "" => error,
        help => error.with_help(help),
    }
}

const AWAY: &str = "check that the server is running; no acknowledged write is lost, so resume the \
    run when the server is back";
const HELD: &str =
    "another program holds a lock, or the server is busy: end its transaction, or raise `patience`";
const CHANGED: &str =
    "the tables were changed or dropped: open the store again, or use another database";
const UNFIT: &str = "restore the database from a backup";
const LOGIN: &str = "check user and password in the URL, and `pg_hba.conf` of the server";
const POOLED: &str = "a pooler or another program has removed prepared statements of this \
    connection; see `docs/scaling.md`";
const TLS: &str = "check that the server speaks TLS with a certificate for that host from a \
    trusted authority; the feature `tls` enables TLS here, and `sslmode` and `sslrootcert` in the \
    URL configure it";

/// Postgres error codes or code prefixes, with kind and help. The longest matching prefix wins. A
/// code without a match is [`StoreErrorKind::Other`]. Errors of kind `Locked` and `Unavailable` are
/// [transient](is_transient).
const CODES: &[(&str, StoreErrorKind, &str)] = {
    use StoreErrorKind::{Corrupt, Full, Locked, Missing, Other, ReadOnly, Unavailable};
    &[
        // Connection lost or refused.
        ("08", Unavailable, AWAY),
        // A cached plan no longer matches the tables. Another connection has no such plan.
        ("0A000", Unavailable, CHANGED),
        // After a failover, a former primary reports this for a moment.
        (
            "25006",
            Unavailable,
            "the server, or the user, is read-only: connect to the primary",
        ),
        // The transaction was idle or open for too long, because this process was stopped or its
        // runtime was blocked.
        ("25P03", Unavailable, AWAY),
        ("25P04", Unavailable, AWAY),
        ("26000", Unavailable, POOLED),
        ("28000", Other, LOGIN),
        ("28P01", Other, LOGIN),
        (
            "3D000",
            Missing,
            "create the database first: `createdb NAME`",
        ),
        (
            "3F000",
            Missing,
            "create the schema first, or check `search_path`",
        ),
        // Serialization failure, and deadlock.
        ("40001", Locked, HELD),
        ("40P01", Locked, HELD),
        (
            "42501",
            ReadOnly,
            "grant the user `SELECT, INSERT, UPDATE, DELETE` on the tables and `USAGE` on \
            their sequences, and `CREATE` on the schema if it has to create the tables",
        ),
        ("42703", Corrupt, CHANGED),
        ("42804", Corrupt, CHANGED),
        ("42883", Corrupt, CHANGED),
        ("42P01", Corrupt, CHANGED),
        ("42P05", Unavailable, POOLED),
        ("42P10", Corrupt, CHANGED),
        // Insufficient memory, or too many connections.
        ("53", Unavailable, AWAY),
        (
            "53100",
            Full,
            "free some space on the server; no acknowledged write is lost",
        ),
        // `lock_timeout`, and `statement_timeout`.
        ("55P03", Locked, HELD),
        ("57014", Locked, HELD),
        // Shutdown, crash, start, and idle session.
        ("57P", Unavailable, AWAY),
        (
            "57P04",
            Missing,
            "the database was dropped: create it again",
        ),
        ("58", Unavailable, "check the disk of the server"),
        ("XX001", Corrupt, UNFIT),
        ("XX002", Corrupt, UNFIT),
    ]
};

fn kind_of_code(code: &str) -> (StoreErrorKind, &'static str) {
    let fits = CODES.iter().filter(|(prefix, ..)| code.starts_with(prefix));
    let found = fits.max_by_key(|(prefix, ..)| prefix.len());
    found.map_or((StoreErrorKind::Other, ""), |(_, kind, help)| {
        (*kind, *help)
    })
}

fn kind(error: &Sql) -> (StoreErrorKind, &'static str) {
    use StoreErrorKind as Kind;
    match error {
        Sql::Database(error) => kind_of_code(error.code().as_deref().unwrap_or_default()),
        // A TLS handshake with an invalid certificate does not succeed later either.
        Sql::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => (Kind::Other, TLS),
        Sql::Io(_)
        | Sql::PoolTimedOut
        | Sql::PoolClosed
        | Sql::WorkerCrashed
        | Sql::BeginFailed => (Kind::Unavailable, AWAY),
        // The connection ended in the middle of a message.
        Sql::Protocol(_) => (Kind::Unavailable, AWAY),
        Sql::Tls(_) => (Kind::Other, TLS),
        Sql::Configuration(_) => (
            Kind::Other,
            "use a URL of the form `postgres://user:password@host:5432/database`",
        ),
        _ => (Kind::Other, ""),
    }
}

/// Reports whether the connection is unusable after an error. After other errors, the server
/// accepts the next statement.
pub(crate) fn is_closing(error: &Sql) -> bool {
    kind(error).0 == StoreErrorKind::Unavailable || !is_answer(error)
}

/// Reports whether the server, or a pooler, has answered with an error and keeps the connection
/// open.
fn is_answer(error: &Sql) -> bool {
    let server = error
        .as_database_error()
        .and_then(|error| error.try_downcast_ref::<PgDatabaseError>());
    match server {
        Some(error) => !matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic),
        // Errors that arise in this process, while it encodes parameters or decodes rows.
        None => {
            matches!(
                error,
                Sql::RowNotFound | Sql::Encode(_) | Sql::Decode(_) | Sql::ColumnDecode { .. }
            )
        }
    }
}

/// Reports whether a pooler has rejected the settings of a connection. PgBouncer answers `08P01`.
pub(crate) fn refuses_settings(error: &Sql) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    matches!(code.as_deref(), Some("08P01" | "0A000" | "42704"))
}

/// Reports whether an error is a violation of the given unique constraint.
pub(crate) fn is_taken(error: &Sql, constraint: &str) -> bool {
    error
        .as_database_error()
        .is_some_and(|error| error.is_unique_violation() && error.constraint() == Some(constraint))
}

/// Reports whether an error means that the session of a row does not exist.
pub(crate) fn is_without_session(error: &Error) -> bool {
    source(error)
        .and_then(Sql::as_database_error)
        .is_some_and(|error| error.is_foreign_key_violation())
}

fn source(error: &Error) -> Option<&Sql> {
    std::error::Error::source(error)?.downcast_ref()
}

/// Reports whether an error means that the slot of an event is already filled.
pub(crate) fn is_slot_taken(error: &Error) -> bool {
    source(error).is_some_and(|source| is_taken(source, "adkw_log_slot"))
}

/// Reports whether an error is transient, so that another attempt may succeed.
pub(crate) fn is_transient(error: &Error) -> bool {
    use StoreErrorKind::{Locked, Unavailable};
    matches!(error.kind(), ErrorKind::Store(Locked | Unavailable))
}

/// Returns the error for a transaction that was lost after its commit was sent.
pub(crate) fn outcome_unknown_error(error: &Error) -> Error {
    let message = format!(
        "{}; the outcome of the transaction is unknown",
        error.message()
    );
    Error::new(ErrorKind::Store(StoreErrorKind::OutcomeUnknown), message).with_help(
        "check the data when the server is back; you may write again what has an id, such as a \
         run, under the same id",
    )
}

/// Converts the error of a statement; the argument completes "Postgres failed to ...".
pub(crate) trait Doing<T> {
    fn doing(self, what: &str) -> adk_model::Result<T>;
}

impl<T> Doing<T> for Result<T, Sql> {
    fn doing(self, what: &str) -> adk_model::Result<T> {
        self.map_err(|error| postgres_error(what, error))
    }
}

/// Returns an error with the same kind, message and help, but without its source.
pub(crate) fn copy(error: &Error) -> Error {
    let copy = Error::new(error.kind(), error.message());
    match error.help() {
        Some(help) => copy.with_help(help),
        None => copy,
    }
}

/// Returns the error for a store whose runtime has ended.
pub(crate) fn closed_error() -> Error {
    Error::new(
        ErrorKind::Store(StoreErrorKind::Unavailable),
        "the store is closed",
    )
    .with_help("keep the runtime in which you opened the store running, and open the store again")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_transient_code(code: &str) -> bool {
        is_transient(&Error::new(ErrorKind::Store(kind_of_code(code).0), ""))
    }

    #[test]
    fn only_transient_errors_are_retried() {
        let passing = [
            "08000", "08003", "08006", "08P01", "0A000", "25006", "25P03", "25P04", "26000",
            "40001", "40P01", "42P05", "53000", "53200", "53300", "55P03", "57014", "57P01",
            "57P02", "57P03", "57P05", "58030",
        ];
        for code in passing {
            assert!(is_transient_code(code), "{code}");
            assert!(!kind_of_code(code).1.is_empty(), "{code}");
        }
        let final_codes = [
            "", "22P02", "23505", "25P02", "28000", "28P01", "3D000", "40002", "42501", "42601",
            "42P01", "42P07", "53100", "57P04", "XX000", "XX001",
        ];
        for code in final_codes {
            assert!(!is_transient_code(code), "{code}");
        }
    }

    #[test]
    fn the_longest_prefix_of_a_code_wins() {
        assert_eq!(kind_of_code("53100").0, StoreErrorKind::Full);
        assert_eq!(kind_of_code("53300").0, StoreErrorKind::Unavailable);
        assert_eq!(kind_of_code("57P04").0, StoreErrorKind::Missing);
        assert_eq!(kind_of_code("57P01").0, StoreErrorKind::Unavailable);
    }

    #[test]
    fn a_connection_without_an_answer_is_unusable() {
        let silent = Sql::Io(std::io::Error::from(std::io::ErrorKind::TimedOut));
        assert!(is_closing(&silent) && is_closing(&Sql::Protocol("half a message".to_owned())));
        assert!(!is_closing(&Sql::RowNotFound) && !is_closing(&Sql::Decode("no number".into())));
        assert!(is_transient(&postgres_error("ask", silent)));
    }
}
