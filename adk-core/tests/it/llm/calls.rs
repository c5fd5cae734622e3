//! Model calls: streaming, backpressure, timeouts, retries.

use super::*;
use crate::support::{Tree, run};
use adk_build::ErrorKind;
use adk_build::llm::{RETRY_KEY, Retry};
use adk_build::model::{
    Model, ModelChunk, ModelErrorKind, ModelRequest, ModelResponse, ModelStream,
};
use adk_build::testing::Reply;
use adk_build::{Content, Part};
use futures_util::{FutureExt, StreamExt, stream};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio::time::{Instant, sleep};

agent!(A = decl("a"));

const SECOND: Duration = Duration::from_secs(1);

fn tree(set: impl FnOnce(&mut Declared<A>)) -> Tree {
    let mut agent = llm::<A>();
    set(&mut agent);
    Tree::new("w", vec![run(agent)])
}

/// Returns the text of each event, with `~` before partial ones.
fn texts(events: &[Arc<Event>]) -> Vec<String> {
    events
        .iter()
        .map(|event| format!("{}{}", if event.partial { "~" } else { "" }, event.text()))
        .collect()
}

#[tokio::test]
async fn pieces_come_first_and_only_the_complete_answer_is_stored() {
    let reply = Reply::new()
        .thought("hm")
        .text("one two")
        .thought_pieces(["hm"])
        .pieces(["one ", "", "two"]);
    let model = ScriptedModel::new().reply(reply);
    let runner = streaming(&model);
    let session = runner.session("u", "s");
    let tree = tree(|_| {});
    let (events, error) = collect(&mut session.run(&tree, "go").stream()).await;
    assert!(error.is_none());
    assert_eq!(texts(&events), ["~", "~one ", "~two", "one two"]);
    assert!(matches!(
        events[0].content.as_ref().unwrap().parts[..],
        [Part::Thought(_)]
    ));
    assert!(
        events[1..3]
            .iter()
            .all(|event| !event.is_final_response() && event.author == "a")
    );
    assert_eq!(
        session.open().await.unwrap().len(),
        2,
        "the user's event and the complete answer"
    );
}

#[tokio::test]
async fn without_streaming_no_pieces_are_requested() {
    let model = ScriptedModel::new().reply(Reply::new().text("one two").pieces(["one ", "two"]));
    let events = events(&model, &tree(|_| {})).await;
    assert_eq!(texts(&events), ["one two"]);
    assert!(!model.requests()[0].stream);
}

/// A model that sends pieces forever and counts them, even without streaming.
struct Endless(Arc<AtomicUsize>);

impl Model for Endless {
    fn name(&self) -> &str {
        "endless"
    }
    fn generate(&self, _: Arc<ModelRequest>) -> ModelStream {
        let sent = self.0.clone();
        Box::pin(stream::repeat_with(move || {
            sent.fetch_add(1, SeqCst);
            Ok(ModelChunk::Text("x".into()))
        }))
    }
}

#[tokio::test]
async fn a_slow_consumer_slows_the_model_and_dropping_the_stream_ends_the_call() {
    for timeout in [None, Some(3600 * SECOND)] {
        let sent = Arc::new(AtomicUsize::new(0));
        let config = RunConfig::new().streaming(true);
        let runner: Runner = Runner::builder()
            .model(Endless(sent.clone()))
            .config(config)
            .build()
            .unwrap();
        let tree = tree(|agent| {
            if let Some(timeout) = timeout {
                agent.set_timeout(timeout);
            }
        });
        let mut stream = runner.run(&tree, "go").stream();
        for taken in 0..50 {
            stream.next().await.unwrap().unwrap();
            tokio::task::yield_now().await;
            let ahead = sent.load(SeqCst).saturating_sub(taken);
            assert!(ahead <= 4, "{ahead} pieces were read ahead");
        }
        drop(stream);
        tokio::task::yield_now().await;
        let at_the_end = sent.load(SeqCst);
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert_eq!(sent.load(SeqCst), at_the_end);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_call_is_retried_after_the_delay_of_the_provider() {
    let model = ScriptedModel::new()
        .reply(Reply::error(ModelErrorKind::RateLimited, "429").retry_after(30 * SECOND))
        .reply(Reply::error(ModelErrorKind::Unavailable, "503").retry_after(7 * SECOND))
        .text("at last");
    let since = Instant::now();
    let events = events(&model, &tree(|_| {})).await;
    assert_eq!(since.elapsed().as_secs(), 37);
    assert_eq!(texts(&events), ["~", "~", "at last"]);
    let retry_event = &events[0].details.as_ref().unwrap().custom_metadata[RETRY_KEY];
    assert_eq!(
        *retry_event,
        json!({"attempt": 1, "waitMs": 30_000, "error": "429"})
    );
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn delays_grow_and_retries_are_limited() {
    let model = ScriptedModel::new()
        .error(ModelErrorKind::Connection, "refused")
        .repeat_last();
    let since = Instant::now();
    let retry = Retry::new(3).delay(SECOND).max_delay(3 * SECOND);
    let (events, error) = drive(
        &runner(&model),
        &tree(|agent| {
            agent.set_retry(retry);
        }),
    )
    .await;
    let waits: Vec<_> = events
        .iter()
        .map(|event| {
            event.details.as_ref().unwrap().custom_metadata[RETRY_KEY]["waitMs"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(waits.len(), 3);
    assert!(
        (1000..=2000).contains(&waits[0]) && (2000..=3000).contains(&waits[1]) && waits[2] == 3000,
        "{waits:?}"
    );
    // Waits are reported in whole milliseconds, and each sleep lasts at most 2 ms longer.
    let (slept, reported) = (
        since.elapsed().as_millis() as u64,
        waits.iter().sum::<u64>(),
    );
    assert!(
        (reported..=reported + 2 * 3).contains(&slept),
        "{waits:?}, but slept {slept}"
    );
    let error = error.unwrap();
    assert_eq!(error.kind(), ErrorKind::Model(ModelErrorKind::Connection));
    assert!(error.is_retryable());
    assert!(
        error
            .to_string()
            .starts_with("agent `a` (at w/a): refused (after 4 attempts)"),
        "{error}"
    );
}

#[tokio::test]
async fn permanent_errors_are_not_retried() {
    for kind in [
        ModelErrorKind::Unauthorized,
        ModelErrorKind::InvalidRequest,
        ModelErrorKind::MissingKey,
    ] {
        let model = ScriptedModel::new().error(kind, "no").text("never");
        let error = failure(&model, &tree(|_| {})).await;
        assert_eq!(error.kind(), ErrorKind::Model(kind));
        assert_eq!(model.requests().len(), 1);
    }
    let model = ScriptedModel::new()
        .error(ModelErrorKind::RateLimited, "429")
        .text("never");
    let error = failure(
        &model,
        &tree(|agent| {
            agent.set_retry(0);
        }),
    )
    .await;
    assert!(
        error.to_string().contains("429") && model.requests().len() == 1,
        "{error}"
    );
}

#[tokio::test]
async fn a_delay_over_the_limit_fails_at_once() {
    let model = ScriptedModel::new()
        .reply(Reply::error(ModelErrorKind::RateLimited, "429").retry_after(3600 * SECOND));
    let error = failure(&model, &tree(|_| {})).await;
    assert_eq!(error.kind(), ErrorKind::Model(ModelErrorKind::RateLimited));
    assert!(
        error
            .to_string()
            .contains("asks to wait 3600s, which is longer than the 60s"),
        "{error}"
    );
}

#[tokio::test]
async fn a_stream_that_breaks_in_the_middle_is_not_retried() {
    let broken = || Reply::error(ModelErrorKind::Connection, "reset").pieces(["one ", "two"]);
    let model = ScriptedModel::new().reply(broken()).text("never");
    let (events, error) = drive(&streaming(&model), &tree(|_| {})).await;
    assert_eq!(texts(&events), ["~one ", "~two"]);
    let error = error.unwrap();
    assert_eq!(error.kind(), ErrorKind::Model(ModelErrorKind::BrokenStream));
    assert!(
        error.to_string().contains("broke off in the middle: reset"),
        "{error}"
    );
    assert_eq!(model.requests().len(), 1);
    // A stream that broke before its first delivered piece is retried.
    let model = ScriptedModel::new().reply(broken()).text("again");
    let retry = Retry::new(1)
        .delay(Duration::from_millis(1))
        .max_delay(Duration::from_millis(1));
    let events = events_with(&model, retry).await;
    assert_eq!(texts(&events), ["~", "again"]);
}

async fn events_with(model: &ScriptedModel, retry: Retry) -> Vec<Arc<Event>> {
    events(
        model,
        &tree(|agent| {
            agent.set_retry(retry);
        }),
    )
    .await
}

/// A model that ends its stream without the complete answer.
struct Silent;

impl Model for Silent {
    fn name(&self) -> &str {
        "silent"
    }
    fn generate(&self, _: Arc<ModelRequest>) -> ModelStream {
        Box::pin(stream::empty())
    }
}

#[tokio::test]
async fn a_stream_without_an_end_is_an_error() {
    let tree = tree(|agent| {
        agent.set_model(Silent).set_retry(0);
    });
    let error = failure(&ScriptedModel::new(), &tree).await;
    assert_eq!(error.kind(), ErrorKind::Model(ModelErrorKind::Connection));
    assert!(
        error
            .to_string()
            .contains("`silent` ended its answer without completing it"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_times_out_is_retried() {
    let model = ScriptedModel::new()
        .reply(Reply::new().text("late").after(90 * SECOND))
        .text("in time");
    let retry = Retry::new(1).delay(SECOND).max_delay(SECOND);
    let set = |agent: &mut Declared<A>| {
        agent.set_timeout(10 * SECOND).set_retry(retry);
    };
    let since = Instant::now();
    let events = events(&model, &tree(set)).await;
    assert_eq!(
        (texts(&events), since.elapsed().as_secs()),
        (vec!["~".into(), "in time".to_owned()], 11)
    );
    let model = ScriptedModel::new()
        .reply(Reply::new().text("late").after(90 * SECOND))
        .repeat_last();
    let error = failure(&model, &tree(set)).await;
    assert_eq!(error.kind(), ErrorKind::Model(ModelErrorKind::Timeout));
    assert!(
        error
            .to_string()
            .contains("no answer in 10s, the agent's `timeout` (after 2 attempts)"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_timeout_excludes_the_time_of_the_consumer() {
    let reply = Reply::new()
        .text("abc")
        .pieces(["a", "b", "c"])
        .every(2 * SECOND);
    let model = ScriptedModel::new().reply(reply);
    let runner = streaming(&model);
    let tree = tree(|agent| {
        agent.set_timeout(8 * SECOND);
    });
    let mut stream = runner.run(&tree, "go").stream();
    let mut texts = Vec::new();
    while let Some(event) = stream.next().await {
        texts.push(event.unwrap().text());
        sleep(60 * SECOND).await;
    }
    assert_eq!(texts, ["go", "a", "b", "c", "abc"]);
}

/// A model that always has a piece ready, each taking a second. Its stream never yields to the
/// runtime.
struct NeverPending;

impl Model for NeverPending {
    fn name(&self) -> &str {
        "never-pending"
    }
    fn generate(&self, _: Arc<ModelRequest>) -> ModelStream {
        let piece = || {
            // The clock advances at the first poll.
            let _ = tokio::time::advance(SECOND).now_or_never();
            Ok(ModelChunk::Text("x".into()))
        };
        // The stream is finite, so a missing timeout fails the test instead of hanging it.
        let done = Ok(ModelChunk::Done(ModelResponse::new(Content::model("done"))));
        Box::pin(
            stream::repeat_with(piece)
                .take(10_000)
                .chain(stream::iter([done])),
        )
    }
}

#[tokio::test(start_paused = true)]
async fn the_timeout_ends_a_stream_that_is_always_ready() {
    for streams in [false, true] {
        let config = RunConfig::new().streaming(streams);
        let runner: Runner = Runner::builder()
            .model(NeverPending)
            .config(config)
            .build()
            .unwrap();
        let tree = tree(|agent| {
            agent.set_timeout(10 * SECOND).set_retry(Retry::new(0));
        });
        let since = Instant::now();
        let (_, error) = collect(&mut runner.run(&tree, "go").stream()).await;
        let error = error.expect("the call times out");
        assert_eq!(error.kind(), ErrorKind::Model(ModelErrorKind::Timeout));
        assert_eq!(since.elapsed().as_secs(), 10, "streaming: {streams}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_always_ready_yields_to_other_tasks() {
    for timeout in [None, Some(100_000 * SECOND)] {
        let runner: Runner = Runner::builder().model(NeverPending).build().unwrap();
        let tree = tree(|agent| {
            if let Some(timeout) = timeout {
                agent.set_timeout(timeout);
            }
        });
        let mut stream = runner.run(&tree, "go").stream();
        let run = collect(&mut stream);
        assert!(
            tokio::time::timeout(10 * SECOND, run).await.is_err(),
            "agent timeout: {timeout:?}"
        );
    }
}

/// A model that panics while its stream is read.
struct Panics;

impl Model for Panics {
    fn name(&self) -> &str {
        "panics"
    }
    fn generate(&self, _: Arc<ModelRequest>) -> ModelStream {
        let done = ModelChunk::Done(ModelResponse::new(Content::model("never")));
        Box::pin(stream::iter([done]).map(|_| panic!("boom")))
    }
}

#[tokio::test]
async fn a_panic_of_a_model_is_an_error() {
    for timeout in [None, Some(SECOND)] {
        let tree = tree(|agent| {
            agent.set_model(Panics);
            if let Some(timeout) = timeout {
                agent.set_timeout(timeout);
            }
        });
        let error = failure(&ScriptedModel::new(), &tree).await;
        assert_eq!(error.kind(), ErrorKind::Panic);
        assert!(format!("{error:?}").contains("boom"), "{error:?}");
    }
}
