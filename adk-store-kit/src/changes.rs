//! Program changes during a run: a run waits, is interrupted or fails, the program changes, and the
//! run continues. Programs and changes are random, and any store can be tested.
//!
//! A [`Program`] has versions. A [`History`] has processes, each of one version, and each stops at
//! its own point. The [`Stage`](stage::Stage) counts the calls of models, tools and functions
//! independently of the store: a recorded call is not repeated, and a call in flight when its
//! process stopped is made once more.
//!
//! `ADK_CHANGES=2000` sets the number of programs, `ADK_CHANGES_SEED=7` the first seed, and
//! `ADK_CHANGES_KIND=ToolAdded` the only kind of change.
#![allow(
    missing_docs,
    reason = "most names are those of the language of workflows"
)]

pub mod build;
mod engine;
mod grow;
pub mod killed;
pub mod play;
pub mod program;
mod shrink;
pub mod stage;

pub use play::{Ends, History, Play};
pub use program::{Change, Program};

use crate::place::{DynPlace, OpenStore};
use crate::random::Random;
use std::fmt::Write as _;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The number of versions of each program.
pub const VERSIONS: usize = 4;

/// The settings of a test of one store.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The kinds of changes between versions.
    pub changes: &'static [Change],
    /// The number of programs, unless `ADK_CHANGES` sets it.
    pub programs: u64,
    /// The maximum number of histories of each program whose processes stop at points.
    pub stops: usize,
}

/// A failing program, with the history in which it fails and the reason.
#[derive(Debug)]
pub struct Failure {
    pub seed: u64,
    pub program: Program,
    pub history: History,
    pub why: String,
}

/// Returns the settings of the environment: number of programs, first seed, and kinds of changes.
pub fn settings(plan: Plan) -> (u64, u64, &'static [Change]) {
    let variable = |name: &str| {
        std::env::var(name)
            .ok()
            .map(|text| text.parse::<u64>().unwrap())
    };
    let programs = variable("ADK_CHANGES").unwrap_or(plan.programs);
    let first = variable("ADK_CHANGES_SEED").unwrap_or_else(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        since.as_nanos() as u64 % 1_000_000_000
    });
    let kind = std::env::var("ADK_CHANGES_KIND").ok().map(|kind| {
        let at = Change::ALL
            .iter()
            .position(|change| format!("{change:?}") == kind)
            .unwrap();
        &Change::ALL[at..=at]
    });
    println!("seeds from {first}");
    (first, programs, kind.unwrap_or(plan.changes))
}

/// Random programs that change while their runs wait, are interrupted or have failed repeat no
/// recorded call and lose no answer.
pub async fn changed_programs_repeat_no_recorded_call(place: &dyn DynPlace) {
    let plan = Plan {
        changes: &Change::ALL,
        programs: 12,
        stops: 3,
    };
    let store = place.open_dyn().await;
    holds(plan, async || store.clone()).await;
}

/// Plays random programs on a store, and panics at the first failure. `open` returns a store, which
/// may be a fresh one for each program.
pub async fn holds(mut plan: Plan, mut open: impl AsyncFnMut() -> OpenStore) {
    let (first, programs, kinds) = settings(plan);
    plan.changes = kinds;
    let (began, mut histories) = (Instant::now(), 0);
    for seed in first..first + programs {
        let shop = open().await;
        match program_holds(seed, plan, &shop).await {
            Ok(count) => histories += count,
            Err(failure) => {
                let smallest = smallest(*failure, plan, &mut open).await;
                panic!("{}", report(&smallest));
            }
        }
    }
    println!(
        "{programs} programs, {histories} histories in {:?}",
        began.elapsed()
    );
}

/// Grows the program of a seed, with its versions.
pub fn grown(seed: u64, changes: &[Change]) -> Program {
    grow::program(seed, VERSIONS, changes)
}

/// Plays the histories of one program and returns their number.
///
/// # Errors
///
/// The first history that fails.
async fn program_holds(seed: u64, plan: Plan, shop: &OpenStore) -> Result<usize, Box<Failure>> {
    all_histories(seed, grown(seed, plan.changes), plan, shop).await
}

async fn all_histories(
    seed: u64,
    program: Program,
    plan: Plan,
    shop: &OpenStore,
) -> Result<usize, Box<Failure>> {
    let play = Play::new(program);
    let mut count = 0;
    let mut try_one = async |history: History| {
        count += 1;
        // Sessions of one store need unique names.
        let session = format!("s-{seed}-{}", next());
        play.play(shop, &session, &history).await.map_err(|why| {
            Box::new(Failure {
                seed,
                program: play.program.clone(),
                history,
                why,
            })
        })
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
        (0..plan.stops)
            .map(|_| random.below(points as u64) as usize)
            .collect()
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

/// Returns a number that is unique in this process.
fn next() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Relaxed)
}

/// Returns the smallest failure of the same kind that cuts can find.
pub async fn smallest(
    mut failure: Failure,
    plan: Plan,
    open: &mut impl AsyncFnMut() -> OpenStore,
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

/// Reduces a failure to its words, without names and numbers.
fn kind(why: &str) -> String {
    let is_name = |word: &&str| word.chars().any(|c| "`/\"@0123456789{}()[]".contains(c));
    why.split(' ')
        .filter(|word| !is_name(word))
        .take(12)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Formats a failure as a report.
pub fn report(failure: &Failure) -> String {
    let Failure {
        seed,
        program,
        history,
        why,
    } = failure;
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
