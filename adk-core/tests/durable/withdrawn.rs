//! Withdrawn questions, in memory.

use super::crash::{Ended, World, drive};
use crate::support::*;
use adk_build::{RunId, Runner};
use adk_store_kit::questions::{Signals, around, blocks};

/// Returns a factory of runners whose processes are not killed.
fn process(world: &World) -> impl AsyncFn(Tree) -> Runner + '_ {
    async |tree| world.knowing(usize::MAX, Some(tree)).0
}

/// Returns the run of a world and the texts of its events.
async fn run_and_texts(world: &World) -> Option<(RunId, Vec<String>)> {
    let keys = world.sessions.list("app", None, "").await.unwrap();
    let session = world.sessions.get(&keys.first()?.key).await.unwrap()?;
    let id = session.event(0)?.invocation_id;
    Some((
        id,
        session
            .events()
            .map(|event| format!("{} {}", event.path, event.text()))
            .collect(),
    ))
}

/// Kills a run at a point and resumes it. A person may answer the open questions in between.
/// Returns whether the point exists.
async fn kill(name: &str, block: fn(&Signals) -> Node, at: usize, is_answered: bool) -> bool {
    let (world, stage) = (World::new(), Signals::open());
    let tree = || around(block(&stage), &stage);
    let (runner, engine) = world.knowing(at, Some(tree()));
    let workflow = tree();
    let ended = drive(
        runner.run(&workflow, "go").stream(),
        &engine,
        &mut Vec::new(),
    )
    .await;
    let what = format!("{name}, killed at {at}, answered: {is_answered}");
    let other = process(&world)(tree()).await;
    let is_killed = ended == Ended::Killed;
    if is_killed {
        let Some((id, _)) = run_and_texts(&world).await else {
            return true;
        };
        for wait in other
            .waiting()
            .await
            .unwrap()
            .iter()
            .filter(|_| is_answered)
        {
            other.answer(&wait.id, true).await.unwrap();
        }
        let resumed = other.resume(&tree(), id).await;
        // All questions were answered, including the last one.
        if is_answered && resumed.is_ok() {
            return true;
        }
    }
    let (id, before) = run_and_texts(&world).await.unwrap();
    for _ in 0..2 {
        let kept = other.waiting().await.unwrap();
        assert!(
            kept.len() == 1 && *kept[0].path.name() == *"kept",
            "{what}: {kept:?}"
        );
        assert!(
            other.recover().await.unwrap().is_empty(),
            "{what}: nothing wakes the run"
        );
        other.resume(&tree(), id).await.unwrap_err();
        assert_eq!(run_and_texts(&world).await.unwrap().1, before, "{what}");
    }
    let kept = other.waiting().await.unwrap().remove(0);
    other.answer(&kept.id, true).await.unwrap();
    let ended = other.recover().await.unwrap().remove(0).result;
    assert!(ended.as_ref().is_ok_and(Vec::is_empty), "{what}: {ended:?}");
    assert!(is_answered || stage.answer_count() == 0, "{what}");
    is_killed
}

#[tokio::test]
async fn no_question_stays_open_wherever_the_run_is_killed() {
    let mut kills = 0;
    for (name, block) in blocks() {
        for is_answered in [false, true] {
            for at in 0.. {
                if !kill(name, block, at, is_answered).await {
                    break;
                }
                kills += 1;
            }
        }
    }
    println!("{kills} runs were killed");
    assert!(kills > 300, "only {kills}");
}
