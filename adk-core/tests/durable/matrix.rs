//! Killed at every point, then once more at points of the run that was taken up again. All pairs with `ADK_CRASHES=all`.

use super::crash::{Shape, Whole, with_kills};
use super::{people, talks, trees};

/// Where branches were cancelled, how far they had come depends on when: only what follows is compared.
fn comparable(shape: &Shape, name: &str) -> Shape {
    let mut shape = shape.clone();
    if name == "parallel that is left" {
        shape.0.retain(|path, _| !path.contains("/p/a"));
        shape.2.as_object_mut().unwrap().remove("a");
    }
    shape
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_killed_anywhere_ends_as_if_it_were_not() {
    let step = if std::env::var("ADK_CRASHES").is_ok_and(|all| all == "all") { 1 } else { 7 };
    let (mut kills, mut in_pieces) = (0, 0);
    for (name, tree, parallel) in trees::all().into_iter().chain(people::all()).chain(talks::all()) {
        let Whole { shape, points, .. } = with_kills(tree, &[], parallel).await.unwrap();
        let whole = comparable(&shape, name);
        assert!(points > 10, "{name}: only {points} points");
        for first in 0..points {
            let Some(once) = with_kills(tree, &[first], parallel).await else { continue };
            assert_eq!(comparable(&once.shape, name), whole, "{name}, killed at {first}");
            (kills, in_pieces) = (kills + 1, in_pieces + once.in_pieces);
            let rest = once.points;
            for second in (first % step..rest).step_by(step) {
                if let Some(twice) = with_kills(tree, &[first, second], parallel).await {
                    assert_eq!(
                        comparable(&twice.shape, name),
                        whole,
                        "{name}, killed at {first} and {second}"
                    );
                    kills += 1;
                }
            }
        }
    }
    println!("{kills} runs were killed and taken up again, {in_pieces} of them in the middle of a reply");
    assert!(kills > 500 && in_pieces > 20, "only {kills}, {in_pieces} in replies");
}
