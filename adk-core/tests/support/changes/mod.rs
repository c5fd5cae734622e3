//! A run waits, is interrupted or fails, the program changes, and the run goes on: with random programs and random
//! changes, on any store.
//!
//! A [`Program`] has versions. A [`History`] has processes, each of one version, and each stops at a point of its own. The
//! [`Stage`](stage::Stage) counts the calls of models, tools and functions without asking the store: a call that is
//! recorded is not made again, and one that was in flight when its process stopped is made once more.
//!
//! `ADK_CHANGES=2000` is how many programs there are, `ADK_CHANGES_SEED=7` the seed of the first, and
//! `ADK_CHANGES_KIND=ToolAdded` the only kind of change.

pub mod build;
mod engine;
mod grow;
pub mod killed;
pub mod play;
pub mod program;
#[path = "../../flow/random.rs"]
pub mod random;
mod shrink;
pub mod stage;

pub use play::{Ends, History, Play, Shop};
pub use program::{Change, Program};

use adk_core::engine::Engine;
use random::Random;
use std::fmt::Write as _;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The versions of each program.
pub const VERSIONS: usize = 4;

/// How a store is tried.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The changes from version to version are of these kinds.
    pub changes: &'static [Change],
    /// The programs, where `ADK_CHANGES` does not say it.
    pub programs: u64,
    /// The most histories of each program in which processes stop at points.
    pub stops: usize,
}

/// A program that fails, as small as it could be made.
#[derive(Debug)]
pub struct Failure {
    pub seed: u64,
    pub program: Program,
    pub history: History,
    pub why: String,
}

/// The programs that the environment wants: their number, the seed of the first, and the kinds of changes.
pub fn wanted(plan: Plan) -> (u64, u64, &'static [Change]) {
    let variable = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let programs = variable("ADK_CHANGES").unwrap_or(plan.programs);
    let first = variable("ADK_CHANGES_SEED").unwrap_or_else(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        since.as_nanos() as u64 % 1_000_000_000
    });
    let kind = std::env::var("ADK_CHANGES_KIND").ok().map(|kind| {
        let at = Change::ALL.iter().position(|change| format!("{change:?}") == kind).unwrap();
        &Change::ALL[at..=at]
    });
    println!("seeds from {first}");
    (first, programs, kind.unwrap_or(plan.changes))
}

/// Plays random programs on a store, and panics at the first that fails. `open` gives a store, which may be an empty one
/// for each program.
pub async fn holds<E: Engine + Clone>(mut plan: Plan, mut open: impl AsyncFnMut() -> Shop<E>) {
    let (first, programs, kinds) = wanted(plan);
    plan.changes = kinds;
    let (began, mut histories) = (Instant::now(), 0);
    for seed in first..first + programs {
        let shop = open().await;
        match program_holds(seed, plan, &shop).await {
            Ok(count) => histories += count,
            Err(failure) => {
                let smallest = smallest(*failure, plan, &mut open).await;
                panic!("{}", told(&smallest));
            }
        }
    }
    println!("{programs} programs, {histories} histories in {:?}", began.elapsed());
}

/// The program of a seed, with its versions.
pub fn grown(seed: u64, changes: &[Change]) -> Program {
    grow::program(seed, VERSIONS, changes)
}

/// Plays the histories of one program. Gives their number.
///
/// # Errors
/// The first history that fails.
async fn program_holds<E: Engine + Clone>(
    seed: u64,
    plan: Plan,
    shop: &Shop<E>,
) -> Result<usize, Box<Failure>> {
    all_histories(seed, grown(seed, plan.changes), plan, shop).await
}

async fn all_histories<E: Engine + Clone>(
    seed: u64,
    program: Program,
    plan: Plan,
    shop: &Shop<E>,
) -> Result<usize, Box<Failure>> {
    let play = Play::new(program);
    let mut count = 0;
    let mut try_one = async |history: History| {
        count += 1;
        // Sessions of one store need names of their own.
        let session = format!("s-{seed}-{}", next());
        play.play(shop, &session, &history)
            .await
            .map_err(|why| Box::new(Failure { seed, program: play.program.clone(), history, why }))
    };
    let whole = try_one(vec![(0, Ends::Through)]).await?;
    if whole.waits > 0 || play.program.fails.is_some() {
        let waits = (0..3).map(|version| (version, Ends::AtWait));
        try_one(waits.chain([(3, Ends::Through)]).collect()).await?;
    }
    // The points of the first process are those up to its first wait.
    let mut random = Random::new(seed);
    let points = whole.points + 10 * whole.waits;
    let all: Vec<_> = if points <= plan.stops {
        (0..points).collect()
    } else {
        (0..plan.stops).map(|_| random.below(points as u64) as usize).collect()
    };
    for at in all {
        let second = random.below(40) as usize;
        let mut history = vec![(0, Ends::AtPoint(at))];
        match random.below(3) {
            0 => history.push((1, Ends::AtPoint(second))),
            1 => history.extend([(1, Ends::AtWait), (2, Ends::AtPoint(second))]),
            _ => {}
        }
        let version = 1 + random.below(3) as usize;
        history.push((version, Ends::Through));
        try_one(history).await?;
    }
    Ok(count)
}

/// A number that no other history of this process has.
fn next() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Relaxed)
}

/// The smallest failure that is found by cuts, which fails in the same way.
pub async fn smallest<E: Engine + Clone>(
    mut failure: Failure,
    plan: Plan,
    open: &mut impl AsyncFnMut() -> Shop<E>,
) -> Failure {
    let wanted = kind(&failure.why);
    'again: loop {
        for program in shrink::smaller(&failure.program) {
            let shop = open().await;
            match all_histories(failure.seed, program, plan, &shop).await {
                Err(other) if kind(&other.why) == wanted => {
                    failure = *other;
                    continue 'again;
                }
                _ => {}
            }
        }
        return failure;
    }
}

/// What is wrong, in few words and without the names and numbers in it.
fn kind(why: &str) -> String {
    let is_name = |word: &&str| word.chars().any(|c| "`/\"@0123456789{}()[]".contains(c));
    why.split(' ').filter(|word| !is_name(word)).take(12).collect::<Vec<_>>().join(" ")
}

/// A failure as a report.
pub fn told(failure: &Failure) -> String {
    let Failure { seed, program, history, why } = failure;
    let mut text = format!("{why}\nADK_CHANGES_SEED={seed} ADK_CHANGES=1\nhistory: {history:?}\n");
    let _ = writeln!(
        text,
        "body: {:?}\nscripts: {:?}\nfails: {:?}",
        program.body, program.scripts, program.fails
    );
    for (version, changes) in program.versions.iter().zip(&program.changes) {
        let _ = writeln!(text, "after {changes:?}: {version:?}");
    }
    text
}
