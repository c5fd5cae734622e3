//! [`Table`]: prints the table of the peers in Rust, one line after each measured row, and then the
//! table of the scripts.

use crate::measure::Cell;
use crate::process::Machine;
use crate::rows::{Peer, Row};
use clap::ValueEnum;

/// Width of the title column. The widths are fixed, so that each line can be printed before later
/// rows are measured.
const TITLE: usize = 62;
const COLUMN: usize = 28;

#[derive(Clone, Copy)]
pub struct Table {
    pub markdown: bool,
    /// Whether the table shows the scripts next to adk, with times only.
    pub scripts: bool,
}

impl Table {
    pub fn head(&self, machine: &Machine) {
        let title = |peer: &Peer| {
            if machine.has(*peer) {
                peer.title().to_owned()
            } else {
                format!("{} (not installed)", peer.title())
            }
        };
        let unit = if self.scripts {
            "ns"
        } else {
            "ns; instructions; allocations"
        };
        let mut line = vec![unit.to_owned()];
        line.extend(
            Peer::value_variants()
                .iter()
                .filter(|peer| self.shows(**peer))
                .map(title),
        );
        line.push("ratio".to_owned());
        self.line(&line);
        if self.markdown {
            println!("{}|", "|---".repeat(line.len()));
        }
    }

    pub fn row(&self, row: &Row, cells: &[Cell]) {
        let peers = Peer::value_variants().iter().zip(cells);
        let cells: Vec<&Cell> = peers
            .filter(|(peer, _)| self.shows(**peer))
            .map(|(_, cell)| cell)
            .collect();
        let mut line = vec![row.title.to_owned()];
        line.extend(cells.iter().map(|cell| self.cell(cell)));
        line.push(ratio(&cells).map_or_else(String::new, two_digits));
        self.line(&line);
    }

    fn shows(&self, peer: Peer) -> bool {
        peer == Peer::Ours || peer.is_rust() != self.scripts
    }

    /// Formats the value, instructions and allocations.
    fn cell(&self, cell: &Cell) -> String {
        let Cell::Measured {
            value,
            instructions,
            allocations,
        } = cell
        else {
            return if matches!(cell, Cell::Failed(_)) {
                "–".into()
            } else {
                String::new()
            };
        };
        let mut text = group_digits(*value);
        if self.scripts {
            return text;
        }
        if let Some(instructions) = instructions {
            text += &format!("; {}", group_digits(*instructions));
        }
        if let Some(allocations) = allocations {
            let short = if *allocations < 100.0 {
                format!("{allocations:.1}")
            } else {
                group_digits(*allocations)
            };
            text += &format!("; {short}");
        }
        text
    }

    fn line(&self, texts: &[String]) {
        if self.markdown {
            println!("| {} |", texts.join(" | "));
            return;
        }
        let width = |at| if at == 0 { TITLE } else { COLUMN };
        let line: String = texts
            .iter()
            .enumerate()
            .map(|(at, text)| format!("{text:<0$}", width(at)))
            .collect();
        println!("{}", line.trim_end());
    }
}

/// Returns the ratio of adk's value to the lowest value of the other peers.
fn ratio(cells: &[&Cell]) -> Option<f64> {
    let value = |cell: &&Cell| match cell {
        Cell::Measured { value, .. } => Some(*value),
        Cell::None | Cell::Failed(_) => None,
    };
    let (ours, peers) = cells.split_first()?;
    let best = peers.iter().filter_map(value).min_by(f64::total_cmp)?;
    Some(value(ours)? / best)
}

/// Formats a ratio such as `12`, `1.2`, `0.12`, `0.012`.
fn two_digits(ratio: f64) -> String {
    let decimals = (1.0 - ratio.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{ratio:.decimals$}")
}

/// Formats a rounded number with a comma after each thousand.
fn group_digits(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && digit.is_ascii_digit() && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(group_digits(7.4), "7");
        assert_eq!(group_digits(713.0), "713");
        assert_eq!(group_digits(2_000_000.2), "2,000,000");
    }

    #[test]
    fn a_ratio_has_two_digits() {
        assert_eq!(
            [17.4, 1.27, 0.234, 0.00049].map(two_digits),
            ["17", "1.3", "0.23", "0.00049"]
        );
    }

    #[test]
    fn the_ratio_is_to_the_best_peer() {
        let cell = |value| Cell::Measured {
            value,
            instructions: None,
            allocations: None,
        };
        assert_eq!(
            ratio(&[&cell(100.0), &cell(400.0), &Cell::None, &cell(200.0)]),
            Some(0.5)
        );
        assert_eq!(ratio(&[&cell(100.0), &Cell::None]), None);
    }
}
