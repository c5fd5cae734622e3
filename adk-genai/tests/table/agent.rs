//! The failures of the table for an agent: which ones are retried, and that no output and no store
//! contains the key.

use crate::ask::{Providers, in_silence};
use crate::cell::{Case, Fault, KEY, cases, columns, formats};
use crate::folder::Folder;
use crate::wire_server::WireServer;
use adk_build::llm::{LlmAgent, RETRY_KEY, Retry};
use adk_build::model::NoProvider;
use adk_build::{ErrorKind, RunConfig, RunEnd, Runner};
use adk_sqlite::SqliteStore;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tracing_subscriber::filter::LevelFilter;

/// Result of a run.
struct Ran {
    output: String,
    /// Milliseconds of waiting before each further attempt.
    waits: Vec<u64>,
    /// Kind of the error.
    error: Option<ErrorKind>,
    requests: usize,
}

/// Runs an agent with one retry. If the provider says how long to wait, the agent's own wait is an
/// hour: the test then ends only if the agent obeys the provider.
async fn run(
    case: Case<'_>,
    server: &WireServer,
    providers: &Providers,
    store: &SqliteStore,
) -> Ran {
    let before = server.requests().len();
    server.play([case.reply_at_once(), case.words()]);
    let says_when = case.gives().get("wait").is_some();
    let delay = if says_when {
        Duration::from_secs(3600)
    } else {
        Duration::from_millis(1)
    };
    let retry = Retry::new(1)
        .delay(delay)
        .max_delay(delay.max(Duration::from_secs(1)));
    let agent = LlmAgent::builder("writer")
        .instruction("Be brief.")
        .retry(retry)
        .build()
        .expect("it is complete");
    let runner = Runner::<NoProvider>::builder()
        .model(providers.model(case))
        .session_store(store.clone())
        .engine(store.clone())
        .config(RunConfig::new().streaming(case.stream))
        .build()
        .expect("it is complete");
    let handle = runner.session("anna", case.id());
    let mut stream = handle.run(&agent, "hi").stream();
    let mut ran = Ran {
        output: format!("{runner:?}"),
        waits: Vec::new(),
        error: None,
        requests: 0,
    };
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => {
                let told = event
                    .custom_metadata()
                    .get(RETRY_KEY)
                    .and_then(|told| told["waitMs"].as_u64());
                ran.waits.extend(told);
                let json = serde_json::to_string(&*event).expect("an event is JSON");
                let _ = write!(ran.output, "{event:?} {json}");
            }
            Err(error) => {
                let _ = write!(
                    ran.output,
                    "{error} {error:?} {error:#?} {:?}",
                    error.help()
                );
                let mut source = std::error::Error::source(&error);
                while let Some(cause) = source {
                    let _ = write!(ran.output, " {cause} {cause:?}");
                    source = cause.source();
                }
                ran.error = Some(error.kind());
            }
        }
    }
    assert!(!matches!(stream.end(), RunEnd::Paused(_)), "{}", case.at());
    ran.requests = server.requests().len() - before;
    ran
}

fn hides_the_key(text: &str, at: &str) {
    assert!(!text.contains(KEY), "{at}: {text}");
    // No output may contain even the end of the key.
    assert!(!text.contains(&KEY[KEY.len() - 8..]), "{at}: {text}");
}

/// Reads all files of a database from the disk.
fn bytes(folder: &Path) -> String {
    let files = std::fs::read_dir(folder).expect("it is a folder");
    let read = |file: std::io::Result<std::fs::DirEntry>| {
        std::fs::read(file.expect("it is listed").path()).expect("it can be read")
    };
    let all: Vec<u8> = files.flat_map(read).collect();
    String::from_utf8_lossy(&all).into_owned()
}

#[tokio::test]
async fn retryable_failures_are_retried_and_no_output_log_or_store_contains_the_key() {
    let folder = Folder::new();
    // The log of this crate and its dependencies, which includes the other tests of this program.
    let log = File::create(folder.path().join("log")).expect("it can be made");
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(Arc::new(log))
        .init();
    let store = SqliteStore::open(folder.file())
        .await
        .expect("it can be made");
    let server = WireServer::start([]).await;
    let providers = Providers::new(&server.url());
    let columns = columns();
    let mut failed = 0;
    for format in &formats() {
        for case in cases(&columns, format) {
            let Some(retried) = case.gives().get("retried").and_then(Value::as_bool) else {
                continue;
            };
            if case.gives().get("requests").is_some() {
                continue;
            }
            failed += 1;
            let at = case.at();
            let ran = in_silence(&server, run(case, &server, &providers, &store)).await;
            hides_the_key(&ran.output, &at);
            assert_eq!(
                ran.requests,
                1 + usize::from(retried),
                "{at}: {}",
                ran.output
            );
            assert_eq!(ran.error.is_none(), retried, "{at}: {:?}", ran.error);
            if case.gives().get("wait").is_some() {
                assert_eq!(ran.waits, [0], "{at}");
            }
            if let Some(ErrorKind::Model(kind)) = ran.error {
                assert_eq!(
                    format!("{kind:?}"),
                    case.gives()["error"].as_str().unwrap_or_default(),
                    "{at}"
                );
                assert!(ran.output.contains("writer"), "{at}: {}", ran.output);
            }
        }
    }
    assert!(failed > 90, "{failed}");
    let stored = bytes(folder.path());
    // The store contains the failures.
    assert!(
        stored.contains("Incorrect API key provided: ***"),
        "{} bytes",
        stored.len()
    );
    assert!(
        stored.contains("Anthropic stream error event"),
        "genai logs it"
    );
    hides_the_key(&stored, "the database or the log");
}

/// A failing server may repeat the request.
#[test]
fn the_replies_hold_the_key() {
    let columns = columns();
    for format in &formats() {
        let echo = cases(&columns, format).filter(|case| case.column.fault != Some(Fault::Drop));
        assert!(
            echo.filter(|case| format!("{:?}", case.reply()).contains(KEY))
                .count()
                >= 8,
            "{}",
            format.name
        );
    }
}
