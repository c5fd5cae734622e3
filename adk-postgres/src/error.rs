//! What Postgres says, as an error that says what to do.

use adk_core::{Error, ErrorKind, StoreErrorKind};
use sqlx::Error as Sql;
use sqlx::postgres::PgDatabaseError;

/// What went wrong, while this was done.
pub(crate) fn failed(doing: &str, error: Sql) -> Error {
    let (kind, help) = kind(&error);
    let message =
        match error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>()) {
            Some(error) => format!("Postgres failed to {doing}: {} ({})", error.message(), error.code()),
            None => format!("Postgres failed to {doing}: {error}"),
        };
    let error = Error::new(ErrorKind::Store(kind), message).with_source(error);
    match help {
        "" => error,
        help => error.with_help(help),
    }
}

fn kind(error: &Sql) -> (StoreErrorKind, &'static str) {
    use StoreErrorKind as Kind;
    const AWAY: &str =
        "is the server there? nothing that was acknowledged is lost; resume the run when it is back";
    const TLS: &str = "does the server speak TLS, with a certificate for that host that is vouched for? the feature \
        `tls` adds it here; `sslmode` and `sslrootcert` of the URL choose";
    match error {
        Sql::Database(error) => match error.code().as_deref().unwrap_or_default() {
            // A deadlock, or a lock that is held for too long.
            "40001" | "40P01" | "55P03" | "57014" => (
                Kind::Locked,
                "another program holds rows of it: end its transaction, or wait longer with `patience`",
            ),
            "53100" => (Kind::Full, "make room on the server; nothing that was acknowledged is lost"),
            "42501" => (
                Kind::ReadOnly,
                "the user needs `SELECT, INSERT, UPDATE, DELETE` on the tables and `USAGE` on \
                their sequences; to make the tables it needs `CREATE` on the schema",
            ),
            // After a failover the server that was the primary says so for a moment.
            "25006" => (Kind::Unavailable, "the server, or the user, is read-only: connect to the primary"),
            "28000" | "28P01" => {
                (Kind::Other, "check user and password of the URL, and `pg_hba.conf` of the server")
            }
            "3D000" => (Kind::Missing, "make the database first: `createdb NAME`"),
            "3F000" => (Kind::Missing, "make the schema first, or check `search_path`"),
            "42P01" | "42703" | "42804" | "42P10" | "42883" => (
                Kind::Corrupt,
                "the tables were changed or dropped: open the store again, or use another database",
            ),
            "XX001" | "XX002" => (Kind::Corrupt, "take the database from a backup"),
            code if code.starts_with("08") || code.starts_with("57P") || code.starts_with("53") => {
                (Kind::Unavailable, AWAY)
            }
            code if code.starts_with("58") => (Kind::Unavailable, "look at the disk of the server"),
            _ => (Kind::Other, ""),
        },
        // The handshake of TLS: a certificate that is wrong stays so.
        Sql::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => (Kind::Other, TLS),
        Sql::Io(_) | Sql::PoolTimedOut | Sql::PoolClosed | Sql::WorkerCrashed | Sql::BeginFailed => {
            (Kind::Unavailable, AWAY)
        }
        // A connection that ends in the middle of a message.
        Sql::Protocol(_) => (Kind::Unavailable, AWAY),
        Sql::Tls(_) => (Kind::Other, TLS),
        Sql::Configuration(_) => (Kind::Other, "a URL is `postgres://user:password@host:5432/database`"),
        _ => (Kind::Other, ""),
    }
}

/// Whether a constraint of uniqueness was in the way, and which.
pub(crate) fn is_taken(error: &Sql, constraint: &str) -> bool {
    error
        .as_database_error()
        .is_some_and(|error| error.is_unique_violation() && error.constraint() == Some(constraint))
}

/// Whether the session that a row belongs to is not there.
pub(crate) fn is_without_session(error: &Sql) -> bool {
    error.as_database_error().is_some_and(|error| error.is_foreign_key_violation())
}

/// Whether an event is in its slot already.
pub(crate) fn is_slot_taken(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<Sql>());
    source.is_some_and(|source| is_taken(source, "adkw_log_slot"))
}

/// Whether it may work when it is tried again a little later.
pub(crate) fn passes(error: &Error) -> bool {
    use StoreErrorKind::{Locked, Unavailable};
    matches!(error.kind(), ErrorKind::Store(Locked | Unavailable))
}

/// The error of a transaction that was lost after its commit was sent.
pub(crate) fn outcome_unknown(error: &Error) -> Error {
    let message = format!("{}; whether its transaction was committed is not known", error.message());
    Error::new(ErrorKind::Store(StoreErrorKind::OutcomeUnknown), message).with_help(
        "look when the server is back; what has an id, as a run has, may be written again under that id",
    )
}

/// The result of a statement, with what it was for.
pub(crate) trait Doing<T> {
    fn doing(self, what: &str) -> adk_core::Result<T>;
}

impl<T> Doing<T> for Result<T, Sql> {
    fn doing(self, what: &str) -> adk_core::Result<T> {
        self.map_err(|error| failed(what, error))
    }
}

/// What is stored is not what is written here.
pub(crate) fn corrupt(message: String) -> Error {
    Error::new(ErrorKind::Store(StoreErrorKind::Corrupt), message)
        .with_help("was it written by another program?")
}

/// The runtime in which the store was opened has ended.
pub(crate) fn closed() -> Error {
    Error::new(ErrorKind::Store(StoreErrorKind::Unavailable), "the store is closed")
        .with_help("it lives as long as the runtime in which it was opened")
}
