//! Random programs that change while their runs wait or are interrupted. The new version takes the
//! address of the old one. All stores share these programs and changes.
//!
//! Restate accepts a version whose requests match the journal, and rejects any other version before
//! it makes a call. The previous version then completes the run.
//!
//! `ADK_CHANGES` sets the number of programs, `ADK_CHANGES_SEED` the seed of the first,
//! `ADK_CHANGES_KIND` the only kind of change.

mod case;
mod journal;

use crate::support::{Folder, Server, until};
use adk::restate::{Restate, Retries};
use adk::sqlite::{Durability, Options, SqliteStore};
use adk_build::engine::{RunFilter, RunStatus};
use adk_build::{Await, Event, Flow, RunId, Runner};
use adk_store_kit::OpenStore;
use adk_store_kit::changes::program::{ProgramStep, Version};
use adk_store_kit::changes::stage::Stage;
use adk_store_kit::changes::{self, Change, Plan, Play, Program};
use adk_store_kit::random::Random;
use adk_store_kit::trees::{Tree, by, run};
use case::{Case, Plugins};
use futures_util::future::join_all;
use journal::Journal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::time::sleep;

/// Number of programs per worker.
const GROUP: usize = 50;

/// Maximum number of workers that a program needs, one after the other.
const MOST: usize = 24;

/// Interval at which the test checks whether any run still moves.
const LOOK: Duration = Duration::from_millis(25);

/// Maximum time until no run of a worker moves any more.
const PATIENCE: Duration = Duration::from_secs(45);

/// A worker that can be stopped as if it were killed: all of its work is dropped.
struct Worker(Option<Runtime>);

impl Worker {
    async fn start(address: SocketAddr, runner: &Runner) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let retries = Retries::new().between(Duration::from_millis(50), Duration::from_millis(250));
        let endpoint = adk::restate::endpoint(runner).retry(retries);
        let listener = runtime
            .spawn(tokio::net::TcpListener::bind(address))
            .await
            .unwrap()
            .unwrap();
        runtime.spawn(async move {
            endpoint
                .serve_on(listener, std::future::pending())
                .await
                .unwrap()
        });
        Self(Some(runtime))
    }

    async fn stop(mut self) {
        let runtime = self.0.take().expect("it is stopped once");
        let stopped =
            tokio::task::spawn_blocking(move || runtime.shutdown_timeout(Duration::from_secs(10)));
        stopped.await.unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Outcomes of changes, by kind: the number of runs that continued, and the number of refusals.
#[derive(Default)]
pub struct Counts(BTreeMap<Vec<Change>, (u32, u32)>);

impl Counts {
    fn add(&mut self, mut changes: Vec<Change>, is_refused: bool) {
        changes.sort_unstable();
        changes.dedup();
        let (gone_on, refused) = self.0.entry(changes).or_default();
        *if is_refused { refused } else { gone_on } += 1;
    }

    fn show(&self) {
        let single = self.0.iter().filter(|(changes, _)| changes.len() < 2);
        for (changes, (gone_on, refused)) in single {
            println!("{changes:?}: {gone_on} went on, {refused} were refused");
        }
        let all = self.0.values().fold((0, 0), |all, (gone_on, refused)| {
            (all.0 + gone_on, all.1 + refused)
        });
        println!("all: {} went on, {} were refused", all.0, all.1);
    }
}

/// `ADK_CHANGES` sets the number of programs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Restate: tests/peers/run-restate.sh"]
async fn no_change_repeats_a_recorded_call_or_loses_an_answer() {
    let plan = Plan {
        changes: &Change::ALL,
        programs: 40,
        stops: 0,
    };
    let (first, programs, kinds) = changes::settings(plan);
    let server = Server::start().await;
    let (began, mut counts, mut workers) = (Instant::now(), Counts::default(), 0);
    let seeds: Vec<_> = (first..first + programs).collect();
    for seeds in seeds.chunks(GROUP) {
        let programs = seeds
            .iter()
            .map(|seed| (*seed, changes::grown(*seed, kinds)))
            .collect();
        workers += group(&server, programs, &mut counts).await;
    }
    println!(
        "{programs} programs, {workers} workers in {:?}",
        began.elapsed()
    );
    counts.show();
}

/// An `each` keeps the number of elements that it began with, and its list contains what the
/// elements have written. A version that was refused has stored nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Restate: tests/peers/run-restate.sh"]
async fn another_max_of_an_each_loses_no_list() {
    let server = Server::start().await;
    let program = |limits: [u32; 4]| {
        let version = |limit| Version {
            limits: vec![limit],
            ..Version::default()
        };
        let changes = vec![Vec::new(), vec![Change::BlockLimit], Vec::new(), Vec::new()];
        let body = vec![
            ProgramStep::Each(0, vec![ProgramStep::Ask(1)]),
            ProgramStep::Ask(2),
        ];
        Program {
            body,
            scripts: Vec::new(),
            fails: None,
            versions: limits.map(version).to_vec(),
            changes,
        }
    };
    let limits = [[3, 1, 1, 1], [1, 3, 3, 3], [2, 3, 1, 1], [3, 3, 3, 3]];
    let programs = (0..)
        .zip(limits.into_iter().cycle().take(24))
        .map(|(seed, limits)| (seed, program(limits)));
    group(&server, programs.collect(), &mut Counts::default()).await;
}

/// If a version reads a record as another type, the attempt fails, but not the run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Restate: tests/peers/run-restate.sh"]
async fn a_version_that_diverges_leaves_the_run_to_the_previous_one() {
    fn tree<T: Serialize + DeserializeOwned + Default + Send + 'static>() -> Arc<Tree> {
        let count = by("count", |cx| {
            Box::pin(async move {
                let _: T = cx.step("n", async { Ok(T::default()) }).await?;
                cx.emit(Event::new().with_text("counted"))
                    .await
                    .map(|_| Flow::Continue)
            })
        });
        let ask = Await::builder::<bool>("yes").question("Continue?").build();
        Arc::new(Tree::new("diverging", vec![run(count), run(ask)]))
    }
    let (folder, server) = (Folder::new(), Server::start().await);
    let store = SqliteStore::open(folder.path().join("runs.db"))
        .await
        .unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], crate::support::free_port()));
    let worker = async |tree| {
        let runner: Runner = Runner::builder()
            .store(store.clone())
            .workflow(tree)
            .build()
            .unwrap();
        Worker::start(address, &runner).await
    };
    let first = worker(tree::<u32>()).await;
    server.register(address).await;
    let restate = Restate::new(&server.ingress(), store.clone()).unwrap();
    let client: Runner = Runner::builder().store(restate).build().unwrap();
    let id = RunId::new();
    let mut stream = client.run(tree::<u32>(), "go").run_id(id).stream();
    while stream.next().await.is_some() {}
    let wait = client.waiting().await.unwrap().remove(0);
    first.stop().await;
    let second = worker(tree::<String>()).await;
    client.answer(&wait.id, true).await.unwrap();
    until("the attempt fails", async || {
        let open = server
            .query("SELECT last_failure FROM sys_invocation WHERE status <> 'completed'")
            .await;
        open.iter().any(|row| {
            row["last_failure"]
                .as_str()
                .is_some_and(|why| why.contains("of another type"))
        })
    })
    .await;
    second.stop().await;
    let _first = worker(tree::<u32>()).await;
    until("the run ends", async || {
        client.runs(&RunFilter::of_run(id)).await.unwrap()[0].status == RunStatus::Finished
    })
    .await;
}

/// Executes programs concurrently, in one worker after the other. Returns the number of workers.
async fn group(server: &Server, programs: Vec<(u64, Program)>, counts: &mut Counts) -> usize {
    let seeds: Vec<_> = programs.iter().map(|(seed, _)| *seed).collect();
    let folder = Folder::new();
    let options = Options::default().durability(Durability::Process);
    let store = SqliteStore::open_with(folder.path().join("runs.db"), options)
        .await
        .unwrap();
    let shop = OpenStore::new(&store);
    let restate = Restate::new(&server.ingress(), store.clone()).unwrap();
    let client: Runner = Runner::builder()
        .app_name("app")
        .store(restate)
        .build()
        .unwrap();
    let play = |(seed, program)| Play::named(&case::name(seed), Stage::default(), program);
    let plays: Vec<_> = programs.into_iter().map(play).collect();
    let sessions: Vec<_> = seeds.iter().map(|seed| format!("s-{seed}")).collect();
    let cases = seeds.iter().zip(&plays).zip(&sessions);
    let mut cases: Vec<_> = cases
        .map(|((seed, play), session)| Case::new(*seed, play, &shop, session))
        .collect();
    let mut random = Random::new(seeds[0]);
    let address = SocketAddr::from(([127, 0, 0, 1], crate::support::free_port()));
    for number in 0..MOST {
        let runner = worker_of(&store, &mut cases);
        let worker = Worker::start(address, &runner).await;
        if number == 0 {
            server.register(address).await;
            join_all(cases.iter().map(|case| case.begin(&client))).await;
        }
        let at_once =
            (number < 4 && random.one_in(3)).then(|| Duration::from_millis(random.below(1000)));
        let since = Instant::now();
        let journal = Journal::begin(server, &seeds);
        loop {
            let open = journal.open().await;
            for case in cases.iter_mut().filter(|case| !case.has_ended) {
                case.look(&open, &client).await;
            }
            if cases.iter().all(Case::is_still)
                || at_once.is_some_and(|time| since.elapsed() >= time)
            {
                break;
            }
            if since.elapsed() > PATIENCE {
                let busy: Vec<_> = cases.iter().filter(|case| !case.is_still()).collect();
                panic!("not still: {busy:?}\n{open:#?}");
            }
            sleep(LOOK).await;
        }
        worker.stop().await;
        let (left, recorded) = (journal.left().await, journal.recorded().await);
        for case in cases.iter_mut().filter(|case| !case.is_judged) {
            case.end_of_worker((&left, &recorded), counts).await;
        }
        if cases.iter().all(|case| case.is_judged) {
            return number + 1;
        }
    }
    let busy: Vec<_> = cases.iter().filter(|case| !case.is_judged).collect();
    panic!("they do not end: {busy:#?}")
}

/// Returns a runner with the programs whose runs have not ended, each in its next version.
fn worker_of(store: &SqliteStore, cases: &mut [Case<'_>]) -> Runner {
    let mut builder = Runner::builder().app_name("app").store(store.clone());
    let mut plugins = Plugins::default();
    for case in cases.iter_mut() {
        let deployed = case.begin_worker();
        plugins.add(case.name.clone(), deployed.hooks(), case.play.stage());
        builder = builder.workflow(deployed.tree());
    }
    builder.plugin(plugins).build().unwrap()
}
