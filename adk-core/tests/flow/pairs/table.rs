//! The number of programs that have run with each pair.

use super::ENOUGH;
use super::construct::{Construct, Pair, Relation};
use super::refused::{row_of, rows};
use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

#[derive(Default)]
pub struct Table {
    counts: BTreeMap<Pair, u32>,
    /// The number of searches for a workflow with the pair.
    tries: BTreeMap<Pair, u32>,
}

/// Returns all pairs.
pub fn all() -> impl Iterator<Item = Pair> {
    let two = Construct::ALL
        .iter()
        .flat_map(|one| Construct::ALL.iter().map(move |other| (*one, *other)));
    let two: Vec<_> = two.collect();
    Relation::ALL.iter().flat_map(move |relation| {
        let two = two.clone();
        two.into_iter()
            .map(move |(one, other)| (*relation, one, other))
    })
}

impl Table {
    pub fn add(&mut self, pairs: &BTreeSet<Pair>) {
        pairs
            .iter()
            .for_each(|pair| *self.counts.entry(*pair).or_default() += 1);
    }

    pub fn count(&self, pair: Pair) -> u32 {
        self.counts.get(&pair).copied().unwrap_or_default()
    }

    /// Returns a pair to grow a workflow with: a pair with fewer than [`ENOUGH`] runs if there is
    /// one, and among these the rarest that was not searched too often.
    pub fn rarest(&mut self, possible: &[Pair], random: &mut Random) -> Pair {
        let offset = random.below(possible.len() as u64) as usize;
        let turned = possible[offset..].iter().chain(&possible[..offset]);
        let score = |pair: &Pair| {
            let (count, tries) = (
                self.count(*pair),
                self.tries.get(pair).copied().unwrap_or_default(),
            );
            (count >= ENOUGH, 4 * count + tries)
        };
        let rarest = *turned
            .min_by_key(|pair| score(pair))
            .unwrap_or(&possible[0]);
        *self.tries.entry(rarest).or_default() += 1;
        rarest
    }

    /// Formats the table: each construct of a row inside, before and beside the construct of the
    /// column.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let names = Construct::ALL.iter().enumerate();
        let names: Vec<_> = names
            .map(|(at, construct)| format!("{at} {}", construct.name()))
            .collect();
        writeln!(text, "{}", names.join(", ")).unwrap();
        for relation in Relation::ALL {
            writeln!(text, "\n{relation:?}").unwrap();
            write!(text, "{:20}", "").unwrap();
            (0..Construct::ALL.len()).for_each(|at| write!(text, "{at:>6}").unwrap());
            writeln!(text).unwrap();
            for one in Construct::ALL {
                write!(text, "{:20}", one.name()).unwrap();
                for other in Construct::ALL {
                    let pair = (*relation, *one, *other);
                    let cell = match row_of(pair) {
                        Some(_) => "-".to_owned(),
                        None => self.count(pair).to_string(),
                    };
                    write!(text, "{cell:>6}").unwrap();
                }
                writeln!(text).unwrap();
            }
        }
        writeln!(text, "\nWhat cannot be: relation | one | other | why").unwrap();
        rows()
            .iter()
            .for_each(|row| writeln!(text, "{}", row.text()).unwrap());
        text
    }
}
