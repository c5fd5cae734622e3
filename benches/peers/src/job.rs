//! [`Job`]: the work of one process of the benchmark. [`Report`]: the line of text in which the
//! process reports its measurements.

use crate::count::{self, Counts};
use crate::ours;
use crate::rows::{Peer, Scenario};
#[cfg(feature = "peers")]
use crate::{adk_rs, adk_rust, graph_flow};
use clap::ValueEnum;
use std::time::{Duration, Instant};

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The work of one process of the benchmark.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub scenario: Scenario,
    pub width: usize,
    pub size: usize,
}

/// The events that a custom agent of a peer emits.
#[cfg(feature = "peers")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Emits {
    Nothing,
    Text,
    Key,
}

/// The measurements of a scenario, without the time to prepare it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    pub nanos_per_unit: f64,
    /// Bytes by which the process grew, in the scenarios that measure memory.
    pub grown: u64,
}

/// The measurements of a process, which it prints as one line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    pub nanos_per_unit: f64,
    pub grown: u64,
    pub counts: Counts,
}

impl Sample {
    /// Number of turns that are timed in a long session.
    pub const TURNS: usize = 20;

    pub fn new(elapsed: Duration, units: usize) -> Self {
        Sample {
            nanos_per_unit: elapsed.as_nanos() as f64 / units as f64,
            grown: 0,
        }
    }

    /// Spawns runs that never end, and polls each run until it waits for its model. Measures by how
    /// much the process grows.
    pub async fn grown<F>(runs: usize, run: impl Fn(usize) -> F) -> Result<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let before = resident()?;
        let start = Instant::now();
        for i in 0..runs {
            tokio::spawn(run(i));
            if i % 100 == 99 {
                tokio::task::yield_now().await;
            }
        }
        // Some peers need several polls before they wait for the model.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        let sample = Sample::new(start.elapsed(), runs);
        Ok(Sample {
            grown: resident()?.saturating_sub(before),
            ..sample
        })
    }
}

impl Report {
    /// Parses the line of a report. A missing count is 0.
    pub fn parse(line: &str) -> Result<Self> {
        let mut fields = line.split_whitespace();
        let nanos = fields.next().ok_or("no report")?;
        let mut count = || fields.next().unwrap_or("0").parse();
        Ok(Report {
            nanos_per_unit: nanos.parse()?,
            grown: count()?,
            counts: Counts {
                allocations: count()?,
                bytes: count()?,
                peak: count()?,
                polls: count()?,
                locks: count()?,
            },
        })
    }
}

/// Does the job of this process and prints its [`Report`].
pub fn run(words: &[String], counted: bool) -> Result<()> {
    let [peer, scenario, width, size] = words else {
        return Err("a job is a peer, a scenario, a width and a size".into());
    };
    let peer = Peer::from_str(peer, false)?;
    let scenario = Scenario::from_str(scenario, false)?;
    let job = Job {
        scenario,
        width: width.parse()?,
        size: size.parse()?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    if counted {
        count::start();
    }
    let sample = runtime.block_on(async {
        match peer {
            Peer::Ours => ours::run(job).await,
            #[cfg(feature = "peers")]
            Peer::AdkRust => adk_rust::run(job).await,
            #[cfg(feature = "peers")]
            Peer::AdkRs => adk_rs::run(job).await,
            #[cfg(feature = "peers")]
            Peer::GraphFlow => graph_flow::run(job).await,
            _ => Ok(None),
        }
    })?;
    let sample = sample.ok_or_else(|| format!("{} has no {scenario:?}", peer.title()))?;
    let Counts {
        allocations,
        bytes,
        peak,
        polls,
        locks,
    } = count::counts();
    let Sample {
        nanos_per_unit,
        grown,
    } = sample;
    println!("{nanos_per_unit} {grown} {allocations} {bytes} {peak} {polls} {locks}");
    // Exits at once, because dropping each waiting run would take long.
    std::process::exit(0);
}

/// Returns the resident memory of the process in bytes.
fn resident() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .ok_or("no VmRSS")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1024)
}
