//! `try` blocks and their attempts.

use super::*;
use adk_build::spec::Attempts;
use adk_build::{Error, FailedAttempt, LoopEndReason};
use tokio::time::Instant;

const THREE: Attempts = Attempts::new(None);

/// Emits an event, writes `key`, and fails in attempts with a number below `succeeds`.
fn flaky(name: &'static str, key: &'static str, succeeds: u32, kind: ErrorKind) -> By {
    let mut agent = by(name, move |cx| {
        Box::pin(async move {
            let attempt = cx.iteration().unwrap() + 1;
            cx.emit(Event::new().with_text("tries").with_state(key, attempt))
                .await?;
            if attempt < succeeds {
                return Err(Error::new(kind, format!("attempt {attempt} failed")));
            }
            Ok(Flow::Continue)
        })
    });
    agent.meta = agent
        .meta
        .writes(Box::leak(Box::new([KeySpec::new(key, "u32")])));
    agent
}

fn sleeps(name: &'static str, seconds: u64) -> By {
    by(name, move |_| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            Ok(Flow::Continue)
        })
    })
}

/// Collects the failed attempts that events report.
async fn failures(tree: &Tree) -> Vec<FailedAttempt> {
    let mut stream = runner().run(tree, "go").stream();
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        all.extend(event.ok().and_then(|event| event.failed_attempt()));
    }
    all
}

#[tokio::test]
async fn steps_are_retried_after_a_transient_error() {
    let body = vec![
        run(flaky("search", "found", 3, ErrorKind::Timeout)),
        run(say("reads")),
    ];
    let tree = Tree::new(
        "w",
        vec![attempts("t", THREE, body, vec![]), run(say("after"))],
    );
    assert_eq!(
        trace(&tree).await,
        [
            "w/t#1/search found=1",
            "w/t#1",
            "w/t#2/search found=2",
            "w/t#2",
            "w/t#3/search found=3",
            "w/t#3/reads",
            "w/after"
        ]
    );
    let failed = failures(&tree).await;
    assert_eq!(
        failed
            .iter()
            .map(|failed| (failed.attempt, failed.of, failed.again))
            .collect::<Vec<_>>(),
        [(1, 3, true), (2, 3, true)]
    );
    assert_eq!(
        failed[0].error,
        "agent `search` (at w/t#1/search): attempt 1 failed"
    );
}

#[tokio::test]
async fn the_last_error_fails_the_run_with_its_own_path() {
    let tree = Tree::new(
        "w",
        vec![attempts(
            "t",
            THREE,
            vec![run(flaky("a", "k", 9, ErrorKind::Timeout))],
            vec![],
        )],
    );
    assert_eq!(
        trace(&tree).await.split_off(3),
        [
            "w/t#2",
            "w/t#3/a k=3",
            "agent `a` (at w/t#3/a): attempt 3 failed"
        ]
    );
}

#[tokio::test]
async fn permanent_errors_are_retried_only_on_request() {
    let body = || vec![run(flaky("a", "k", 2, ErrorKind::Agent))];
    let once = trace(&Tree::new("w", vec![attempts("t", THREE, body(), vec![])])).await;
    assert_eq!(
        once,
        ["w/t#1/a k=1", "agent `a` (at w/t#1/a): attempt 1 failed"]
    );
    let all = trace(&Tree::new(
        "w",
        vec![attempts("t", THREE.all(), body(), vec![])],
    ))
    .await;
    assert_eq!(all, ["w/t#1/a k=1", "w/t#1", "w/t#2/a k=2"]);
}

#[tokio::test]
async fn the_else_block_reads_the_error_from_a_local_key() {
    let says = put("says", "reply", |cx| value(cx, "error"));
    let body = vec![run(flaky("a", "k", 9, ErrorKind::Agent))];
    let tree = Tree::new(
        "w",
        vec![
            attempts("t", THREE, body, vec![run(says)]),
            run(put("b", "seen", |cx| value(cx, "error"))),
        ],
    )
    .lets("error", "of the workflow");
    assert_eq!(
        trace(&tree).await,
        [
            "w/t#1/a k=1",
            "w/t#1 t/error=\"attempt 1 failed\"",
            "w/t/says reply=\"attempt 1 failed\"",
            "w/b seen=\"of the workflow\""
        ]
    );
    let failed = failures(&tree).await;
    assert_eq!((failed.len(), failed[0].again), (1, false));
}

#[tokio::test]
async fn a_slow_attempt_times_out() {
    tokio::time::pause();
    let both = |name, limits| {
        let slow = parallel("p", vec![run(sleeps("slow", 60)), run(say("fast"))]);
        attempts(
            name,
            limits,
            vec![slow],
            vec![run(put("b", "why", |cx| value(cx, "error")))],
        )
    };
    let limits = THREE
        .timeout(Duration::from_secs(30))
        .delay(Duration::from_secs(1));
    let tree = Tree::new("w", vec![both("t", limits)]);
    let before = Instant::now();
    let ended = outcome(&tree).await;
    assert_eq!(
        get(&ended, "why"),
        "the attempt took longer than the `timeout` of its `try`, 30s"
    );
    // Three attempts, with pauses of one and two seconds between them.
    assert_eq!(before.elapsed().as_secs(), 3 * 30 + 1 + 2);
}

#[tokio::test]
async fn an_exit_passes_through_a_try_and_is_not_a_failure() {
    let inside = vec![attempts(
        "t",
        THREE.all(),
        vec![run(say("a")), run(exit("b"))],
        vec![run(say("c"))],
    )];
    let tree = Tree::new("w", vec![repeat("l", Some(3), inside), run(say("d"))]);
    assert_eq!(trace(&tree).await, ["w/l#1/t#1/a", "w/l#1/t#1/b", "w/d"]);
    let ended = outcome(&tree).await;
    assert!(matches!(ended.loops[..], [ref end] if end.reason != LoopEndReason::Max));
    let otherwise = vec![attempts(
        "t",
        THREE,
        vec![run(flaky("a", "k", 9, ErrorKind::Agent))],
        vec![Node::Break(None)],
    )];
    let tree = Tree::new("w", vec![repeat("l", Some(3), otherwise)]);
    assert_eq!(outcome(&tree).await.loops[0].reason, LoopEndReason::Break);
}

#[tokio::test]
async fn try_blocks_nest_and_repeat_in_other_blocks() {
    let inner = attempts(
        "i",
        Attempts::new(Some(2)),
        vec![run(flaky("a", "k", 9, ErrorKind::Timeout))],
        vec![],
    );
    let tree = Tree::new(
        "w",
        vec![attempts(
            "o",
            Attempts::new(Some(2)),
            vec![inner],
            vec![run(say("b"))],
        )],
    );
    assert_eq!(
        trace(&tree).await,
        [
            "w/o#1/i#1/a k=1",
            "w/o#1/i#1",
            "w/o#1/i#2/a k=2",
            "w/o#1",
            "w/o#2/i#1/a k=1",
            "w/o#2/i#1",
            "w/o#2/i#2/a k=2",
            "w/o#2 o/error=\"attempt 2 failed\"",
            "w/o/b"
        ]
    );
    // Each element retries on its own. Loops inside a failed attempt are not reported.
    let looped = repeat("l", Some(1), vec![run(say("x"))]);
    let body = vec![looped, run(flaky("a", "note", 2, ErrorKind::Timeout))];
    let tree = Tree::new(
        "w",
        vec![each(
            "e",
            "item",
            "items",
            vec![attempts("t", THREE, body, vec![])],
        )],
    )
    .lets("items", json!(["x", "y"]));
    let ended = outcome(&tree).await;
    assert_eq!(get(&ended, "note"), json!([2, 2]));
    let mut loops: Vec<_> = ended.loops.iter().map(|end| end.path.to_string()).collect();
    loops.sort();
    assert_eq!(loops, ["w/e[0]/t#2/l", "w/e[1]/t#2/l"]);
}

#[tokio::test]
async fn errors_that_end_the_run_are_not_retried() {
    let body = vec![run(flaky("a", "k", 9, ErrorKind::LlmCallsExceeded))];
    let tree = Tree::new(
        "w",
        vec![attempts("t", THREE.all(), body, vec![run(say("b"))])],
    );
    assert_eq!(
        trace(&tree).await,
        ["w/t#1/a k=1", "agent `a` (at w/t#1/a): attempt 1 failed"]
    );
}
