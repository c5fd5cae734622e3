//! Mutated tokens of valid input, for the fuzz tests of the macros: no macro panics, and each
//! output parses as Rust.
//!
//! The full run uses a profile that optimises the macros and that panics on integer overflow, as
//! any debug build does:
//! `ADK_FUZZ=100000 cargo test --profile fuzz -p adk-workflow-macros --lib fuzz`

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

use proc_macro2::{Group, TokenStream, TokenTree};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Write as _;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A xorshift generator of random numbers.
struct Dice(u64);

impl Dice {
    /// Creates the generator of one mutant, so that a mutant does not depend on the number of
    /// threads.
    fn new(seed: u64, mutant: usize) -> Self {
        // The finalizer of MurmurHash3 separates neighbouring seeds. A xorshift state of zero would
        // stay zero.
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
        // Inserts a copy of a piece at another place.
        5 if all.len() > 1 => {
            let from = dice.roll(all.len());
            let piece: Vec<_> = all
                .iter()
                .skip(from)
                .take(1 + dice.roll(6))
                .cloned()
                .collect();
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

/// Returns the number of mutants: `ADK_FUZZ`, or 5,000.
pub(crate) fn rounds() -> usize {
    let rounds = std::env::var("ADK_FUZZ")
        .ok()
        .map(|text| text.parse().expect("ADK_FUZZ is a number"));
    rounds.unwrap_or(5_000)
}

/// Returns the seed of an earlier run from `ADK_SEED`, or a random seed.
fn seed() -> u64 {
    let Ok(text) = std::env::var("ADK_SEED") else {
        return RandomState::new().build_hasher().finish() | 1;
    };
    let digits = text.trim_start_matches("0x");
    u64::from_str_radix(digits, 16)
        .expect("ADK_SEED is a hexadecimal number")
        .max(1)
}

/// Expands mutants, each built from one text per list with pieces of `pool` inserted. Each output
/// has to parse as Rust.
pub(crate) fn run(
    rounds: usize,
    good: &[&[&str]],
    pool: &str,
    expand: fn(&[TokenStream]) -> Vec<TokenStream>,
) {
    let seed = seed();
    // The seed is printed even if the test passes.
    let _ = writeln!(std::io::stderr(), "{rounds} mutants, ADK_SEED={seed:#x}");
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let read = |text: &str| text.parse::<TokenStream>().unwrap();
                let good: Vec<Vec<_>> = good
                    .iter()
                    .map(|texts| texts.iter().map(|text| read(text)).collect())
                    .collect();
                let pool: Vec<TokenTree> = read(pool).into_iter().collect();
                loop {
                    let mutant = next.fetch_add(1, Ordering::Relaxed);
                    if mutant >= rounds {
                        break;
                    }
                    run_mutant(seed, mutant, &good, &pool, expand);
                }
            });
        }
    });
}

/// Builds and expands one mutant, and parses the output.
fn run_mutant(
    seed: u64,
    mutant: usize,
    good: &[Vec<TokenStream>],
    pool: &[TokenTree],
    expand: fn(&[TokenStream]) -> Vec<TokenStream>,
) {
    let mut dice = Dice::new(seed, mutant);
    let mut mutated = |texts: &Vec<TokenStream>| {
        let mut tokens = texts[dice.roll(texts.len())].clone();
        for _ in 0..=dice.roll(4) {
            tokens = mutate(tokens, &mut dice, pool);
        }
        tokens
    };
    let input: Vec<_> = good.iter().map(&mut mutated).collect();
    let input_text = || {
        input
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let Ok(out) = std::panic::catch_unwind(|| expand(&input)) else {
        panic!(
            "ADK_SEED={seed:#x}, mutant {mutant}: panic on\n{}",
            input_text()
        );
    };
    for out in out {
        if let Err(error) = syn::parse2::<syn::File>(out) {
            panic!(
                "ADK_SEED={seed:#x}, mutant {mutant}: the output does not parse ({error})\n{}",
                input_text()
            );
        }
    }
}
