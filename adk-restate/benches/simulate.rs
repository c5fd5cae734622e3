//! Towards thousands of machines, on paper: `cargo bench -p adk-workflow-restate --bench simulate` prints the table of
//! docs/scaling.md. A discrete-event simulation with a fixed seed: it prints the same everywhere.
//!
//! A run asks a model [`CALLS`] times. Each call is work on a worker, entries in the log of the run's partition, which two
//! more nodes copy, the model, and a commit in the database of the session. Each of these is a queue with the measured time
//! of service. Of each cluster it finds the highest rate of runs at which 99 of 100 runs spend less than [`PATIENCE`]
//! outside of the model.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Calls of a run.
const CALLS: usize = 10;
/// Seconds of a call of the model. No machine is busy meanwhile, so the queues are the same with [`PAUSE`] in its place.
const MODEL: f64 = 2.0;
const PAUSE: f64 = 0.05;
/// Seconds that a run may spend in queues and on machines.
const PATIENCE: f64 = 0.5;
/// Cores of a worker, of a node of Restate, and of a database.
const CORES: usize = 8;
/// Seconds of a core for one call, and seconds that a partition takes for its entries, one after the other. Measured by
/// `--bench runs`, see docs/scaling.md.
const WORKER: f64 = 400e-6;
const NODE: f64 = 500e-6;
const DATABASE: f64 = 300e-6;
const PARTITION: f64 = 250e-6;
/// How many nodes have each entry. A copy counts as much as the original, which is more than it costs.
const COPIES: usize = 3;
/// Seconds to another machine and back, and until a commit is on a disk.
const NETWORK: f64 = 500e-6;
const DISK: f64 = 1e-3;
/// Simulated seconds of arrivals, and the part of the runs that only fills the queues.
const SECONDS: f64 = 6.0;
const WARM: f64 = 0.25;

/// Machines that serve one queue, first come, first served.
#[derive(Clone)]
struct Station {
    /// When each server is free, the first one on top.
    free: BinaryHeap<Reverse<u64>>,
    busy: f64,
}

impl Station {
    fn new(servers: usize) -> Self {
        Self { free: (0..servers).map(|_| Reverse(0)).collect(), busy: 0.0 }
    }

    /// When a job that comes now is done.
    fn serve(&mut self, now: u64, seconds: f64) -> u64 {
        let Reverse(free) = self.free.pop().expect("a station has servers");
        let done = free.max(now) + nanos(seconds);
        self.free.push(Reverse(done));
        self.busy += seconds;
        done
    }

    fn load(&self, seconds: f64) -> f64 {
        self.busy / seconds / self.free.len() as f64
    }
}

#[derive(Clone, Copy)]
struct Cluster {
    workers: usize,
    nodes: usize,
    partitions: usize,
    databases: usize,
}

const CLUSTERS: &[Cluster] = &[
    Cluster { workers: 1, nodes: 1, partitions: 24, databases: 1 },
    Cluster { workers: 4, nodes: 3, partitions: 24, databases: 1 },
    Cluster { workers: 16, nodes: 3, partitions: 24, databases: 1 },
    Cluster { workers: 16, nodes: 9, partitions: 128, databases: 4 },
    Cluster { workers: 64, nodes: 27, partitions: 512, databases: 16 },
    Cluster { workers: 1000, nodes: 27, partitions: 512, databases: 16 },
    Cluster { workers: 1000, nodes: 400, partitions: 4096, databases: 250 },
];

struct Simulated {
    /// Seconds that a run needs besides the model, at the median and for 99 of 100.
    p50: f64,
    p99: f64,
    /// The most used machine of each kind.
    loads: [(&'static str, f64); 4],
}

fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// Numbers as if thrown (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Seconds until the next of so many a second.
    fn wait(&mut self, rate: f64) -> f64 {
        let part = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        -(1.0 - part).ln() / rate
    }
}

/// A run on its way: what it does next, and where.
#[derive(Clone, Copy)]
struct Run {
    begun: u64,
    calls: usize,
    stage: usize,
    partition: usize,
    database: usize,
}

fn simulate(cluster: Cluster, rate: f64) -> Simulated {
    let stations = |count: usize, servers: usize| vec![Station::new(servers); count];
    let mut workers = Station::new(cluster.workers * CORES);
    let mut partitions = stations(cluster.partitions, 1);
    let mut nodes = stations(cluster.nodes, CORES);
    let mut databases = stations(cluster.databases, CORES);
    let count = (rate * SECONDS) as usize;
    let (mut dice, mut begin) = (Dice(7), 0.0);
    let mut events = BinaryHeap::new();
    let mut runs: Vec<Run> = (0..count)
        .map(|at| {
            begin += dice.wait(rate);
            events.push(Reverse((nanos(begin), at)));
            let key = dice.next() as usize;
            let (partition, database) = (key % cluster.partitions, key / 65_536 % cluster.databases);
            Run { begun: nanos(begin), calls: 0, stage: 0, partition, database }
        })
        .collect();
    let (mut times, mut end) = (Vec::new(), 0);
    while let Some(Reverse((now, at))) = events.pop() {
        let run = &mut runs[at];
        let leader = run.partition % cluster.nodes;
        let next = match run.stage {
            0 => workers.serve(now, WORKER),
            1 => partitions[run.partition].serve(now, PARTITION),
            2 => {
                // Each copy is work of another node; the answer waits for the slowest.
                let copies = COPIES.min(cluster.nodes);
                let served = (0..copies).map(|copy| nodes[(leader + copy) % cluster.nodes].serve(now, NODE));
                served.max().expect("there is a node") + nanos(NETWORK)
            }
            3 => now + nanos(PAUSE),
            _ => databases[run.database].serve(now, DATABASE) + nanos(NETWORK + DISK),
        };
        run.stage += 1;
        if run.stage > 4 {
            (run.stage, run.calls) = (0, run.calls + 1);
        }
        if run.calls < CALLS {
            events.push(Reverse((next, at)));
        } else if at as f64 >= count as f64 * WARM {
            times.push((next - run.begun) as f64 / 1e9 - CALLS as f64 * PAUSE);
        }
        end = end.max(next);
    }
    times.sort_unstable_by(f64::total_cmp);
    let seconds = end as f64 / 1e9;
    let most = |stations: &[Station]| stations.iter().map(|one| one.load(seconds)).fold(0.0, f64::max);
    let loads = [
        ("workers", workers.load(seconds)),
        ("partitions", most(&partitions)),
        ("nodes", most(&nodes)),
        ("databases", most(&databases)),
    ];
    Simulated { p50: times[times.len() / 2], p99: times[times.len() * 99 / 100], loads }
}

/// What the busiest kind of machine could do if nothing ever waited.
fn capacity(cluster: Cluster) -> f64 {
    let copies = COPIES.min(cluster.nodes) as f64;
    let calls = [
        (cluster.workers * CORES) as f64 / WORKER,
        cluster.partitions as f64 / PARTITION,
        (cluster.nodes * CORES) as f64 / NODE / copies,
        (cluster.databases * CORES) as f64 / DATABASE,
    ];
    calls.into_iter().fold(f64::INFINITY, f64::min) / CALLS as f64
}

fn main() {
    println!(
        "| workers | nodes of Restate | partitions | databases | runs/s | open runs | most used | p50 | p99 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for &cluster in CLUSTERS {
        let most = capacity(cluster);
        let (mut low, mut high) = (most / 4.0, most);
        while high / low > 1.02 {
            let middle = f64::midpoint(low, high);
            if simulate(cluster, middle).p99 < PATIENCE { low = middle } else { high = middle }
        }
        let Simulated { p50, p99, loads } = simulate(cluster, low);
        let (name, load) = loads.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("four kinds");
        let Cluster { workers, nodes, partitions, databases } = cluster;
        let open = low * (CALLS as f64 * MODEL + p50);
        print!("| {workers} | {nodes} | {partitions} | {databases} | {low:.0} | {open:.0} ");
        println!("| {name}, {:.0} % | {:.0} ms | {:.0} ms |", load * 100.0, p50 * 1e3, p99 * 1e3);
    }
}
