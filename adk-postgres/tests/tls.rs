//! Tests of connections over TLS with the feature `tls`, and of the error without the feature.
//!
//! Run by
//! `tests/peers/run-postgres.sh cargo test -p adk-workflow-postgres --features tls --test tls --
//! --ignored`.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use adk_build::{ErrorKind, StoreErrorKind};
use adk_postgres::PostgresStore;
use support::Database;

/// Returns a URL with the given host name. The certificate of the server is for `localhost`.
fn url_with_host(database: &Database, host: &str, parameters: &str) -> String {
    format!("{}?{parameters}", database.url.replace("127.0.0.1", host))
}

async fn connect_error(url: &str) -> adk_build::Error {
    let error = PostgresStore::connect(url).await.unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Store(StoreErrorKind::Other),
        "{error}"
    );
    assert!(
        error.help().is_some_and(|help| help.contains("`tls`")),
        "{error}"
    );
    error
}

#[cfg(feature = "tls")]
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_connection_is_encrypted_and_the_server_is_verified() {
    let ca = std::env::var("ADK_POSTGRES_CA").unwrap();
    let database = Database::new().await;
    for (host, parameters) in [
        ("127.0.0.1", "sslmode=require".to_owned()),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={ca}")),
        ("localhost", format!("sslmode=verify-full&sslrootcert={ca}")),
    ] {
        let store = PostgresStore::connect(&url_with_host(&database, host, &parameters))
            .await
            .unwrap();
        let sql = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE application_name = 'adk-workflow' AND datname = current_database()";
        let is_encrypted: Option<bool> = sqlx::query_scalar(sql)
            .fetch_one(&mut database.connect().await)
            .await
            .unwrap();
        assert_eq!(is_encrypted, Some(true), "{parameters}");
        store.shut_down().await.unwrap();
    }
    // The authority is unknown, or the name differs.
    for (host, parameters) in [
        ("localhost", "sslmode=verify-full".to_owned()),
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={ca}")),
    ] {
        let error = connect_error(&url_with_host(&database, host, &parameters)).await;
        assert!(error.to_string().contains("certificate"), "{error}");
    }
}

#[cfg(not(feature = "tls"))]
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn tls_without_the_feature_is_an_error() {
    let database = Database::new().await;
    for parameters in ["sslmode=require", "sslmode=verify-full"] {
        connect_error(&url_with_host(&database, "localhost", parameters)).await;
    }
}
