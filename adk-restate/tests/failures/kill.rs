//! Kills.

use super::cluster::{Place, Reference, runs_of};
use super::shapes::SHAPES;
use std::collections::BTreeMap;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a while"]
async fn clients_that_drive_their_runs_themselves_are_killed() {
    let shapes: Vec<&str> = SHAPES.into_iter().filter(|shape| !["matching", "nested"].contains(shape)).collect();
    let reference = Reference::new(&shapes).await;
    for (shape, expected) in &reference.runs {
        println!("{shape}: {} events, {} calls", expected.by_branch.values().map(Vec::len).sum::<usize>(), expected.calls.len());
    }
    let mut random = fastrand::Rng::with_seed(7);
    let (mut kills, mut again) = (0, BTreeMap::<String, usize>::new());
    while kills < 30 {
        let place = Place::new();
        let runs = runs_of(&shapes);
        for _ in 0..random.u32(1..5) {
            let mut client = place.client(None, &runs);
            tokio::time::sleep(Duration::from_millis(random.u64(10..250))).await;
            client.kill();
            place.note_kill();
            client.endings().await;
            kills += 1;
        }
        let endings = place.client(None, &runs).endings().await;
        let store = place.open().await;
        for (shape, run) in runs {
            let ending = endings.iter().find(|ending| ending.shape == shape).unwrap();
            let left = place.left(&store, run).await;
            match reference.check(&shape, run, &left, ending) {
                Ok(calls) => *again.entry(shape).or_default() += calls,
                Err(error) => panic!("{shape} {run}: {error}"),
            }
        }
    }
    println!("{kills} kills, made again {again:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a while"]
async fn ended_twice() {
    let place = Place::new();
    let runs = runs_of(&["matching"]);
    place.client(None, &runs).endings().await;
    println!("{:?}", place.client(None, &runs).endings().await);
}
