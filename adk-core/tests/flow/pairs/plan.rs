//! The decisions of agents. Each depends only on the seed and the place, so that the runtime and
//! the interpreter make the same decisions independently.

use crate::random::Random;
use crate::tree::{Agent, Block, Key, Kind, Patience, SECRET, Write, type_of};
use adk_build::spec::{OnError, SkipLimit};
use serde_json::{Value, json};

/// Returns random numbers for a place.
pub fn random_at(seed: u64, place: &str) -> Random {
    let start = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Random::new(place.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    }))
}

/// Returns a value for a key.
pub fn value(seed: u64, place: &str, key: Key) -> Value {
    let mut random = random_at(seed, &format!("{place} {key}"));
    match type_of(key) {
        "bool" => json!(random.one_in(2)),
        "String" => json!(format!("s{:x}", random.number())),
        SECRET => json!({"$secret": format!("s{:x}", random.number())}),
        _ => (0..random.below(4))
            .map(|n| json!(format!("l{n}{:x}", random.below(256))))
            .collect(),
    }
}

/// Returns a value of the same type, derived from an earlier one.
pub fn next_value(place: &str, key: Key, earlier: Option<&Value>) -> Value {
    let earlier = earlier.cloned().unwrap_or_default();
    match type_of(key) {
        "bool" => json!(earlier != true),
        "String" => json!(format!(
            "s{:x}",
            random_at(1, &format!("{place} {earlier}")).number()
        )),
        SECRET => {
            json!({
                "$secret": format!("s{:x}", random_at(1, &format!("{place} {earlier}")).number()),
            })
        }
        _ => {
            let all = earlier.as_array().cloned().unwrap_or_default();
            // In loops, the list would grow without limit.
            let kept = if all.len() > 3 { Vec::new() } else { all };
            kept.into_iter()
                .chain([json!(format!("m{:x}", random_at(2, place).below(4096)))])
                .collect()
        }
    }
}

/// The turn of a function.
pub struct Turn {
    /// Whether the function ends its loop before it writes.
    pub early: bool,
    /// The loop that the function ends: the innermost one, or the named one.
    pub leaves: Option<Option<String>>,
    pub fails: Option<Fails>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fails {
    First,
    Last,
}

impl Turn {
    /// Plans a turn. `handled` says whether an enclosing block handles errors.
    pub fn plan(seed: u64, path: &str, agent: &Agent, handled: bool) -> Self {
        let mut random = random_at(seed, &format!("{path} turn"));
        let ways = u64::from(agent.exit) + agent.leaves.len() as u64;
        let leaves = (ways > 0 && random.one_in(3)).then(|| {
            let way = random.below(ways) as usize;
            agent.leaves.get(way).cloned()
        });
        let early = leaves.is_some() && !agent.writes_first && random.one_in(2);
        let fails =
            (handled && random.one_in(5)).then(|| *random.choose(&[Fails::First, Fails::Last]));
        Self {
            early,
            leaves,
            fails,
        }
    }
}

/// Converts a value for the result of a tool.
pub fn to_result(value: &Value) -> Value {
    value.get("$secret").unwrap_or(value).clone()
}

/// Returns the writes of a function or a tool at a place.
pub fn writes<'a>(
    seed: u64,
    place: &'a str,
    all: &'a [Write],
) -> impl Iterator<Item = (&'a Write, Value)> {
    let is_written = move |write: &&Write| {
        !write.perhaps || !random_at(seed, &format!("{place} {} perhaps", write.own())).one_in(3)
    };
    let value = move |write: &Write| value(seed, &format!("{place} {}", write.own()), write.key);
    all.iter()
        .filter(is_written)
        .map(move |write| (write, value(write)))
}

/// Whether a callback replaces a block.
pub fn skips(seed: u64, path: &str) -> bool {
    random_at(seed, &format!("{path} skips")).one_in(3)
}

/// Returns the arm for a value.
pub fn arm(value: &Value, arms: usize) -> usize {
    random_at(0, &value.to_string()).below(arms as u64) as usize
}

/// The maximum number of rounds of a loop without `max`.
pub const ROUNDS: u32 = 3;

/// Whether a question times out.
pub fn expires(seed: u64, path: &str, agent: &Agent) -> bool {
    agent.patience == Some(Patience::Default)
        && random_at(seed, &format!("{path} expires")).one_in(2)
}

/// Returns the answer to a question.
pub fn answer(seed: u64, path: &str, question: &str, key: Key) -> Value {
    value(seed, &format!("{path} {question}"), key)
}

/// Returns the prompt of an agent, with the keys that it reads there.
pub fn prompt(agent: &Agent) -> String {
    let reads = agent.reads.iter().filter(|read| read.prompt);
    reads
        .map(|read| {
            format!(
                "{}=<{{{}{}}}>;",
                read.own(),
                read.own(),
                if read.optional { "?" } else { "" }
            )
        })
        .collect()
}

/// Returns a number that identifies a prompt.
pub fn prompt_id(prompt: &str) -> String {
    format!("{:x}", random_at(3, prompt).number())
}

/// Returns the last text of a model, and the value in it.
pub fn last_words(seed: u64, path: &str, prompt: &str, key: Option<Key>) -> (String, Value) {
    let place = format!("{path} {prompt}");
    let value = value(seed, &place, key.unwrap_or("text"));
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    (text, value)
}

/// Whether errors inside a block stay inside.
pub fn takes_errors(block: &Block) -> bool {
    block.on_error.skips()
        || matches!(
            block.kind,
            Kind::Try { .. } | Kind::Parallel { first: true, .. }
        )
}

/// Returns how many failed parts of a block of that many parts may be skipped.
pub fn most_skipped(block: &Block, parts: usize) -> usize {
    match block.on_error {
        OnError::Skip => parts,
        OnError::SkipAtMost(SkipLimit::Elements(most)) => most as usize,
        OnError::SkipAtMost(SkipLimit::Percent(percent)) => (0..parts)
            .filter(|nth| (nth + 1) * 100 <= parts * percent as usize)
            .count(),
        _ => 0,
    }
}
