//! The decisions of agents: each depends on the seed and the place only, so that the runtime and the interpreter make the
//! same ones without knowing of each other.

use crate::random::Random;
use crate::tree::{Agent, Block, Key, Kind, Patience, SECRET, Write, type_of};
use serde_json::{Value, json};

/// Random numbers of a place.
pub fn of(seed: u64, place: &str) -> Random {
    let start = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Random::new(
        place.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)),
    )
}

/// A value for a key.
pub fn value(seed: u64, place: &str, key: Key) -> Value {
    let mut random = of(seed, &format!("{place} {key}"));
    match type_of(key) {
        "bool" => json!(random.one_in(2)),
        "String" => json!(format!("s{:x}", random.number())),
        SECRET => json!({"$secret": format!("s{:x}", random.number())}),
        _ => (0..random.below(4)).map(|n| json!(format!("l{n}{:x}", random.below(256)))).collect(),
    }
}

/// A value of the same type that is made of an earlier one.
pub fn next_value(place: &str, key: Key, earlier: Option<&Value>) -> Value {
    let earlier = earlier.cloned().unwrap_or_default();
    match type_of(key) {
        "bool" => json!(earlier != true),
        "String" => json!(format!("s{:x}", of(1, &format!("{place} {earlier}")).number())),
        SECRET => json!({"$secret": format!("s{:x}", of(1, &format!("{place} {earlier}")).number())}),
        _ => {
            let all = earlier.as_array().cloned().unwrap_or_default();
            // Loops would make it long.
            let kept = if all.len() > 3 { Vec::new() } else { all };
            kept.into_iter().chain([json!(format!("m{:x}", of(2, place).below(4096)))]).collect()
        }
    }
}

/// The turn of a function.
pub struct Turn {
    /// It ends its loop before it writes.
    pub early: bool,
    /// The loop that it ends: the innermost one, or the one of the name.
    pub leaves: Option<Option<String>>,
    pub fails: Option<Fails>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fails {
    First,
    Last,
}

impl Turn {
    /// `handled`: something around takes an error.
    pub fn of(seed: u64, path: &str, agent: &Agent, handled: bool) -> Self {
        let mut random = of(seed, &format!("{path} turn"));
        let ways = u64::from(agent.exit) + agent.leaves.len() as u64;
        let leaves = (ways > 0 && random.one_in(3)).then(|| {
            let way = random.below(ways) as usize;
            agent.leaves.get(way).cloned()
        });
        let early = leaves.is_some() && !agent.writes_first && random.one_in(2);
        let fails = (handled && random.one_in(5)).then(|| *random.of(&[Fails::First, Fails::Last]));
        Self { early, leaves, fails }
    }
}

/// A value as the result of a tool may hold it.
pub fn shown(value: &Value) -> Value {
    value.get("$secret").unwrap_or(value).clone()
}

/// What a function or a tool writes there.
pub fn writes<'a>(seed: u64, place: &'a str, all: &'a [Write]) -> impl Iterator<Item = (&'a Write, Value)> {
    let is_written = move |write: &&Write| {
        !write.perhaps || !of(seed, &format!("{place} {} perhaps", write.own())).one_in(3)
    };
    let value = move |write: &Write| value(seed, &format!("{place} {}", write.own()), write.key);
    all.iter().filter(is_written).map(move |write| (write, value(write)))
}

/// Whether a callback answers in the place of a block.
pub fn skips(seed: u64, path: &str) -> bool {
    of(seed, &format!("{path} skips")).one_in(3)
}

/// The arm for a value.
pub fn arm(value: &Value, arms: usize) -> usize {
    of(0, &value.to_string()).below(arms as u64) as usize
}

/// The most rounds of a loop without `max`.
pub const ROUNDS: u32 = 3;

/// Whether nobody answers in time.
pub fn expires(seed: u64, path: &str, agent: &Agent) -> bool {
    agent.patience == Some(Patience::Default) && of(seed, &format!("{path} expires")).one_in(2)
}

/// The answer to a question.
pub fn answer(seed: u64, path: &str, question: &str, key: Key) -> Value {
    value(seed, &format!("{path} {question}"), key)
}

/// The prompt of an agent: the keys that it reads there.
pub fn prompt(agent: &Agent) -> String {
    let reads = agent.reads.iter().filter(|read| read.prompt);
    reads
        .map(|read| format!("{}=<{{{}{}}}>;", read.own(), read.own(), if read.optional { "?" } else { "" }))
        .collect()
}

/// What a model has been told, as a number.
pub fn told(prompt: &str) -> String {
    format!("{:x}", of(3, prompt).number())
}

/// The last words of a model, and the value in them.
pub fn last_words(seed: u64, path: &str, prompt: &str, key: Option<Key>) -> (String, Value) {
    let place = format!("{path} {prompt}");
    let value = value(seed, &place, key.unwrap_or("text"));
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    (text, value)
}

/// Whether errors inside of a block go no further.
pub fn takes_errors(block: &Block) -> bool {
    block.skip || matches!(block.kind, Kind::Try { .. } | Kind::Parallel { first: true, .. })
}
