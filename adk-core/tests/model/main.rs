//! The walk over the flat list of steps against a simple recursive interpreter, on random trees.
//!
//! What an agent does depends on the seed and its path alone, so the interpreter can say what has to happen
//! without knowing how branches interleave: within a branch the order is fixed, between branches it is free. Of the
//! branches of a block at most one exits or fails; its siblings may then have come as far as they like. What they
//! have left in their keys the log tells, and so it does which branch has won a `parallel(first)`.
//!
//! `ADK_TREES` says how many trees there are, `ADK_SEED` the first of them.
#![allow(
    clippy::unwrap_used,
    unreachable_pub,
    missing_debug_implementations,
    missing_docs,
    reason = "these are tests"
)]

#[path = "../support/mod.rs"]
mod support;

mod compare;
#[path = "../support/discards.rs"]
mod discards;
mod expect;
mod grow;
mod tree;

use adk_core::runner::SessionHandle;
use adk_core::testing::ScriptedModel;
use adk_core::{Content, Error, Event, Flow, LoopEndReason, Outcome, Part, RunEnd, Runner};
use compare::{Branch, Item, Parts, compare, in_order, replay, seen, winners};
use discards::State;
use expect::{Ended, Failure};
use grow::{KEPT, Shape};
use std::ops::Range;
use std::sync::Arc;
use support::Tree;
use tokio::runtime::{Builder, Runtime};
use tree::{BLIND, BRIEF, OBSERVER};

/// The same numbers on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }
    pub fn of(seed: u64, path: &str) -> Self {
        Self(path.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)))
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

/// What an agent does in one turn.
pub struct Plan {
    pub events: u32,
    pub flow: Flow,
    /// Whether it fails, with an error that may pass.
    pub fails: Option<bool>,
    random: Random,
}

/// What may leave the place where an agent stands.
#[derive(Clone, Default, Debug)]
pub struct Leave {
    /// The loops around, innermost last.
    pub loops: Vec<Loop>,
    pub fails: Option<Fails>,
    /// How many `each` are around.
    pub depth: usize,
}

/// How agents may fail.
#[derive(Clone, Copy, Debug)]
pub struct Fails {
    /// How many `each` are around the block that goes on after it.
    pub depth: usize,
    pub one_in: u64,
    /// Whether the errors may pass. They are alike, since nobody knows which branch of a race has failed last.
    pub pass: bool,
}

#[derive(Clone, Debug)]
pub struct Loop {
    pub name: &'static str,
    /// How many `each` are around it.
    pub depth: usize,
}

impl Leave {
    /// The loops that are in the same element.
    pub fn inner(&self) -> &[Loop] {
        let outside = self.loops.iter().take_while(|around| around.depth < self.depth).count();
        &self.loops[outside..]
    }
}

impl Plan {
    pub fn of(seed: u64, path: &str, leave: &Leave) -> Self {
        let mut random = Random::of(seed, path);
        let events = random.below(4) as u32;
        // Of all elements the first alone leaves.
        let elements: Vec<_> = path.split('[').skip(1).map(|rest| rest.starts_with("0]")).collect();
        let leaves = |depth: usize| elements.iter().skip(depth).all(|first| *first);
        let innermost = leave.loops.last().filter(|around| leaves(around.depth)).map(|_| Flow::Exit);
        let by_name = leave.loops.iter().filter(|around| leaves(around.depth));
        let by_name = by_name.map(|around| Flow::ExitTo(around.name.into()));
        let exits: Vec<_> = innermost.into_iter().chain(by_name).collect();
        let flow = match exits.len() as u64 {
            0 => Flow::Continue,
            _ if !random.one_in(6) => Flow::Continue,
            n => exits[random.below(n) as usize].clone(),
        };
        let fails = leave.fails.filter(|fails| leaves(fails.depth) && random.one_in(fails.one_in));
        let fails = fails.map(|fails| fails.pass);
        Self { events, flow, fails, random }
    }

    /// Gives way to others, or not: in this task, in another thread, or for some time.
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
    outcome.loops.iter().map(|end| format!("{} {} {}", end.path, end.rounds, reason(&end.reason))).collect()
}

/// What came of a run.
type Ran = (Vec<Arc<Event>>, RunEnd<()>, Option<Error>);

async fn drive(handle: &SessionHandle, tree: &Tree) -> Ran {
    let mut stream = handle.run(tree, "go").message("go").stream();
    let (mut taken, mut error) = (Vec::new(), None);
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => taken.push(event),
            Err(failed) => error = Some(failed),
        }
    }
    (taken, stream.end(), error)
}

/// Grows a tree, runs it twice at once in one session, and says what is not as the interpreter has it: they take turns, and the
/// second one sees nothing of what the first has left, but for `state` keys.
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
    let taken: Vec<_> = first.0.iter().chain(&second.0).cloned().collect();
    if !(taken.len() == logged.len() && taken.iter().zip(&logged).all(|(a, b)| Arc::ptr_eq(a, b))) {
        return fail(format!("delivered is not logged:\n{:#?}\n{:#?}", seen(&taken), seen(&logged)));
    }
    if !logged.is_sorted_by(|a, b| a.id < b.id && a.timestamp <= b.timestamp) {
        return fail("ids or times run backwards".into());
    }
    happened.events += taken.len();
    seen(&taken).iter().for_each(|line| happened.see(line));
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

/// What there was in all trees: what never happens is not tested.
#[derive(Default)]
struct Happened {
    events: usize,
    /// How many lines hold each of these.
    lines: [usize; WORDS.len()],
}

/// Of a race, two of a try, of parts that have failed, of an `each` with more than its `max`, of a `state` key.
const WORDS: [&str; 6] = [" won by ", ", again", "=* failed ", " without root/", " without 1", " kept"];

impl Happened {
    fn see(&mut self, line: &str) {
        for (count, word) in self.lines.iter_mut().zip(WORDS) {
            *count += usize::from(line.contains(word));
        }
    }
}

/// Whether the agents at the end of a run were sent what was said in it, in the order of the source.
fn as_sent(shape: &Shape, seed: u64, (taken, ..): &Ran, model: &ScriptedModel) -> Result<(), String> {
    let Some(run) = taken.first().map(|event| event.invocation_id) else { return Ok(()) };
    let sent = |agent: &str| {
        let all = model.requests_of(agent);
        let asked = all.into_iter().find(|request| request.info.run_id == run)?;
        Some(asked.contents.iter().map(said).collect::<Vec<_>>())
    };
    let Some(whole) = sent(OBSERVER) else { return Ok(()) };
    let own: Vec<_> = taken.iter().filter(|event| !seen(&[(*event).clone()]).is_empty()).collect();
    let lines: Vec<_> = seen(taken).into_iter().zip(own).collect();
    let (mut events, mut loops) = (Vec::new(), Vec::new());
    expect::workflow(shape, seed, &winners(taken), &mut events, &mut loops);
    let ordered = in_order(&events, &lines, &Parts::of(taken)).into_iter();
    let spoken = ordered.filter(|event| !event.text().is_empty());
    let mut expected = vec!["go".to_owned()];
    expected.extend(spoken.map(|event| format!("{}: {}", event.author, event.text())));
    let last = expected.last().cloned();
    if sent(BRIEF) != Some(Vec::from_iter(last)) || sent(BLIND) != Some(Vec::new()) {
        return Err(format!("{:?} and {:?} of {expected:#?}", sent(BRIEF), sent(BLIND)));
    }
    expected.push(format!("{BRIEF}: seen"));
    expected.push(format!("{BLIND}: seen"));
    if whole == expected { Ok(()) } else { Err(format!("{whole:#?}, not {expected:#?}")) }
}

/// A message of the user, or what is quoted of another agent.
fn said(content: &Content) -> String {
    match &content.parts[..] {
        [Part::Text(_), Part::Text(quote)] => {
            let author = quote.split(['[', ']']).nth(1).unwrap_or_default();
            format!("{author}: {}", quote.lines().nth(2).unwrap_or_default())
        }
        _ => content.text(),
    }
}

fn as_expected(shape: &Shape, seed: u64, state: &mut State, (taken, end, error): Ran) -> Result<(), String> {
    let (mut events, mut loops) = (Vec::new(), Vec::new());
    let expected = expect::workflow(shape, seed, &winners(&taken), &mut events, &mut loops);
    compare(&events, &seen(&taken), false)
        .map_err(|why| format!("events: {why}\n{:#?}\nexpected {events:#?}", seen(&taken)))?;
    replay(&taken, state).map_err(|why| format!("values: {why}\n{:#?}", seen(&taken)))?;
    match (expected, end, error) {
        (Ended::Through, RunEnd::Finished(outcome), None) => compare(&loops, &ended(&outcome), false)
            .map_err(|why| format!("loops: {why}\n{:#?}\nexpected {loops:#?}", ended(&outcome))),
        (Ended::Failed(Failure { paths, .. }), RunEnd::Failed, Some(error))
            if error.path().is_some_and(|at| paths.contains(&at.to_string())) =>
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
            panic!("{why}\nagain with ADK_SEED={seed} ADK_TREES=1");
        }
    }
    let Happened { events, lines } = happened;
    println!("{events} events of {} trees as expected, {lines:?} with {WORDS:?}", seeds.end - seeds.start);
    assert!(seeds.end - seeds.start < 1_000 || lines.iter().all(|count| *count > 50), "{lines:?}");
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// So many trees of this run, unless it says otherwise.
fn seeds(first: u64, trees: u64) -> Range<u64> {
    let first = number("ADK_SEED").unwrap_or(first);
    first..first + number("ADK_TREES").unwrap_or(trees)
}

#[test]
fn random_trees_run_as_a_recursive_interpreter_says() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    run_all(seeds(0, 5_000), &runtime);
}

#[test]
fn random_trees_run_the_same_when_branches_are_woken_from_other_threads() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    run_all(seeds(100_000, 1_000), &runtime);
}

#[test]
fn the_interpreter_sees_what_is_missing_doubled_or_out_of_order() {
    let leaf = |text: &str| Item::Leaf(text.to_owned());
    let lines = |text: &str| text.split(',').filter(|l| !l.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let branch = |at: &str, may_break_off| Branch {
        at: at.to_owned(),
        items: vec![leaf(&format!("{at} 1")), leaf(&format!("{at} 2"))],
        may_break_off,
    };
    let two = |cancelled| Item::Branches {
        at: "p".into(),
        branches: vec![branch("p/a", false), branch("p/b", cancelled)],
    };
    for (right, cancelled) in
        [("x,p/a 1,p/b 1,p/b 2,p/a 2,y", false), ("x,p/a 1,p/b 1,p/a 2,y", true), ("x,p/a 1,p/a 2,y", true)]
    {
        compare(&[leaf("x"), two(cancelled), leaf("y")], &lines(right), false).unwrap();
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
