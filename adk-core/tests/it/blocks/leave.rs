//! `each`: how many elements run at a time, and what ends them.

use super::*;
use adk_build::{LoopEndReason, RunEnd};

#[tokio::test]
async fn max_concurrency_limits_the_elements_that_run() {
    static RUNNING: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    static ENDED: AtomicUsize = AtomicUsize::new(0);
    let work = || {
        by("work", |cx| {
            Box::pin(async move {
                MOST.fetch_max(RUNNING.fetch_add(1, SeqCst) + 1, SeqCst);
                cx.emit(Event::new()).await?;
                tokio::task::yield_now().await;
                RUNNING.fetch_sub(1, SeqCst);
                ENDED.fetch_add(1, SeqCst);
                Ok(Flow::Continue)
            })
        })
    };
    let items: Vec<_> = (0..20).collect();
    for (block, most) in [
        (limited_each("c", 3, "item", "items", vec![run(work())]), 3),
        (limited_each("c", 0, "item", "items", vec![run(work())]), 1),
        (each("c", "item", "items", vec![run(work())]), 20),
    ] {
        MOST.store(0, SeqCst);
        outcome(&Tree::new("w", vec![block]).lets("items", json!(items))).await;
        assert_eq!((MOST.load(SeqCst), RUNNING.load(SeqCst)), (most, 0));
    }
    assert_eq!(ENDED.load(SeqCst), 60);
}

/// Ends as `how` says in one element. Waits forever in the other elements, after a write.
fn one_ends(element: usize, how: fn() -> adk_build::Result<Flow>) -> By {
    let mut agent = by("ends", move |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_state("note", index(cx))).await?;
            if index(cx) == element {
                how()
            } else {
                std::future::pending().await
            }
        })
    });
    agent.meta = agent
        .meta
        .exits(&["outer"])
        .writes(const { &[KeySpec::new("note", "usize")] });
    agent
}

#[tokio::test]
async fn an_exit_from_an_element_cancels_siblings_and_leaves_no_lists() {
    let exits: [fn() -> adk_build::Result<Flow>; 2] =
        [|| Ok(Flow::Exit), || Ok(Flow::ExitTo("outer".into()))];
    for (how, rest) in exits
        .into_iter()
        .zip([&["w/outer#1/after", "w/last"][..], &["w/last"]])
    {
        let block = each(
            "c",
            "item",
            "items",
            vec![run(one_ends(1, how)), run(say("never"))],
        );
        let inner = repeat("inner", None, vec![block, run(say("never2"))]);
        let tree = Tree::new(
            "w",
            vec![
                repeat("outer", Some(1), vec![inner, run(say("after"))]),
                run(say("last")),
            ],
        )
        .lets("items", json!(["a", "b", "c"]));
        let seen = trace(&tree).await;
        let (elements, behind) = seen.split_at(seen.len() - rest.len());
        assert_eq!(behind, rest);
        assert!(
            elements
                .iter()
                .all(|line| line.starts_with("w/outer#1/inner#1/c[")),
            "{elements:?}"
        );
        assert!(elements.contains(&"w/outer#1/inner#1/c[1]/ends c[1]/note=1".to_owned()));
        let outcome = outcome(&tree).await;
        assert_eq!(
            (get(&outcome, "note"), get(&outcome, "c[1]/note")),
            (json!("absent"), json!(1))
        );
        assert_eq!(
            outcome.loops[0].reason,
            LoopEndReason::Escalated {
                by: "w/outer#1/inner#1/c[1]/ends".parse().unwrap()
            }
        );
    }
    // A `break` in an arm has the same effect.
    let which = put("which", "which", |cx| usize::from(index(cx) == 2));
    let arms = vec![vec![], vec![Node::Break(None)]];
    let block = each(
        "c",
        "item",
        "items",
        vec![run(which), select("m", "which", arms), run(say("x"))],
    );
    let tree = Tree::new("w", vec![repeat("l", None, vec![block])]).lets("items", json!([0, 1, 2]));
    assert_eq!(get(&outcome(&tree).await, "which"), json!("absent"));
}

#[tokio::test]
async fn an_exit_ends_a_loop_inside_the_element() {
    let block = each(
        "c",
        "item",
        "items",
        vec![repeat("l", None, vec![run(worker()), run(exit("stop"))])],
    );
    let tree = Tree::new("w", vec![block]).lets("items", json!(["a", "b"]));
    assert_eq!(
        get(&outcome(&tree).await, "note"),
        json!(["note on a", "note on b"])
    );
}

#[tokio::test]
async fn the_first_error_cancels_the_siblings() {
    let block = each(
        "c",
        "item",
        "items",
        vec![run(one_ends(1, || Err(adk_build::Error::other("no luck"))))],
    );
    let tree = Tree::new("w", vec![block, run(say("never"))]).lets("items", json!(["a", "b", "c"]));
    let seen = trace(&tree).await;
    assert_eq!(
        seen.last().unwrap(),
        "agent `ends` (at w/c[1]/ends): no luck"
    );
    assert!(
        seen.contains(&"w/c[1]/ends c[1]/note=1".to_owned()),
        "committed events are delivered: {seen:?}"
    );
}

#[tokio::test]
async fn a_run_pauses_when_all_elements_wait() {
    let waits = by("waits", |cx| {
        Box::pin(async move { Ok(Flow::exit_if(cx.wait("decision").await?)) })
    });
    let tree = Tree::new("w", vec![each("c", "item", "items", vec![run(waits)])])
        .lets("items", json!([0, 1]));
    let runner = runner();
    let mut stream = runner.run(&tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waiting) = stream.end() else {
        panic!()
    };
    let ids: Vec<_> = waiting
        .iter()
        .map(|waiting| waiting.id.split_once('/').unwrap().1)
        .collect();
    assert_eq!(ids, ["w/c[0]/waits:decision@0", "w/c[1]/waits:decision@0"]);
}
