//! Measures adk and its peers, and prints two tables.
//!
//! Each scenario of each implementation runs in its own process, and the implementations take
//! turns.

#[cfg(feature = "peers")]
mod adk_rs;
#[cfg(feature = "peers")]
mod adk_rust;
mod count;
#[cfg(feature = "peers")]
mod graph_flow;
mod job;
mod limits;
mod measure;
mod ours;
mod process;
mod rows;
mod table;

use clap::Parser;
use measure::Cell;
use process::Machine;
use rows::{Peer, ROWS};
use table::Table;

/// Measures adk and its peers, and prints two tables. Peers in Rust: nanoseconds; instructions;
/// allocations. Others: nanoseconds.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Measures only rows whose titles contain this text.
    filter: Option<String>,
    /// Measures one round instead of five, and counts no instructions.
    #[arg(long)]
    quick: bool,
    /// Prints the tables as Markdown.
    #[arg(long)]
    markdown: bool,
    /// Counts the work of adk, and fails if a count exceeds its limit in `limits.md`.
    #[arg(long)]
    limits: bool,
    /// Does the work of one process: peer, scenario, width, size.
    #[arg(long, hide = true, num_args = 4)]
    job: Option<Vec<String>>,
    /// With `--job`: counts allocations, polls and locks.
    #[arg(long, hide = true)]
    count: bool,
}

fn main() -> job::Result<()> {
    let args = Args::parse();
    if let Some(words) = &args.job {
        return job::run(words, args.count);
    }
    let machine = Machine::look_around()?;
    if args.limits {
        return limits::check(&machine);
    }
    let table = Table {
        markdown: args.markdown,
        scripts: false,
    };
    table.head(&machine);
    let filter = args.filter.unwrap_or_default();
    let mut rows = Vec::new();
    for row in ROWS.iter().filter(|row| row.title.contains(&filter)) {
        let cells = measure::row(&machine, row, args.quick);
        table.row(row, &cells);
        for (peer, cell) in <Peer as clap::ValueEnum>::value_variants()
            .iter()
            .zip(&cells)
        {
            if let Cell::Failed(error) = cell {
                eprintln!("{}, {}: {error}", row.title, peer.title());
            }
        }
        rows.push((row, cells));
    }
    println!();
    let scripts = Table {
        scripts: true,
        ..table
    };
    scripts.head(&machine);
    for (row, cells) in rows.iter().filter(|(row, _)| row.has_scripts()) {
        scripts.row(row, cells);
    }
    Ok(())
}
