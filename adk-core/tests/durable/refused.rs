//! Runs that cannot be taken up: a typed error, and nothing has changed.

use super::crash::{World, drive};
use super::trees::works;
use crate::support::*;
use adk_core::{ErrorKind, Event, Flow, RunId, Runner};

/// A run that was killed in its second agent.
async fn killed(world: &World, tree: &Tree) -> RunId {
    let (runner, engine) = world.process(15);
    let mut events = Vec::new();
    drive(runner.run(tree, "go").stream(), &engine, &mut events).await;
    events[0].invocation_id
}

fn two() -> Tree {
    Tree::new("w", vec![run(works("a")), run(works("b"))])
}

async fn length(world: &World) -> usize {
    let keys = world.sessions.list("app", None).await.unwrap();
    world.sessions.get(&keys[0].key).await.unwrap().unwrap().len()
}

#[tokio::test]
async fn another_shape_is_refused_with_what_is_different() {
    let world = World::new();
    let id = killed(&world, &two()).await;
    let before = length(&world).await;
    let (runner, _) = world.process(usize::MAX);
    let renamed = Tree::new("w", vec![run(works("a")), run(works("c"))]);
    let error = runner.resume(&renamed, id).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TopologyChanged);
    assert!(error.message().ends_with("- custom b -> b\n+ custom c -> c"), "{error}");
    let other = Tree::new("v", vec![run(works("a"))]);
    assert_eq!(runner.resume(&other, id).await.unwrap_err().kind(), ErrorKind::TopologyChanged);
    assert_eq!(length(&world).await, before);
    // More steps at the end are no other shape, and the run was released.
    let longer = Tree::new("w", vec![run(works("a")), run(works("b")), run(say("z"))]);
    runner.resume(&longer, id).await.unwrap();
}

#[tokio::test]
async fn a_run_has_one_driver_and_an_id_that_is_known() {
    let world = World::new();
    let (tree, runner) = (two(), world.process(usize::MAX).0);
    let mut stream = runner.run(&tree, "go").stream();
    let id = stream.next().await.unwrap().unwrap().invocation_id;
    assert_eq!(runner.resume(&tree, id).await.unwrap_err().kind(), ErrorKind::RunBusy);
    drop(stream);
    runner.resume(&tree, id).await.unwrap();
    let unknown: RunId = "e-01a20006-3d91-7063-bfff-1ade0228ff61".parse().unwrap();
    assert_eq!(runner.resume(&tree, unknown).await.unwrap_err().kind(), ErrorKind::UnknownRun);
}

#[tokio::test]
async fn an_agent_that_does_something_else_is_an_error_that_says_so() {
    let says = |text: &'static str| {
        let agent = by("a", move |cx| {
            Box::pin(async move {
                if !text.is_empty() {
                    cx.emit(Event::new().with_text(text)).await?;
                }
                cx.step("x", std::future::pending::<adk_core::Result<()>>()).await?;
                Ok(Flow::Continue)
            })
        });
        Tree::new("w", vec![run(agent)])
    };
    for (now, wanted) in [("two", "emits"), ("", "w/a!0")] {
        let world = World::new();
        let runner: Runner = Runner::builder()
            .session_store(world.sessions.clone())
            .engine(world.journal.clone())
            .build()
            .unwrap();
        let tree = says("one");
        let mut stream = runner.run(&tree, "go").stream();
        let id = stream.next().await.unwrap().unwrap().invocation_id;
        stream.next().await.unwrap().unwrap();
        drop(stream);
        let tree = match now {
            "" => Tree::new("w", vec![run(by("a", |_| Box::pin(async { Ok(Flow::Continue) })))]),
            now => says(now),
        };
        let error = runner.resume(&tree, id).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Diverged, "{error}");
        assert!(error.message().contains(wanted), "{error}");
        assert_eq!(length(&world).await, 2);
    }
}
