//! Rate limits of providers, shared by the runs of a runner.

use super::*;
use crate::support::{Tree, run};
use adk_build::model::{Model, ModelErrorKind, ModelRequest, ModelStream, RateLimit};
use adk_build::testing::Reply;
use futures_util::StreamExt as _;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::Instant;

agent!(A = decl("a"));

/// A model that answers after a second and notes the time of each call.
#[derive(Clone)]
struct Slow {
    start: Instant,
    asked: Arc<Mutex<Vec<u64>>>,
    model: ScriptedModel,
}

impl Model for Slow {
    fn name(&self) -> &str {
        "slow-1"
    }
    fn provider(&self) -> &str {
        "slow"
    }
    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        self.asked
            .lock()
            .unwrap()
            .push(self.start.elapsed().as_secs());
        let mut answer = Some(self.model.generate(request));
        Box::pin(
            futures_util::stream::once(tokio::time::sleep(Duration::from_secs(1)))
                .flat_map(move |()| answer.take().expect("once")),
        )
    }
}

fn slow(reply: Reply) -> Slow {
    let model = ScriptedModel::new().reply(reply).repeat_last();
    Slow {
        start: Instant::now(),
        asked: Arc::default(),
        model,
    }
}

/// Starts `runs` runs at once and returns the times of their model calls.
async fn call_times(model: &Slow, limit: RateLimit, runs: usize) -> Vec<u64> {
    let runner: Runner = Runner::builder()
        .model(model.clone())
        .rate_limit("slow", limit)
        .build()
        .unwrap();
    let mut agent = llm::<A>();
    agent.set_timeout(Duration::from_secs(5));
    let tree = Tree::new("w", vec![run(agent)]);
    let all = (0..runs).map(|_| async { runner.run(&tree, "go").await.map(drop) });
    for ended in futures_util::future::join_all(all).await {
        ended.unwrap();
    }
    model.asked.lock().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn runs_of_a_runner_share_limits_and_queueing_is_not_model_time() {
    let limit = RateLimit::new().calls_per_minute(2);
    assert_eq!(
        call_times(&slow(Reply::new().text("ok")), limit, 5).await,
        [0, 0, 60, 60, 120]
    );
    let limit = RateLimit::new().concurrency(2);
    assert_eq!(
        call_times(&slow(Reply::new().text("ok")), limit, 5).await,
        [0, 0, 1, 1, 2]
    );
}

#[tokio::test(start_paused = true)]
async fn tokens_of_an_answer_count() {
    let reply = Reply::new().text("ok").usage(500, 500);
    let limit = RateLimit::new().tokens_per_minute(1_000);
    assert_eq!(
        call_times(&slow(reply), limit.concurrency(1), 3).await,
        [0, 60, 120]
    );
}

#[tokio::test(start_paused = true)]
async fn after_an_overload_error_all_runs_pause_for_the_provider() {
    let wait = Duration::from_secs(20);
    let model = ScriptedModel::new()
        .reply(Reply::error(ModelErrorKind::RateLimited, "busy").retry_after(wait))
        .reply(Reply::new().text("ok"))
        .repeat_last();
    let model = Slow {
        model,
        ..slow(Reply::new())
    };
    assert_eq!(
        call_times(&model, RateLimit::new().concurrency(1), 3).await,
        [0, 21, 22, 23]
    );
}

#[tokio::test(start_paused = true)]
async fn another_provider_has_no_limit() {
    let model = slow(Reply::new().text("ok"));
    let runner: Runner = Runner::builder()
        .model(model.clone())
        .rate_limit("other", RateLimit::new().calls_per_minute(1))
        .build()
        .unwrap();
    let tree = Tree::new("w", vec![run(llm::<A>())]);
    for _ in 0..3 {
        runner.run(&tree, "go").await.unwrap();
    }
    assert_eq!(*model.asked.lock().unwrap(), [0, 1, 2]);
}
