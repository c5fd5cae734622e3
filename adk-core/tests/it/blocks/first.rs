//! `parallel(first)`.

use super::*;
use adk_core::{Error, LoopEndReason};

/// Writes its name, sleeps, and writes its name again, to `k` and to a key of its own; or fails.
fn racer(name: &'static str, seconds: u64, fails: bool) -> By {
    let mut agent = by(name, move |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_state("k", format!("{name} begins"))).await?;
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            if fails {
                return Err(Error::other(format!("{name} fails")));
            }
            cx.emit(Event::new().with_state("k", name).with_state(name, seconds)).await?;
            Ok(Flow::Continue)
        })
    });
    agent.meta = agent.meta.writes(const { &[KeySpec::new("k", "String")] });
    agent
}

/// Writes late, so that it has written after the winner, which it is not.
fn late(name: &'static str) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(1500)).await;
            cx.emit(Event::new().with_state("k", name)).await?;
            std::future::pending().await
        })
    })
}

#[tokio::test(start_paused = true)]
async fn the_first_branch_wins_and_the_others_are_cancelled() {
    let tree = Tree::new("w", vec![first("p", vec![run(racer("a", 3, false)), run(racer("b", 2, false))])]);
    let all = trace(&tree).await;
    assert_eq!(
        all,
        ["w/p/a k=\"a begins\"", "w/p/b k=\"b begins\"", "w/p/b k=\"b\" b=2", "w/p k=\"b\" b=2",]
    );
    let ended = outcome(&tree).await;
    assert_eq!((get(&ended, "k"), get(&ended, "a")), (json!("b"), json!("absent")));
    let winners: Vec<_> = ended.session().events().filter_map(|event| event.winner()).collect();
    assert_eq!(winners, ["b"]);
}

#[tokio::test(start_paused = true)]
async fn the_state_is_the_winner_s_although_another_wrote_later() {
    let wins = sequence("s", vec![run(racer("a", 1, false)), run(sleep("pause", 2))]);
    let tree = Tree::new("w", vec![first("p", vec![run(late("b")), wins])]);
    let all = trace(&tree).await;
    assert_eq!(all[1..], ["w/p/s/a k=\"a\" a=1", "w/p/b k=\"b\"", "w/p k=\"a\" a=1"]);
    assert_eq!(get(&outcome(&tree).await, "k"), "a");
}

fn sleep(name: &'static str, seconds: u64) -> By {
    by(name, move |_| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            Ok(Flow::Continue)
        })
    })
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_fails_leaves_it_to_the_others_and_the_last_error_counts() {
    let race = |second| vec![first("p", vec![run(racer("a", 1, true)), run(racer("b", 2, second))])];
    assert_eq!(get(&outcome(&Tree::new("w", race(false))).await, "k"), "b");
    let all = trace(&Tree::new("w", race(true))).await;
    assert_eq!(all.last().unwrap(), "agent `b` (at w/p/b): b fails");
    // With one at a time, the second begins when the first has failed, and not at all when it has won.
    let one = |fails| {
        let kind = StepKind::Parallel { max_concurrency: Some(1), first: true };
        let branches = vec![run(racer("a", 1, fails)), run(racer("b", 1, false))];
        Tree::new("w", vec![Node::Block("p", kind, branches)])
    };
    assert_eq!(trace(&one(false)).await.len(), 3);
    assert_eq!(get(&outcome(&one(true)).await, "k"), "b");
}

#[tokio::test(start_paused = true)]
async fn an_exit_of_a_branch_ends_the_loop_and_loops_of_the_others_are_not_told() {
    let looped = repeat("l", Some(1), vec![run(say("x"))]);
    let loses = sequence("s", vec![looped, run(sleep("slow", 9))]);
    let leaves = sequence("t", vec![run(sleep("soon", 1)), Node::Break(None)]);
    let tree = Tree::new("w", vec![repeat("o", Some(3), vec![first("p", vec![loses, leaves])])]);
    let ended = outcome(&tree).await;
    let loops: Vec<_> = ended.loops.iter().map(|end| (end.path.to_string(), end.reason.clone())).collect();
    assert_eq!(loops, [("w/o".to_owned(), LoopEndReason::Break)]);
}
