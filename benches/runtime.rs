//! Measures the run-time cost of a workflow step, without the work of the agents: `cargo bench
//! --bench runtime`.
//!
//! The program prints times and asserts nothing, because times depend on the machine.
//! `tests/cost.rs` asserts the counts that hold on all machines.

use adk::prelude::*;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

/// Writes one key and reads the other.
#[agent(writes = left)]
fn ping(right: u64) -> u64 {
    right + 1
}

/// Writes the other key and reads the first.
#[agent(writes = right)]
fn pong(left: u64) -> u64 {
    left
}

workflow! {
    /// Two trivial functions in a loop.
    pub PingPong(right: u64 = 0) -> left: u64 {
        rally: loop(max = 1_000_000) < ping; pong >
    }
}

workflow! {
    /// One turn: a word from the user, a word from an agent.
    pub Turn(right: u64) -> left: u64 { ping }
}

fn resident() -> Option<i64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: i64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// Measures one row in a new process.
fn measure_in_process(row: &str) -> Result<()> {
    let own = std::env::current_exe().map_err(Error::other)?;
    let status = Command::new(own).arg(row).status().map_err(Error::other)?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::other(format!("the row `{row}` failed")))
    }
}

/// Measures one row: runs of `rounds` rounds, all kept in memory.
async fn row(rounds: u32) -> Result<()> {
    let runner = Runner::builder().build()?;
    let mut workflow = PingPong::default();
    workflow.rally.set_max(rounds)?;
    let events = u64::from(rounds) * 2;
    let runs = (200_000 / events).max(1);
    // The fastest of some batches counts, since other load on the machine can only add time.
    let (mut best, mut bytes) = (f64::MAX, None);
    for _ in 0..(20_000_000 / (events * runs)).clamp(5, 50) {
        let (before, start) = (resident(), Instant::now());
        let mut kept = Vec::new();
        for _ in 0..runs {
            kept.push(runner.run(&workflow, 0).await?);
        }
        best = best.min(start.elapsed().as_secs_f64() / (events * runs) as f64);
        // Later batches reuse the memory of the first batch.
        let grown = || {
            before
                .zip(resident())
                .map(|(before, after)| (after - before) / (events * runs) as i64)
        };
        bytes = bytes.or_else(grown);
    }
    let bytes = bytes.map_or("?".to_owned(), |bytes| bytes.to_string());
    println!("{events:>10} {runs:>6} {:>12.0} {bytes:>12}", best * 1e9);
    Ok(())
}

/// Measures one row: 10,000 concurrent runs of 20 events on `count` threads. Each run has its own
/// session and user.
fn threads(count: usize) -> Result<()> {
    const RUNS: usize = 10_000;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(count)
        .build();
    let runner = Runner::builder().build()?;
    let mut workflow = PingPong::default();
    workflow.rally.set_max(10)?;
    let workflow = Arc::new(workflow);
    let runs = async move {
        let start = Instant::now();
        let mut running = tokio::task::JoinSet::new();
        for n in 0..RUNS {
            let (session, workflow) = (runner.session(format!("user {n}"), "s"), workflow.clone());
            running.spawn(async move { session.run(workflow, 0).await.map(drop) });
        }
        while let Some(ended) = running.join_next().await {
            ended.map_err(Error::other)??;
        }
        Ok::<_, Error>(start.elapsed().as_nanos() / (RUNS as u128 * 20))
    };
    let runtime = runtime.map_err(Error::other)?;
    let each = runtime
        .block_on(runtime.spawn(runs))
        .map_err(Error::other)??;
    println!("{count:>10} {each:>12}");
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    if let Some(rounds) =
        std::env::args().find_map(|arg| arg.strip_prefix("--rounds=")?.parse().ok())
    {
        return row(rounds).await;
    }
    if let Some(count) =
        std::env::args().find_map(|arg| arg.strip_prefix("--threads=")?.parse().ok())
    {
        let row = std::thread::spawn(move || threads(count)).join();
        return row.unwrap_or_else(|_| Err(Error::other("the row panicked")));
    }
    println!("a loop of two function agents, through the runner, events stored in memory");
    println!("(each row is a process that keeps as many runs as make 200,000 events)\n");
    println!(
        "{:>10} {:>6} {:>12} {:>12}",
        "events", "runs", "ns/event", "bytes/event"
    );
    for rounds in [1_000, 10_000, 100_000, 1_000_000] {
        measure_in_process(&format!("--rounds={rounds}"))?;
    }

    let runner = Runner::builder().build()?;
    println!("\na turn of one function agent, in a session that has seen many\n");
    println!("{:>10} {:>12}", "turns", "ns/turn");
    for turns in [10, 100, 1_000, 3_000, 30_000] {
        let workflow = Turn::default();
        let session = runner.session("user", format!("of {turns}"));
        for turn in 0..turns {
            session.run(&workflow, turn).await?;
        }
        let mut best = f64::MAX;
        for _ in 0..200 {
            let start = Instant::now();
            for turn in 0..5 {
                session.run(&workflow, turn).await?;
            }
            best = best.min(start.elapsed().as_secs_f64() / 5.0);
        }
        println!("{turns:>10} {:>12.0}", best * 1e9);
    }

    println!("\n10,000 runs of 20 events at once, on so many threads; each row is a process\n");
    println!("{:>10} {:>12}", "threads", "ns/event");
    for threads in [1, 2, 1, 2] {
        measure_in_process(&format!("--threads={threads}"))?;
    }
    Ok(())
}
