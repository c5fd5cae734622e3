//! Kills of workers, servers and clients at random moments lose nothing and repeat no recorded
//! call.

use super::cluster::{Checked, Client, Deployment, Reference, Runs, runs_of};
use super::setting;
use super::shapes::SHAPES;
use adk::engine::RunFilter;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The kind of process that is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Worker,
    Workers,
    Server,
    Client,
    All,
}

const KINDS: [Kind; 5] = [
    Kind::Worker,
    Kind::Workers,
    Kind::Server,
    Kind::Client,
    Kind::All,
];

/// For each workflow and kind of kill, the number of runs that were active at such a kill.
type Hits = BTreeMap<(&'static str, Kind), usize>;

/// A deployment with active runs and their client.
struct Scene {
    deployment: Deployment,
    runs: Runs,
    client: Option<Client>,
    random: fastrand::Rng,
    hits: Hits,
}

impl Scene {
    async fn kill(&mut self, kind: Kind) {
        let runner = self.deployment.place.runner().await;
        for (shape, run) in &self.runs {
            let there = runner.runs(&RunFilter::of_run(*run)).await.unwrap();
            if there.iter().all(|run| run.status.is_open()) {
                let shape = SHAPES.into_iter().find(|known| known == shape).unwrap();
                *self.hits.entry((shape, kind)).or_default() += 1;
            }
        }
        let workers = match kind {
            Kind::Worker => vec![self.random.usize(..2)],
            Kind::Workers | Kind::All => vec![0, 1],
            Kind::Server | Kind::Client => Vec::new(),
        };
        let client = matches!(kind, Kind::Client | Kind::All);
        let server = matches!(kind, Kind::Server | Kind::All);
        for at in &workers {
            self.deployment.workers[*at].kill();
        }
        if let Some(client) = self.client.as_mut().filter(|_| client) {
            client.kill();
        }
        if server {
            self.deployment.server.kill();
        }
        if !server {
            self.deployment.place.note("kill");
        }
        tokio::time::sleep(Duration::from_millis(self.random.u64(30..300))).await;
        if server {
            // After a kill of the server, a worker may begin requested calls until it detects that
            // the server is gone. The kill is therefore recorded only now.
            self.deployment.place.note("kill");
            self.deployment.server.restart().await;
        }
        for at in workers {
            self.deployment.workers[at]
                .start(&self.deployment.place)
                .await;
        }
        if client {
            self.client = Some(self.deployment.client(&self.runs));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Restate: tests/peers/run-restate.sh"]
async fn kills_lose_nothing_and_repeat_nothing() {
    let _alone = super::ALONE.lock().await;
    let (wanted, seed) = (
        setting("ADK_RESTATE_KILLS", 60),
        setting("ADK_RESTATE_SEED", 7),
    );
    let only = std::env::var("ADK_RESTATE_SHAPES").unwrap_or_default();
    let shapes: Vec<&str> = SHAPES
        .into_iter()
        .filter(|shape| only.is_empty() || only.contains(shape))
        .collect();
    let reference = Reference::new(&shapes).await;
    let deployment = Deployment::start().await;
    let runs = runs_of(&shapes);
    let begun = Instant::now();
    let endings = deployment.client(&runs).endings().await;
    let whole = begun.elapsed();
    let mut checked = deployment.check(&reference, &runs, &endings).await;
    let is_whole = checked.faults.is_empty() && checked.again == 0;
    assert!(is_whole, "without kills: {checked:?}");

    let random = fastrand::Rng::with_seed(seed);
    let mut scene = Scene {
        deployment,
        runs,
        client: None,
        random,
        hits: Hits::new(),
    };
    let mut kills = BTreeMap::<Kind, u64>::new();
    while kills.values().sum::<u64>() < wanted {
        scene.runs = runs_of(&shapes);
        scene.client = Some(scene.deployment.client(&scene.runs));
        let mut done = Vec::new();
        for _ in 0..scene.random.u32(1..5) {
            let pause = scene
                .random
                .u64(..u64::try_from(whole.as_millis()).unwrap() / 4);
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let kind = KINDS[scene.random.usize(..KINDS.len())];
            done.push((pause, kind));
            scene.kill(kind).await;
            *kills.entry(kind).or_default() += 1;
        }
        let endings = scene.client.take().expect("one is there").endings().await;
        let mut of_batch: Checked = scene
            .deployment
            .check(&reference, &scene.runs, &endings)
            .await;
        of_batch
            .faults
            .iter_mut()
            .for_each(|fault| *fault = format!("after {done:?}: {fault}"));
        of_batch.faults.iter().for_each(|fault| println!("{fault}"));
        checked.add(of_batch);
    }
    println!(
        "{kills:?} in {:?} from seed {seed}, a batch without kills takes {whole:?}",
        begun.elapsed()
    );
    for shape in shapes {
        let hits =
            KINDS.map(|kind| format!("{kind:?} {}", scene.hits.get(&(shape, kind)).unwrap_or(&0)));
        println!("{shape}, under way at kills: {}", hits.join(", "));
    }
    let Checked { again, stops, .. } = checked;
    println!("{again} calls repeated, {stops} runs resumed by clients");
    assert!(
        checked.faults.is_empty(),
        "{} faults, the first: {}",
        checked.faults.len(),
        checked.faults[0]
    );
}
