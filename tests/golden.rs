//! Golden tests of the examples: a replay asks nothing, and never reports a difference, in whatever
//! order the answers come.
//!
//! `ADK_REPLAYS=1000 cargo test --test golden` replays each example 1,000 times.

#![allow(
    dead_code,
    unused_imports,
    clippy::duplicate_mod,
    clippy::unwrap_used,
    missing_docs,
    reason = "examples have functions that this test does not call"
)]

use adk::model::{Model, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelStream};
use adk::prelude::*;
use adk::testing::{RunMode, golden};
use adk::{CallbackContext, IntoInput, Needs, Plugin, Workflow};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[path = "../examples/article_and_post.rs"]
mod article_and_post;
#[path = "../examples/cost.rs"]
mod cost;
#[path = "../examples/counter_loop.rs"]
mod counter_loop;
#[path = "../examples/headline.rs"]
mod headline;
#[path = "../examples/iteration_tracking.rs"]
mod iteration_tracking;
#[path = "../examples/iterative_writing.rs"]
mod iterative_writing;
#[path = "../examples/parallel_research.rs"]
mod parallel_research;
#[path = "../examples/quality_loop.rs"]
mod quality_loop;
#[path = "../examples/research_loop.rs"]
mod research_loop;
#[path = "../examples/rounds_told.rs"]
mod rounds_told;
#[path = "../examples/sessions.rs"]
mod sessions;
#[path = "../examples/shared_state.rs"]
mod shared_state;
#[path = "../examples/structured_review.rs"]
mod structured_review;
#[path = "../examples/support_desk.rs"]
mod support_desk;
#[path = "../examples/topic_research.rs"]
mod topic_research;
#[path = "../examples/triage.rs"]
mod triage;
#[path = "../examples/validation_loop.rs"]
mod validation_loop;
#[path = "../examples/writing_loop.rs"]
mod writing_loop;

/// Waits a random time before each call of a model, so that answers come in random order.
struct Jitter(Mutex<fastrand::Rng>);

impl Jitter {
    fn new(seed: u64) -> Self {
        Self(Mutex::new(fastrand::Rng::with_seed(seed)))
    }
}

impl Plugin for Jitter {
    fn name(&self) -> &str {
        "jitter"
    }

    async fn before_model(
        &self,
        _: &mut CallbackContext,
        _: &mut ModelRequest,
    ) -> Result<Option<ModelResponse>> {
        let millis = self.0.lock().unwrap().u64(0..100);
        tokio::time::sleep(Duration::from_millis(millis)).await;
        Ok(None)
    }
}

/// A model with the name of a rehearsal, which counts the calls that it gets.
#[derive(Clone, Default)]
struct Absent(Arc<AtomicUsize>);

impl Model for Absent {
    fn name(&self) -> &str {
        "rehearsal"
    }

    fn answers_in_schema_beside_tools(&self) -> bool {
        true
    }

    fn generate(&self, _: Arc<ModelRequest>) -> ModelStream {
        self.0.fetch_add(1, SeqCst);
        let error = ModelError::new(ModelErrorKind::Other, "it is absent");
        Box::pin(futures_util::stream::iter([Err(error)]))
    }
}

mod races {
    use super::*;

    /// Stops as soon as one side has spoken.
    #[agent]
    fn stop(draft: &str) -> Flow {
        Flow::exit_if(!draft.is_empty())
    }

    workflow! {
        /// Takes what comes first, several times, and stops beside a slow step.
        pub Racing(topic: String) -> note: String {
            agent slow -> deep: String { instruction: "Think about {topic}." }
            agent checker -> reply: String { instruction: "Check {deep}." }
            agent quick -> reply: String { instruction: "Say {topic}." }
            agent drafter -> draft: String { instruction: "Draft {reply}." }
            agent thinker -> thought: String { instruction: "Think on about {reply}." }
            agent third -> more: String { instruction: "Go on with {thought}." }
            agent writer -> note: String { instruction: "Note {reply}." }
            rounds: loop(max = 3) <
                race: parallel(first) < < slow; checker >; quick >
                parallel < < drafter; stop >; < thinker; third > >
            >
            writer
        }
    }
}

#[tokio::test(start_paused = true)]
async fn races_and_exits() {
    replays("races", &races::Racing::default(), "cats").await;
}

/// The number of replays of each example.
fn count() -> u64 {
    let count = std::env::var("ADK_REPLAYS").ok();
    count.map_or(20, |count| count.parse().unwrap())
}

/// Records an example with a rehearsal, and replays it in random orders.
async fn replays<W>(name: &str, workflow: &W, input: impl IntoInput<W::Input> + Clone)
where
    W: Workflow + Needs,
{
    let folder = std::env::temp_dir().join(format!("adk-examples-{}", std::process::id()));
    let test = |mode| golden(name).folder(&folder).in_ci(false).mode(mode);
    let seeds = name.bytes().map(u64::from).sum::<u64>();
    let jitter =
        |seed| move |runner: adk::runner::RunnerBuilder<_>| runner.plugin(Jitter::new(seed));
    let model = Rehearsal::new().rounds(2).with_tool_calls();
    let record = test(RunMode::Record).model(model);
    let record = record.runner(jitter(seeds));
    record.run(workflow, input.clone()).await.unwrap();
    for seed in 0..count() {
        let absent = Absent::default();
        let check = test(RunMode::Check).model(absent.clone());
        let check = check.runner(jitter(seed));
        check
            .run(workflow, input.clone())
            .await
            .unwrap_or_else(|error| panic!("{name}, seed {seed}: {error}"));
        assert_eq!(absent.0.load(SeqCst), 0, "no model is asked");
    }
}

#[tokio::test(start_paused = true)]
async fn example_article_and_post() {
    replays(
        "article_and_post",
        &article_and_post::ArticleAndPost::default(),
        "Cats sleep.",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn example_counter_loop() {
    replays("counter_loop", &counter_loop::CounterLoop::default(), ()).await;
}

#[tokio::test(start_paused = true)]
async fn example_headline() {
    replays(
        "headline",
        &headline::Headline::default(),
        "Cats sleep all day.",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn example_iteration_tracking() {
    replays(
        "iteration_tracking",
        &iteration_tracking::IterationTracking::default(),
        "a cat",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn example_iterative_writing() {
    replays(
        "iterative_writing",
        &iterative_writing::IterativeWriting::default(),
        "a cat",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn example_parallel_research() {
    replays(
        "parallel_research",
        &parallel_research::ParallelResearch::default(),
        "cats",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn example_quality_loop() {
    replays(
        "quality_loop",
        &quality_loop::QualityLoop::default(),
        "Cats sleep.",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn example_research_loop() {
    replays(
        "research_loop",
        &research_loop::ResearchLoop::default(),
        "cats",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn example_rounds_told() {
    replays("rounds_told", &rounds_told::RoundsTold::default(), "cats").await;
}

#[tokio::test(start_paused = true)]
async fn example_shared_state() {
    replays(
        "shared_state",
        &shared_state::SharedState::default(),
        "a cat",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn example_structured_review() {
    replays(
        "structured_review",
        &structured_review::Reviewing::default(),
        "fn main() {}",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn example_support_desk() {
    replays(
        "support_desk",
        &support_desk::SupportDesk::default(),
        "My parcel is lost.",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn example_topic_research() {
    replays(
        "topic_research",
        &topic_research::TopicResearch::default(),
        "cats",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn example_triage() {
    replays("triage", &triage::Triage::default(), "My parcel is lost.").await;
}

#[tokio::test(start_paused = true)]
async fn example_validation_loop() {
    replays(
        "validation_loop",
        &validation_loop::ValidationLoop::default(),
        "1, 2",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn example_writing_loop() {
    replays(
        "writing_loop",
        &writing_loop::WritingLoop::default(),
        "a cat",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn example_cost() {
    replays("cost", &cost::Research::default(), "Why is the sky blue?").await;
}

#[tokio::test(start_paused = true)]
async fn example_sessions() {
    replays("sessions", &sessions::Chat::default(), "Hello.").await;
}
