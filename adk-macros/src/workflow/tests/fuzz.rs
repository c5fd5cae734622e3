//! Mutated tokens: nothing panics, and what comes out is Rust.
//!
//! The full run; Cargo does not optimise a crate of macros, also in release, unless it is told so:
//! `ADK_FUZZ=100000 CARGO_PROFILE_RELEASE_BUILD_OVERRIDE_OPT_LEVEL=3 cargo test --release -p adk-workflow-macros --lib fuzz`

use proc_macro2::{Group, TokenStream, TokenTree};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Write as _;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

const GOOD: &str = r#"
/// Docs.
#[bounds(model_calls = 30, rounds = N * 2)]
pub Writing(topic: String, tone: String = "plain", user:lang: u8) -> (draft: String, score: f64) {
    let done: bool = false;
    state app:limit: u32;
    /// Writes.
    agent writer -> draft: String { instruction: concat!("Write about ", "{topic}"), tools: [exit, a::b], timeout: "30s", retry: 3 }
    agent critic { include_contents: none, stop: ["a", "b"], model: "m", max_turns: 3 }
    agent triage -> kind: Kind { transfer: [billing, support], disallow_transfer_to_peers: true, instruction: PROMPT }
    agent billing {} agent support { transfer: [third], disallow_transfer_to_parent: false } agent third { name: "t" }
    agent given: x::Given;
    agent told(draft: String) -> score: f64 as Box<dyn DynAgent>;
    writer; given; told as second;
    refinement: loop(max = 5, until = done) < critic; parallel(max_concurrency = 2) < x::y; { z as w; break refinement } >>
    triage;
    choice: match kind < Kind::High | Kind::Low if topic.len() > 3 => page, n @ 1..=5 => < log; digest >, Some(Ok(_)) => (),
        Kind::Odd { a, .. } => match user:lang { 0 => break, _ => each x in xs { x::y } } &[first, ..] => inner: loop < break inner >; _ => () >
    each item in items < worker > all: each(max_concurrency = 4) part in user:parts { critic(draft = part, tone = user:tone) as third_critic -> note }
    told(draft = topic) as fourth -> app:score; x::multi -> (a, user:b);
    /// May {draft} go?
    await(timeout = "72h", default = Decision::Go { by: 1 }) decision: Decision;
    parallel < await left: bool; signing: await(timeout = WEEK) user:team: Vec<u8> >
    sequence < < a > >; Drafting
}"#;

const POOL: &str = "loop max parallel sequence match each await agent let state as break in until if else : :: ; , = < > >> => -> \
    .. ..= | @ && == >= _ transfer bounds 5 0 -1 \"s\" 'a () {} [] {x} (a = b) (a) r#fn self Self super crate ! # #[x] \
    4294967296 async fn user model dyn & if x > 3 match k < A => b , _ => () >";

/// Xorshift.
struct Dice(u64);

impl Dice {
    /// Those of one mutant, which are its own, so that it comes alike on any number of threads.
    fn of(seed: u64, mutant: usize) -> Self {
        // Neighbours begin far from each other (the finalizer of MurmurHash3); zero would stay zero.
        let mut x = seed.wrapping_add((mutant as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        Self((x ^ (x >> 33)).max(1))
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides.max(1) as u64).unwrap_or(0)
    }
}

fn mutate(tokens: TokenStream, dice: &mut Dice, pool: &[TokenTree]) -> TokenStream {
    let mut all: Vec<TokenTree> = tokens.into_iter().collect();
    let at = dice.roll(all.len());
    let groups: Vec<usize> = all
        .iter()
        .enumerate()
        .filter(|(_, token)| matches!(token, TokenTree::Group(_)))
        .map(|(i, _)| i)
        .collect();
    match dice.roll(9) {
        0 if !all.is_empty() => drop(all.remove(at)),
        1 if !all.is_empty() => all.insert(at, all[at].clone()),
        2 => all.insert(at, pool[dice.roll(pool.len())].clone()),
        3 if all.len() > 1 => {
            let other = dice.roll(all.len());
            all.swap(at, other);
        }
        4 if !all.is_empty() => all.truncate(at),
        // A piece of it again, at another place.
        5 if all.len() > 1 => {
            let from = dice.roll(all.len());
            let piece: Vec<_> = all.iter().skip(from).take(1 + dice.roll(6)).cloned().collect();
            all.splice(at..at, piece);
        }
        _ if !groups.is_empty() => {
            let group = groups[dice.roll(groups.len())];
            if let TokenTree::Group(old) = &all[group] {
                all[group] = Group::new(old.delimiter(), mutate(old.stream(), dice, pool)).into();
            }
        }
        _ => {}
    }
    all.into_iter().collect()
}

/// How many mutants: `ADK_FUZZ`, otherwise 5,000.
fn rounds() -> usize {
    let given = std::env::var("ADK_FUZZ").ok().map(|text| text.parse().expect("ADK_FUZZ is a number"));
    given.unwrap_or(5_000)
}

/// `ADK_SEED`, as it was printed; another one each time without it.
fn seed() -> u64 {
    let Ok(text) = std::env::var("ADK_SEED") else {
        return RandomState::new().build_hasher().finish() | 1;
    };
    let digits = text.trim_start_matches("0x");
    u64::from_str_radix(digits, 16).expect("ADK_SEED is a hexadecimal number").max(1)
}

fn run(rounds: usize, good: &str, expand: fn(TokenStream) -> TokenStream) {
    let seed = seed();
    // Said also when the test passes.
    let _ = writeln!(std::io::stderr(), "{rounds} mutants, ADK_SEED={seed:#x}");
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let good: TokenStream = good.parse().unwrap();
                let pool: Vec<TokenTree> = POOL.parse::<TokenStream>().unwrap().into_iter().collect();
                loop {
                    let mutant = next.fetch_add(1, Ordering::Relaxed);
                    if mutant >= rounds {
                        break;
                    }
                    one(seed, mutant, &good, &pool, expand);
                }
            });
        }
    });
}

/// One mutant: made, expanded, and what comes out read again.
fn one(
    seed: u64,
    mutant: usize,
    good: &TokenStream,
    pool: &[TokenTree],
    expand: fn(TokenStream) -> TokenStream,
) {
    let mut dice = Dice::of(seed, mutant);
    let mut tokens = good.clone();
    for _ in 0..=dice.roll(4) {
        tokens = mutate(tokens, &mut dice, pool);
    }
    let input = tokens.clone();
    let Ok(out) = std::panic::catch_unwind(|| expand(input)) else {
        panic!("ADK_SEED={seed:#x}, mutant {mutant}: panic on\n{tokens}");
    };
    if let Err(error) = syn::parse2::<syn::File>(out) {
        panic!("ADK_SEED={seed:#x}, mutant {mutant}: the output does not parse ({error})\n{tokens}");
    }
}

#[test]
fn mutants_of_a_workflow() {
    assert!(super::super::parse::workflow(GOOD.parse().unwrap()).1.texts().is_empty());
    run(rounds(), GOOD, super::super::workflow);
}

#[test]
fn mutants_of_an_agent() {
    let good = "/// Docs.\n pub critic -> user:x: Vec<u8> { instruction: X, name: \"y\" } pub agent b { model: M, tools: [t], max_turns: 2 }";
    run(rounds() / 4, good, super::super::llm_agent);
}
