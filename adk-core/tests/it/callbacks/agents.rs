//! Callbacks before and after agents and blocks (semantics, section 3).

use super::*;
use crate::support::*;
use adk_build::{Error, ErrorKind, LoopEndReason, WithCallbacks};

/// Builds a tree of `a` with callbacks, then `b`.
fn two(a: WithCallbacks<By>) -> Tree {
    Tree::new("w", vec![run(a), run(say("b"))])
}

fn plain() -> WithCallbacks<By> {
    WithCallbacks::new(say("a"))
}

#[tokio::test]
async fn content_before_an_agent_replaces_the_agent() {
    let trace = Trace::default();
    let agent = plain()
        .before_agent(trace.called("first"))
        .before_agent(|_: &mut CallbackContext| Some("instead"))
        .before_agent(trace.called("never"))
        .after_agent(trace.called("never"));
    assert_eq!(events(&two(agent)).await, ["a: instead", "b: b"]);
    assert_eq!(trace.take(), ["first a"]);
}

#[tokio::test]
async fn content_after_an_agent_is_one_more_event_and_the_first_wins() {
    let agent = plain()
        .after_agent(|_: &mut CallbackContext| {})
        .after_agent(async |_: &mut CallbackContext| Some("second"))
        .after_agent(|_: &mut CallbackContext| Some("third"));
    assert_eq!(events(&two(agent)).await, ["a: a", "a: second", "b: b"]);
}

#[tokio::test]
async fn a_state_change_is_an_event_without_content_and_the_agent_runs() {
    let agent = plain()
        .before_agent(|cx: &mut CallbackContext| cx.state().set("before", 1))
        .after_agent(|cx: &mut CallbackContext| {
            let before: Option<u8> = cx.state().get("before")?;
            cx.state().set("after", before)
        });
    assert_eq!(
        events(&two(agent)).await,
        ["a:  before=1", "a: a", "a:  after=1", "b: b"]
    );
}

#[tokio::test]
async fn an_error_of_a_callback_fails_the_run_at_its_agent() {
    let agent =
        plain().before_agent(|_: &mut CallbackContext| Err::<(), _>(Error::other("cb boom")));
    let all = events(&two(agent)).await;
    assert_eq!(all, ["agent `a` (at w/a): cb boom"]);
    let agent = plain().after_agent(|_: &mut CallbackContext| -> Option<&str> { panic!("oh no") });
    let all = events(&two(agent)).await;
    assert_eq!(all[0], "a: a");
    assert!(
        all[1].contains("(at w/a): a callback panicked (reference "),
        "{}",
        all[1]
    );
}

#[tokio::test]
async fn no_callback_runs_after_a_failed_agent() {
    let trace = Trace::default();
    let failing = by("a", |_| Box::pin(async { Err(Error::other("boom")) }));
    let agent = WithCallbacks::new(failing).after_agent(trace.called("after"));
    assert_eq!(events(&two(agent)).await, ["agent `a` (at w/a): boom"]);
    assert!(trace.take().is_empty());
}

/// Builds a loop over `a` and `b`, where a callback of `a` escalates.
fn leaves(a: WithCallbacks<By>) -> Tree {
    Tree::new(
        "w",
        vec![repeat("lp", Some(2), vec![run(a), run(say("b"))])],
    )
}

#[tokio::test]
async fn an_event_of_a_callback_ends_the_loop() {
    let stop = |cx: &mut CallbackContext| {
        cx.actions.escalate = true;
        Some("stop")
    };
    assert_eq!(
        events(&leaves(plain().before_agent(stop))).await,
        ["a: stop escalate"]
    );
    assert_eq!(
        events(&leaves(plain().after_agent(stop))).await,
        ["a: a", "a: stop escalate"]
    );
    let with_state = |cx: &mut CallbackContext| {
        cx.actions.escalate = true;
        cx.state().set("done", true)
    };
    assert_eq!(
        events(&leaves(plain().after_agent(with_state))).await,
        ["a: a", "a:  done=true escalate"]
    );
    // The agent still runs after an event without content.
    let tree = leaves(plain().before_agent(with_state));
    assert_eq!(events(&tree).await, ["a:  done=true escalate", "a: a"]);
}

#[tokio::test]
async fn without_an_event_no_exit_is_requested() {
    let agent = plain().after_agent(|cx: &mut CallbackContext| cx.actions.escalate = true);
    assert_eq!(
        events(&leaves(agent)).await,
        ["a: a", "b: b", "a: a", "b: b"]
    );
}

#[tokio::test]
async fn a_callback_ends_a_loop_by_name() {
    let mut agent = say("a");
    agent.meta = agent.meta.exits(&["outer"]);
    let agent = WithCallbacks::new(agent).after_agent(|cx: &mut CallbackContext| {
        cx.actions.exit_to = Some("outer".into());
        Some("out")
    });
    let inner = repeat("inner", Some(2), vec![run(agent), run(say("b"))]);
    let tree = Tree::new(
        "w",
        vec![
            repeat("outer", Some(2), vec![inner, run(say("c"))]),
            run(say("d")),
        ],
    );
    assert_eq!(events(&tree).await, ["a: a", "a: out", "d: d"]);
}

#[tokio::test]
async fn an_unannounced_exit_is_an_error_where_announcement_is_required() {
    let tree = || {
        let mut quiet = say("a");
        quiet.meta = AgentMeta::custom("a");
        leaves(
            WithCallbacks::new(quiet).after_agent(|cx: &mut CallbackContext| {
                cx.actions.escalate = true;
                Some("stop")
            }),
        )
    };
    let runner: Runner = Runner::builder().build().unwrap();
    let error = runner.run(&tree(), "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedExit);
    assert_eq!(error.path().unwrap().to_string(), "w/lp#1/a");
    for (config, tree) in [
        (RunConfig::new(), tree().unchecked()),
        (RunConfig::adk(), tree()),
        (RunConfig::new().require_announced_exits(false), tree()),
    ] {
        let outcome = runner.run(&tree, "go").config(config).await.unwrap();
        assert_eq!(outcome.loops[0].rounds, 1);
        assert!(matches!(
            outcome.loops[0].reason,
            LoopEndReason::Escalated { .. }
        ));
    }
}

/// Traces the begin and the end of one block in `trace`.
fn traced(trace: &Trace, name: &'static str, block: Node) -> Tree {
    Tree::new("w", vec![block, run(say("z"))]).on(name, |callbacks| {
        callbacks
            .before(trace.called("before"))
            .after(trace.called("after"));
    })
}

#[tokio::test]
async fn every_block_begins_and_ends_once() {
    let trace = Trace::default();
    let blocks = || {
        [
            sequence("s", vec![run(say("a"))]),
            repeat("s", Some(2), vec![run(say("a"))]),
            repeat("s", Some(2), vec![run(exit("a"))]),
            repeat("s", None, vec![sequence("q", vec![Node::Break(None)])]),
            parallel("s", vec![run(say("a")), run(say("b"))]),
            Node::Match("s", "n", vec![vec![run(say("a"))], vec![]]),
            each("s", "item", "items", vec![run(say("a"))]),
        ]
    };
    for at in 0..blocks().len() {
        let block = blocks().into_iter().nth(at).unwrap();
        let tree = traced(&trace, "s", block)
            .lets("n", 1)
            .lets("items", json!(["x"]));
        let all = events(&tree).await;
        assert_eq!(
            all.last().map(String::as_str),
            Some("z: z"),
            "block {at}: {all:?}"
        );
        assert_eq!(trace.take(), ["before s", "after s"], "block {at}");
    }
}

#[tokio::test]
async fn callbacks_of_a_block_use_its_path_without_a_round() {
    let runner: Runner = Runner::builder().config(any_key()).build().unwrap();
    let tree = Tree::new("w", vec![repeat("lp", Some(2), vec![run(exit("a"))])]).on("lp", |lp| {
        lp.before(|cx: &mut CallbackContext| cx.state().set("begun", true));
        lp.after(|cx: &mut CallbackContext| Some(format!("over at {}", cx.path())));
    });
    let mut stream = runner.run(&tree, "go").stream();
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        all.push(format!(
            "{} {} {:?}",
            event.path,
            event.text(),
            event.loop_iteration()
        ));
    }
    assert_eq!(
        all,
        [
            "w go None",
            "w/lp  None",
            "w/lp#1/a a Some(0)",
            "w/lp over at w/lp None"
        ]
    );
}

#[tokio::test]
async fn a_block_is_skipped_as_a_whole() {
    let trace = Trace::default();
    for block in [
        sequence("s", vec![run(say("a"))]),
        repeat("s", Some(3), vec![run(say("a"))]),
        parallel("s", vec![run(say("a")), run(say("b"))]),
        Node::Match("s", "missing", vec![vec![run(say("a"))]]),
        each("s", "item", "missing", vec![run(say("a"))]),
    ] {
        let tree = Tree::new("w", vec![block, run(say("z"))]).on("s", |own| {
            own.before(|_: &mut CallbackContext| Some("skipped"))
                .after(trace.called("after"));
        });
        assert_eq!(events(&tree).await, ["s: skipped", "z: z"]);
    }
    assert!(trace.take().is_empty());
}

#[tokio::test]
async fn an_exit_ends_the_blocks_on_its_way_from_the_inside_out() {
    let trace = Trace::default();
    let ends = |callbacks: &mut adk_build::callback::AgentCallbacks| {
        callbacks.after(trace.called("after"));
    };
    let inside = sequence(
        "s",
        vec![
            sequence("t", vec![run(exit("a")), run(say("b"))]),
            run(say("c")),
        ],
    );
    let tree = Tree::new(
        "w",
        vec![repeat("lp", Some(3), vec![inside]), run(say("z"))],
    );
    let tree = tree.on("s", ends).on("t", ends).on("lp", ends);
    assert_eq!(events(&tree).await, ["a: a", "z: z"]);
    assert_eq!(trace.take(), ["after t", "after s", "after lp"]);
}

#[tokio::test]
async fn an_exit_of_a_block_callback_ends_the_enclosing_loop_if_allowed() {
    let inner = || repeat("inner", Some(2), vec![run(say("a"))]);
    let tree = || {
        Tree::new(
            "w",
            vec![
                repeat("outer", Some(3), vec![inner(), run(say("b"))]),
                run(say("z")),
            ],
        )
        .on("inner", |own| {
            own.after(|cx: &mut CallbackContext| {
                cx.actions.escalate = true;
                Some("stop")
            });
        })
    };
    assert_eq!(
        events(&tree().unchecked()).await,
        ["a: a", "a: a", "inner: stop escalate", "z: z"]
    );
    let all = events(&tree()).await;
    assert_eq!(all.len(), 4);
    assert!(
        all[3].contains("(at w/outer#1/inner): a callback of this block ended a loop"),
        "{}",
        all[3]
    );
    // The help names `until` and functions that return `Flow`.
    assert!(all[3].contains("until"), "{}", all[3]);
}

#[tokio::test]
async fn content_before_an_llm_agent_is_written_to_its_key() {
    let mut agent = llm();
    agent.add_before_agent(|_: &mut CallbackContext| Some("bypass"));
    let model = ScriptedModel::new();
    let tree = Tree::new("w", vec![run(agent)]);
    assert_eq!(
        drive(modelled(&model), &tree).await,
        ["a: bypass o=\"bypass\""]
    );
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn callbacks_of_a_block_in_a_branch_emit_in_that_branch() {
    let tree = Tree::new(
        "w",
        vec![parallel(
            "p",
            vec![sequence("s", vec![run(say("a"))]), run(say("b"))],
        )],
    );
    let tree = tree.on("s", |own| {
        own.after(|_: &mut CallbackContext| Some("end"));
    });
    let runner: Runner = Runner::builder().build().unwrap();
    let mut stream = runner.run(&tree, "go").stream();
    let mut branches = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        if event.author == "s" {
            branches.push(event.branch.clone().unwrap().to_string());
        }
    }
    assert_eq!(branches, ["p.s"]);
}
