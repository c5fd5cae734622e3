//! Every pair of constructs: workflows that the checker accepts run on the real runtime, with real
//! models, tools and waits, and behave as a recursive interpreter says.

pub mod actor;
mod blocks;
pub mod construct;
mod desk;
pub mod interpret;
mod log;
pub mod plan;
mod refused;
mod table;
mod turn;
pub mod wired;

use crate::discards;
use crate::failures::Failures;
use crate::grow::{grow, grow_around};
use crate::judge::{accepts, waits_in_tool};
use crate::random::Random;
use crate::spec::{Store, spec};
use crate::tree::{Agent, Flow, Node, each, has_prefix};
use actor::Answering;
use adk_build::check::faults;
use adk_build::runner::SessionHandle;
use adk_build::{CallbackContext, Event, Plugin, Result as Ran, RunConfig, RunEnd, Runner};
use construct::{Pair, Place, pairs};
use interpret::{Choices, Ended, Interpreter, Names};
use log::{Inner, Log};
use refused::{Why, row_of};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime};
use table::Table;
use tokio::runtime::Runtime;
use wired::{Builder, Tree};

/// A plugin that records all events, including those of runs inside calls.
#[derive(Clone, Default)]
struct Capture(Arc<Mutex<Vec<Arc<Event>>>>);

impl Plugin for Capture {
    fn name(&self) -> &str {
        "capture"
    }
    async fn on_event(&self, _: &mut CallbackContext, event: &Event) -> Ran<Option<Event>> {
        self.0.lock().unwrap().push(Arc::new(event.clone()));
        Ok(None)
    }
}

/// Runs a workflow twice in one session and compares each run with the interpreter.
fn play(flow: &Flow, seed: u64, runtime: &Runtime) -> Result<BTreeSet<Pair>, String> {
    let flow: &'static Flow = Box::leak(Box::new(flow.clone()));
    let build = Builder {
        store: Box::leak(Box::<Store<'static>>::default()),
        seed,
        parrot: None,
    };
    let tree = Tree::root(flow, &build);
    let (mut agents, mut names) = (BTreeMap::new(), Names::default());
    look(flow, &mut agents, &mut names);
    let capture = Capture::default();
    let mut runner = Runner::builder()
        .engine(Answering { seed, agents })
        .config(RunConfig::default().max_llm_calls(0));
    if !names.tools.is_empty() {
        runner = runner.plugin(capture.clone());
    }
    let runner: Runner = runner.build().unwrap();
    let handle = runner.session("user", "session");
    let mut states: BTreeSet<_> = flow.states.iter().copied().collect();
    states.extend(
        flow.definitions()
            .iter()
            .flat_map(|inner| inner.states.clone()),
    );
    states.retain(|key| {
        !flow.lets.contains(key) && flow.inputs.iter().all(|(input, _)| input != key)
    });
    let mut ran = BTreeSet::new();
    let (mut state, mut earlier) = (discards::State::new(), Vec::new());
    for round in 0..2 {
        // The `temp:` keys of a run do not outlive it.
        let initial: BTreeSet<_> = states
            .iter()
            .copied()
            .filter(|key| round == 0 || key.starts_with("temp:"))
            .collect();
        let initial = &initial;
        let (events, end) = runtime.block_on(drive(&handle, &tree, initial, seed));
        if events.len() == MOST_EVENTS {
            return Ok(BTreeSet::new());
        }
        for key in initial {
            state.insert((*key).to_owned(), plan::value(seed, "state", key));
        }
        let captured = std::mem::take(&mut *capture.0.lock().unwrap());
        let (inner, _) = Inner::split(&captured, &names.tools, 0);
        let mut log = Log::new(events, state, &names.workflows);
        log.earlier.clone_from(&earlier);
        let more = compare(flow, seed, (&log, &inner), (&names, initial), end)
            .map_err(|why| format!("run {round}: {why}\n{}", to_text(&log, &captured)))?;
        ran.extend(more);
        earlier.append(&mut log.events);
        state = log.states.last().cloned().unwrap_or_default();
        state.retain(|key, _| {
            states.contains(key.as_str()) || (has_prefix(key) && !key.starts_with("temp:"))
        });
    }
    Ok(pairs(flow, &|place| ran.contains(&place)))
}

fn compare(
    flow: &Flow,
    seed: u64,
    (log, inner): (&Log, &Inner),
    (names, initial): (&Names, &BTreeSet<&'static str>),
    end: Result<RunEnd<()>, String>,
) -> Result<BTreeSet<Place>, String> {
    let (mut choices, mut first) = (Choices::default(), None);
    for _ in 0..1024 {
        let run = Interpreter::new(seed, log, inner.clone(), names, &mut choices);
        let differs = match (run.root(flow, initial), &end) {
            (Ok((Ended::Through, ran)), Ok(RunEnd::Finished(_))) => return Ok(ran),
            (Ok((Ended::Failed, ran)), Err(error)) if is_planned(error) => return Ok(ran),
            (Ok((ended, _)), end) => format!("{ended:?}, but {end:?}"),
            (Err(why), Err(error)) => format!("{why}; {error}"),
            (Err(why), Ok(_)) => why,
        };
        first.get_or_insert(differs);
        if !choices.advance() {
            break;
        }
    }
    // The checker knows that only an exit ends a loop without `max`. Where the test itself ends
    // one, unreachable steps run, and keys that an exit guarantees have no value.
    if choices.is_cut_off {
        Ok(BTreeSet::new())
    } else {
        Err(first.unwrap_or_default())
    }
}

fn is_planned(error: &str) -> bool {
    error.contains("as planned") || error.contains(" elements, its `max`, ")
}

/// The maximum number of events. The interpreter keeps the state after each event, and nested
/// blocks multiply.
const MOST_EVENTS: usize = 400;

async fn drive(
    handle: &SessionHandle,
    tree: &Tree,
    states: &BTreeSet<&'static str>,
    seed: u64,
) -> (Vec<Arc<Event>>, Result<RunEnd<()>, String>) {
    let mut request = handle.run(tree, ());
    for key in states {
        request = request.state(*key, plan::value(seed, "state", key));
    }
    let mut stream = request.stream();
    let (mut events, mut error) = (Vec::new(), None);
    while events.len() < MOST_EVENTS
        && let Some(event) = stream.next().await
    {
        match event {
            Ok(event) => events.push(event),
            Err(failed) => error = Some(failed.to_string()),
        }
    }
    (events, error.map_or_else(|| Ok(stream.end()), Err))
}

pub fn look(flow: &'static Flow, agents: &mut BTreeMap<String, &'static Agent>, names: &mut Names) {
    each(&flow.body, &mut |node| match node {
        Node::Run(agent) => {
            agents.insert(agent.name.clone(), agent);
            for agent in [agent].into_iter().chain(agent.below()) {
                names
                    .tools
                    .extend(agent.helpers.iter().map(|helper| helper.name.clone()));
                names
                    .tools
                    .extend(agent.flows.iter().map(|nested| nested.name.clone()));
            }
            for nested in agent.called() {
                names.workflows.insert(nested.name.clone());
                look(&nested.flow, agents, names);
            }
        }
        Node::Nested(nested) => {
            names.workflows.insert(nested.name.clone());
            look(&nested.flow, agents, names);
        }
        _ => {}
    });
}

fn to_text(log: &Log, captured: &[Arc<Event>]) -> String {
    let line = |event: &Arc<Event>| {
        let delta: Vec<_> = event
            .actions
            .state_delta
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let calls: Vec<_> = event
            .function_calls()
            .map(|call| format!("{}{:?}", call.name, call.args))
            .collect();
        let meta = event
            .details
            .as_ref()
            .map(|details| &details.custom_metadata)
            .filter(|meta| !meta.is_empty());
        format!(
            "  {} {} {:?} {} {} {}\n",
            event.author,
            event.path,
            event.text(),
            delta.join(" "),
            calls.join(" "),
            meta.map_or(String::new(), |meta| format!("{meta:?}"))
        )
    };
    let events: String = log.events.iter().map(line).collect();
    let inner: String = captured.iter().map(line).collect();
    if inner.is_empty() {
        events
    } else {
        format!("{events} all, with calls:\n{inner}")
    }
}

fn is_right(flow: &Flow) -> bool {
    // Tools of an agent that is not a step are checked at their declaration.
    !waits_in_tool(flow) && accepts(flow) && flow.definitions().iter().all(|inner| accepts(inner))
}

/// Grows a workflow that the checker accepts, with or without a given pair.
fn right(seed: u64, wanted: Option<Pair>) -> Option<Flow> {
    for n in 0..if wanted.is_some() { 16 } else { 8 } {
        let seed = seed.wrapping_mul(64).wrapping_add(n);
        let flow = match wanted {
            None => grow(seed),
            Some((_, one, other)) => grow_around(seed, &[one, other]),
        };
        let has_it =
            |flow: &Flow| wanted.is_none_or(|wanted| pairs(flow, &|_| true).contains(&wanted));
        if has_it(&flow) && is_right(&flow) {
            return Some(flow);
        }
    }
    None
}

/// Returns the seeds of this run, which differ each day unless `ADK_SEED` is set.
fn seeds(most: u64) -> Range<u64> {
    let day = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() / 86_400;
    let first = crate::number("ADK_SEED").unwrap_or(day * 1_000_000);
    first..first + crate::number("ADK_TREES").unwrap_or(most)
}

/// The required number of programs with each pair, where enough programs exist.
const ENOUGH: u32 = 50;
const LONG: u64 = 250_000;

/// Returns the pair of `ADK_PAIR`, for example `Inside/Break/Loop` as in a failure message.
fn given_pair() -> Option<Pair> {
    let text = std::env::var("ADK_PAIR").ok()?;
    Some(table::all().find(|pair| named(*pair) == text).unwrap())
}

fn named((relation, one, other): Pair) -> String {
    format!("{relation:?}/{one:?}/{other:?}")
}

/// Data that the threads of a run share.
#[derive(Default)]
struct Shared {
    table: Table,
    failures: Failures,
    played: u64,
}

/// Plays the workflows of some seeds, most of them with a rare pair.
fn play_all(next: &AtomicU64, end: u64, possible: &[Pair], shared: &Mutex<Shared>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let initial = given_pair();
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end {
            return;
        }
        let rarest = || {
            shared
                .lock()
                .unwrap()
                .table
                .rarest(possible, &mut Random::new(seed))
        };
        let wanted = initial.or_else(|| (!seed.is_multiple_of(8)).then(rarest));
        let Some(flow) = right(seed, wanted) else {
            continue;
        };
        let played = play(&flow, seed, &runtime);
        let mut shared = shared.lock().unwrap();
        shared.played += 1;
        match played {
            Ok(pairs) => {
                let wrong: Vec<_> = pairs
                    .iter()
                    .filter(|pair| row_of(**pair).is_some())
                    .collect();
                assert!(
                    wrong.is_empty(),
                    "seed {seed}: {wrong:?} should be impossible, but have run:\n{flow}"
                );
                shared.table.add(&pairs);
            }
            Err(why) => {
                let with =
                    wanted.map_or_else(String::new, |pair| format!("ADK_PAIR={}\n", named(pair)));
                shared.failures.add(flow, why + &with, seed, |flow| {
                    let why = is_right(flow)
                        .then(|| play(flow, seed, &runtime).err())
                        .flatten();
                    why.map(|why| why + &with)
                });
            }
        }
    }
}

#[test]
fn pairs_run_as_the_interpreter_says() {
    let begin = Instant::now();
    let possible: Vec<_> = table::all()
        .filter(|pair| row_of(*pair).is_none())
        .collect();
    let (seeds, shared) = (seeds(500), Mutex::<Shared>::default());
    let is_long = crate::number("ADK_TREES").is_some();
    // One thread always chooses the same pairs.
    let threads = if is_long {
        std::thread::available_parallelism().map_or(1, |count| count.get())
    } else {
        1
    };
    let next = AtomicU64::new(seeds.start);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| play_all(&next, seeds.end, &possible, &shared));
        }
    });
    let Shared {
        table,
        failures,
        played,
    } = shared.into_inner().unwrap();
    let rare: Vec<_> = possible
        .iter()
        .filter(|pair| table.count(**pair) < ENOUGH)
        .collect();
    let empty: Vec<_> = possible
        .iter()
        .filter(|pair| table.count(**pair) == 0)
        .collect();
    let mut text = if is_long { table.text() } else { String::new() };
    let (trees, time) = (seeds.end - seeds.start, begin.elapsed().as_secs_f64());
    writeln!(
        text,
        "flow, pairs: ADK_SEED={} ADK_TREES={trees}: {played} programs, {time:.1} s",
        seeds.start
    )
    .unwrap();
    let (rarely, never) = (rare.len(), empty.len());
    writeln!(
        text,
        "  {} pairs are possible, {rarely} have run less than {ENOUGH} times, {never} never",
        possible.len()
    )
    .unwrap();
    crate::say(&text);
    failures.none();
    assert!(played > trees / 5, "{played} programs of {trees} seeds");
    assert!(trees < LONG || rare.is_empty(), "{rare:?}");
}

/// Checks the claims of the table: the check refuses the smallest workflow with each such pair.
#[test]
fn pairs_that_a_check_refuses_are_refused() {
    let mut count = 0;
    for pair in table::all() {
        let Some(Why::Check(check)) = row_of(pair).map(|row| row.why) else {
            continue;
        };
        let flow = refused::example(pair);
        assert!(
            pairs(&flow, &|_| true).contains(&pair),
            "{pair:?} is not in\n{flow}"
        );
        let all = flow
            .definitions()
            .into_iter()
            .chain([Arc::new(flow.clone())]);
        let refusing: BTreeSet<_> = all.flat_map(|flow| checks(&flow)).collect();
        assert!(refusing.contains(check), "{pair:?} is accepted in\n{flow}");
        count += 1;
    }
    assert!(count > 20, "{count}");
}

/// Returns the checks that refuse a workflow.
fn checks(flow: &Flow) -> Vec<&'static str> {
    let store = Store::default();
    faults(&spec(flow, &store))
        .into_iter()
        .map(|fault| fault.check.name())
        .collect()
}
