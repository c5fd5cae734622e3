//! `RunConfig::adk()`: which loops an escalate ends (semantics, sections 6 and 7), and which errors
//! ADK ignores.

use super::*;
use crate::support::*;
use adk_build::{Flow, LoopEndReason, WithCallbacks};
use std::time::Duration;

/// Emits one event with an escalate.
fn escalates(name: &'static str) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_text(name).with_escalate())
                .await?;
            cx.emit(Event::new().with_text("more")).await?;
            Ok(Flow::Continue)
        })
    })
}

/// Emits one event, sleeps, and emits another.
fn slow(name: &'static str) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            cx.emit(Event::new().with_text("1")).await?;
            tokio::time::sleep(Duration::from_millis(100)).await;
            cx.emit(Event::new().with_text("2")).await?;
            Ok(Flow::Continue)
        })
    })
}

const SAID: [&str; 2] = ["a: a escalate", "a: more"];

async fn ours_and_adk(tree: &Tree) -> (Vec<String>, Vec<String>) {
    (events(tree).await, adk_events(tree).await)
}

fn expected(more: &[&'static str]) -> Vec<&'static str> {
    [&SAID, more].concat()
}

#[tokio::test]
async fn an_escalate_ends_every_loop_or_the_innermost() {
    let inner = repeat("inner", Some(2), vec![run(escalates("a")), run(say("b"))]);
    let tree = Tree::new(
        "w",
        vec![
            repeat("outer", Some(2), vec![inner, run(say("c"))]),
            run(say("d")),
        ],
    );
    let (ours, adk) = ours_and_adk(&tree).await;
    assert_eq!(
        ours,
        [&expected(&["c: c"])[..], &expected(&["c: c", "d: d"])[..]].concat()
    );
    assert_eq!(adk, expected(&["d: d"]));
}

#[tokio::test]
async fn each_switch_works_on_its_own() {
    let alone = async |config, tree: &Tree| drive(Runner::builder().config(config), tree).await;
    let inner = repeat("inner", Some(2), vec![run(escalates("a")), run(say("b"))]);
    let loops = Tree::new(
        "w",
        vec![
            repeat("outer", Some(2), vec![inner, run(say("c"))]),
            run(say("d")),
        ],
    );
    assert_eq!(
        alone(RunConfig::new().escalate_ends_all_loops(true), &loops).await,
        expected(&["d: d"])
    );
    let mut agent = say("a");
    agent.meta = agent.meta.writes(const { &[KeySpec::new("k", "String")] });
    let key = Tree::new("w", vec![run(WithCallbacks::new(agent))]);
    assert_eq!(
        alone(RunConfig::new().require_keys(false), &key).await,
        ["a: a"]
    );
    // The other settings of `RunConfig::adk()` have neither effect.
    let others = RunConfig::adk()
        .escalate_ends_all_loops(false)
        .require_keys(true);
    assert_eq!(alone(others.clone(), &loops).await, events(&loops).await);
    assert_eq!(alone(others, &key).await, events(&key).await);
}

#[tokio::test]
async fn a_sequence_between_loops_finishes_before_the_outer_loop_ends() {
    let sequence = sequence(
        "sq",
        vec![
            repeat("inner", Some(3), vec![run(escalates("a"))]),
            run(say("b")),
        ],
    );
    let tree = Tree::new(
        "w",
        vec![
            repeat("outer", Some(3), vec![sequence, run(say("c"))]),
            run(say("d")),
        ],
    );
    assert_eq!(adk_events(&tree).await, expected(&["b: b", "d: d"]));
    let runner: Runner = Runner::builder().config(RunConfig::adk()).build().unwrap();
    let outcome = runner.run(&tree, "go").await.unwrap();
    let loops: Vec<_> = outcome
        .loops
        .iter()
        .map(|end| (end.path.to_string(), end.rounds))
        .collect();
    assert_eq!(
        loops,
        [
            ("w/outer#1/sq/inner".to_owned(), 1),
            ("w/outer".to_owned(), 1)
        ]
    );
    let by = |at: usize| match &outcome.loops[at].reason {
        LoopEndReason::Escalated { by } => by.to_string(),
        other => format!("{other:?}"),
    };
    assert_eq!(by(1), "w/outer#1/sq/inner#1/a");
}

#[tokio::test]
async fn an_escalate_outside_of_loops_has_no_effect() {
    let tree = Tree::new("w", vec![run(escalates("a")), run(say("b"))]);
    let (ours, adk) = ours_and_adk(&tree).await;
    assert_eq!(adk, expected(&["b: b"]));
    assert!(ours[2].contains("is not inside a loop"), "{}", ours[2]);
}

#[tokio::test]
async fn an_escalate_passes_through_matches_and_nested_workflows() {
    let nested = Tree::new("nested", vec![run(escalates("a")), run(say("b"))]);
    let tree = Tree::new(
        "w",
        vec![
            repeat("lp", Some(3), vec![run(nested), run(say("c"))]),
            run(say("d")),
        ],
    );
    assert_eq!(
        adk_events(&tree).await[1..],
        ["a: a escalate", "a: more", "b: b", "d: d"]
    );
    let choice = select("m", "n", vec![vec![run(escalates("a")), run(say("b"))]]);
    let tree = Tree::new(
        "w",
        vec![
            repeat("lp", Some(3), vec![choice, run(say("c"))]),
            run(say("d")),
        ],
    );
    assert_eq!(
        adk_events(&tree.lets("n", 0)).await,
        expected(&["b: b", "d: d"])
    );
}

#[tokio::test(start_paused = true)]
async fn an_escalate_of_a_direct_child_cancels_the_parallel_block() {
    let tree = || {
        Tree::new(
            "w",
            vec![
                parallel("p", vec![run(escalates("a")), run(slow("y"))]),
                run(say("c")),
            ],
        )
    };
    assert_eq!(adk_events(&tree()).await, ["a: a escalate", "c: c"]);
    let block = parallel("p", vec![run(escalates("a")), run(slow("y"))]);
    let tree = Tree::new(
        "w",
        vec![
            repeat("lp", Some(3), vec![block, run(say("z"))]),
            run(say("c")),
        ],
    );
    assert_eq!(adk_events(&tree).await, ["a: a escalate", "c: c"]);
}

#[tokio::test(start_paused = true)]
async fn an_escalate_from_deeper_inside_waits_for_the_siblings() {
    for deep in [
        sequence("s", vec![run(escalates("a"))]),
        repeat("s", Some(3), vec![run(escalates("a")), run(say("never"))]),
        run(Tree::with_keys("s", &[], &[], vec![run(escalates("a"))])),
    ] {
        let block = parallel("p", vec![deep, run(slow("y"))]);
        let tree = Tree::new(
            "w",
            vec![
                repeat("lp", Some(3), vec![block, run(say("z"))]),
                run(say("c")),
            ],
        );
        assert_eq!(adk_events(&tree).await, expected(&["y: 1", "y: 2", "c: c"]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_callback_of_a_block_in_a_parallel_counts_as_its_direct_child() {
    let block = parallel(
        "p",
        vec![sequence("s", vec![run(say("a"))]), run(slow("y"))],
    );
    let tree = Tree::new("w", vec![block, run(say("c"))]).on("s", |own| {
        own.after(|cx: &mut CallbackContext| {
            cx.actions.escalate = true;
            Some("stop")
        });
    });
    assert_eq!(
        adk_events(&tree).await,
        ["a: a", "s: stop escalate", "c: c"]
    );
}

#[tokio::test]
async fn breaks_and_named_exits_are_unaffected() {
    let inner = repeat("inner", Some(2), vec![Node::Break(None)]);
    let tree = Tree::new(
        "w",
        vec![repeat("outer", Some(2), vec![inner, run(say("c"))])],
    );
    assert_eq!(adk_events(&tree).await, ["c: c", "c: c"]);
}

#[tokio::test]
async fn a_pending_escalate_survives_a_break() {
    let inner = repeat(
        "inner",
        Some(2),
        vec![sequence("s", vec![run(escalates("a")), Node::Break(None)])],
    );
    let tree = Tree::new(
        "w",
        vec![
            repeat("outer", Some(2), vec![inner, run(say("c"))]),
            run(say("d")),
        ],
    );
    assert_eq!(adk_events(&tree).await, expected(&["d: d"]));
}

#[tokio::test]
async fn the_callbacks_of_the_loops_that_end_are_called() {
    let trace = Trace::default();
    let inner = repeat("inner", Some(2), vec![run(escalates("a"))]);
    let tree = Tree::new(
        "w",
        vec![repeat(
            "outer",
            Some(2),
            vec![sequence("s", vec![inner, run(say("b"))])],
        )],
    );
    let tree = ["inner", "s", "outer"]
        .into_iter()
        .fold(tree, |tree, block| {
            tree.on(block, |own| {
                own.after(trace.called("after"));
            })
        });
    assert_eq!(adk_events(&tree).await, expected(&["b: b"]));
    assert_eq!(trace.take(), ["after inner", "after s", "after outer"]);
}

#[tokio::test]
async fn an_unwritten_key_is_not_an_error() {
    let mut agent = say("a");
    agent.meta = agent.meta.writes(const { &[KeySpec::new("k", "String")] });
    let tree = Tree::new("w", vec![run(WithCallbacks::new(agent))]);
    let (ours, adk) = ours_and_adk(&tree).await;
    assert!(
        ours[1].contains("without having written its key `k`"),
        "{}",
        ours[1]
    );
    assert_eq!(adk, ["a: a"]);
}

#[tokio::test]
async fn a_tool_error_ends_the_run_but_a_wrong_argument_does_not() {
    let refuses = tool("picky", |_, _| {
        Box::pin(async { Err(ToolError::argument("argument `n`: missing")) })
    });
    let mut agent = llm();
    agent.add_tool(fails()).add_tool(refuses);
    let tree = Tree::new("w", vec![run(agent)]);
    let model = || {
        ScriptedModel::new()
            .call("picky", json!({}))
            .call("fails", json!({}))
            .text("ok")
    };
    let ours = drive(modelled(&model()), &tree).await;
    assert_eq!(
        ours[3..],
        [r#"a:  fails->{"error":"no luck"}"#, "a: ok o=\"ok\""]
    );
    let adk = drive(modelled(&model()).config(RunConfig::adk()), &tree).await;
    assert_eq!(adk[1], r#"a:  picky->{"error":"argument `n`: missing"}"#);
    assert_eq!(
        adk[3..],
        ["agent `a` (at w/a): tool `fails` failed: no luck"]
    );
}
