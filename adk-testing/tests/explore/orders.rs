//! Random small workflows: the explorer that leaves out commuting orders finds the same ends as the
//! full search.

use adk::llm::LlmAgent;
use adk::prelude::*;
use adk::testing::{Reply, ScriptedModel, World};
use adk::{ParallelAgent, SequentialAgent};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Random numbers that are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end) as usize
    }
}

const KEYS: [&str; 3] = ["a", "b", "c"];

/// Looks something up, which has no effect.
#[agent(writes = b, untrusted)]
fn look(a: Option<String>) -> String {
    a.map_or("nothing".to_owned(), |a| format!("{a}, seen"))
}

/// Looks something else up.
#[agent(writes = a, untrusted)]
fn find(c: Option<String>) -> String {
    c.map_or("nothing".to_owned(), |c| format!("{c}, found"))
}

/// Sells something.
#[agent(writes = c, acts)]
fn sell(b: Option<String>) -> String {
    b.map_or("nothing".to_owned(), |b| format!("{b}, sold"))
}

/// Buys something.
#[agent]
fn buy(a: Option<String>) {
    drop(a);
}

/// Grows an agent that reads at most two keys and writes at most one.
fn agent(name: String, random: &mut Random) -> adk::build::LlmAgentBuilder {
    let mut prompt = format!("{name}:");
    for _ in 0..1 + random.below(2) {
        prompt = format!("{prompt} {{{}?}}", KEYS[random.below(3)]);
    }
    let agent = LlmAgent::builder(name).instruction(prompt);
    match random.below(6) {
        0 => agent,
        _ => agent.output_key(KEYS[random.below(3)]),
    }
}

/// Adds one to three agents or functions to a block. Each function is used once.
fn branch<B>(
    mut block: B,
    at: usize,
    steps: usize,
    functions: &mut Vec<usize>,
    random: &mut Random,
    add: Add<B>,
) -> B {
    for step in 0..steps {
        let function = match random.below(2) {
            0 if !functions.is_empty() => {
                Some(functions.swap_remove(random.below(functions.len() as u64)))
            }
            _ => None,
        };
        block = add(block, function, agent(format!("x{at}{step}"), random));
    }
    block
}

type Add<B> = fn(B, Option<usize>, adk::build::LlmAgentBuilder) -> B;

macro_rules! adds {
    () => {
        |block, function, agent| match function {
            None => block.sub_agent(agent),
            Some(0) => block.sub_agent(look::default()),
            Some(1) => block.sub_agent(find::default()),
            Some(2) => block.sub_agent(sell::default()),
            Some(_) => block.sub_agent(buy::default()),
        }
    };
}

/// Grows a block of two branches, one of which may have two steps, or of three; with an agent
/// before and after it. Some steps are functions, if the workflow has any.
fn grow(seed: u64, has_functions: bool) -> SequentialAgent {
    let mut random = Random(seed);
    let mut functions = if has_functions {
        vec![0, 1, 2, 3]
    } else {
        Vec::new()
    };
    let mut parallel = ParallelAgent::builder("together");
    let (branches, longest) = match random.below(8) {
        0 if !has_functions => (3, 1),
        1..4 if !has_functions => (2, 2),
        _ => (2, 1),
    };
    for at in 0..branches {
        parallel = if at == 0 && longest == 2 {
            let both = SequentialAgent::builder("s");
            parallel.sub_agent(branch(both, at, 2, &mut functions, &mut random, adds!()))
        } else {
            branch(parallel, at, 1, &mut functions, &mut random, adds!())
        };
    }
    let tree = SequentialAgent::builder("tree")
        .flow_checks(false)
        .guards(false);
    let tree = tree
        .sub_agent(agent("first".to_owned(), &mut random))
        .sub_agent(parallel);
    let last = agent("last".to_owned(), &mut random);
    tree.sub_agent(last).build().unwrap()
}

/// A model that answers with a hash of its instruction.
fn model() -> ScriptedModel {
    // A rule has one reply.
    (0..16).fold(ScriptedModel::new(), |model, number| {
        let has_number = move |request: &adk::model::ModelRequest| {
            let text = &request.system_instruction;
            let hash = text.bytes().fold(7_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            });
            (hash >> 7) % 16 == number
        };
        model.when(has_number, Reply::new().text(format!("<{number}>")))
    })
}

/// Returns the part of a world that all equivalent orders share: the keys, the end, and how often
/// each function was called.
fn end_of(world: &World) -> String {
    let counts = ["look", "find", "sell", "buy"].map(|name| world.calls(name));
    format!("{:?} {} {counts:?}", world.keys, world.is_finished())
}

struct Search {
    ends: BTreeSet<String>,
    histories: usize,
}

fn search(seed: u64, has_functions: bool, crashes: usize, is_reduced: bool) -> Search {
    let (tree, ends) = (grow(seed, has_functions), Mutex::new(BTreeSet::new()));
    let all = adk::explore(&tree, "go").answers(model()).crashes(crashes);
    let all = all.deviations(usize::MAX).at_most(40_000).check(|world| {
        ends.lock().unwrap().insert(end_of(world));
        world.is_finished()
    });
    let all = if is_reduced { all } else { all.all_orders() };
    let report = all.report().unwrap();
    assert_eq!(
        (report.left, report.bad_count),
        (0, 0),
        "seed {seed}: {report}\n{:?}",
        report.bad.first()
    );
    Search {
        ends: ends.into_inner().unwrap(),
        histories: report.histories,
    }
}

/// Compares both searches on these seeds, and returns how many histories each has played, and how
/// many workflows have several ends.
fn compare(
    seeds: std::ops::Range<u64>,
    has_functions: bool,
    crashes: usize,
) -> (usize, usize, usize) {
    let (mut reduced, mut full, mut races) = (0, 0, 0);
    for seed in seeds {
        let (some, all) = (
            search(seed, has_functions, crashes, true),
            search(seed, has_functions, crashes, false),
        );
        assert_eq!(some.ends, all.ends, "seed {seed}, {crashes} deaths");
        assert!(some.histories <= all.histories, "seed {seed}");
        reduced += some.histories;
        full += all.histories;
        races += usize::from(all.ends.len() > 1);
    }
    println!("{reduced} histories instead of {full}, {races} workflows with several ends");
    (reduced, full, races)
}

/// `ADK_WORKFLOWS` sets the number of workflows.
fn seeds(count: u64) -> std::ops::Range<u64> {
    let set = std::env::var("ADK_WORKFLOWS").ok();
    0..set.map_or(count, |text| text.parse().unwrap())
}

#[test]
fn the_reduced_search_finds_all_ends() {
    let (reduced, full, races) = compare(seeds(16), false, 0);
    assert!(
        reduced * 8 < full * 7 && races >= 2,
        "{reduced} {full} {races}"
    );
}

#[test]
fn the_reduced_search_finds_all_counts_of_calls() {
    let (reduced, full, races) = compare(seeds(12), true, 1);
    assert!(
        reduced * 8 < full * 7 && races >= 4,
        "{reduced} {full} {races}"
    );
}
