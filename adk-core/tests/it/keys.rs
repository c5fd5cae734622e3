//! Instances whose keys differ from their definition, on trees wired by hand.

use crate::support::*;
use adk_build::__private::param::{KeyParam, Param, StateRead};
use adk_build::spec::{InputSpec, KeySpec};
use adk_build::{ErrorKind, Event, Flow, Runner};

fn runner() -> Runner {
    Runner::builder().build().unwrap()
}

async fn state(tree: &Tree) -> Vec<String> {
    let outcome = runner()
        .run(tree, "cats")
        .state("user:name", "Ann")
        .await
        .unwrap();
    outcome
        .session()
        .state()
        .iter()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap()))
        .collect()
}

/// `critic(draft) -> criticism`
fn critic() -> By {
    put("critic", "criticism", |cx| {
        let draft = cx
            .state()
            .get::<String>("draft")
            .unwrap()
            .unwrap_or("nothing".into());
        format!("{draft}?")
    })
}

#[tokio::test]
async fn an_instance_reads_and_writes_other_keys() {
    let tree = Tree::new(
        "w",
        vec![
            run(critic()),
            renamed("second", critic(), &[("draft", "topic")], &["of_topic"]),
            renamed(
                "third",
                critic(),
                &[("draft", "user:name")],
                &["user:criticism"],
            ),
            renamed("fourth", critic(), &[("draft", "of_topic")], &[]),
        ],
    );
    assert_eq!(
        trace(&tree).await[1..],
        [
            "w/second of_topic=\"go?\"",
            "w/third user:criticism=\"nothing?\"",
            "w/fourth criticism=\"go??\""
        ]
    );
    assert_eq!(
        state(&tree).await,
        [
            "criticism=cats??",
            "of_topic=cats?",
            "topic=cats",
            "user:criticism=Ann?",
            "user:name=Ann"
        ]
    );
}

#[tokio::test]
async fn an_instance_reads_its_own_writes() {
    // Reads and writes `draft`, with an event in between.
    let mut refiner = by("refiner", |cx| {
        Box::pin(async move {
            for round in ["1", "2"] {
                let draft = cx.state().get::<String>("draft")?.unwrap() + round;
                cx.state().set("draft", &draft)?;
                assert_eq!(
                    cx.state().get::<String>("draft")?,
                    Some(draft),
                    "seen at once"
                );
                cx.emit(Event::new()).await?;
            }
            let draft = cx.state().get::<String>("draft")?.unwrap();
            cx.emit(Event::new().with_state("draft", draft + "!"))
                .await?;
            Ok(Flow::Continue)
        })
    });
    refiner.meta = refiner
        .meta
        .reads(const { &[KeySpec::new("draft", "String")] })
        .writes(const { &[KeySpec::new("draft", "String")] });
    let tree = Tree::new(
        "w",
        vec![repeat(
            "l",
            Some(2),
            vec![renamed(
                "second",
                refiner,
                &[("draft", "topic")],
                &["essay"],
            )],
        )],
    );
    // Each round starts with the input value again.
    assert_eq!(
        state(&tree).await,
        ["essay=cats12!", "topic=cats", "user:name=Ann"]
    );
}

#[tokio::test]
async fn a_key_with_two_names_is_one_key() {
    let mut swap = by("swap", |cx| {
        Box::pin(async move {
            cx.state().set("criticism", "new")?;
            assert_eq!(
                cx.state().get::<String>("draft")?.as_deref(),
                Some("new"),
                "seen at once"
            );
            cx.emit(Event::new()).await?;
            assert_eq!(cx.state().get::<String>("draft")?.as_deref(), Some("new"));
            Ok(Flow::Continue)
        })
    });
    swap.meta = swap
        .meta
        .writes(const { &[KeySpec::new("criticism", "String")] });
    let tree = Tree::new(
        "w",
        vec![renamed("second", swap, &[("draft", "topic")], &["topic"])],
    );
    assert_eq!(state(&tree).await, ["topic=new", "user:name=Ann"]);
}

#[tokio::test]
async fn an_instance_that_does_not_write_its_key_fails() {
    let mut lazy = say("lazy");
    lazy.meta = lazy
        .meta
        .writes(const { &[KeySpec::new("draft", "String")] });
    let tree = Tree::new("w", vec![renamed("second", lazy, &[], &["essay"])]).lets("draft", "old");
    let error = runner().run(&tree, "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyNotWritten);
    assert!(error.to_string().starts_with(
        "agent `second` (at w/second): it ended without having written its key `draft`"
    ));
}

/// `polish(draft: String, tone: String = "plain") -> (draft: String, note: String)`
fn polish() -> Tree {
    Tree::with_keys(
        "polish",
        const {
            &[
                InputSpec::new("draft", "String", false),
                InputSpec::new("tone", "String", true),
            ]
        },
        const {
            &[
                KeySpec::new("draft", "String"),
                KeySpec::new("note", "String"),
            ]
        },
        vec![
            run(put("writer", "draft", |cx| {
                let get = |cx: &mut adk_build::Context, key| cx.state().get::<String>(key).unwrap();
                assert_eq!(get(cx, "note"), None, "an output that was not written");
                let (draft, tone) = (get(cx, "draft").unwrap(), get(cx, "tone").unwrap());
                format!("{tone} {draft}")
            })),
            run(put("noter", "note", |cx| {
                cx.state().get::<String>("draft").unwrap().unwrap()
            })),
        ],
    )
    .default_of("tone", "plain")
}

#[tokio::test]
async fn a_workflow_takes_its_inputs_from_other_keys_and_gives_its_outputs_to_others() {
    // `note` belongs to the enclosing workflow, not to the instance.
    let around = |step| {
        Tree::new("w", vec![run(put("mood", "mood", |_| "mad")), step]).lets("note", "around")
    };
    let tree = around(renamed(
        "p",
        polish(),
        &[("draft", "topic"), ("tone", "mood")],
        &["essay", "essay_note"],
    ));
    assert_eq!(
        trace(&tree).await[1..],
        [
            "w/p essay=\"go\" p/tone=\"mad\"",
            "w/p/writer essay=\"mad go\"",
            "w/p/noter essay_note=\"mad go\"",
        ]
    );
    // One key is input and output, and `tone` has its default, because nothing here can write it.
    let tree = Tree::new(
        "w",
        vec![renamed(
            "p",
            polish(),
            &[("draft", "topic")],
            &["topic", "n"],
        )],
    );
    assert_eq!(
        trace(&tree).await,
        [
            "w/p p/tone=\"plain\"",
            "w/p/writer topic=\"plain go\"",
            "w/p/noter n=\"plain go\""
        ]
    );
    // Only the input is renamed, so its value is copied to the output key.
    let tree = Tree::new(
        "w",
        vec![renamed(
            "p",
            polish(),
            &[("draft", "topic"), ("tone", "user:tone")],
            &[],
        )],
    );
    let outcome = runner()
        .run(&tree, "go")
        .state("user:tone", "glad")
        .state("tone", "stale")
        .await
        .unwrap();
    assert_eq!(
        outcome.get::<String>("draft").unwrap().as_deref(),
        Some("glad go")
    );
    assert_eq!(
        outcome.get::<String>("topic").unwrap().as_deref(),
        Some("go")
    );
}

#[tokio::test]
async fn instances_nest_in_workflows_that_are_instances() {
    let inner = Tree::with_keys(
        "inner",
        const { &[InputSpec::new("plan", "String", false)] },
        const { &[KeySpec::new("result", "String")] },
        vec![
            renamed("first", critic(), &[("draft", "plan")], &["own"]),
            renamed("p", polish(), &[("draft", "own")], &["result", "note"]),
        ],
    );
    let tree = Tree::new(
        "w",
        vec![renamed("x", inner, &[("plan", "topic")], &["final"])],
    );
    assert_eq!(
        state(&tree).await,
        [
            "final=plain cats?",
            "topic=cats",
            "user:name=Ann",
            "x/note=plain cats?",
            "x/own=cats?",
            "x/p/tone=plain",
            "x/plan=cats",
        ]
    );
}

#[tokio::test]
async fn a_missing_input_of_an_instance_names_both_keys() {
    let tree = Tree::new(
        "w",
        vec![renamed("p", polish(), &[("draft", "essay")], &[])],
    );
    let error = runner().run(&tree, "go").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "agent `p` (at w/p): the workflow's input `draft` reads the key `essay`, which nothing has \
         written; help: write `essay` before it, or give the input a default"
    );
}

#[tokio::test]
async fn a_parameter_without_its_value_names_both_keys() {
    let critic = by("critic", |cx| {
        let loaded = StateRead::handle(Param::<&str, KeyParam>::NEW.__shape())
            .__load(&mut cx.state(), "draft")
            .map(|_| Flow::Continue);
        Box::pin(async { loaded })
    });
    let tree = Tree::new(
        "w",
        vec![renamed("second", critic, &[("draft", "essay")], &[])],
    );
    let error = runner().run(&tree, "go").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "agent `second` (at w/second): the parameter `draft` reads the state key `essay`, which \
         holds no value; help: let an earlier step write `essay`, pass it as an input, or make the \
         parameter an `Option`"
    );
}
