//! Configurations that are rejected before anything is served or run. These tests need no server.
use adk::prelude::*;
use adk::restate::{Restate, endpoint};
use adk::sqlite::SqliteStore;
use adk::{ErrorKind, InMemoryStore, StoreErrorKind};
use std::future::ready;
use std::path::PathBuf;

/// Returns a constant text.
#[agent(writes = line)]
fn say() -> &'static str {
    "said"
}

workflow! {
    /// One step.
    Saying() -> line: String {
        say;
    }
}

/// Opens a store in a file of its own.
async fn store(name: &str) -> (SqliteStore, PathBuf) {
    let folder = std::env::temp_dir().join(format!("adk-restate-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    (
        SqliteStore::open(folder.join("runs.db")).await.unwrap(),
        folder,
    )
}

async fn listener() -> tokio::net::TcpListener {
    tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap()
}

#[tokio::test]
async fn an_endpoint_needs_a_store_and_a_workflow() {
    let (store, folder) = store("endpoint").await;
    let forgetful: Runner = Runner::builder()
        .store(InMemoryStore::new())
        .build()
        .unwrap();
    let error = endpoint(&forgetful)
        .workflow(Saying::default())
        .serve_on(listener().await, ready(()))
        .await;
    assert!(
        error
            .as_ref()
            .unwrap_err()
            .message()
            .contains("outlives the process"),
        "{error:?}"
    );

    let runner: Runner = Runner::builder().store(store.clone()).build().unwrap();
    let error = endpoint(&runner)
        .serve_on(listener().await, ready(()))
        .await
        .unwrap_err();
    assert!(error.message().contains("no workflow"), "{error}");
    let keyed = endpoint(&runner)
        .workflow(Saying::default())
        .identity_key("mine");
    let error = keyed
        .serve_on(listener().await, ready(()))
        .await
        .unwrap_err();
    assert!(
        error.kind() == ErrorKind::Config && error.message().contains("`mine`"),
        "{error}"
    );
    let taken = listener().await;
    let error = endpoint(&runner)
        .serve(taken.local_addr().unwrap())
        .await
        .unwrap_err();
    assert!(
        error.kind() == ErrorKind::Config && error.message().contains("cannot serve on"),
        "{error}"
    );
    endpoint(&runner)
        .workflow(Saying::default())
        .serve_on(taken, ready(()))
        .await
        .unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn a_client_needs_a_url_and_a_store() {
    let (store, folder) = store("client").await;
    let error = Restate::new("here", store.clone()).unwrap_err();
    assert!(
        error.kind() == ErrorKind::Config && error.message().contains("`here`"),
        "{error}"
    );
    let error = Restate::new("http://localhost:8080", InMemoryStore::new()).unwrap_err();
    assert!(error.message().contains("outlives the process"), "{error}");
    // The engine can be combined with the sessions of its own store only.
    let restate = Restate::new("http://localhost:8080", store.clone()).unwrap();
    let _: Runner = Runner::builder()
        .store(store)
        .engine(restate.clone())
        .build()
        .unwrap();
    let error = Runner::builder()
        .engine(restate.clone())
        .build()
        .unwrap_err();
    assert!(
        error
            .help()
            .is_some_and(|help| help.contains("missing `.session_store(...)`")),
        "{error}"
    );
    let other = SqliteStore::open(folder.join("other.db")).await.unwrap();
    let error = Runner::builder()
        .store(restate)
        .session_store(other)
        .build()
        .unwrap_err();
    assert!(
        error
            .help()
            .is_some_and(|help| help.contains("missing `.engine(...)`")),
        "{error}"
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_error_names_an_unreachable_server() {
    let (store, folder) = store("away").await;
    // No process listens on this port once the listener is dropped.
    let url = format!("http://{}", listener().await.local_addr().unwrap());
    let runner: Runner = Runner::builder()
        .store(Restate::new(&url, store).unwrap())
        .build()
        .unwrap();
    let error = runner.run(&Saying::default(), ()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Store(StoreErrorKind::Unavailable));
    assert!(
        error.message().contains(&url) && error.help().is_some(),
        "{error}"
    );
    assert!(error.is_retryable());
    std::fs::remove_dir_all(folder).unwrap();
}
