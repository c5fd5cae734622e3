//! Each check has wrong programs, a right program and a page.

use super::{files, folder, read};
use adk::check::Check;

/// The minimum number of wrong programs for each check.
const CASES: usize = 3;

/// Checks of a single macro call, which other modules and crates do not affect.
const SINGLE_CALL_CHECKS: &[&str] = &["block-empty", "key-duplicate", "syntax"];

/// Cases that belong to no single check: messages of rustc itself, and several checks at once.
const OTHERS: &[&str] = &["newcomer-", "wrong-", "readme", "several-errors"];

/// Whether a case belongs to a check: `key-missing` and `key-missing-until`, but not
/// `key-missingx`.
fn belongs_to(case: &str, check: &str) -> bool {
    case.strip_prefix(check)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[test]
fn every_check_has_bad_programs_a_good_one_and_a_page() {
    let (outputs, good) = (files(&folder("."), "stderr"), files(&folder("pass"), "rs"));
    let (listed, pages) = (
        read(&folder("pass/main.rs")),
        files(&folder("../../docs/checks"), "md"),
    );
    let mut missing = Vec::new();
    for name in Check::ALL.iter().map(|check| check.name()) {
        let says = format!("{name}: ");
        let bad: Vec<_> = outputs
            .iter()
            .filter(|(case, text)| belongs_to(case, name) && text.contains(&says))
            .collect();
        if bad.len() < CASES {
            missing.push(format!("{name}: {} bad programs", bad.len()));
        }
        for (place, shows_it) in [("", ""), ("-modules", "mod "), ("-crates", "agents::")] {
            let case = format!("{name}{place}");
            if SINGLE_CALL_CHECKS.contains(&name) {
                continue;
            }
            let is_there = bad.iter().any(|(bad, _)| **bad == case);
            if !is_there || !read(&folder(&format!("{case}.rs"))).contains(shows_it) {
                missing.push(format!("{case}.rs"));
            }
        }
        if !good.contains_key(name) || !listed.contains(&format!("\"{name}.rs\"")) {
            missing.push(format!("pass/{name}.rs"));
        }
        if !pages.contains_key(name) {
            missing.push(format!("docs/checks/{name}.md"));
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn every_case_belongs_to_a_check() {
    let mut cases: Vec<_> = files(&folder("."), "rs").into_keys().collect();
    cases.retain(|case| {
        !Check::ALL
            .iter()
            .any(|check| belongs_to(case, check.name()))
    });
    cases.retain(|case| !OTHERS.iter().any(|other| case.starts_with(other)));
    assert_eq!(cases, Vec::<String>::new(), "name them after a check");
}
