//! Measures a row of the table: the peers take turns for several rounds. A time is the median of
//! the rounds; a count is the slope between two sizes.

use crate::count::Counts;
use crate::job::{Job, Result};
use crate::process::Machine;
use crate::rows::{Peer, Quantity, Row};
use clap::ValueEnum;

/// The measurement of one peer in one row.
#[derive(Clone, Debug)]
pub enum Cell {
    /// The peer does not support the scenario, or is not installed.
    None,
    Failed(String),
    Measured {
        value: f64,
        instructions: Option<f64>,
        allocations: Option<f64>,
    },
}

/// Measures one cell for each peer. With `quick`, there is one round, and instructions are not
/// counted.
pub fn row(machine: &Machine, row: &Row, quick: bool) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![Cell::None; Peer::value_variants().len()];
    let mut samples: Vec<Vec<f64>> = vec![Vec::new(); cells.len()];
    let rounds = if quick || row.quantity != Quantity::Time {
        1
    } else {
        5
    };
    let peers = || Peer::value_variants().iter().zip(row.sizes).enumerate();
    for _ in 0..rounds {
        for (at, (&peer, size)) in peers() {
            if size == 0 || !machine.has(peer) || matches!(cells[at], Cell::Failed(_)) {
                continue;
            }
            match value(machine, row, peer, size) {
                Ok(value) => samples[at].push(value),
                Err(error) => cells[at] = Cell::Failed(error.to_string()),
            }
        }
    }
    for (at, (&peer, _)) in peers() {
        if samples[at].is_empty() || matches!(cells[at], Cell::Failed(_)) {
            continue;
        }
        let value = median(&mut samples[at]);
        let counts = counts(machine, row, peer, quick);
        cells[at] = match counts {
            Ok((instructions, allocations)) => Cell::Measured {
                value,
                instructions,
                allocations,
            },
            Err(error) => Cell::Failed(error.to_string()),
        };
    }
    cells
}

/// Takes one sample of the row's quantity.
fn value(machine: &Machine, row: &Row, peer: Peer, size: usize) -> Result<f64> {
    match row.quantity {
        Quantity::Time => Ok(machine.time(peer, job(row, size))?.nanos_per_unit),
        Quantity::Memory => Ok(machine.time(peer, job(row, size))?.grown as f64 / 1e6),
        Quantity::Kept => slope(row, |size| {
            Ok(machine.count(peer, job(row, size))?.counts.peak)
        }),
    }
}

/// Counts instructions and allocations per unit.
fn counts(
    machine: &Machine,
    row: &Row,
    peer: Peer,
    quick: bool,
) -> Result<(Option<f64>, Option<f64>)> {
    if row.quantity != Quantity::Time || row.slope.is_none() || !peer.is_rust() {
        return Ok((None, None));
    }
    let allocations = slope(row, |size| {
        Ok(machine.count(peer, job(row, size))?.counts.allocations)
    })?;
    if quick || !machine.valgrind {
        return Ok((None, Some(allocations)));
    }
    let instructions = slope(row, |size| machine.instructions(peer, job(row, size)))?;
    Ok((Some(instructions), Some(allocations)))
}

/// Returns by how much a count grows per unit of work, from the two sizes of the row.
fn slope(row: &Row, count: impl Fn(usize) -> Result<u64>) -> Result<f64> {
    let [slope] = slopes(row, |size| Ok([count(size)?]))?;
    Ok(slope)
}

fn slopes<const N: usize>(
    row: &Row,
    count: impl Fn(usize) -> Result<[u64; N]>,
) -> Result<[f64; N]> {
    let [small, large] = row.slope.ok_or("the row has no sizes to compare")?;
    let (least, most) = (count(small)?, count(large)?);
    let units = (row.units(large) - row.units(small)) as f64;
    Ok(std::array::from_fn(|at| {
        (most[at] as f64 - least[at] as f64) / units
    }))
}

/// Counts the work of adk per unit: instructions, allocations, bytes allocated, polls, locks.
pub fn count_adk(machine: &Machine, row: &Row) -> Result<[f64; 5]> {
    slopes(row, |size| {
        // Sometimes a growing buffer must be moved, which copies it. The minimum of three runs
        // contains no such copy.
        let mut instructions = u64::MAX;
        for _ in 0..3 {
            instructions = instructions.min(machine.instructions(Peer::Ours, job(row, size))?);
        }
        let Counts {
            allocations,
            bytes,
            polls,
            locks,
            ..
        } = machine.count(Peer::Ours, job(row, size))?.counts;
        Ok([instructions, allocations, bytes, polls, locks])
    })
}

fn job(row: &Row, size: usize) -> Job {
    Job {
        scenario: row.scenario,
        width: row.width,
        size,
    }
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
