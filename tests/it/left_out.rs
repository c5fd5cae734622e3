//! `on_error = skip`: a failed element is skipped, the other elements continue, and a resumed run
//! skips the same elements.

use adk::engine::MemoryJournal;
use adk::prelude::*;
use adk::session::{MemoryStore, SessionStore};
use adk::{ErrorKind, Event, LEFT_OUT_KEY, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

static CALLS: AtomicU32 = AtomicU32::new(0);

/// Fails for one topic, the first time.
#[agent(writes = note)]
async fn research(topic: String) -> Result<String> {
    if topic == "b" && CALLS.fetch_add(1, SeqCst) == 0 {
        return Err(adk::Error::other("no such topic"));
    }
    Ok(format!("on {topic}"))
}

/// Fails after it has written.
#[agent(writes = checked)]
fn check(note: &str) -> Result<bool> {
    if note == "on c" {
        Err(adk::Error::other("not true"))
    } else {
        Ok(true)
    }
}

#[agent(writes = left)]
fn left() -> Result<u32> {
    Err(adk::Error::other("left fails"))
}

#[agent(writes = right)]
fn right() -> u32 {
    7
}

#[agent(writes = sum)]
fn sum(left: Option<u32>, right: Option<u32>, note: Vec<String>) -> String {
    format!("{left:?} {right:?} {note:?}")
}

workflow! {
    /// Continues without the failed elements.
    pub Careful(topics: Vec<String>) -> sum: String {
        each(on_error = skip) topic in topics < research; check >
        sides: parallel(on_error = skip) < left; right >
        await go: bool;
        sum
    }
}

fn skip_report(event: &Arc<Event>) -> Option<(String, Value)> {
    let value = event.details.as_ref()?.custom_metadata.get(LEFT_OUT_KEY)?;
    Some((event.path.to_string(), value.clone()))
}

#[tokio::test]
async fn failed_elements_are_skipped_also_in_a_resumed_run() {
    let sessions: Arc<dyn SessionStore> = Arc::new(MemoryStore::default());
    let engine = MemoryJournal::new();
    let runner = || {
        let runner: Runner = Runner::builder()
            .session_store(sessions.clone())
            .engine(engine.clone())
            .build()
            .unwrap();
        runner
    };
    let topics: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
    let paused = runner().run(&Careful::default(), topics).await.unwrap_err();
    assert_eq!(paused.kind(), ErrorKind::Paused, "{paused}");
    let waiting = runner().waiting().await.unwrap().remove(0);
    runner().answer(&waiting.id, true).await.unwrap();
    let outcome = runner()
        .resume(&Careful::default(), waiting.run_id)
        .await
        .unwrap();
    assert_eq!(outcome.output, r#"None Some(7) ["on a"]"#);
    assert_eq!(CALLS.load(SeqCst), 1, "what failed is not tried again");
    let said: Vec<_> = outcome.session().events().filter_map(skip_report).collect();
    let failed = |path: &str, error: &str| json!({"path": path, "error": error});
    assert_eq!(
        said,
        [
            (
                "careful/each_1".to_owned(),
                json!({"failed": [
                    failed("careful/each_1[1]", "agent `research` (at careful/each_1[1]/research): \
                        no such topic"),
                    failed("careful/each_1[2]", "agent `check` (at careful/each_1[2]/check): not \
                        true"),
                ]})
            ),
            (
                "careful/sides".to_owned(),
                json!({"failed": [failed("careful/sides/left", "agent `left` (at \
                    careful/sides/left): left fails")]})
            ),
        ]
    );
}

#[test]
fn the_description_shows_on_error() {
    let tree = Careful::SPEC.to_string();
    assert!(
        tree.contains("each(on_error = skip) topic in topics"),
        "{tree}"
    );
    assert!(tree.contains("sides: parallel(on_error = skip)"), "{tree}");
}
