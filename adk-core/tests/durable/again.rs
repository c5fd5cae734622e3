//! Resumption of parallel blocks as in ADK, where hand-written agents never count as finished.

use super::crash::World;
use crate::support::*;
use adk_build::{Event, Flow, RunConfig, RunEnd, RunId, Runner};

/// Asks `times` questions, one after the other.
fn asks(name: &'static str, times: u32) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            for _ in 0..times {
                let said: u32 = cx.wait("answer").await?;
                cx.emit(Event::new().with_text(format!("{said}"))).await?;
            }
            Ok(Flow::Continue)
        })
    })
}

fn runner(world: &World, config: RunConfig) -> Runner {
    let builder = Runner::builder()
        .session_store(world.sessions.clone())
        .engine(world.journal.clone());
    builder.config(config.resumable(true)).build().unwrap()
}

/// Returns path and text of each event: `-` marks a checkpoint before a step, `.` a checkpoint of
/// an end.
async fn new_events(stream: &mut adk_build::RunStream<'_, ()>) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        let what = match (event.actions.end_of_agent, &event.actions.agent_state) {
            (Some(true), _) => ".".to_owned(),
            (_, Some(_)) => "-".to_owned(),
            _ => format!(" {}", event.text()),
        };
        all.push(format!("{}{what}", event.path));
    }
    all
}

async fn answer(runner: &Runner, run: &mut Option<RunId>, value: u32) {
    let waiting = runner.waiting().await.unwrap();
    *run = Some(waiting[0].run_id);
    runner.answer(&waiting[0].id, value).await.unwrap();
}

/// Sorts lines, because branches run in any order.
fn sorted<const N: usize>(mut lines: [&str; N]) -> [&str; N] {
    lines.sort_unstable();
    lines
}

/// Returns the new events of the first run and of each resumption.
async fn all(tree: &Tree, config: RunConfig, answers: u32) -> Vec<Vec<String>> {
    let world = World::new();
    let mut stream = runner(&world, config.clone()).run(tree, "go").stream();
    let mut all = vec![new_events(&mut stream).await];
    let mut run = None;
    for value in 1..=answers {
        assert!(matches!(stream.end(), RunEnd::Paused(_)));
        drop(stream);
        // Each resumption is in its own process.
        let other = runner(&world, config.clone());
        answer(&other, &mut run, value).await;
        stream = other.resume(tree, run.unwrap()).stream();
        all.push(new_events(&mut stream).await);
    }
    all.iter_mut().for_each(|lines| lines.sort_unstable());
    assert!(matches!(stream.end(), RunEnd::Finished(_)));
    all
}

#[tokio::test]
async fn a_hand_written_branch_runs_again_at_each_resumption() {
    // The waiting agent is inside a sequence, which reports its end.
    let tree = || {
        let both = vec![run(say("a")), sequence("s", vec![run(asks("b", 2))])];
        Tree::new("w", vec![parallel("p", both), run(say("c"))])
    };
    let lines = all(&tree(), RunConfig::adk(), 2).await;
    assert_eq!(
        lines[0],
        sorted(["w go", "w-", "w/p-", "w/p/a a", "w/p/s-"])
    );
    assert_eq!(lines[1], sorted(["w/p/a@2 a", "w/p/s/b 1"]));
    assert_eq!(
        lines[2],
        sorted(["w/p/a@3 a", "w/p/s/b 2", "w/p/s.", "w-", "w/c c", "w."])
    );
    assert_eq!(
        all(&tree(), RunConfig::new().custom_agents_finish(false), 2).await,
        lines
    );

    // By default, the branch has finished and is not executed again.
    let lines = all(&tree(), RunConfig::new(), 2).await;
    assert_eq!(
        lines[0],
        sorted(["w go", "w-", "w/p-", "w/p/a a", "w/p/s-", "w/p/a."])
    );
    assert_eq!(lines[1], sorted(["w/p/s/b 1"]));
    assert_eq!(
        lines[2],
        sorted([
            "w/p/s/b 2",
            "w/p/s/b.",
            "w/p/s.",
            "w/p.",
            "w-",
            "w/c c",
            "w/c.",
            "w."
        ])
    );
}

#[tokio::test]
async fn an_ended_block_does_not_run_again() {
    let tree = Tree::new(
        "w",
        vec![
            parallel("p", vec![run(say("a")), run(say("b"))]),
            run(asks("c", 1)),
        ],
    );
    let lines = all(&tree, RunConfig::adk(), 1).await;
    assert_eq!(lines[1], sorted(["w/c 1", "w."]));
    // An ended block inside an unfinished branch of another block is not repeated either.
    let inner = sequence(
        "s",
        vec![
            parallel("p", vec![run(say("a")), run(say("b"))]),
            run(asks("c", 1)),
        ],
    );
    let tree = Tree::new("w", vec![parallel("q", vec![inner, run(say("d"))])]);
    let lines = all(&tree, RunConfig::adk(), 1).await;
    assert_eq!(lines[1], sorted(["w/q/d@2 d", "w/q/s/c 1", "w/q/s.", "w."]));
}

#[tokio::test]
async fn a_block_that_is_a_branch_is_resumed_with_its_outer_block() {
    let inner = parallel("p", vec![run(say("a")), sequence("s", vec![run(say("b"))])]);
    let tree = Tree::new("w", vec![parallel("q", vec![inner, run(asks("c", 1))])]);
    let lines = all(&tree, RunConfig::adk(), 1).await;
    assert_eq!(lines[1], sorted(["w/q/p/a@2 a", "w/q/c 1", "w."]));
}

#[tokio::test]
async fn answers_stay_valid_in_every_turn_and_branch_limits_are_kept() {
    let tree = Tree::new(
        "w",
        vec![parallel("p", vec![run(asks("a", 1)), run(asks("b", 1))])],
    );
    let lines = all(&tree, RunConfig::adk(), 2).await;
    assert_eq!(lines[1], sorted(["w/p/a 1"]));
    assert_eq!(
        lines[2],
        sorted(["w/p/a@2 1", "w/p/b 2", "w."]),
        "an answered question is not asked again"
    );
    // With `max_concurrency`, the replay must not wait for an event of a branch that waits for a
    // free slot.
    let tree = Tree::new(
        "w",
        vec![limited("p", 1, vec![run(say("a")), run(asks("b", 1))])],
    );
    let lines = all(&tree, RunConfig::adk(), 1).await;
    assert_eq!(lines[1], sorted(["w/p/b 1", "w."]));
}
