//! What Postgres says, as an error that says what to do.

use adk_core::{Error, ErrorKind, StoreErrorKind};
use sqlx::Error as Sql;
use sqlx::postgres::{PgDatabaseError, PgSeverity};

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

const AWAY: &str =
    "is the server there? nothing that was acknowledged is lost; resume the run when it is back";
const HELD: &str = "another program holds rows of it, or the server is busy: end its transaction, or wait longer with `patience`";
const CHANGED: &str = "the tables were changed or dropped: open the store again, or use another database";
const UNFIT: &str = "take the database from a backup";
const LOGIN: &str = "check user and password of the URL, and `pg_hba.conf` of the server";
const POOLED: &str =
    "a pooler or another program has removed prepared statements of this connection; see `docs/scaling.md`";
const TLS: &str = "does the server speak TLS, with a certificate for that host that is vouched for? the feature \
    `tls` adds it here; `sslmode` and `sslrootcert` of the URL choose";

/// Codes of Postgres, or the classes that they begin with, with what they mean here. The longest that fits counts; a code
/// that none fits is [`StoreErrorKind::Other`]. Those of kind `Locked` and `Unavailable` [pass](passes).
const CODES: &[(&str, StoreErrorKind, &str)] = {
    use StoreErrorKind::{Corrupt, Full, Locked, Missing, Other, ReadOnly, Unavailable};
    &[
        // The connection: lost, or not made.
        ("08", Unavailable, AWAY),
        // A plan of an earlier form of the tables. Another connection makes another.
        ("0A000", Unavailable, CHANGED),
        // After a failover the server that was the primary says so for a moment.
        ("25006", Unavailable, "the server, or the user, is read-only: connect to the primary"),
        // The transaction was idle, or open, for too long: this process was stopped, or its runtime blocked.
        ("25P03", Unavailable, AWAY),
        ("25P04", Unavailable, AWAY),
        ("26000", Unavailable, POOLED),
        ("28000", Other, LOGIN),
        ("28P01", Other, LOGIN),
        ("3D000", Missing, "make the database first: `createdb NAME`"),
        ("3F000", Missing, "make the schema first, or check `search_path`"),
        // Serialization, and a deadlock.
        ("40001", Locked, HELD),
        ("40P01", Locked, HELD),
        (
            "42501",
            ReadOnly,
            "the user needs `SELECT, INSERT, UPDATE, DELETE` on the tables and `USAGE` on \
            their sequences; to make the tables it needs `CREATE` on the schema",
        ),
        ("42703", Corrupt, CHANGED),
        ("42804", Corrupt, CHANGED),
        ("42883", Corrupt, CHANGED),
        ("42P01", Corrupt, CHANGED),
        ("42P05", Unavailable, POOLED),
        ("42P10", Corrupt, CHANGED),
        // No memory, no connection left.
        ("53", Unavailable, AWAY),
        ("53100", Full, "make room on the server; nothing that was acknowledged is lost"),
        // `lock_timeout`, and `statement_timeout`.
        ("55P03", Locked, HELD),
        ("57014", Locked, HELD),
        // A shutdown, a crash, a start, an idle session.
        ("57P", Unavailable, AWAY),
        ("57P04", Missing, "the database was dropped: make it again"),
        ("58", Unavailable, "look at the disk of the server"),
        ("XX001", Corrupt, UNFIT),
        ("XX002", Corrupt, UNFIT),
    ]
};

fn of_code(code: &str) -> (StoreErrorKind, &'static str) {
    let fits = CODES.iter().filter(|(prefix, ..)| code.starts_with(prefix));
    let found = fits.max_by_key(|(prefix, ..)| prefix.len());
    found.map_or((StoreErrorKind::Other, ""), |(_, kind, help)| (*kind, *help))
}

fn kind(error: &Sql) -> (StoreErrorKind, &'static str) {
    use StoreErrorKind as Kind;
    match error {
        Sql::Database(error) => of_code(error.code().as_deref().unwrap_or_default()),
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

/// Whether the connection is of no use after this error. After the others the server is ready for the next statement.
pub(crate) fn closes(error: &Sql) -> bool {
    kind(error).0 == StoreErrorKind::Unavailable || !is_answer(error)
}

/// Whether the server, or what is in front of it, has said no, and the connection goes on.
fn is_answer(error: &Sql) -> bool {
    let server = error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>());
    match server {
        Some(error) => !matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic),
        // What this process makes of parameters and rows.
        None => {
            matches!(error, Sql::RowNotFound | Sql::Encode(_) | Sql::Decode(_) | Sql::ColumnDecode { .. })
        }
    }
}

/// Whether a pooler refuses the settings of a connection. PgBouncer says `08P01`.
pub(crate) fn refuses_settings(error: &Sql) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    matches!(code.as_deref(), Some("08P01" | "0A000" | "42704"))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn passes_by_code(code: &str) -> bool {
        passes(&Error::new(ErrorKind::Store(of_code(code).0), ""))
    }

    #[test]
    fn what_passes_is_tried_again_and_nothing_else() {
        let passing = [
            "08000", "08003", "08006", "08P01", "0A000", "25006", "25P03", "25P04", "26000", "40001",
            "40P01", "42P05", "53000", "53200", "53300", "55P03", "57014", "57P01", "57P02", "57P03",
            "57P05", "58030",
        ];
        for code in passing {
            assert!(passes_by_code(code), "{code}");
            assert!(!of_code(code).1.is_empty(), "{code}");
        }
        let final_codes = [
            "", "22P02", "23505", "25P02", "28000", "28P01", "3D000", "40002", "42501", "42601", "42P01",
            "42P07", "53100", "57P04", "XX000", "XX001",
        ];
        for code in final_codes {
            assert!(!passes_by_code(code), "{code}");
        }
    }

    #[test]
    fn a_code_is_more_than_its_class() {
        assert_eq!(of_code("53100").0, StoreErrorKind::Full);
        assert_eq!(of_code("53300").0, StoreErrorKind::Unavailable);
        assert_eq!(of_code("57P04").0, StoreErrorKind::Missing);
        assert_eq!(of_code("57P01").0, StoreErrorKind::Unavailable);
    }

    #[test]
    fn a_connection_without_an_answer_is_closed() {
        let silent = Sql::Io(std::io::Error::from(std::io::ErrorKind::TimedOut));
        assert!(closes(&silent) && closes(&Sql::Protocol("half a message".to_owned())));
        assert!(!closes(&Sql::RowNotFound) && !closes(&Sql::Decode("no number".into())));
        assert!(passes(&failed("ask", silent)));
    }
}
