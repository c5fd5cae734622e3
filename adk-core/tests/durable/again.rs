//! ADK's way of taking a parallel block up again, where agents that are written by hand never count as finished.

use super::crash::World;
use crate::support::*;
use adk_core::{Event, Flow, RunConfig, RunEnd, RunId, Runner};

/// Asks so many times, one after the other.
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
    let builder = Runner::builder().session_store(world.sessions.clone()).engine(world.journal.clone());
    builder.config(config.resumable(true)).build().unwrap()
}

/// Who says what, `-` for a checkpoint that tells what comes, and `.` for one that tells an end.
async fn said(stream: &mut adk_core::RunStream<'_, ()>) -> Vec<String> {
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

/// Branches come in any order.
fn sorted<const N: usize>(mut told: [&str; N]) -> [&str; N] {
    told.sort_unstable();
    told
}

/// What is new each time: in the first run, and after each answer.
async fn all(tree: &Tree, config: RunConfig, answers: u32) -> Vec<Vec<String>> {
    let world = World::new();
    let mut stream = runner(&world, config.clone()).run(tree, "go").stream();
    let mut all = vec![said(&mut stream).await];
    let mut run = None;
    for value in 1..=answers {
        assert!(matches!(stream.end(), RunEnd::Paused(_)));
        drop(stream);
        // Each time in a process of its own.
        let other = runner(&world, config.clone());
        answer(&other, &mut run, value).await;
        stream = other.resume(tree, run.unwrap()).stream();
        all.push(said(&mut stream).await);
    }
    all.iter_mut().for_each(|told| told.sort_unstable());
    assert!(matches!(stream.end(), RunEnd::Finished(_)));
    all
}

#[tokio::test]
async fn a_branch_by_hand_runs_again_each_time_its_block_is_taken_up() {
    // The one that waits is inside of a sequence, which says when it has ended.
    let tree = || {
        let both = vec![run(say("a")), sequence("s", vec![run(asks("b", 2))])];
        Tree::new("w", vec![parallel("p", both), run(say("c"))])
    };
    let told = all(&tree(), RunConfig::adk(), 2).await;
    assert_eq!(told[0], sorted(["w go", "w-", "w/p-", "w/p/a a", "w/p/s-"]));
    assert_eq!(told[1], sorted(["w/p/a@2 a", "w/p/s/b 1"]));
    assert_eq!(told[2], sorted(["w/p/a@3 a", "w/p/s/b 2", "w/p/s.", "w-", "w/c c", "w."]));
    assert_eq!(all(&tree(), RunConfig::new().custom_agents_finish(false), 2).await, told);

    // By default it has finished, and everybody says so.
    let told = all(&tree(), RunConfig::new(), 2).await;
    assert_eq!(told[0], sorted(["w go", "w-", "w/p-", "w/p/a a", "w/p/s-", "w/p/a."]));
    assert_eq!(told[1], sorted(["w/p/s/b 1"]));
    assert_eq!(told[2], sorted(["w/p/s/b 2", "w/p/s/b.", "w/p/s.", "w/p.", "w-", "w/c c", "w/c.", "w."]));
}

#[tokio::test]
async fn a_block_that_has_ended_does_not_run_again() {
    let tree = Tree::new("w", vec![parallel("p", vec![run(say("a")), run(say("b"))]), run(asks("c", 1))]);
    let told = all(&tree, RunConfig::adk(), 1).await;
    assert_eq!(told[1], sorted(["w/c 1", "w."]));
    // Nor inside of a branch of another block that has not.
    let inner = sequence("s", vec![parallel("p", vec![run(say("a")), run(say("b"))]), run(asks("c", 1))]);
    let tree = Tree::new("w", vec![parallel("q", vec![inner, run(say("d"))])]);
    let told = all(&tree, RunConfig::adk(), 1).await;
    assert_eq!(told[1], sorted(["w/q/d@2 d", "w/q/s/c 1", "w/q/s.", "w."]));
}

#[tokio::test]
async fn a_block_by_itself_a_branch_is_taken_up_with_the_one_around_it() {
    let inner = parallel("p", vec![run(say("a")), sequence("s", vec![run(say("b"))])]);
    let tree = Tree::new("w", vec![parallel("q", vec![inner, run(asks("c", 1))])]);
    let told = all(&tree, RunConfig::adk(), 1).await;
    assert_eq!(told[1], sorted(["w/q/p/a@2 a", "w/q/c 1", "w."]));
}

#[tokio::test]
async fn answers_hold_in_every_turn_and_a_limit_on_branches_is_kept() {
    let tree = Tree::new("w", vec![parallel("p", vec![run(asks("a", 1)), run(asks("b", 1))])]);
    let told = all(&tree, RunConfig::adk(), 2).await;
    assert_eq!(told[1], sorted(["w/p/a 1"]));
    assert_eq!(told[2], sorted(["w/p/a@2 1", "w/p/b 2", "w."]), "what was answered is not asked again");
    // With a limit, who waits for a place would wait for the record.
    let tree = Tree::new("w", vec![limited("p", 1, vec![run(say("a")), run(asks("b", 1))])]);
    let told = all(&tree, RunConfig::adk(), 1).await;
    assert_eq!(told[1], sorted(["w/p/b 1", "w."]));
}
