//! Validates the flow checker: random workflows, all their possible executions, and the findings of
//! the checker.
//!
//! - The checker reports every failure of any execution. Where it reports more, a rule of the
//!   checker explains the report. [`reference`] knows the possible executions.
//! - Accepted workflows run in the real runtime, with any behavior of agents and any order of
//!   branches. The reference predicts the failures of rejected workflows. [`real`] runs the
//!   executions.
//! - With labels, the checks of text that strangers wrote find each sink that marked text reaches:
//!   [`marks`].
//! - Accepted workflows behave as an interpreter says, with real models, tools, handovers and
//!   waits, for each pair of constructs: [`pairs`].
//!
//! `ADK_TREES` sets the number of trees (5,000), and `ADK_SEED` the first seed (1; it is printed).
//! `ADK_EXECUTIONS` sets how many executions of each tree run systematically, and how many more at
//! random (5). The full run: `ADK_TREES=100000 ADK_EXECUTIONS=20 cargo test --release -p
//! adk-workflow-core --test flow -- --nocapture`.
#![allow(
    clippy::unwrap_used,
    unreachable_pub,
    missing_debug_implementations,
    missing_docs,
    reason = "these are tests"
)]

#[path = "../support/discards.rs"]
mod discards;
mod failures;
mod grow;
mod judge;
mod marks;
mod pairs;
mod real;
mod reference;
mod shrink;
mod spec;
mod text;
mod tree;

use adk_build::spec::{OnError, Over};
use adk_store_kit::random;
use failures::Failures;
use grow::grow;
use judge::{Verdict, judge};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::time::Instant;
use tree::{Agent, Block, Kind, Node, Patience};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// Returns the seeds of this run.
fn seeds() -> Range<u64> {
    // Plain runs use fixed trees, so a failure is caused by a change.
    let first = number("ADK_SEED").unwrap_or(1);
    first..first + number("ADK_TREES").unwrap_or(5_000)
}

/// Prints a text even if the test passes.
fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn head(what: &str, seeds: &Range<u64>, accepted: u64, begin: Instant) -> String {
    let (trees, time) = (seeds.end - seeds.start, begin.elapsed().as_secs_f64());
    let rejected = trees - accepted;
    format!(
        "flow, {what}: ADK_SEED={} ADK_TREES={trees}: {accepted} accepted, {rejected} rejected, \
         {time:.1} s\n",
        seeds.start
    )
}

#[test]
fn the_checker_reports_every_possible_failure() {
    let (seeds, begin) = (seeds(), Instant::now());
    let (mut accepted, mut sound, mut agents, mut good) = (0, 0, 0, 0);
    let (mut rules, mut checks) = (BTreeMap::new(), BTreeMap::new());
    let mut failures = Failures::default();
    for seed in seeds.clone() {
        let flow = grow(seed);
        let size = flow.agents();
        agents += size;
        let Verdict {
            is_accepted,
            is_sound,
            rules: more,
            checks: counted,
        } = match judge(&flow) {
            Ok(verdict) => verdict,
            Err(why) => {
                failures.add(flow, why, seed, |flow| judge(flow).err());
                continue;
            }
        };
        accepted += u64::from(is_accepted);
        good += if is_accepted { size } else { 0 };
        sound += u64::from(is_sound);
        more.into_iter()
            .for_each(|(rule, n)| *rules.entry(rule).or_insert(0) += n);
        counted
            .into_iter()
            .for_each(|(check, n)| *checks.entry(check).or_insert(0) += n);
    }
    let mut text = head("reference", &seeds, accepted, begin);
    writeln!(
        text,
        "  {agents} agents, {good} in accepted trees; {sound} trees cannot fail"
    )
    .unwrap();
    checks
        .iter()
        .for_each(|(check, count)| writeln!(text, "  {count:8} {check}").unwrap());
    writeln!(text, "  reported although it cannot happen, because").unwrap();
    rules
        .iter()
        .for_each(|(rule, count)| writeln!(text, "  {count:8} {rule}").unwrap());
    say(&text);
    failures.none();
}

fn see_agent(agent: &Agent, see: &mut impl FnMut(&'static str, bool)) {
    see("exit", agent.exit);
    see("exit by name", !agent.leaves.is_empty());
    see("exit after the write", agent.exit && agent.writes_first);
    see("transfer", !agent.targets.is_empty());
    see("tool", !agent.tools.is_empty());
    see("model", agent.model);
    see("toolset", agent.toolset);
    let is_written = |key| agent.tools.iter().any(|write| write.key == key);
    see(
        "read and written by a tool",
        agent.reads.iter().any(|read| is_written(read.key)),
    );
    see("agent as a tool", !agent.helpers.is_empty());
    see("workflow as a tool", !agent.flows.is_empty());
    see(
        "nested subagent",
        agent.below().iter().any(|agent| !agent.is_alone()),
    );
    see(
        "below an instance",
        agent
            .below()
            .iter()
            .any(|below| below.reads.iter().any(|read| read.own.is_some())),
    );
    see(
        "written below an instance",
        agent
            .below()
            .iter()
            .any(|below| below.writes.iter().any(|write| write.own.is_some())),
    );
    see("prompt", agent.reads.iter().any(|read| read.prompt));
    see(
        "optional read",
        agent.reads.iter().any(|read| read.optional),
    );
    see(
        "secret",
        agent.reads.iter().any(|read| tree::is_secret(read.key)),
    );
    see(
        "renamed read",
        agent.reads.iter().any(|read| read.own.is_some()),
    );
    see(
        "renamed write",
        agent.writes.iter().any(|write| write.own.is_some()),
    );
    see(
        "write perhaps",
        agent.writes.iter().any(|write| write.perhaps),
    );
    see("await", agent.patience == Some(Patience::Endless));
    see(
        "await with a timeout",
        agent.patience == Some(Patience::Fails),
    );
    see(
        "await with a default",
        agent.patience == Some(Patience::Default),
    );
    see(
        "question with a key",
        agent.patience.is_some() && !agent.reads.is_empty(),
    );
}

fn see_block(block: &Block, see: &mut impl FnMut(&'static str, bool)) {
    match block.kind {
        _ if block.skippable => see("a block that a callback may skip", true),
        Kind::Parallel { .. } if block.on_error.skips() => {
            see("parallel that skips failed branches", true)
        }
        Kind::Each { .. } if block.on_error.skips() => {
            let has_limit = matches!(block.on_error, OnError::SkipAtMost(_));
            see("each that skips failed elements", !has_limit);
            see("each that skips some failed elements", has_limit);
        }
        Kind::Sequence => see("sequence", true),
        Kind::Parallel { limit, first } => {
            see("parallel", limit.is_none());
            see("parallel(first)", first);
        }
        Kind::Try { .. } => see("try", true),
        Kind::Else => see("else", true),
        Kind::Match { .. } => see("match", true),
        Kind::Each { max, .. } => {
            see("each", true);
            see("each with `max`", matches!(max, Some((_, Over::Fail))));
            see(
                "each that omits elements over `max`",
                matches!(max, Some((_, Over::Cut))),
            );
        }
        Kind::Loop { max, until } => {
            see("loop with `max`", max.is_some());
            see("loop with `until`", until.is_some());
            see("loop without either", max.is_none() && until.is_none());
        }
    }
}

/// Asserts that every construct occurs, because absent ones are not tested.
#[test]
fn everything_grows() {
    let mut grown = BTreeMap::new();
    let mut see =
        |what: &'static str, is_there: bool| *grown.entry(what).or_insert(0) += u32::from(is_there);
    for flow in (0..1_000).map(grow) {
        see("default", flow.inputs.iter().any(|(_, default)| *default));
        see("let", !flow.lets.is_empty());
        see("state", !flow.states.is_empty());
        see("output", !flow.outputs.is_empty());
        flow.each(&mut |node| match node {
            Node::Run(agent) => see_agent(agent, &mut see),
            Node::Nested(nested) => {
                see("nested", true);
                see("nested in nested", !nested.flow.definitions().is_empty());
                see(
                    "nested with other keys",
                    !nested.reads.is_empty() || !nested.writes.is_empty(),
                );
            }
            Node::Break(target) => {
                see("break", target.is_none());
                see("break by name", target.is_some());
            }
            Node::Nothing => see("an arm that does nothing", true),
            Node::Block(block) => see_block(block, &mut see),
        });
    }
    let rare: Vec<_> = grown.iter().filter(|(_, count)| **count < 10).collect();
    assert!(rare.is_empty(), "{rare:?} of {grown:?}");
}

#[test]
fn accepted_workflows_run() {
    let (seeds, begin) = (seeds(), Instant::now());
    let (mut accepted, mut executions, mut turns, mut wrong) = (0, 0, 0, 0);
    let (mut answered, mut expired, mut whole, mut by_elements) = (0, 0, 0, 0);
    let times = number("ADK_EXECUTIONS").unwrap_or(5);
    let mut failures = Failures::default();
    for seed in seeds.clone() {
        let flow = grow(seed);
        match real::run(&flow, seed, times) {
            Ok(seen) => {
                accepted += u64::from(seen.is_accepted);
                executions += seen.executions;
                turns += seen.turns;
                answered += seen.answered;
                expired += seen.expired;
                whole += usize::from(seen.is_whole);
                wrong += usize::from(!seen.wrong.is_empty());
                by_elements += seen.by_elements;
            }
            Err(why) => failures.add(flow, why, seed, |flow| real::run(flow, seed, times).err()),
        }
    }
    let mut text = head("runtime", &seeds, accepted, begin);
    writeln!(
        text,
        "  {executions} executions with {turns} turns of agents; {whole} trees ran all their \
         executions"
    )
    .unwrap();
    writeln!(
        text,
        "  {answered} `await` steps were answered, {expired} timed out"
    )
    .unwrap();
    writeln!(
        text,
        "  {by_elements} loops continued because their exits are in an empty `each` or an unused \
         `else`"
    )
    .unwrap();
    // With many such loops, exits inside an `each` or an `else` would have no effect.
    assert!(
        by_elements <= 1 + (seeds.end - seeds.start) as usize / 20_000,
        "{by_elements} loops continued"
    );
    writeln!(
        text,
        "  {wrong} rejected trees failed, as the reference predicted"
    )
    .unwrap();
    say(&text);
    failures.none();
}
