//! `match` blocks.

use super::*;
use adk_build::LoopEndReason;

/// Chooses the arms one after the other.
fn choose(name: &'static str) -> By {
    put(name, "which", |cx| cx.iteration().unwrap_or(0))
}

#[tokio::test]
async fn a_match_runs_the_selected_arm_and_continues_after_it() {
    let inner = select(
        "inner",
        "which",
        vec![vec![], vec![run(say("one")), run(say("more"))], vec![]],
    );
    let arms = vec![
        vec![run(say("zero"))],
        vec![inner, run(say("after"))],
        vec![],
    ];
    let inside = vec![
        run(choose("choose")),
        select("kind", "which", arms),
        run(say("last")),
    ];
    let tree = Tree::new("w", vec![repeat("l", Some(3), inside)]);
    assert_eq!(
        trace(&tree).await,
        [
            "w/l#1/choose which=0",
            "w/l#1/kind/zero",
            "w/l#1/last",
            "w/l#2/choose which=1",
            "w/l#2/kind/inner/one",
            "w/l#2/kind/inner/more",
            "w/l#2/kind/after",
            "w/l#2/last",
            "w/l#3/choose which=2",
            "w/l#3/last",
        ]
    );
}

#[tokio::test]
async fn an_exit_in_an_arm_ends_the_enclosing_loop() {
    let by_name = || {
        let mut leave = by("leave", |_| {
            Box::pin(async { Ok(Flow::ExitTo("outer".into())) })
        });
        leave.meta = leave.meta.exits(&["outer"]);
        leave
    };
    for (arm, reason) in [
        (Node::Break(Some("outer")), "break"),
        (run(by_name()), "escalated"),
    ] {
        let arms = vec![vec![run(say("zero"))], vec![arm, run(say("never"))]];
        let inner = repeat("inner", Some(1), vec![select("kind", "which", arms)]);
        let inside = vec![run(choose("choose")), inner, run(say("after"))];
        let tree = Tree::new("w", vec![repeat("outer", None, inside), run(say("last"))]);
        let seen = trace(&tree).await;
        assert_eq!(
            seen,
            [
                "w/outer#1/choose which=0",
                "w/outer#1/inner#1/kind/zero",
                "w/outer#1/after",
                "w/outer#2/choose which=1",
                "w/last"
            ]
        );
        let outcome = runner().run(&tree, "go").await.unwrap();
        let end = outcome.loops.last().unwrap();
        assert_eq!((end.path.to_string().as_str(), end.rounds), ("w/outer", 2));
        assert_eq!(
            matches!(end.reason, LoopEndReason::Break),
            reason == "break"
        );
    }
}

#[tokio::test]
async fn a_match_nests_in_branches_and_branches_in_its_arms() {
    let both = parallel("both", vec![run(say("a")), run(say("b"))]);
    let matches = select("kind", "which", vec![vec![both, run(say("c"))], vec![]]);
    let tree = Tree::new(
        "w",
        vec![
            run(choose("choose")),
            parallel("p", vec![matches, run(say("d"))]),
        ],
    );
    let mut seen = trace(&tree).await;
    seen.sort();
    assert_eq!(
        seen,
        [
            "w/choose which=0",
            "w/p/d",
            "w/p/kind/both/a",
            "w/p/kind/both/b",
            "w/p/kind/c"
        ]
    );
}

#[tokio::test]
async fn a_match_reads_keys_of_its_own_workflow() {
    let arms = vec![vec![], vec![run(say("one"))]];
    let inner =
        Tree::with_keys("inner", &[], &[], vec![select("kind", "own", arms)]).lets("own", 1);
    assert_eq!(
        trace(&Tree::new("w", vec![named("first", inner)])).await,
        ["w/first first/own=1", "w/first/kind/one"]
    );
}

#[tokio::test]
async fn a_match_on_a_value_of_another_type_is_reported() {
    let cases = [
        (
            None,
            ErrorKind::KeyMissing,
            "agent `kind` (at w/s/kind): `match severity` reads a key that nothing has written; \
             help: let a step before it write `severity`, or pass it as an input",
        ),
        (
            Some(serde_json::json!("high")),
            ErrorKind::KeyType,
            "agent `kind` (at w/s/kind): `match severity` selects no arm: expected a number, got \
             \"high\"; help: write `severity` as the type of its patterns",
        ),
        (
            Some(serde_json::json!(null)),
            ErrorKind::KeyType,
            "agent `kind` (at w/s/kind): `match severity` selects no arm: expected a number, got \
             null; help: write `severity` as the type of its patterns",
        ),
        (
            Some(serde_json::json!(2)),
            ErrorKind::Config,
            "agent `kind` (at w/s/kind): step 1 of `w` selects arm 2 of 2, counted from 0",
        ),
    ];
    for (value, kind, text) in cases {
        let arms = vec![vec![run(say("a"))], vec![run(say("b"))]];
        let mut tree = Tree::new(
            "w",
            vec![sequence("s", vec![select("kind", "severity", arms)])],
        );
        if let Some(value) = value {
            tree = tree.lets("severity", value);
        }
        let error = runner().run(&tree, "go").await.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, text));
    }
}
