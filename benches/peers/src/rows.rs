//! The benchmark as data: the rows of the table ([`Row`]), the peers ([`Peer`]), and the work of
//! each process ([`Scenario`]).

use clap::ValueEnum;

use Scenario::*;

/// An implementation of agents, which is one column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    Ours,
    AdkRust,
    AdkRs,
    GraphFlow,
    GoogleAdk,
    GoogleAdkJs,
    IqaiAdk,
}

/// The work of one process. The amount of work depends on [`Row::width`] and on a size, whose unit
/// each scenario names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// A loop of two agents that emit a text event each. The size is the number of events.
    Text,
    /// Like `Text`, and each event also writes a key. The size is the number of events.
    Key,
    /// A loop of two agents that do nothing. The size is the number of steps.
    Silent,
    /// A parallel block of `width` agents that emit one event each. The size is the number of runs.
    Parallel,
    /// Like `Parallel`, without events. The size is the number of runs.
    SilentParallel,
    /// A function for each element of a list. The size is the number of elements.
    Each,
    /// A loop whose body is an agent in `width` nested sequences. The size is the number of events.
    Blocks,
    /// A loop whose body is an agent in `width` nested workflows. The size is the number of events.
    Workflows,
    /// A loop of two LLM agents that see the conversation. The size is the number of turns.
    History,
    /// Like `History`, with `include_contents: none`. The size is the number of turns.
    NoHistory,
    /// Like `NoHistory`, with one agent. The size is the number of turns.
    Alone,
    /// An LLM agent that calls `width` tools and then answers, and an agent that emits a text
    /// event. The size is the number of turns.
    Tools,
    /// One more run with two text events in a session. The size is the number of earlier runs in
    /// the session.
    Session,
    /// Runs of one function that writes a key, each in a new session. The size is the number of
    /// runs.
    Run,
    /// Runs that stream a reply of `width` chunks. The size is the number of runs.
    Chunks,
    /// Runs of two LLM agents that wait for their first reply. The size is the number of runs.
    Waiting,
}

/// The quantity that a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Nanoseconds per unit of work. If the row has a slope, also instructions and allocations per
    /// unit.
    Time,
    /// Megabytes by which the process has grown.
    Memory,
    /// Bytes per unit of work that are still allocated when the run ends, from the slope of the
    /// row.
    Kept,
}

#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub title: &'static str,
    pub quantity: Quantity,
    pub scenario: Scenario,
    /// Number of children, levels, tools or chunks.
    pub width: usize,
    /// The size of a timed process, in the order of [`Peer`]. Peers with size 0 are not measured:
    /// they do not support the scenario, or one process takes minutes.
    pub sizes: [usize; 7],
    /// Two sizes for counts. The difference of the two counts is shown, so that the cost of the
    /// start-up cancels.
    pub slope: Option<[usize; 2]>,
}

impl Peer {
    pub fn title(self) -> &'static str {
        match self {
            Peer::Ours => "adk",
            Peer::AdkRust => "adk-rust",
            Peer::AdkRs => "adk-rs",
            Peer::GraphFlow => "graph-flow",
            Peer::GoogleAdk => "google-adk",
            Peer::GoogleAdkJs => "@google/adk",
            Peer::IqaiAdk => "@iqai/adk",
        }
    }

    /// Whether the peer is part of this program. Other peers are scripts, whose work is not
    /// counted.
    pub fn is_rust(self) -> bool {
        matches!(
            self,
            Peer::Ours | Peer::AdkRust | Peer::AdkRs | Peer::GraphFlow
        )
    }
}

impl Row {
    /// Returns the units of work of a process with this size.
    pub fn units(&self, size: usize) -> usize {
        match self.scenario {
            Scenario::Parallel | Scenario::SilentParallel | Scenario::Chunks => self.width * size,
            _ => size,
        }
    }

    /// Whether a script measures this row.
    pub fn has_scripts(&self) -> bool {
        Peer::value_variants()
            .iter()
            .zip(self.sizes)
            .any(|(peer, size)| !peer.is_rust() && size > 0)
    }
}

const fn time(
    title: &'static str,
    scenario: Scenario,
    width: usize,
    slope: Option<[usize; 2]>,
    sizes: [usize; 7],
) -> Row {
    row(Quantity::Time, title, scenario, width, slope, sizes)
}

const fn row(
    quantity: Quantity,
    title: &'static str,
    scenario: Scenario,
    width: usize,
    slope: Option<[usize; 2]>,
    sizes: [usize; 7],
) -> Row {
    Row {
        title,
        quantity,
        scenario,
        width,
        sizes,
        slope,
    }
}

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    // title, scenario, width, slope
    //         adk, adk-rust,  adk-rs, graph-flow, google-adk, @google/adk, @iqai/adk
    time("text event, 2,000", Text, 0, Some([200, 600]),
        [    2_000,    2_000,   2_000,      2_000,      2_000,       2_000,     2_000]),
    time("text event, 20,000", Text, 0, None,
        [   20_000,   20_000,       0,     20_000,          0,           0,         0]),
    time("text event, 200,000", Text, 0, None,
        [  200_000,  200_000,       0,    200_000,          0,           0,         0]),
    time("text event, 2,000,000", Text, 0, None,
        [2_000_000,        0,       0,  2_000_000,          0,           0,         0]),
    time("event with one key", Key, 0, Some([200, 600]),
        [  200_000,   20_000,   1_000,          0,      2_000,       2_000,     2_000]),
    time("step without event", Silent, 0, Some([200, 600]),
        [  200_000,   20_000,   1_000,    200_000,      2_000,       2_000,     2_000]),
    time("parallel of 2, per child", Parallel, 2, Some([200, 600]),
        [    2_000,    2_000,   1_000,      2_000,        100,         100,       100]),
    time("parallel of 256, per child", Parallel, 256, Some([10, 20]),
        [       40,       40,      20,         40,          2,           2,         2]),
    time("parallel of 100,000, per child", Parallel, 100_000, None,
        [        1,        1,       0,          1,          0,           0,         0]),
    time("parallel of 20,000 without events, per child", SilentParallel, 20_000, Some([1, 2]),
        [       10,        0,       0,          0,          0,           0,         0]),
    time("each of 100,000, per element", Each, 0, Some([2_000, 8_000]),
        [  100_000,        0,       0,          0,          0,           0,         0]),
    time("event that enters 10 blocks", Blocks, 10, Some([300, 900]),
        [   20_000,    2_000,   2_000,          0,        200,         200,       200]),
    time("event that enters 10 workflows", Workflows, 10, Some([300, 900]),
        [   20_000,        0,       0,          0,          0,           0,         0]),
    time("model turn, first 10, history", History, 0, Some([10, 20]),
        [       10,       10,      10,          0,         10,          10,        10]),
    time("model turn, first 10, no history", NoHistory, 0, Some([10, 20]),
        [       10,       10,      10,          0,         10,          10,        10]),
    time("model turn, 100 turns, history", History, 0, Some([50, 100]),
        [      100,      100,     100,          0,        100,         100,       100]),
    time("model turn, 100 turns, no history", NoHistory, 0, Some([50, 100]),
        [      100,      100,     100,          0,        100,         100,       100]),
    time("model turn, 1,000 turns, history", History, 0, Some([900, 1_000]),
        [    1_000,    1_000,   1_000,          0,          0,           0,         0]),
    time("model turn, 1,000 turns, no history", NoHistory, 0, Some([900, 1_000]),
        [    1_000,    1_000,   1_000,          0,          0,           0,         0]),
    time("model turn, 1,000 turns, one agent alone, no history", Alone, 0, Some([900, 1_000]),
        [    1_000,    1_000,   1_000,          0,          0,           0,         0]),
    time("turn with 1 tool", Tools, 1, Some([200, 400]),
        [    5_000,      300,     500,          0,         50,          50,        50]),
    time("turn with 8 tools at once", Tools, 8, Some([200, 400]),
        [    5_000,      300,     500,          0,         50,          50,        50]),
    time("one more turn of a session, after 30", Session, 0, Some([30, 60]),
        [       30,       30,      30,          0,         30,          30,        30]),
    time("one more turn of a session, after 1,000", Session, 0, None,
        [    1_000,    1_000,   1_000,          0,          0,           0,         0]),
    time("one more turn of a session, after 30,000", Session, 0, None,
        [   30_000,        0,       0,          0,          0,           0,         0]),
    time("run of one function", Run, 0, Some([500, 1_500]),
        [   20_000,    2_000,   2_000,     20_000,        200,         200,       200]),
    time("streamed chunk", Chunks, 1_000, Some([2, 4]),
        [      100,        5,       5,          0,          1,           1,         1]),
    row(Quantity::Kept, "bytes kept per text event", Text, 0, Some([1_024, 2_048]),
        [        1,        1,       1,          0,          0,           0,         0]),
    row(Quantity::Kept, "bytes kept per event with one key", Key, 0, Some([1_024, 2_048]),
        [        1,        1,       1,          0,          0,           0,         0]),
    row(Quantity::Memory, "MB of 10,000 waiting runs", Waiting, 0, None,
        [   10_000,   10_000,  10_000,          0,          0,           0,         0]),
    row(Quantity::Memory, "MB of 100,000 waiting runs", Waiting, 0, None,
        [  100_000,        0,       0,          0,          0,           0,         0]),
];
