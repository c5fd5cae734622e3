//! Runs that cannot be resumed: the error is typed and nothing changes.

use super::crash::{World, drive};
use super::talks::llm;
use super::trees::works;
use crate::support::*;
use adk_build::engine::{RunFilter, RunRegistry as _};
use adk_build::llm::LlmAgent;
use adk_build::testing::Reply;
use adk_build::{Await, ErrorKind, Event, Flow, KeySpec, RunId, Runner};
use serde::{Deserialize, Serialize};

/// Starts a run that is killed in its second agent, and returns its id.
async fn killed_run(world: &World, tree: &Tree) -> RunId {
    let (runner, engine) = world.process(15);
    let mut events = Vec::new();
    drive(runner.run(tree, "go").stream(), &engine, &mut events).await;
    events[0].invocation_id
}

fn two() -> Tree {
    Tree::new("w", vec![run(works("a")), run(works("b"))])
}

async fn length(world: &World) -> usize {
    let keys = world.sessions.list("app", None, "").await.unwrap();
    world
        .sessions
        .get(&keys[0].key)
        .await
        .unwrap()
        .unwrap()
        .len()
}

#[tokio::test]
async fn another_shape_is_refused_with_a_diff() {
    let world = World::new();
    let id = killed_run(&world, &two()).await;
    let before = length(&world).await;
    let (runner, _) = world.process(usize::MAX);
    let renamed = Tree::new("w", vec![run(works("a")), run(works("c"))]);
    let error = runner.resume(&renamed, id).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TopologyChanged);
    assert!(
        error
            .message()
            .ends_with("- custom b -> b\n+ custom c -> c"),
        "{error}"
    );
    let other = Tree::new("v", vec![run(works("a"))]);
    assert_eq!(
        runner.resume(&other, id).await.unwrap_err().kind(),
        ErrorKind::TopologyChanged
    );
    assert_eq!(length(&world).await, before);
    // A workflow with more steps at its end still fits. The run can be resumed, so the refusals
    // have released it.
    let longer = Tree::new("w", vec![run(works("a")), run(works("b")), run(say("z"))]);
    runner.resume(&longer, id).await.unwrap();
}

/// The type of an answer in the program that begins the run. `now::Decision` is the type of the
/// same name in a later program.
mod then {
    use super::*;
    #[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
    #[schemars(crate = "adk_build::__private::schemars")]
    pub enum Decision {
        Publish,
        Revise,
    }
}

mod now {
    use super::*;
    #[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
    #[schemars(crate = "adk_build::__private::schemars")]
    pub enum Decision {
        Publish,
        Revise,
        Reject,
    }
}

/// Builds a tree whose agent writes a key of type `ty`.
fn writes(ty: &'static str) -> Tree {
    let mut agent = works("b");
    agent.meta = agent
        .meta
        .writes(Box::leak(Box::new([KeySpec::new("b", ty)])));
    Tree::new("w", vec![run(works("a")), run(agent)])
}

/// Asserts that the tree is refused with this difference and that nothing changes.
async fn assert_retyped(world: &World, id: RunId, tree: &Tree, diff: &str) {
    let before = (
        length(world).await,
        world
            .journal
            .runs("app", &RunFilter::unfinished())
            .await
            .unwrap(),
    );
    let error = world
        .process(usize::MAX)
        .0
        .resume(tree, id)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TopologyChanged, "{error}");
    assert!(error.message().ends_with(&format!(":\n{diff}")), "{error}");
    assert_eq!(
        (
            length(world).await,
            world
                .journal
                .runs("app", &RunFilter::unfinished())
                .await
                .unwrap()
        ),
        before
    );
}

#[tokio::test]
async fn a_key_of_another_type_is_another_shape() {
    let world = World::new();
    let id = killed_run(&world, &writes("u64")).await;
    assert_retyped(&world, id, &writes("String"), "~ b: u64 -> String").await;
    let longer = Tree::new("w", vec![run(works("a")), run(works("b")), run(say("z"))]);
    assert_retyped(&world, id, &longer, "~ b: u64 -> Value\n+ custom z").await;
    world
        .process(usize::MAX)
        .0
        .resume(&writes("u64"), id)
        .await
        .unwrap();
}

#[tokio::test]
async fn an_awaited_value_of_another_type_is_another_shape() {
    let world = World::new();
    let asks = |ask: Await| Tree::new("w", vec![run(works("a")), run(ask)]);
    let decision = || {
        asks(
            Await::builder::<then::Decision>("d")
                .question("Publish?")
                .build(),
        )
    };
    let runner = world.process(usize::MAX).0;
    assert_eq!(
        runner.run(&decision(), "go").await.unwrap_err().kind(),
        ErrorKind::Paused
    );
    let [waiting] = &runner.waiting().await.unwrap()[..] else {
        panic!("one question")
    };
    for answered in [false, true] {
        let other = asks(Await::builder::<bool>("d").build());
        let own = std::any::type_name::<then::Decision>();
        assert_retyped(
            &world,
            waiting.run_id,
            &other,
            &format!("~ d: {own} -> bool"),
        )
        .await;
        let other = asks(Await::builder::<now::Decision>("d").build());
        let diff = format!("~ d: {own} -> {}", std::any::type_name::<now::Decision>());
        assert_retyped(&world, waiting.run_id, &other, &diff).await;
        if !answered {
            // An open question keeps its text.
            let reworded = asks(
                Await::builder::<then::Decision>("d")
                    .question("Really?")
                    .build(),
            );
            let paused = runner.resume(&reworded, waiting.run_id).await.unwrap_err();
            assert_eq!(paused.kind(), ErrorKind::Paused);
            assert_eq!(
                runner.waiting().await.unwrap(),
                std::slice::from_ref(waiting)
            );
            runner.answer(&waiting.id, "Revise").await.unwrap();
        }
    }
    // Text and timeout of a question may change.
    let later = asks(
        Await::builder::<then::Decision>("d")
            .question("And now?")
            .build(),
    );
    let outcome = runner.resume(&later, waiting.run_id).await.unwrap();
    assert_eq!(
        outcome.get::<String>("d").unwrap().as_deref(),
        Some("Revise")
    );
}

#[tokio::test]
async fn an_answer_of_a_model_of_another_type_is_another_shape() {
    let world = World::new();
    let tree = |agent: LlmAgent| {
        Tree::new(
            "w",
            vec![run(agent), run(Await::builder::<bool>("yes").build())],
        )
    };
    let judge = || llm("judge", |_| Reply::new().json("Publish")).output_key("d");
    let own = || {
        tree(
            judge()
                .output_type::<then::Decision>()
                .instruction("Judge.")
                .build()
                .unwrap(),
        )
    };
    let runner = world.process(usize::MAX).0;
    assert_eq!(
        runner.run(&own(), "go").await.unwrap_err().kind(),
        ErrorKind::Paused
    );
    let [waiting] = &runner.waiting().await.unwrap()[..] else {
        panic!("one question")
    };
    let name = std::any::type_name::<then::Decision>();
    let text = tree(judge().build().unwrap());
    assert_retyped(
        &world,
        waiting.run_id,
        &text,
        &format!("~ d: {name} -> String"),
    )
    .await;
    runner.answer(&waiting.id, true).await.unwrap();
    let later = tree(
        judge()
            .output_type::<then::Decision>()
            .instruction("Judge it, please.")
            .build()
            .unwrap(),
    );
    runner.resume(&later, waiting.run_id).await.unwrap();
}

#[tokio::test]
async fn a_run_needs_a_known_id_and_has_one_driver() {
    let world = World::new();
    let (tree, runner) = (two(), world.process(usize::MAX).0);
    let mut stream = runner.run(&tree, "go").stream();
    let id = stream.next().await.unwrap().unwrap().invocation_id;
    assert_eq!(
        runner.resume(&tree, id).await.unwrap_err().kind(),
        ErrorKind::RunBusy
    );
    drop(stream);
    runner.resume(&tree, id).await.unwrap();
    let unknown: RunId = "e-01a20006-3d91-7063-bfff-1ade0228ff61".parse().unwrap();
    assert_eq!(
        runner.resume(&tree, unknown).await.unwrap_err().kind(),
        ErrorKind::UnknownRun
    );
}

#[tokio::test]
async fn a_changed_agent_is_reported() {
    let says = |text: &'static str| {
        let agent = by("a", move |cx| {
            Box::pin(async move {
                if !text.is_empty() {
                    cx.emit(Event::new().with_text(text)).await?;
                }
                cx.step("x", std::future::pending::<adk_build::Result<()>>())
                    .await?;
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
            "" => Tree::new(
                "w",
                vec![run(by("a", |_| Box::pin(async { Ok(Flow::Continue) })))],
            ),
            now => says(now),
        };
        let error = runner.resume(&tree, id).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Diverged, "{error}");
        assert!(error.message().contains(wanted), "{error}");
        assert!(
            error
                .help()
                .is_some_and(|help| help.contains("`w/a`") && help.contains("has changed")),
            "{error}"
        );
        assert_eq!(length(&world).await, 2);
    }
}

#[tokio::test]
async fn a_record_of_another_type_is_reported_with_a_remedy() {
    let steps = |ty: &'static str| {
        let agent = by("a", move |cx| {
            Box::pin(async move {
                match ty {
                    "text" => drop(cx.step("x", async { Ok("text".to_owned()) }).await?),
                    _ => drop(cx.step("x", async { Ok(1) }).await?),
                }
                cx.wait::<u8>("y").await?;
                Ok(Flow::Continue)
            })
        });
        Tree::new("w", vec![run(agent)])
    };
    let world = World::new();
    let runner = world.process(usize::MAX).0;
    assert_eq!(
        runner.run(&steps("text"), "go").await.unwrap_err().kind(),
        ErrorKind::Paused
    );
    let waiting = runner.waiting().await.unwrap().remove(0);
    runner.answer(&waiting.id, "no number").await.unwrap();
    for (ty, wanted) in [("number", "step `x`"), ("text", "wait `y`")] {
        let error = runner.resume(&steps(ty), waiting.run_id).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Diverged, "{error}");
        assert!(error.message().contains(wanted), "{error}");
        assert!(
            error
                .help()
                .is_some_and(|help| help.starts_with("resume the run with")),
            "{error}"
        );
        assert_eq!(
            error.path().map(ToString::to_string).as_deref(),
            Some("w/a")
        );
    }
}
