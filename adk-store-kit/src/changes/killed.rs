//! Random programs whose processes are killed by the operating system, each process with another
//! version.

use super::play::{Next, Play, Running, execute};
use super::stage::Stage;
use super::{Change, VERSIONS, grown};
use crate::kills::process_random;
use crate::place::{DynPlace, OpenStore};
use crate::victim::{Scratch, kill, start};
use adk_build::session::{EventFilter, SessionKey};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

/// The maximum delay of a kill. These programs are shorter than those of other kill tests.
const PEACE: u64 = 8;

fn play(stage: Stage, seed: u64) -> Play {
    Play::on(stage, grown(seed, &Change::ALL))
}

/// Executes a run once, in the process that is killed.
pub(crate) async fn execute_once(store: OpenStore) {
    let setting = |name: &str| std::env::var(name).unwrap();
    let stage = Stage::of_file(Path::new(&setting("ADK_WORLD")));
    let play = play(stage.clone(), setting("ADK_SEED").parse().unwrap());
    let deployed = match setting("ADK_VERSION").parse() {
        Ok(version) => play.deployed(version),
        Err(_) => play.unlimited(),
    };
    stage.begin_process(usize::MAX);
    let (shop, session) = (store, setting("ADK_SESSION"));
    let key = SessionKey::new("app", "u", &*session);
    let there = shop.sessions.read(&key, &EventFilter::new()).await.unwrap();
    let run = there.and_then(|session| session.events.first().map(|event| event.invocation_id));
    println!("\nbegun");
    execute(&shop, &session, &stage, &deployed, run).await;
}

/// Kills processes until `wanted` kills have happened. After each kill, a later version continues.
pub(crate) async fn holds(place: &dyn DynPlace, wanted: usize) {
    let (scratch, mut random, mut kills) = (Scratch::new(), process_random(), 0);
    let first = random.below(1_000_000);
    for seed in first.. {
        if kills >= wanted {
            break;
        }
        let (world, session) = (scratch.path().join(seed.to_string()), format!("s{seed}"));
        let mut random_kills = || {
            let longest = place.time_to_kill_dyn().as_micros() as u64;
            Duration::from_micros(random.below(longest / PEACE))
        };
        match run_is_killed(place, seed, &world, &session, &mut random_kills).await {
            Ok(more) => kills += more as usize,
            Err(why) => panic!("{why}\nseed {seed}: {:?}", grown(seed, &Change::ALL)),
        }
    }
    println!("{kills} kills, seeds from {first}");
}

async fn run_is_killed(
    place: &dyn DynPlace,
    seed: u64,
    world: &Path,
    session: &str,
    after: &mut impl FnMut() -> Duration,
) -> Result<u32, String> {
    let shop = place.open_dyn().await;
    let first = play(Stage::of_file(world), seed);
    let mut run = Running::new(&first, &shop, session);
    let (mut kills, mut version, mut is_unlimited) = (0_u32, 0, false);
    loop {
        let mut deployed = first.deployed(version);
        let mut id = None;
        if run.next(&mut id, &mut deployed).await? == Next::Ended {
            let last = play(Stage::of_file(world), seed);
            let id = id.ok_or("no run has started")?;
            return run.on(&last).judge(id).await.map(|_| kills);
        }
        is_unlimited |= deployed.is_same(&first.unlimited());
        let named = if is_unlimited {
            "unlimited".to_owned()
        } else {
            version.to_string()
        };
        let mut child = start(place, "change")
            .env("ADK_WORLD", world)
            .env("ADK_SESSION", session)
            .env("ADK_SEED", seed.to_string())
            .env("ADK_VERSION", named)
            .spawn()
            .unwrap();
        let mut killer = None;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            if line.is_ok_and(|line| line == "begun") {
                // After many kills a run gets more time, so that it also ends on a busy machine.
                killer = Some(kill(&child, after() * (1 + kills / 4)));
            }
        }
        let output = child.wait_with_output().unwrap();
        let Some(killer) = killer else {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        };
        killer.join().unwrap();
        match output.status.code() {
            None => kills += 1,
            Some(0) => {}
            Some(_) => return Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
        version = (version + 1).min(VERSIONS - 1);
    }
}
