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

const KEYS: [&str; 4] = ["a", "b", "c", "d"];

/// Looks something up, which has no effect.
#[tool(untrusted)]
fn look(what: &str) -> String {
    format!("{what}, seen")
}

/// Sells something.
#[tool(acts)]
fn sell(what: &str) -> String {
    format!("{what}, sold")
}

/// Grows an agent that reads at most two keys, writes at most one, and may call one tool.
fn agent(name: String, tools: bool, random: &mut Random) -> adk::build::LlmAgentBuilder {
    let mut prompt = format!("{name}:");
    for _ in 0..random.below(3) {
        prompt = format!("{prompt} {{{}?}}", KEYS[random.below(4)]);
    }
    let agent = LlmAgent::builder(name)
        .description("An agent.")
        .instruction(prompt);
    let agent = match random.below(4) {
        0 => agent,
        _ => agent.output_key(KEYS[random.below(4)]),
    };
    match random.below(3) {
        0 if tools => agent.tool(look::default()),
        1 if tools => agent.tool(sell::default()),
        _ => agent,
    }
}

/// Grows a block of two or three branches of one or two agents, with an agent before and after it.
/// A workflow has at most five agents inside of the block.
fn grow(seed: u64, tools: bool) -> SequentialAgent {
    let mut random = Random(seed);
    let mut parallel = ParallelAgent::builder("together");
    let (branches, mut steps) = match random.below(3) {
        0 if !tools => (3, 3),
        _ => (2, 2 + usize::from(!tools && random.below(2) == 0)),
    };
    for branch in 0..branches {
        let one = agent(format!("x{branch}"), tools, &mut random);
        if steps > branches {
            steps -= 1;
            let two = agent(format!("y{branch}"), tools, &mut random);
            let both = SequentialAgent::builder(format!("s{branch}"));
            parallel = parallel.sub_agent(both.sub_agent(one).sub_agent(two));
        } else {
            parallel = parallel.sub_agent(one);
        }
    }
    let tree = SequentialAgent::builder("tree")
        .flow_checks(false)
        .guards(false);
    let tree = tree.sub_agent(agent("first".to_owned(), false, &mut random));
    let tree = tree.sub_agent(parallel);
    let last = agent("last".to_owned(), false, &mut random);
    tree.sub_agent(last).build().unwrap()
}

/// A model that answers with a hash of what it reads, and calls each tool once.
fn model() -> ScriptedModel {
    let mut model = ScriptedModel::new();
    for tool in ["look", "sell"] {
        let calls = Reply::new().call(tool, json!({"what": "it"}));
        let may_call = move |request: &adk::model::ModelRequest| {
            request.info.turn == 0 && request.tools.iter().any(|own| *own.name == *tool)
        };
        model = model.when(may_call, calls);
    }
    // A rule has one reply, so the answer is one of these by the text of the prompt.
    for number in 0..16 {
        let is_number = move |request: &adk::model::ModelRequest| {
            let text = &request.system_instruction;
            let hash = text.bytes().fold(7_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            });
            (hash >> 7) % 16 == number
        };
        model = model.when(is_number, Reply::new().text(format!("<{number}>")));
    }
    model
}

/// Returns the part of a world that all equivalent orders share: the keys, the end, and how often
/// each tool was called.
fn end_of(world: &World) -> String {
    let calls = |name| world.calls(name);
    let counts: Vec<_> = ["x0", "x1", "x2", "y0", "y1", "y2"]
        .map(|agent| {
            let own = world
                .all_calls()
                .iter()
                .filter(|call| call.path.ends_with(agent));
            own.filter(|call| call.name != "model").count()
        })
        .to_vec();
    format!(
        "{:?} {:?} look {} sell {} {counts:?}",
        world.keys,
        world.is_finished(),
        calls("look"),
        calls("sell")
    )
}

struct Search {
    ends: BTreeSet<String>,
    histories: usize,
}

fn search(seed: u64, tools: bool, crashes: usize, is_reduced: bool) -> Search {
    let (tree, ends) = (grow(seed, tools), Mutex::new(BTreeSet::new()));
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
fn compare(seeds: std::ops::Range<u64>, tools: bool, crashes: usize) -> (usize, usize, usize) {
    let (mut reduced, mut full, mut races) = (0, 0, 0);
    for seed in seeds {
        let (some, all) = (
            search(seed, tools, crashes, true),
            search(seed, tools, crashes, false),
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

#[test]
fn the_reduced_search_finds_all_ends() {
    let (reduced, full, races) = compare(0..12, false, 0);
    assert!(reduced * 2 < full && races >= 2, "{reduced} {full} {races}");
}
