//! Random programs whose processes are killed by the operating system, each process with another
//! version.

use super::super::survival::{Place, Random, Scratch, kill, start};
use super::play::{Next, Play, Running, Shop, execute};
use super::stage::Stage;
use super::{Change, VERSIONS, grown};
use adk_build::ArtifactStore;
use adk_build::engine::Engine;
use adk_build::memory::MemoryService;
use adk_build::session::{EventFilter, SessionKey, SessionStore};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

/// The maximum delay of a kill. These programs are shorter than those of other kill tests.
const PEACE: u64 = 8;

fn play(stage: Stage, seed: u64) -> Play {
    Play::on(stage, grown(seed, &Change::ALL))
}

/// Executes a run once, in the process that is killed.
pub async fn execute_once<S>(store: S)
where
    S: Engine + SessionStore + ArtifactStore + MemoryService + Clone,
{
    let setting = |name: &str| std::env::var(name).unwrap();
    let stage = Stage::of_file(Path::new(&setting("ADK_WORLD")));
    let play = play(stage.clone(), setting("ADK_SEED").parse().unwrap());
    let deployed = match setting("ADK_VERSION").parse() {
        Ok(version) => play.deployed(version),
        Err(_) => play.unlimited(),
    };
    stage.begin_process(usize::MAX);
    let (shop, session) = (Shop::from_store(&store), setting("ADK_SESSION"));
    let key = SessionKey::new("app", "u", &*session);
    let there = shop.sessions.read(&key, &EventFilter::new()).await.unwrap();
    let run = there.and_then(|session| session.events.first().map(|event| event.invocation_id));
    println!("\nbegun");
    execute(&shop, &session, &stage, &deployed, run).await;
}

/// Kills processes until `wanted` kills have happened. After each kill, a later version continues.
pub async fn holds<P: Place>(place: &P, wanted: usize)
where
    P::Store: ArtifactStore + MemoryService,
{
    let (scratch, mut random, mut kills) = (Scratch::new(), Random::new(), 0);
    let first = random.micros(1_000_000).as_micros() as u64;
    for seed in first.. {
        if kills >= wanted {
            break;
        }
        let (world, session) = (scratch.path().join(seed.to_string()), format!("s{seed}"));
        let mut random_kills = || random.micros(place.peace() / PEACE);
        match run_is_killed(place, seed, &world, &session, &mut random_kills).await {
            Ok(more) => kills += more as usize,
            Err(why) => panic!("{why}\nseed {seed}: {:?}", grown(seed, &Change::ALL)),
        }
    }
    println!("{kills} kills, seeds from {first}");
}

async fn run_is_killed<P: Place>(
    place: &P,
    seed: u64,
    world: &Path,
    session: &str,
    after: &mut impl FnMut() -> Duration,
) -> Result<u32, String>
where
    P::Store: ArtifactStore + MemoryService,
{
    let shop = Shop::from_store(&place.open().await);
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
