//! Kills runs at every point, then once more at points of the resumed run. `ADK_CRASHES=all` tests
//! all pairs.

use super::crash::{Shape, Whole, with_kills};
use super::{people, talks, trees};
use crate::support::Tree;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Removes events of cancelled branches, whose progress depends on timing.
fn comparable(shape: &Shape, name: &str) -> Shape {
    let mut shape = shape.clone();
    if name == "parallel that a branch leaves" {
        shape.0.retain(|path, _| !path.contains("/p/a"));
        shape.2.as_object_mut().unwrap().remove("a");
    }
    if name == "parallel(first)" {
        shape
            .0
            .retain(|path, _| !path.ends_with("/p/b") && !path.ends_with("/p/f"));
        shape
            .2
            .as_object_mut()
            .unwrap()
            .retain(|key, _| key != "b" && key != "f");
    }
    shape
}

/// Counts of all threads.
#[derive(Default)]
struct Done {
    kills: AtomicUsize,
    /// Kills in the middle of a reply.
    in_pieces: AtomicUsize,
}

#[test]
fn a_killed_run_ends_like_an_uninterrupted_one() {
    let step = if std::env::var("ADK_CRASHES").is_ok_and(|all| all == "all") {
        1
    } else {
        97
    };
    let cases = [trees::all(), people::all(), talks::all()].concat();
    let (next, done) = (AtomicUsize::new(0), Done::default());
    let take = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        runtime.unwrap().block_on(async {
            while let Some(&(name, tree, parallel)) =
                cases.get(next.fetch_add(1, Ordering::Relaxed))
            {
                kill_everywhere(name, tree, parallel, step, &done).await;
            }
        });
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(take);
        }
    });
    let (kills, in_pieces) = (done.kills.into_inner(), done.in_pieces.into_inner());
    println!("{kills} runs were killed and resumed, {in_pieces} of them in the middle of a reply");
    assert!(
        kills > 500 && in_pieces > 20,
        "only {kills}, {in_pieces} in replies"
    );
}

async fn kill_everywhere(name: &str, tree: fn() -> Tree, parallel: bool, step: usize, done: &Done) {
    let Whole {
        shape,
        usage,
        points,
        ..
    } = with_kills(tree, &[], parallel).await.unwrap();
    let whole = comparable(&shape, name);
    assert!(points > 10, "{name}: only {points} points");
    for first in 0..points {
        let Some(once) = with_kills(tree, &[first], parallel).await else {
            continue;
        };
        assert_eq!(
            comparable(&once.shape, name),
            whole,
            "{name}, killed at {first}"
        );
        assert_eq!(once.usage, usage, "{name}, killed at {first}");
        done.kills.fetch_add(1, Ordering::Relaxed);
        done.in_pieces.fetch_add(once.in_pieces, Ordering::Relaxed);
        for second in (first % step..once.points).step_by(step) {
            if let Some(twice) = with_kills(tree, &[first, second], parallel).await {
                let shape = comparable(&twice.shape, name);
                assert_eq!(shape, whole, "{name}, killed at {first} and {second}");
                done.kills.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}
