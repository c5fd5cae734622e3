//! `parallel(first)`: the first branch that ends wins.

use super::*;
use adk_build::{Error, LoopEndReason};

/// Writes its name to `k` and to a key of its own, sleeps, and writes again; or fails.
fn racer(name: &'static str, seconds: u64, fails: bool) -> By {
    let mut agent = by(name, move |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_state("k", format!("{name} begins")))
                .await?;
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            if fails {
                return Err(Error::other(format!("{name} fails")));
            }
            cx.emit(Event::new().with_state("k", name).with_state(name, seconds))
                .await?;
            Ok(Flow::Continue)
        })
    });
    agent.meta = agent.meta.writes(const { &[KeySpec::new("k", "String")] });
    agent
}

/// Writes after the winner has written, and so loses.
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
    let tree = Tree::new(
        "w",
        vec![first(
            "p",
            vec![run(racer("a", 3, false)), run(racer("b", 2, false))],
        )],
    );
    let all = trace(&tree).await;
    assert_eq!(
        all,
        [
            "w/p/a k=\"a begins\"",
            "w/p/b k=\"b begins\"",
            "w/p/b k=\"b\" b=2",
            "w/p"
        ]
    );
    let ended = outcome(&tree).await;
    assert_eq!(
        (get(&ended, "k"), get(&ended, "a")),
        (json!("b"), json!("absent"))
    );
    let winners: Vec<_> = ended
        .session()
        .events()
        .filter_map(|event| event.winner())
        .collect();
    assert_eq!(winners, ["b"]);
}

#[tokio::test(start_paused = true)]
async fn the_state_comes_from_the_winner_despite_later_writes() {
    let wins = sequence("s", vec![run(racer("a", 1, false)), run(sleep("pause", 2))]);
    let tree = Tree::new("w", vec![first("p", vec![run(late("b")), wins])]);
    let all = trace(&tree).await;
    assert_eq!(
        all[1..],
        ["w/p/s/a k=\"a\" a=1", "w/p/b k=\"b\"", "w/p k=\"a\""]
    );
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
async fn a_failed_branch_leaves_the_race_and_the_last_error_counts() {
    let race = |second| {
        vec![first(
            "p",
            vec![run(racer("a", 1, true)), run(racer("b", 2, second))],
        )]
    };
    assert_eq!(get(&outcome(&Tree::new("w", race(false))).await, "k"), "b");
    let all = trace(&Tree::new("w", race(true))).await;
    assert_eq!(all.last().unwrap(), "agent `b` (at w/p/b): b fails");
    // With one branch at a time, the second branch starts only if the first one fails.
    let one = |fails| {
        let kind = StepKind::Parallel {
            max_concurrency: Some(1),
            first: true,
        };
        let branches = vec![run(racer("a", 1, fails)), run(racer("b", 1, false))];
        Tree::new("w", vec![Node::Block("p", kind, branches)])
    };
    assert_eq!(trace(&one(false)).await.len(), 3);
    assert_eq!(get(&outcome(&one(true)).await, "k"), "b");
}

#[tokio::test(start_paused = true)]
async fn an_exit_of_a_branch_ends_the_loop_and_hides_loops_of_losers() {
    let looped = repeat("l", Some(1), vec![run(say("x"))]);
    let loses = sequence("s", vec![looped, run(sleep("slow", 9))]);
    let leaves = sequence("t", vec![run(sleep("soon", 1)), Node::Break(None)]);
    let tree = Tree::new(
        "w",
        vec![repeat("o", Some(3), vec![first("p", vec![loses, leaves])])],
    );
    let ended = outcome(&tree).await;
    let loops: Vec<_> = ended
        .loops
        .iter()
        .map(|end| (end.path.to_string(), end.reason.clone()))
        .collect();
    assert_eq!(loops, [("w/o".to_owned(), LoopEndReason::Break)]);
}

/// Writes keys of every kind, and then waits forever, fails, or ends.
fn writes(name: &'static str, ends: Ends) -> By {
    let mut agent = by(name, move |cx| {
        Box::pin(async move {
            let keys = ["k", "new", "user:plan", "app:plan", "temp:plan"];
            let event = keys
                .into_iter()
                .fold(Event::new(), |event, key| event.with_state(key, name));
            cx.emit(event).await?;
            cx.state()
                .update("user:count", |n: Option<u64>| n.unwrap_or(0) + 1)
                .await?;
            match ends {
                Ends::Through => Ok(Flow::Continue),
                Ends::Failed => Err(Error::other("no")),
                Ends::Never => std::future::pending().await,
            }
        })
    });
    agent.meta = agent.meta.writes(
        const {
            &[
                KeySpec::new("k", "String"),
                KeySpec::new("new", "String"),
                KeySpec::new("user:plan", "String"),
                KeySpec::new("app:plan", "String"),
                KeySpec::new("user:count", "u64"),
            ]
        },
    );
    agent
}

#[derive(Clone, Copy)]
enum Ends {
    Through,
    Failed,
    Never,
}

/// Returns the values of the keys of [`writes`] and of one read-only key at the end.
async fn final_values(block: Node) -> Vec<String> {
    let before = by("before", |cx| {
        Box::pin(async move {
            let event = Event::new()
                .with_state("k", "before")
                .with_state("user:plan", "before");
            cx.emit(
                event
                    .with_state("temp:plan", "before")
                    .with_state("user:count", 7),
            )
            .await?;
            Ok(Flow::Continue)
        })
    });
    let after = by("after", |cx| {
        Box::pin(async move {
            let state = cx.state();
            let text = |key: &str| state.get::<String>(key).unwrap().unwrap_or_default();
            let keys = ["k", "new", "user:plan", "app:plan", "temp:plan"].map(text);
            let count: Option<u64> = state.get("user:count").unwrap();
            let text = format!("{} {count:?}", keys.join(" "));
            cx.emit(Event::new().with_text(text)).await?;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![run(before), block, run(after)]);
    let ended = outcome(&tree).await;
    let text = ended.session().events().next_back().unwrap().text();
    text.split(' ').map(str::to_owned).collect()
}

#[tokio::test(start_paused = true)]
async fn writes_of_losers_and_skipped_parts_are_discarded() {
    let before = ["before", "", "before", "", "before", "Some(7)"];
    let race = |loser| first("p", vec![run(writes("a", loser)), run(sleep("b", 1))]);
    assert_eq!(final_values(race(Ends::Never)).await, before);
    assert_eq!(final_values(race(Ends::Failed)).await, before);
    assert_eq!(
        final_values(race(Ends::Through)).await,
        ["a", "a", "a", "a", "a", "Some(8)"]
    );
    let late = sequence(
        "s",
        vec![run(sleep("pause", 1)), run(writes("b", Ends::Through))],
    );
    let both = first("p", vec![run(writes("a", Ends::Never)), late]);
    assert_eq!(final_values(both).await[..5], ["b"; 5]);
    let skip = |ends| parallel("skip", vec![run(writes("a", ends)), run(sleep("b", 1))]);
    assert_eq!(final_values(skip(Ends::Failed)).await, before);
    assert_eq!(
        final_values(skip(Ends::Through)).await,
        ["a", "a", "a", "a", "a", "Some(8)"]
    );
    // A branch that leaves the block cancels its siblings.
    let leaves = sequence("s", vec![run(sleep("pause", 1)), Node::Break(None)]);
    let left = parallel("skip", vec![run(writes("a", Ends::Never)), leaves]);
    assert_eq!(final_values(repeat("l", Some(3), vec![left])).await, before);
    // A race that is skipped as a whole has no winner.
    let fails = |name| {
        sequence(
            "s",
            vec![run(sleep(name, 1)), run(writes("b", Ends::Failed))],
        )
    };
    let none = first("skip", vec![run(writes("a", Ends::Failed)), fails("pause")]);
    assert_eq!(final_values(none).await, before);
}

#[tokio::test(start_paused = true)]
async fn a_secret_of_a_losing_branch_leaves_no_key() {
    let holds = by("holds", |cx| {
        Box::pin(async move {
            cx.state()
                .set("token", adk_build::Secret::new("ghp_1".to_owned()))?;
            cx.emit(Event::new()).await?;
            std::future::pending().await
        })
    });
    let tree = Tree::new(
        "w",
        vec![first("p", vec![run(holds), run(sleep("wins", 1))])],
    );
    assert_eq!(trace(&tree).await.last().unwrap(), "w/p token=null");
}
