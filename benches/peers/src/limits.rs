//! `--limits`: compares the counts of work with the table of `limits.md`. Unlike times, counts are
//! equal on all machines.

use crate::job::Result;
use crate::measure;
use crate::process::Machine;
use crate::rows::ROWS;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/limits.md");
const MEASURES: [&str; 5] = ["instructions", "allocations", "bytes", "polls", "locks"];
/// The tolerance of a count, for other machines and library versions: a factor of 3 percent, and
/// half of the last digit of a limit.
const SLACK: (f64, f64) = (1.03, 0.05);
/// Pairs of rows: a unit of the second row may not cost more than one of the first. They check that
/// the cost of a turn does not depend on the number of turns before it.
const FLAT: &[[&str; 2]] = &[
    [
        "model turn, first 10, no history",
        "model turn, 1,000 turns, no history",
    ],
    [
        "model turn, first 10, history",
        "model turn, 1,000 turns, history",
    ],
];

/// Counts each row of the table and fails if a count exceeds its limit. `LIMITS=overwrite` writes
/// the counts into the table instead.
pub fn check(machine: &Machine) -> Result<()> {
    let overwrite = std::env::var_os("LIMITS").is_some_and(|value| value == "overwrite");
    if !machine.valgrind || !cfg!(adk_counts) {
        return Err(
            "this needs valgrind and RUSTFLAGS='--cfg adk_counts': see benches/peers/limits.md".into(),
        );
    }
    let table = std::fs::read_to_string(PATH)?;
    let mut written = String::new();
    let mut counted: Vec<(&str, [f64; 5])> = Vec::new();
    let mut failures = 0;
    for line in table.lines() {
        let Some((title, limits)) = parse(line)? else {
            written += &format!("{line}\n");
            continue;
        };
        let row = ROWS
            .iter()
            .find(|row| row.title == title)
            .ok_or_else(|| format!("no row {title:?}"))?;
        let found = measure::count_adk(machine, row)?;
        let cells = found.map(|count| format!("{count:.1}")).join(" | ");
        println!("| {title} | {cells} |");
        written += &format!("| {title} | {cells} |\n");
        counted.push((row.title, found));
        if !overwrite {
            failures += excesses(title, limits, found);
        }
    }
    let count_of = |title: &str| counted.iter().find(|row| row.0 == title).map(|row| row.1);
    for [base, title] in FLAT {
        let (base, found) = count_of(base)
            .zip(count_of(title))
            .ok_or("a row that has to be flat is not in the table")?;
        failures += excesses(title, base, found);
    }
    if failures > 0 {
        return Err(
            "above the limits; with LIMITS=overwrite this command writes benches/peers/limits.md anew"
                .into(),
        );
    }
    if overwrite {
        std::fs::write(PATH, written)?;
    }
    Ok(())
}

/// Prints the counts that exceed their limits and returns their number.
fn excesses(title: &str, limits: [f64; 5], found: [f64; 5]) -> usize {
    let mut excesses = 0;
    for (measure, (limit, found)) in MEASURES.iter().zip(limits.into_iter().zip(found)) {
        if found > limit * SLACK.0 + SLACK.1 {
            excesses += 1;
            eprintln!("{title}: {measure}: at most {limit:.1} and 3 percent, found {found:.1}");
        }
    }
    excesses
}

/// Parses the title and the limits of a row. Returns `None` for a line that is not a row of the
/// table.
fn parse(line: &str) -> Result<Option<(&str, [f64; 5])>> {
    let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
    let [title, limits @ ..] = &cells[..] else {
        return Ok(None);
    };
    let Ok(limits) = <[&str; 5]>::try_from(limits) else {
        return Ok(None);
    };
    if limits == MEASURES {
        return Ok(None);
    }
    let mut parsed = [0.0; 5];
    for (parsed, limit) in parsed.iter_mut().zip(limits) {
        *parsed = limit
            .parse()
            .map_err(|_| format!("no number: {limit:?} in {line:?}"))?;
    }
    Ok(Some((title, parsed)))
}
