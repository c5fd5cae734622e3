//! Mutated tokens: nothing panics, and what comes out is Rust.

use proc_macro2::{Group, TokenStream, TokenTree};

const GOOD: &str = r#"
/// Docs.
pub Writing(topic: String, tone: String = "plain", user:lang: u8) -> (draft: String, score: f64) {
    let done: bool = false;
    state app:limit: u32;
    /// Writes.
    agent writer -> draft: String { instruction: concat!("Write about ", "{topic}"), tools: [exit, a::b], timeout: "30s", retry: 3 }
    agent critic { include_contents: none, stop: ["a", "b"], model: "m", max_turns: 3 }
    agent given: x::Given;
    agent told(draft: String) -> score: f64 as Box<dyn DynAgent>;
    writer; given; told as second;
    refinement: loop(max = 5, until = done) < critic; parallel(max_concurrency = 2) < x::y; { z as w; break refinement } >>
    sequence < < a > >; Drafting
}"#;

const POOL: &str = "loop max parallel sequence match each await agent let state as break in until : :: ; , = < > >> => -> \
    5 0 -1 \"s\" 'a () {} [] {x} (a = b) r#fn self Self super crate ! # #[x] 4294967296 _ async fn user model dyn & |";

/// Xorshift.
struct Dice(u64);

impl Dice {
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
    match dice.roll(8) {
        0 if !all.is_empty() => drop(all.remove(at)),
        1 if !all.is_empty() => all.insert(at, all[at].clone()),
        2 => all.insert(at, pool[dice.roll(pool.len())].clone()),
        3 if all.len() > 1 => {
            let other = dice.roll(all.len());
            all.swap(at, other);
        }
        4 if !all.is_empty() => all.truncate(at),
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

fn run(rounds: usize, seed: u64, good: &str, expand: fn(TokenStream) -> TokenStream) {
    let pool: Vec<TokenTree> = POOL.parse::<TokenStream>().unwrap().into_iter().collect();
    let mut dice = Dice(seed);
    for round in 0..rounds {
        let mut tokens: TokenStream = good.parse().unwrap();
        for _ in 0..=dice.roll(4) {
            tokens = mutate(tokens, &mut dice, &pool);
        }
        let text = tokens.to_string();
        let out = std::panic::catch_unwind(|| expand(tokens));
        let out = out.unwrap_or_else(|_| panic!("seed {seed:#x}, mutant {round}: panic on\n{text}"));
        if let Err(error) = syn::parse2::<syn::File>(out.clone()) {
            panic!("seed {seed:#x}, mutant {round}: the output does not parse ({error})\n{text}");
        }
    }
}

#[test]
fn mutants_of_a_workflow() {
    run(5_000, 0x9E37_79B9_7F4A_7C15, GOOD, super::super::workflow);
}

#[test]
fn mutants_of_an_agent() {
    let good = "/// Docs.\n pub critic -> user:x: Vec<u8> { instruction: X, name: \"y\" } pub agent b { model: M, tools: [t] }";
    run(2_000, 0xD1B5_4A32_D192_ED03, good, super::super::llm_agent);
}
