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

/// Fails for topics that begin with `b`, and counts its calls for long lists.
#[agent(writes = note)]
async fn look_up(topic: String, topics: Vec<String>) -> Result<String> {
    LOOKED_UP.fetch_add(u32::from(topics.len() > LONG), SeqCst);
    if topic.starts_with('b') {
        let error = adk::Error::new(ErrorKind::Timeout, format!("no answer for {topic}"));
        return Err(error.with_help("ask later"));
    }
    Ok(format!("on {topic}"))
}

static LOOKED_UP: AtomicU32 = AtomicU32::new(0);
const LONG: usize = 5;

#[agent(writes = count)]
fn count(note: Vec<String>) -> usize {
    note.len()
}

/// Versions of one workflow, whose `each` leaves out more or fewer failed elements.
mod half {
    use super::{count, look_up};
    use adk::prelude::*;

    workflow! {
        /// Leaves out half of the topics.
        pub Limited(topics: Vec<String>) -> count: usize {
            each(on_error = skip(max = "50 %"), max_concurrency = 1) topic in topics < look_up >
            await go: bool;
            count
        }
    }
}

mod one {
    use super::{count, look_up};
    use adk::prelude::*;

    workflow! {
        /// Leaves out one topic.
        pub Limited(topics: Vec<String>) -> count: usize {
            each(on_error = skip(max = 1), max_concurrency = 1) topic in topics < look_up >
            await go: bool;
            count
        }
    }
}

fn topics(all: &[&str]) -> Vec<String> {
    all.iter().map(|topic| (*topic).to_owned()).collect()
}

#[tokio::test]
async fn an_each_fails_as_soon_as_too_many_elements_fail_and_a_higher_limit_continues_it() {
    let runner: Runner = Runner::builder()
        .store(adk::InMemoryStore::new())
        .build()
        .unwrap();
    let before = LOOKED_UP.load(SeqCst);
    let id = adk::RunId::new();
    let given = topics(&["a", "b1", "c", "b2", "d", "e"]);
    let workflow = one::Limited::default();
    let failed = runner.run(&workflow, given).run_id(id).await.unwrap_err();
    assert_eq!(
        failed.to_string(),
        "agent `each_1` (at limited/each_1): 2 of 6 elements have failed, and `on_error = skip(max \
         = 1)` leaves out at most 1; the first is `limited/each_1[1]/look_up`: no answer for b1; \
         help: ask later; or raise `max`"
    );
    assert_eq!(failed.kind(), ErrorKind::Timeout);
    let cause = std::error::Error::source(&failed).unwrap().to_string();
    let first = "agent `look_up` (at limited/each_1[1]/look_up): no answer for b1; help: ask later";
    assert_eq!(cause, first);
    assert_eq!(
        LOOKED_UP.load(SeqCst) - before,
        4,
        "`d` and `e` do not begin"
    );

    // The same version decides the same again. Only the element over the limit is repeated.
    let again = runner.resume(&workflow, id).await.unwrap_err();
    assert_eq!(again.to_string(), failed.to_string());
    assert_eq!(LOOKED_UP.load(SeqCst) - before, 5);

    let paused = runner.resume(&half::Limited::default(), id).await;
    assert_eq!(paused.unwrap_err().kind(), ErrorKind::Paused);
    assert_eq!(LOOKED_UP.load(SeqCst) - before, 8, "`b2`, `d` and `e`");
    // The block has ended, so a lower limit does not change it.
    let waiting = runner.waiting().await.unwrap().remove(0);
    runner.answer(&waiting.id, true).await.unwrap();
    let outcome = runner.resume(&workflow, id).await.unwrap();
    assert_eq!(outcome.output, 4);
    let said: Vec<_> = outcome.session().events().filter_map(skip_report).collect();
    assert_eq!(said[0].1["failed"].as_array().unwrap().len(), 2, "{said:?}");
}

#[tokio::test]
async fn a_percentage_is_of_the_elements_and_rounded_down() {
    let runner: Runner = Runner::builder().build().unwrap();
    for (given, fails) in [
        (&["b1"][..], true),
        (&["a", "b1"], false),
        (&["b1", "b2", "c"], true),
        (&["b1", "b2", "c", "d"], false),
        (&["b1", "b2", "b3", "d", "e"], true),
        (&[], false),
    ] {
        let ended = runner.run(&half::Limited::default(), topics(given)).await;
        let is_paused = ended.unwrap_err().kind() == ErrorKind::Paused;
        assert_eq!(is_paused, !fails, "{given:?}");
    }
}

#[test]
fn the_description_shows_the_limit() {
    let tree = half::Limited::SPEC.to_string();
    let head = r#"each(max_concurrency = 1, on_error = skip(max = "50 %")) topic in topics"#;
    assert!(tree.contains(head), "{tree}");
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
