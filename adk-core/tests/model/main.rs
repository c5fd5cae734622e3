//! Compares the execution of the flat list of steps with a simple recursive interpreter, on random
//! trees.
//!
//! The behavior of an agent depends only on the seed and its path, so the interpreter predicts
//! events without knowing how branches interleave: the order within a branch is fixed, and the
//! order between branches is free. At most one branch of a block exits or fails; its siblings may
//! then have made any progress. The log provides the keys that they wrote, and the winner of a
//! `parallel(first)`.
//!
//! `ADK_TREES` sets the number of trees, and `ADK_SEED` the first seed.
#![allow(
    clippy::unwrap_used,
    unreachable_pub,
    missing_debug_implementations,
    missing_docs,
    reason = "these are tests"
)]

use adk_store_kit::trees as support;

mod compare;
#[path = "../support/discards.rs"]
mod discards;
mod expect;
mod grow;
mod tree;

use adk_build::runner::SessionHandle;
use adk_build::testing::ScriptedModel;
use adk_build::{Content, Error, Event, Flow, LoopEndReason, Outcome, Part, RunEnd, Runner};
use compare::{Branch, Item, Parts, compare, in_order, replay, to_lines, winners};
use discards::State;
use expect::{Ended, Failure};
use grow::{KEPT, Shape};
use std::ops::Range;
use std::sync::Arc;
use support::Tree;
use tokio::runtime::{Builder, Runtime};
use tree::{BLIND, BRIEF, OBSERVER};

/// Random numbers that are the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }
    pub fn at(seed: u64, path: &str) -> Self {
        Self(path.bytes().fold(seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        }))
    }
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// The behavior of an agent in one turn.
pub struct Plan {
    pub events: u32,
    pub flow: Flow,
    /// Whether the agent fails, and whether its error is transient.
    pub fails: Option<bool>,
    random: Random,
}

/// The ways to leave the place of an agent.
#[derive(Clone, Default, Debug)]
pub struct Leave {
    /// The enclosing loops, innermost last.
    pub loops: Vec<Loop>,
    pub fails: Option<Fails>,
    /// The number of enclosing `each` blocks.
    pub depth: usize,
}

/// The way in which agents fail.
#[derive(Clone, Copy, Debug)]
pub struct Fails {
    /// The number of `each` blocks around the block that handles the failure.
    pub depth: usize,
    pub one_in: u64,
    /// Whether the errors are transient. All errors are equal, because the last failure of a race
    /// is unknown.
    pub pass: bool,
}

#[derive(Clone, Debug)]
pub struct Loop {
    pub name: &'static str,
    /// The number of `each` blocks around the loop.
    pub depth: usize,
}

impl Leave {
    /// Returns the enclosing loops that are inside the same element as the agent.
    pub fn inner(&self) -> &[Loop] {
        let outside = self
            .loops
            .iter()
            .take_while(|around| around.depth < self.depth)
            .count();
        &self.loops[outside..]
    }
}

impl Plan {
    pub fn new(seed: u64, path: &str, leave: &Leave) -> Self {
        let mut random = Random::at(seed, path);
        let events = random.below(4) as u32;
        // Only the first of all elements leaves.
        let elements: Vec<_> = path
            .split('[')
            .skip(1)
            .map(|rest| rest.starts_with("0]"))
            .collect();
        let leaves = |depth: usize| elements.iter().skip(depth).all(|first| *first);
        let innermost = leave
            .loops
            .last()
            .filter(|around| leaves(around.depth))
            .map(|_| Flow::Exit);
        let by_name = leave.loops.iter().filter(|around| leaves(around.depth));
        let by_name = by_name.map(|around| Flow::ExitTo(around.name.into()));
        let exits: Vec<_> = innermost.into_iter().chain(by_name).collect();
        let flow = match exits.len() as u64 {
            0 => Flow::Continue,
            _ if !random.one_in(6) => Flow::Continue,
            n => exits[random.below(n) as usize].clone(),
        };
        let fails = leave
            .fails
            .filter(|fails| leaves(fails.depth) && random.one_in(fails.one_in));
        let fails = fails.map(|fails| fails.pass);
        Self {
            events,
            flow,
            fails,
            random,
        }
    }

    /// Yields or not: in this task, in another thread, or for some time.
    pub async fn disturb(&mut self) {
        match self.random.below(8) {
            0 => tokio::task::yield_now().await,
            1 => drop(tokio::spawn(async { tokio::task::yield_now().await }).await),
            2 => drop(tokio::task::spawn_blocking(|| ()).await),
            _ => {}
        }
    }
}

fn ended(outcome: &Outcome<()>) -> Vec<String> {
    let reason = |reason: &LoopEndReason| match reason {
        LoopEndReason::Max => "max".to_owned(),
        LoopEndReason::Until => "until".to_owned(),
        LoopEndReason::Break => "break".to_owned(),
        LoopEndReason::Escalated { by } => format!("by {by}"),
        other => format!("{other:?}"),
    };
    outcome
        .loops
        .iter()
        .map(|end| format!("{} {} {}", end.path, end.rounds, reason(&end.reason)))
        .collect()
}

/// The result of a run.
type Ran = (Vec<Arc<Event>>, RunEnd<()>, Option<Error>);

async fn drive(handle: &SessionHandle, tree: &Tree) -> Ran {
    let mut stream = handle.run(tree, "go").message("go").stream();
    let (mut delivered, mut error) = (Vec::new(), None);
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => delivered.push(event),
            Err(failed) => error = Some(failed),
        }
    }
    (delivered, stream.end(), error)
}

/// Grows a tree, runs it twice concurrently in one session, and reports differences from the
/// interpreter. The runs take turns, and the second one sees only the `state` keys of the first.
fn check(seed: u64, runtime: &Runtime, happened: &mut Happened) -> Result<(), String> {
    let shape = Shape::grow(seed);
    let tree = tree::observed(&shape, seed);
    let model = ScriptedModel::new().text("seen").repeat_last();
    let runner: Runner = Runner::builder().model(model.clone()).build().unwrap();
    let handle = runner.session("u", "s");
    let (first, second) =
        runtime.block_on(async { tokio::join!(drive(&handle, &tree), drive(&handle, &tree)) });
    let session = runtime.block_on(handle.open()).unwrap();
    let logged: Vec<_> = session.events().cloned().collect();
    let fail = |why: String| Err(format!("seed {seed}: {why}\n{shape:#?}"));
    let delivered: Vec<_> = first.0.iter().chain(&second.0).cloned().collect();
    if !(delivered.len() == logged.len()
        && delivered
            .iter()
            .zip(&logged)
            .all(|(a, b)| Arc::ptr_eq(a, b)))
    {
        return fail(format!(
            "delivered and logged events differ:\n{:#?}\n{:#?}",
            to_lines(&delivered),
            to_lines(&logged)
        ));
    }
    if !logged.is_sorted_by(|a, b| a.id < b.id && a.timestamp <= b.timestamp) {
        return fail("ids or times run backwards".into());
    }
    happened.events += delivered.len();
    to_lines(&delivered)
        .iter()
        .for_each(|line| happened.see(line));
    if let Err(why) = as_sent(&shape, seed, &first, &model) {
        return fail(format!("requests: {why}"));
    }
    let mut state = State::new();
    for ran in [first, second] {
        state.retain(|key, _| key.starts_with(KEPT));
        if let Err(why) = as_expected(&shape, seed, &mut state, ran) {
            return fail(why);
        }
    }
    Ok(())
}

/// Counts over all trees. Absent cases are not tested.
#[derive(Default)]
struct Happened {
    events: usize,
    /// The number of lines that contain each of [`WORDS`].
    lines: [usize; WORDS.len()],
}

/// Marks of a race, of attempts, of failed parts, of an `each` over its `max`, and of a `state`
/// key.
const WORDS: [&str; 6] = [
    " won by ",
    ", again",
    "=* failed ",
    " without root/",
    " without 1",
    " kept",
];

impl Happened {
    fn see(&mut self, line: &str) {
        for (count, word) in self.lines.iter_mut().zip(WORDS) {
            *count += usize::from(line.contains(word));
        }
    }
}

/// Checks that the agents at the end of a run received its events in source order.
fn as_sent(
    shape: &Shape,
    seed: u64,
    (delivered, ..): &Ran,
    model: &ScriptedModel,
) -> Result<(), String> {
    let Some(run) = delivered.first().map(|event| event.invocation_id) else {
        return Ok(());
    };
    let sent = |agent: &str| {
        let all = model.requests_of(agent);
        let asked = all.into_iter().find(|request| request.info.run_id == run)?;
        Some(asked.contents.iter().map(message_text).collect::<Vec<_>>())
    };
    let Some(whole) = sent(OBSERVER) else {
        return Ok(());
    };
    let own: Vec<_> = delivered
        .iter()
        .filter(|event| !to_lines(&[(*event).clone()]).is_empty())
        .collect();
    let lines: Vec<_> = to_lines(delivered).into_iter().zip(own).collect();
    let (mut events, mut loops) = (Vec::new(), Vec::new());
    expect::workflow(shape, seed, &winners(delivered), &mut events, &mut loops);
    let ordered = in_order(&events, &lines, &Parts::from_log(delivered)).into_iter();
    let spoken = ordered.filter(|event| !event.text().is_empty());
    let mut expected = vec!["go".to_owned()];
    expected.extend(spoken.map(|event| format!("{}: {}", event.author, event.text())));
    let last = expected.last().cloned();
    if sent(BRIEF) != Some(Vec::from_iter(last)) || sent(BLIND) != Some(Vec::new()) {
        return Err(format!(
            "{:?} and {:?} of {expected:#?}",
            sent(BRIEF),
            sent(BLIND)
        ));
    }
    expected.push(format!("{BRIEF}: seen"));
    expected.push(format!("{BLIND}: seen"));
    if whole == expected {
        Ok(())
    } else {
        Err(format!("{whole:#?}, not {expected:#?}"))
    }
}

/// Returns a message of the user, or the quoted text of another agent.
fn message_text(content: &Content) -> String {
    match &content.parts[..] {
        [Part::Text(_), Part::Text(quote)] => {
            let author = quote.split(['[', ']']).nth(1).unwrap_or_default();
            format!("{author}: {}", quote.lines().nth(2).unwrap_or_default())
        }
        _ => content.text(),
    }
}

fn as_expected(
    shape: &Shape,
    seed: u64,
    state: &mut State,
    (delivered, end, error): Ran,
) -> Result<(), String> {
    let (mut events, mut loops) = (Vec::new(), Vec::new());
    let expected = expect::workflow(shape, seed, &winners(&delivered), &mut events, &mut loops);
    compare(&events, &to_lines(&delivered), false).map_err(|why| {
        format!(
            "events: {why}\n{:#?}\nexpected {events:#?}",
            to_lines(&delivered)
        )
    })?;
    replay(&delivered, state)
        .map_err(|why| format!("values: {why}\n{:#?}", to_lines(&delivered)))?;
    match (expected, end, error) {
        (Ended::Through, RunEnd::Finished(outcome), None) => {
            compare(&loops, &ended(&outcome), false)
                .map_err(|why| format!("loops: {why}\n{:#?}\nexpected {loops:#?}", ended(&outcome)))
        }
        (Ended::Failed(Failure { paths, .. }), RunEnd::Failed, Some(error))
            if error
                .path()
                .is_some_and(|at| paths.contains(&at.to_string())) =>
        {
            Ok(())
        }
        (expected, end, error) => Err(format!("expected {expected:?}, but {end:?}, {error:?}")),
    }
}

fn run_all(seeds: Range<u64>, runtime: &Runtime) {
    let mut happened = Happened::default();
    for seed in seeds.clone() {
        if let Err(why) = check(seed, runtime, &mut happened) {
            panic!("{why}\nrepeat with ADK_SEED={seed} ADK_TREES=1");
        }
    }
    let Happened { events, lines } = happened;
    println!(
        "{events} events of {} trees as expected, {lines:?} with {WORDS:?}",
        seeds.end - seeds.start
    );
    assert!(
        seeds.end - seeds.start < 1_000 || lines.iter().all(|count| *count > 50),
        "{lines:?}"
    );
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// Returns the seeds of this run: `trees` trees from `first`, unless the environment sets others.
fn seeds(first: u64, trees: u64) -> Range<u64> {
    let first = number("ADK_SEED").unwrap_or(first);
    first..first + number("ADK_TREES").unwrap_or(trees)
}

#[test]
fn random_trees_run_as_the_recursive_interpreter_predicts() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    run_all(seeds(0, 5_000), &runtime);
}

#[test]
fn random_trees_run_the_same_when_other_threads_wake_branches() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    run_all(seeds(100_000, 1_000), &runtime);
}

#[test]
fn the_comparison_detects_missing_duplicate_and_misplaced_events() {
    let leaf = |text: &str| Item::Leaf(text.to_owned());
    let lines = |text: &str| {
        text.split(',')
            .filter(|l| !l.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let branch = |at: &str, may_break_off| Branch {
        at: at.to_owned(),
        items: vec![leaf(&format!("{at} 1")), leaf(&format!("{at} 2"))],
        may_break_off,
    };
    let two = |cancelled| Item::Branches {
        at: "p".into(),
        branches: vec![branch("p/a", false), branch("p/b", cancelled)],
    };
    for (right, cancelled) in [
        ("x,p/a 1,p/b 1,p/b 2,p/a 2,y", false),
        ("x,p/a 1,p/b 1,p/a 2,y", true),
        ("x,p/a 1,p/a 2,y", true),
    ] {
        compare(
            &[leaf("x"), two(cancelled), leaf("y")],
            &lines(right),
            false,
        )
        .unwrap();
    }
    for wrong in [
        "x,p/a 1,p/b 1,p/a 2,y",
        "x,p/a 2,p/a 1,p/b 1,p/b 2,y",
        "x,p/a 1,p/a 2,p/b 1,p/b 2,p/b 2,y",
        "x,p/a 1,p/a 2,p/b 1,p/b 2",
        "p/a 1,x,p/a 2,p/b 1,p/b 2,y",
    ] {
        compare(&[leaf("x"), two(false), leaf("y")], &lines(wrong), false).unwrap_err();
    }
}
