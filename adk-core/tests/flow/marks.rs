//! The checks `untrusted-action` and `lethal-trifecta` against sessions with real marks.
//!
//! Grown workflows get random labels and guards. [`world`] runs sessions of three runs with
//! obedient models, and records the sinks that marked text reaches. Each of them must be a finding;
//! findings that no session reaches are counted.
//!
//! [`parrot`] lets hostile models run the same workflows on the real runtime.
//!
//! The full runs: `ADK_TREES=100000 cargo test --release -p adk-workflow-core --test flow
//! marks_reach -- --nocapture`, and `ADK_TREES=10000` with `hostile_models`. `ADK_SHOW=1` prints
//! the findings that no session reaches, and 2 also their workflows.

mod blocks;
mod label;
pub mod parrot;
mod play;
mod turn;
mod world;

use crate::grow::grow;
use crate::judge::waits_in_tool;
use crate::shrink::shrink;
use crate::spec::{Store, spec};
use crate::tree::{Flow, Node, all_written};
use adk_build::check::{AuditSink, Diagnostic, faults};
use label::Labeler;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Instant;
use tokio::runtime::Runtime;
use world::{Reached, explore};

pub const CHECKS: [&str; 2] = ["untrusted-action", "lethal-trifecta"];

/// A finding of the checker.
#[derive(Clone, Debug)]
pub struct Finding {
    pub check: &'static str,
    /// The step of the root workflow.
    pub step: String,
    pub message: String,
}

impl Finding {
    fn of(fault: &Diagnostic) -> Option<Self> {
        let check = CHECKS
            .into_iter()
            .find(|check| *check == fault.check.name())?;
        Some(Self {
            check,
            step: fault.node.clone(),
            message: fault.message.clone(),
        })
    }

    /// Whether this is a finding about a sink.
    fn is_of(&self, reached: &Reached) -> bool {
        self.check == reached.check && self.step == reached.step
    }
}

/// Returns the findings of the two checks, unless another check refuses the workflow or one in it.
pub fn findings(flow: &Flow) -> Option<Vec<Finding>> {
    let all = |flow: &Flow| {
        let checked = std::panic::catch_unwind(|| {
            let store = Store::default();
            faults(&spec(flow, &store))
        });
        checked.unwrap_or_default()
    };
    if !names_are_used(flow) {
        return None;
    }
    let own = all(flow);
    let inner = flow.definitions();
    let is_other = |fault: &Diagnostic| Finding::of(fault).is_none();
    let is_refused = own.iter().any(is_other)
        || inner.iter().any(|inner| all(inner).iter().any(is_other))
        || waits_in_tool(flow);
    (!is_refused).then(|| own.iter().filter_map(Finding::of).collect())
}

fn has_panicked(flow: &Flow) -> bool {
    let checked = std::panic::catch_unwind(|| {
        let store = Store::default();
        faults(&spec(flow, &store));
    });
    checked.is_err()
}

/// Whether the guards name only keys that the workflow declares, reads or writes. rustc checks
/// this.
fn names_are_used(flow: &Flow) -> bool {
    let inputs = flow.inputs.iter().map(|(key, _)| *key);
    let mut used: Vec<_> = inputs.chain(flow.states.clone()).chain(["user"]).collect();
    used.extend(all_written(&flow.body));
    flow.each(&mut |node| match node {
        Node::Run(agent) => {
            let all = [agent].into_iter().chain(agent.below());
            used.extend(all.flat_map(|agent| &agent.reads).map(|read| read.key));
        }
        Node::Nested(nested) => {
            used.extend(nested.flow.inputs.iter().map(|(key, _)| nested.read(key)));
        }
        _ => {}
    });
    let Some(guards) = &flow.guards else {
        return true;
    };
    let mut named = guards.untrusted.iter().chain(&guards.private);
    named.all(|key| used.contains(key))
}

/// Grows a workflow with labels that no other check refuses.
pub fn labelled(seed: u64, asks: bool) -> Option<Flow> {
    (0..6).find_map(|n| {
        let seed = seed.wrapping_mul(8).wrapping_add(n);
        let mut flow = grow(seed);
        Labeler::label(&mut flow, seed, asks);
        findings(&flow).map(|_| flow)
    })
}

#[derive(Default)]
struct Counts {
    trees: u64,
    refused: u64,
    findings: u64,
    unreached: u64,
    /// Refused trees of which no finding was reached.
    for_nothing: u64,
    reached: u64,
    checks: BTreeMap<&'static str, u64>,
    misses: Vec<(String, u64, String)>,
}

/// Returns the first sink that is reached without a finding.
fn missed(flow: &Flow, seed: u64, sessions: u64) -> Option<String> {
    let found = findings(flow)?;
    if has_panicked(flow) {
        return Some("the check panics".to_owned());
    }
    first_missed(&found, &explore(flow, seed, sessions, false), "a sink")
}

/// Names the first sink that was reached and is not found.
fn first_missed(found: &[Finding], reached: &BTreeSet<Reached>, sink: &str) -> Option<String> {
    let missed = reached
        .iter()
        .find(|reached| !found.iter().any(|finding| finding.is_of(reached)))?;
    let Reached {
        check,
        step,
        agent,
        tool,
    } = missed;
    Some(format!(
        "{check} misses {sink}: `{step}`: `{agent}` calls `{tool}`"
    ))
}

#[test]
fn an_audit_agrees_with_the_checks() {
    let (mut refused, mut clean) = (0, 0);
    for seed in 1..=crate::number("ADK_TREES").unwrap_or(300) {
        let Some(flow) = labelled(seed, true) else {
            continue;
        };
        let (store, found) = (Store::default(), findings(&flow).unwrap_or_default());
        let audit = spec(&flow, &store).audit();
        let messages: Vec<_> = found.iter().map(|finding| &finding.message).collect();
        let audited: Vec<_> = audit.findings.iter().collect();
        assert_eq!(audited, messages, "seed {seed}");
        let is_refused = audit.sinks.iter().any(AuditSink::is_refused);
        assert_eq!(is_refused, !found.is_empty(), "seed {seed}:\n{audit}");
        refused += u64::from(is_refused);
        clean += u64::from(!is_refused && audit.has_labels());
    }
    assert!(
        refused > 10 && clean > 10,
        "{refused} refused, {clean} clean"
    );
}

#[test]
fn marks_reach_only_sinks_that_are_found() {
    let trees = crate::number("ADK_TREES").unwrap_or(150);
    let first = crate::number("ADK_SEED").unwrap_or(1);
    let sessions = crate::number("ADK_EXECUTIONS").unwrap_or(60);
    let is_long = trees >= 1_000;
    let begin = Instant::now();
    let mut counts = Counts::default();
    for seed in first..first + trees {
        let Some(flow) = labelled(seed, true) else {
            continue;
        };
        counts.trees += 1;
        let found = findings(&flow).unwrap_or_default();
        let reached = explore(&flow, seed, sessions, false);
        let is_missed = |reached: &Reached| !found.iter().any(|finding| finding.is_of(reached));
        let is_missed = has_panicked(&flow) || reached.iter().any(is_missed);
        let is_rare = |reached: &BTreeSet<Reached>| {
            let is_reached =
                |finding: &Finding| reached.iter().any(|reached| finding.is_of(reached));
            !found.iter().all(is_reached)
        };
        let mut more = reached.clone();
        // Rare executions reach some sinks.
        for (n, sessions) in [sessions, sessions * 10, sessions * 40]
            .into_iter()
            .enumerate()
        {
            if is_long && is_rare(&more) {
                more.extend(explore(
                    &flow,
                    seed ^ ((n as u64 + 1) << 40),
                    sessions,
                    true,
                ));
            }
        }
        counts.refused += u64::from(!found.is_empty());
        counts.reached += reached.len() as u64;
        let is_reached = |finding: &Finding| more.iter().any(|reached| finding.is_of(reached));
        counts.for_nothing += u64::from(!found.is_empty() && !found.iter().any(is_reached));
        for finding in &found {
            counts.findings += 1;
            *counts.checks.entry(finding.check).or_default() += 1;
            let is_reached = is_reached(finding);
            counts.unreached += u64::from(!is_reached);
            if !is_reached && crate::number("ADK_SHOW").is_some() {
                crate::say(&format!(
                    "not reached, seed {seed}, `{}`: {}\n",
                    finding.step, finding.message
                ));
                if crate::number("ADK_SHOW") == Some(2) {
                    crate::say(&flow.to_string());
                }
            }
        }
        if is_missed
            && let Some(why) = missed(&flow, seed, sessions)
            && counts.misses.len() < 20
        {
            let (flow, why) = shrink(flow, why, |flow| missed(flow, seed, sessions));
            counts.misses.push((why, seed, flow.to_string()));
        }
    }
    let mut text = String::new();
    writeln!(
        text,
        "flow, marks: ADK_SEED={first} ADK_TREES={trees}: {} trees, {} refused, {} of them \
         without a reached sink, {} sinks reached, {} findings, {} of them not reached, {} \
         missed, {:.1} s\n  {:?}",
        counts.trees,
        counts.refused,
        counts.for_nothing,
        counts.reached,
        counts.findings,
        counts.unreached,
        counts.misses.len(),
        begin.elapsed().as_secs_f64(),
        counts.checks,
    )
    .unwrap();
    crate::say(&text);
    assert!(trees < 50 || counts.reached > 0, "no sink is reached");
    assert!(
        !is_long || counts.for_nothing * 20 <= counts.refused,
        "{} of {} refused trees reach no sink",
        counts.for_nothing,
        counts.refused
    );
    let mut all = String::new();
    for (why, seed, tree) in &counts.misses {
        writeln!(
            all,
            "{why}\n{tree}repeat with ADK_SEED={seed} ADK_TREES=1\n"
        )
        .unwrap();
    }
    assert!(counts.misses.is_empty(), "{all}");
}

/// Returns the first sink that a real run reaches without a finding.
fn missed_by_run(flow: &Flow, seed: u64, runtime: &Runtime) -> Option<String> {
    let found = findings(flow)?;
    if has_panicked(flow) {
        return Some("the check panics".to_owned());
    }
    first_missed(
        &found,
        &play::play(flow, seed, false, runtime).reached,
        "a sink of a real run",
    )
}

#[test]
fn hostile_models_reach_only_sinks_that_are_found() {
    let trees = crate::number("ADK_TREES").unwrap_or(60);
    let first = crate::number("ADK_SEED").unwrap_or(1);
    let begin = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (mut played, mut refused, mut sinks, mut findings_count, mut unreached) = (0, 0, 0, 0, 0);
    let mut misses = Vec::new();
    for seed in first..first + trees {
        let Some(flow) = labelled(seed, false) else {
            continue;
        };
        played += 1;
        let found = findings(&flow).unwrap_or_default();
        let reached = play::play(&flow, seed, false, &runtime).reached;
        refused += u64::from(!found.is_empty());
        sinks += reached.len();
        findings_count += found.len();
        let is_unreached =
            |finding: &&Finding| !reached.iter().any(|reached| finding.is_of(reached));
        unreached += found.iter().filter(is_unreached).count();
        if let Some(why) = missed_by_run(&flow, seed, &runtime)
            && misses.len() < 20
        {
            let (flow, why) = shrink(flow, why, |flow| missed_by_run(flow, seed, &runtime));
            misses.push((why, seed, flow.to_string()));
        }
    }
    crate::say(&format!(
        "flow, parrots: ADK_SEED={first} ADK_TREES={trees}: {played} trees in three real runs \
         each, {refused} refused, {sinks} sinks reached, {findings_count} findings, {unreached} of \
         them not reached, {} missed, {:.1} s\n",
        misses.len(),
        begin.elapsed().as_secs_f64(),
    ));
    let mut all = String::new();
    for (why, seed, tree) in &misses {
        writeln!(
            all,
            "{why}\n{tree}repeat with ADK_SEED={seed} ADK_TREES=1\n"
        )
        .unwrap();
    }
    assert!(misses.is_empty(), "{all}");
}

/// Returns the first sink that a guarded run lets marked text reach, or the first call that it
/// stops in a workflow without findings.
fn missed_by_guard(flow: &Flow, seed: u64, runtime: &Runtime) -> Option<String> {
    flow.guards.as_ref()?;
    let mut flow = flow.clone();
    label::forget_consents(&mut flow);
    let (flow, found) = (&flow, findings(&flow)?);
    let played = play::play(flow, seed, true, runtime);
    let reached = first_missed(&[], &played.reached, "a sink of a guarded run");
    let stopped = || played.stopped.first().filter(|_| found.is_empty());
    reached.or_else(|| stopped().map(|call| format!("a guard stops {call}")))
}

/// The runtime itself stops hostile models, with labels that no check has seen. In a workflow that
/// the checks accept it stops nothing.
#[test]
fn guards_stop_hostile_models_in_any_workflow() {
    let trees = crate::number("ADK_TREES").unwrap_or(60);
    let first = crate::number("ADK_SEED").unwrap_or(1);
    let begin = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (mut played, mut refused, mut stopped) = (0, 0, 0);
    let mut misses = Vec::new();
    for seed in first..first + trees {
        let Some(flow) = labelled(seed, false).filter(|flow| flow.guards.is_some()) else {
            continue;
        };
        played += 1;
        refused += u64::from(!findings(&flow).unwrap_or_default().is_empty());
        stopped += play::play(&flow, seed, true, &runtime).stopped.len();
        if let Some(why) = missed_by_guard(&flow, seed, &runtime)
            && misses.len() < 20
        {
            let (flow, why) = shrink(flow, why, |flow| missed_by_guard(flow, seed, &runtime));
            misses.push((why, seed, flow.to_string()));
        }
    }
    crate::say(&format!(
        "flow, guards: ADK_SEED={first} ADK_TREES={trees}: {played} trees in three real runs each, \
         {refused} refused by the checks, {stopped} calls stopped, {} wrong, {:.1} s\n",
        misses.len(),
        begin.elapsed().as_secs_f64(),
    ));
    assert!(trees < 50 || stopped > 0, "no call is stopped");
    let mut all = String::new();
    for (why, seed, tree) in &misses {
        writeln!(
            all,
            "{why}\n{tree}repeat with ADK_SEED={seed} ADK_TREES=1\n"
        )
        .unwrap();
    }
    assert!(misses.is_empty(), "{all}");
}
