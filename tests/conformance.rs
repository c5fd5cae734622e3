//! The conformance cases. Each case has a workflow of ADK and its behaviour in google-adk, and is
//! one test.
//!
//! `cargo test --test conformance` runs the cases of `tests/conformance`; the environment variable
//! `ADK_CONFORMANCE` names another folder. `cargo test --test conformance -- loop-` runs the cases
//! whose names contain `loop-`.

#[allow(dead_code, reason = "what cases of a later feature say")]
mod conformance_harness;

use conformance_harness::suite::{Named, Ours, Suite};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of cases that were run, and the number that passed.
#[derive(Default)]
struct Count {
    run: AtomicUsize,
    passed: AtomicUsize,
}

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let suite = match Suite::load() {
        Ok(suite) => suite,
        Err(error) => {
            eprintln!("conformance: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (ours, count) = (Arc::new(suite.ours), Arc::new(Count::default()));
    let trial = |named: Named| {
        let (ours, count) = (ours.clone(), count.clone());
        Trial::test(named.name.clone(), move || result(named, &ours, &count))
    };
    let trials = suite.cases.into_iter().map(trial).collect();
    let conclusion = libtest_mimic::run(&args, trials);
    let (run, passed) = (
        count.run.load(Ordering::Relaxed),
        count.passed.load(Ordering::Relaxed),
    );
    if run > 0 {
        println!("conformance: {passed} of {run}");
    }
    conclusion.exit_code()
}

fn result(named: Named, ours: &Ours, count: &Count) -> Result<(), Failed> {
    count.run.fetch_add(1, Ordering::Relaxed);
    named.case.and_then(|case| ours.judge(&case))?;
    count.passed.fetch_add(1, Ordering::Relaxed);
    Ok(())
}
