//! The conformance cases: each is a workflow of ADK with what google-adk does when it runs, and one test here.
//!
//! `cargo test --test conformance` runs those of `tests/conformance`; with `ADK_CONFORMANCE` in the environment, those
//! of that folder. `cargo test --test conformance -- loop-` runs those whose names hold `loop-`.

#[allow(dead_code, reason = "what cases of a later feature say")]
mod conformance_harness;

use conformance_harness::suite::{Named, Ours, Suite};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many cases were run, and how many passed.
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
    let (run, passed) = (count.run.load(Ordering::Relaxed), count.passed.load(Ordering::Relaxed));
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
