//! Agents in parallel branches: shared counts of calls and tokens, and calls that end with their
//! run.

use super::*;
use crate::support::{Tree, by, parallel, repeat, run};
use adk_build::model::{Model, ModelRequest, ModelStream};
use adk_build::testing::Reply;
use adk_build::{ErrorKind, Flow, LoopEndReason};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

agent!(Left = decl("left"));
agent!(Right = decl("right"));
agent!(Refiner = LlmDecl::new(meta("left").may_exit(true)));

fn both() -> Tree {
    Tree::new(
        "w",
        vec![repeat(
            "l",
            Some(2),
            vec![parallel("p", vec![run(llm::<Left>()), run(llm::<Right>())])],
        )],
    )
}

#[tokio::test]
async fn calls_and_tokens_are_counted_over_all_branches() {
    let model = ScriptedModel::new()
        .on("left")
        .reply(Reply::new().text("a").usage(1, 10))
        .repeat_last()
        .on("right")
        .reply(Reply::new().text("b").usage(100, 1000))
        .repeat_last();
    let outcome = runner(&model).run(&both(), "go").await.unwrap();
    let usage = outcome.usage;
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, usage.calls),
        (202, 2020, 4)
    );
    for (max, fails) in [(4, false), (3, true), (1, true)] {
        let config = RunConfig::new().max_llm_calls(max);
        let before = model.requests().len();
        let runner: Runner = Runner::builder()
            .model(model.clone())
            .config(config)
            .build()
            .unwrap();
        let (_, error) = drive(&runner, &both()).await;
        assert_eq!(
            error.map(|error| error.kind()),
            fails.then_some(ErrorKind::LlmCallsExceeded),
            "{max}"
        );
        assert_eq!(model.requests().len() - before, max as usize);
    }
}

#[tokio::test]
async fn token_counts_of_a_provider_never_overflow() {
    let model = ScriptedModel::new()
        .reply(Reply::new().text("a").usage(u64::MAX, u64::MAX))
        .repeat_last();
    let outcome = runner(&model).run(&both(), "go").await.unwrap();
    assert_eq!(outcome.usage.input_tokens, u64::MAX);
    assert_eq!(outcome.usage.total_tokens(), u64::MAX);
}

/// A model that never answers and counts the calls in flight.
#[derive(Default)]
struct Hangs {
    begun: Arc<AtomicUsize>,
    in_flight: Arc<AtomicUsize>,
}

struct Flight(Arc<AtomicUsize>);

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl Model for Hangs {
    fn name(&self) -> &str {
        "hangs"
    }
    fn generate(&self, _: Arc<ModelRequest>) -> ModelStream {
        self.begun.fetch_add(1, SeqCst);
        self.in_flight.fetch_add(1, SeqCst);
        let flight = Flight(self.in_flight.clone());
        Box::pin(futures_util::stream::once(async move {
            let _flight = flight;
            std::future::pending().await
        }))
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_in_flight_ends_with_its_run_or_its_branch() {
    for timeout in [None, Some(Duration::from_secs(3600))] {
        let model = Hangs::default();
        let (begun, in_flight) = (model.begun.clone(), model.in_flight.clone());
        let runner: Runner = Runner::builder().model(model).build().unwrap();
        let (mut left, right) = (llm::<Left>(), llm::<Right>());
        if let Some(timeout) = timeout {
            left.set_timeout(timeout);
        }
        let leave = by("leave", |_| {
            Box::pin(async {
                tokio::task::yield_now().await;
                Ok(Flow::Exit)
            })
        });
        let tree = Tree::new(
            "w",
            vec![
                repeat("l", None, vec![parallel("p", vec![run(left), run(leave)])]),
                run(right),
            ],
        );
        let mut stream = runner.run(&tree, "go").stream();
        stream.next().await.unwrap().unwrap();
        assert!(
            tokio::time::timeout(Duration::from_millis(20), stream.next())
                .await
                .is_err()
        );
        assert_eq!(
            (begun.load(SeqCst), in_flight.load(SeqCst)),
            (2, 1),
            "the branch's call has ended"
        );
        drop(stream);
        tokio::task::yield_now().await;
        assert_eq!(in_flight.load(SeqCst), 0, "the run's call has ended");
    }
}

#[tokio::test]
async fn an_exit_tool_in_a_branch_ends_the_loop_and_the_sibling() {
    let mut refiner = llm::<Refiner>();
    refiner.add_tool(exit_loop());
    let model = ScriptedModel::new()
        .on("left")
        .call("exit_loop", json!({}))
        .on("right")
        .reply(Reply::new().text("late").after(Duration::from_secs(3600)));
    let branches = vec![run(refiner), run(llm::<Right>())];
    let tree = Tree::new("w", vec![repeat("l", None, vec![parallel("p", branches)])]);
    let outcome = runner(&model).run(&tree, "go").await.unwrap();
    let LoopEndReason::Escalated { by } = &outcome.loops[0].reason else {
        panic!()
    };
    assert_eq!(by.to_string(), "w/l#1/p/left");
    assert_eq!(outcome.usage.calls, 1);
}
