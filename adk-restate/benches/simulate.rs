//! Simulation of thousands of machines: `cargo bench -p adk-workflow-restate --bench simulate`
//! prints the table of docs/scaling.md. It is a discrete-event simulation with a fixed seed, so it
//! prints the same on each machine.
//!
//! A run asks a model [`CALLS`] times. Each call takes work on a worker, entries in the log of the
//! run's partition, which other nodes copy, the model's own time, and a commit in the database of
//! the session. Each machine, and each partition, is a queue with a measured service time. The
//! simulation finds, for each cluster, the highest rate of runs at which 99 of 100 runs spend less
//! than [`PATIENCE`] outside of the model.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of model calls of a run.
const CALLS: usize = 10;
/// Seconds of a real model call. No machine is busy during the call, so the simulation uses the
/// shorter [`PAUSE`], which results in the same queues.
const MODEL: f64 = 2.0;
const PAUSE: f64 = 0.05;
/// Seconds that a run may spend in queues and on machines.
const PATIENCE: f64 = 0.5;
/// Cores of a worker, of a node of Restate, and of a database.
const CORES: usize = 8;
/// CPU seconds of one call on a worker, a node of Restate and a database, and seconds that a
/// partition takes for the entries of the call, which it writes one after the other. Measured by
/// `--bench runs`, see docs/scaling.md.
const WORKER: f64 = 0.3e-3;
const NODE: f64 = 0.35e-3;
const DATABASE: f64 = 1.0e-3;
const PARTITION: f64 = 0.18e-3;
/// Number of nodes that store each entry. The simulation counts a copy like the original, although
/// a copy costs less.
const COPIES: usize = 3;
/// Seconds of a round trip to another machine, and of a write to a disk.
const NETWORK: f64 = 0.5e-3;
const DISK: f64 = 1e-3;
/// Simulated seconds in which runs arrive, and the fraction of the runs that only fills the queues
/// and is not counted.
const SECONDS: f64 = 1.0;
const WARM: f64 = 0.25;

/// A cluster, by its numbers of machines. Each node of Restate leads several partitions.
#[derive(Clone, Copy)]
struct Cluster {
    workers: usize,
    nodes: usize,
    partitions: usize,
    databases: usize,
}

const fn cluster(workers: usize, nodes: usize, partitions: usize, databases: usize) -> Cluster {
    Cluster {
        workers,
        nodes,
        partitions,
        databases,
    }
}

const CLUSTERS: &[Cluster] = &[
    cluster(1, 1, 24, 1),
    cluster(4, 3, 24, 1),
    cluster(4, 3, 24, 4),
    cluster(16, 9, 72, 10),
    cluster(40, 60, 24, 60),
    cluster(40, 60, 480, 60),
    cluster(400, 600, 4800, 600),
];

/// A queue with several servers: first come, first served.
#[derive(Clone)]
struct Station {
    /// Times at which the servers are free, in nanoseconds, earliest first.
    free: BinaryHeap<Reverse<u64>>,
    busy: f64,
}

impl Station {
    fn new(servers: usize) -> Self {
        Self {
            free: (0..servers).map(|_| Reverse(0)).collect(),
            busy: 0.0,
        }
    }

    /// Returns the time at which a job that arrives now is done.
    fn serve(&mut self, now: u64, seconds: f64) -> u64 {
        let Reverse(free) = self.free.pop().expect("a station has servers");
        let done = free.max(now) + nanos(seconds);
        self.free.push(Reverse(done));
        self.busy += seconds;
        done
    }
}

fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// Pseudorandom numbers (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns the seconds until the next arrival at a rate per second.
    fn wait(&mut self, rate: f64) -> f64 {
        let part = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        -(1.0 - part).ln() / rate
    }
}

/// A run with its partition and its database.
#[derive(Clone, Copy)]
struct Run {
    begun: u64,
    calls: usize,
    stage: usize,
    partition: usize,
    database: usize,
}

/// Returns the seconds that runs spend outside of the model: the median, and the 99th percentile.
fn simulate(cluster: Cluster, rate: f64) -> (f64, f64) {
    let mut workers = Station::new(cluster.workers * CORES);
    let mut partitions = vec![Station::new(1); cluster.partitions];
    let mut nodes = vec![Station::new(CORES); cluster.nodes];
    let mut databases = vec![Station::new(CORES); cluster.databases];
    let count = (rate * SECONDS) as usize;
    let mut dice = Dice(7);
    let mut clock = 0.0;
    let mut runs = Vec::new();
    let mut events = BinaryHeap::new();
    for at in 0..count {
        clock += dice.wait(rate);
        let (partition, database) = (dice.next() as usize, dice.next() as usize);
        let (partition, database) = (partition % cluster.partitions, database % cluster.databases);
        runs.push(Run {
            begun: nanos(clock),
            calls: 0,
            stage: 0,
            partition,
            database,
        });
        events.push(Reverse((nanos(clock), at)));
    }
    let mut times = Vec::new();
    while let Some(Reverse((now, at))) = events.pop() {
        let run = &mut runs[at];
        let next = match run.stage {
            0 => workers.serve(now, WORKER),
            1 => partitions[run.partition].serve(now, PARTITION),
            2 => {
                // Each copy is work of another node. The slowest copy decides when the entry is
                // stored.
                let node = |copy| (run.partition + copy) % cluster.nodes;
                let copies = 0..COPIES.min(cluster.nodes);
                let done = copies.map(|copy| nodes[node(copy)].serve(now, NODE)).max();
                done.expect("a log has a copy") + nanos(NETWORK)
            }
            3 => now + nanos(PAUSE),
            _ => databases[run.database].serve(now, DATABASE) + nanos(NETWORK + DISK),
        };
        run.stage = (run.stage + 1) % 5;
        run.calls += usize::from(run.stage == 0);
        if run.calls < CALLS {
            events.push(Reverse((next, at)));
        } else if at as f64 >= count as f64 * WARM {
            times.push((next - run.begun) as f64 / 1e9 - CALLS as f64 * PAUSE);
        }
    }
    times.sort_unstable_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

/// Returns the kind of machine that saturates first, and the runs per second at which it would.
fn bound(cluster: Cluster) -> (&'static str, f64) {
    let copies = COPIES.min(cluster.nodes) as f64;
    let calls = [
        ("workers", (cluster.workers * CORES) as f64 / WORKER),
        ("partitions", cluster.partitions as f64 / PARTITION),
        ("nodes", (cluster.nodes * CORES) as f64 / NODE / copies),
        ("databases", (cluster.databases * CORES) as f64 / DATABASE),
    ];
    let (name, calls) = calls
        .into_iter()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .expect("four kinds");
    (name, calls / CALLS as f64)
}

fn main() {
    println!(
        "| workers | nodes | partitions | databases | runs/s | open runs | full first | its load | \
         p50 | p99 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for &cluster in CLUSTERS {
        let (name, most) = bound(cluster);
        let (mut low, mut high) = (most / 4.0, most);
        while high / low > 1.05 {
            let middle = f64::midpoint(low, high);
            if simulate(cluster, middle).1 < PATIENCE {
                low = middle;
            } else {
                high = middle;
            }
        }
        let (p50, p99) = simulate(cluster, low);
        let Cluster {
            workers,
            nodes,
            partitions,
            databases,
        } = cluster;
        let open = low * (CALLS as f64 * MODEL + p50);
        print!(
            "| {workers} | {nodes} | {partitions} | {databases} | {low:.0} | {open:.0} | {name} "
        );
        println!(
            "| {:.0} % | {:.0} ms | {:.0} ms |",
            low / most * 100.0,
            p50 * 1e3,
            p99 * 1e3
        );
    }
}
