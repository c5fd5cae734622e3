//! [`total`]: the pass over the steps.

use super::sum::{CostShare, Costs, ShareKind, Sum, add, times};
use super::{AnswerUnit, Cost, UnboundedCause, UnboundedCauses, UnboundedReason, millis};
use crate::spec::{AgentKind, AgentMeta, Attempts, Step, StepKind};
use crate::text::same;

/// A position in a list of steps. After the last step come the transfer targets of the agent that
/// owns the list.
#[derive(Clone, Copy)]
pub(crate) struct BoundsCursor<'a> {
    steps: &'a [Step<'a>],
    at: usize,
    until: usize,
    targets: &'a [&'a AgentMeta<'a>],
    target: usize,
    /// The nested workflow that owns the list; empty for the workflow itself.
    inside: &'a str,
}

impl<'a> BoundsCursor<'a> {
    pub(crate) const fn start(steps: &'a [Step<'a>]) -> Self {
        Self {
            steps,
            at: 0,
            until: steps.len(),
            targets: &[],
            target: 0,
            inside: "",
        }
    }

    /// Returns the position of the first step inside an agent.
    const fn inside(&self, meta: &AgentMeta<'a>, name: &'a str) -> Self {
        let inside = if meta.steps.is_empty() {
            self.inside
        } else {
            name
        };
        Self {
            targets: meta.transfer,
            inside,
            ..Self::start(meta.steps)
        }
    }
}

/// A block or agent that the pass has entered and not left yet.
#[derive(Clone, Copy)]
struct OpenBlock<'a> {
    what: OpenKind,
    name: &'a str,
    /// The step where the block ends.
    end: usize,
    /// The cost of the steps so far; in a match, the cost of the worst arm.
    sum: Sum<'a>,
    /// The position after the block.
    after: BoundsCursor<'a>,
}

#[derive(Clone, Copy)]
enum OpenKind {
    /// The start of the pass.
    Root,
    Workflow,
    /// The transfer targets of an agent.
    Targets,
    Loop {
        max: Option<u32>,
        until: bool,
    },
    Each {
        max: Option<u32>,
        /// The largest number of concurrent elements.
        limit: Option<u32>,
    },
    /// The steps of a `try`, with the largest number of attempts.
    Try(Attempts),
    Match,
    Arm,
    /// Branches that run concurrently, up to the limit.
    Parallel {
        limit: Option<u32>,
    },
    Branch,
    /// A block whose steps add up.
    Block,
}

impl OpenKind {
    /// Returns the kind of block that a step opens.
    const fn from_step(step: &Step<'_>) -> Option<Self> {
        match step.kind {
            StepKind::Loop { max, until } => Some(Self::Loop {
                max,
                until: until.is_some(),
            }),
            StepKind::Each {
                max,
                max_concurrency: limit,
                ..
            } => Some(Self::Each { max, limit }),
            StepKind::Match { .. } => Some(Self::Match),
            StepKind::Arm { .. } => Some(Self::Arm),
            StepKind::Try(attempts) => Some(Self::Try(attempts)),
            StepKind::Parallel {
                max_concurrency: limit,
                ..
            } => Some(Self::Parallel { limit }),
            StepKind::Branch => Some(Self::Branch),
            StepKind::Sequence | StepKind::Else => Some(Self::Block),
            _ => None,
        }
    }
}

/// The largest number of open blocks before the pass calls itself.
const DEEP: usize = 64;

/// An agent that the pass has reached: a step, or a transfer target.
struct ReachedAgent<'a> {
    meta: &'a AgentMeta<'a>,
    name: &'a str,
    is_target: bool,
}

/// A pass over the steps, with the open blocks.
struct BoundsPass<'a, 'c> {
    place: BoundsCursor<'a>,
    open: [OpenBlock<'a>; DEEP],
    /// The index of the innermost open block.
    depth: usize,
    cost: Cost,
    causes: &'c mut UnboundedCauses<'a>,
}

/// Returns the cost of the steps from a place on. Records the causes of an unbounded cost.
pub(crate) const fn total<'a>(
    place: BoundsCursor<'a>,
    cost: Cost,
    causes: &mut UnboundedCauses<'a>,
) -> Sum<'a> {
    let root = OpenBlock {
        what: OpenKind::Root,
        name: "",
        end: usize::MAX,
        sum: Sum::NOTHING,
        after: place,
    };
    let mut pass = BoundsPass {
        place,
        open: [root; DEEP],
        depth: 0,
        cost,
        causes,
    };
    loop {
        let agent = if pass.place.at < pass.place.until {
            pass.take_step()
        } else if pass.place.target < pass.place.targets.len() {
            Some(pass.take_target())
        } else if pass.depth > 0 {
            let inner = pass.close_block();
            if let OpenKind::Workflow | OpenKind::Targets = inner.what {
                pass.place = inner.after;
            }
            None
        } else {
            return pass.open[0].sum;
        };
        if let Some(agent) = agent {
            pass.add_agent(&agent);
        }
    }
}

impl<'a> BoundsPass<'a, '_> {
    /// Takes the next step of the list: opens or closes its block. Returns the agent of the step.
    const fn take_step(&mut self) -> Option<ReachedAgent<'a>> {
        let (at, steps) = (self.place.at, self.place.steps);
        let step = &steps[at];
        self.place.at += 1;
        let inside = self.place.inside;
        let block = &mut self.open[self.depth];
        if let (StepKind::Else, OpenKind::Try(attempts)) = (step.kind, block.what) {
            block.sum = attempts_sum(block.sum, attempts, block.name, inside, self.cost);
            block.what = OpenKind::Block;
        }
        if let Some(what) = OpenKind::from_step(step) {
            self.open_block(at, step, what);
        } else if let StepKind::End = step.kind
            && self.open[self.depth].end == at
            && self.depth > 0
        {
            self.close_block();
        }
        match step.kind {
            StepKind::Agent { meta, .. } => Some(ReachedAgent {
                meta,
                name: step.name,
                is_target: false,
            }),
            StepKind::Break { .. } => {
                self.open[self.depth].sum.exits = true;
                None
            }
            _ => None,
        }
    }

    /// Takes the next transfer target of the list.
    const fn take_target(&mut self) -> ReachedAgent<'a> {
        let meta = self.place.targets[self.place.target];
        self.place.target += 1;
        ReachedAgent {
            meta,
            name: meta.name,
            is_target: true,
        }
    }

    /// Opens the block of a step. A block that is nested too deep is added by a pass of its own.
    const fn open_block(&mut self, at: usize, step: &Step<'a>, what: OpenKind) {
        let place = self.place;
        if self.depth + 1 < DEEP {
            self.depth += 1;
            self.open[self.depth] = OpenBlock {
                what,
                name: step.name,
                end: step.end,
                sum: block_sum(step, place.inside, self.cost, self.causes),
                after: place,
            };
            return;
        }
        // The range includes the end of the block, so that the inner pass closes the block.
        let until = if step.end < place.until {
            step.end + 1
        } else {
            place.until
        };
        let inner = BoundsCursor {
            at,
            until,
            targets: &[],
            ..place
        };
        let sum = total(inner, self.cost, self.causes);
        add_to_outer(&sum, what, &mut self.open[self.depth], self.cost);
        self.place.at = if until > at { until } else { at + 1 };
    }

    /// Closes the innermost block, and adds its cost to the block around it. Returns the block.
    const fn close_block(&mut self) -> OpenBlock<'a> {
        let inner = self.open[self.depth];
        self.depth -= 1;
        let (inside, outer) = (self.place.inside, &mut self.open[self.depth]);
        close(&inner, inside, outer, self.cost, self.causes);
        inner
    }

    /// Adds the cost of an agent itself, and enters its steps or its transfer targets.
    const fn add_agent(&mut self, agent: &ReachedAgent<'a>) {
        let (meta, name, inside) = (agent.meta, agent.name, self.place.inside);
        let own = agent_sum(meta, name, agent.is_target, inside, self.cost, self.causes);
        self.open[self.depth].sum.add(&own);
        if meta.steps.is_empty() && meta.transfer.is_empty() {
            return;
        }
        let what = if meta.steps.is_empty() {
            OpenKind::Targets
        } else {
            OpenKind::Workflow
        };
        let inner = self.place.inside(meta, name);
        if self.depth + 1 < DEEP {
            self.depth += 1;
            self.open[self.depth] = OpenBlock {
                what,
                name,
                end: usize::MAX,
                sum: Sum::NOTHING,
                after: self.place,
            };
            self.place = inner;
        } else {
            let mut sum = total(inner, self.cost, self.causes);
            if let OpenKind::Workflow = what {
                sum = sum.without_exits();
            }
            self.open[self.depth].sum.add(&sum);
        }
    }
}

/// Returns the cost of a block itself. The time of its callbacks is unknown.
const fn block_sum<'a>(
    step: &Step<'a>,
    inside: &'a str,
    cost: Cost,
    causes: &mut UnboundedCauses<'a>,
) -> Sum<'a> {
    let mut sum = Sum::NOTHING;
    if step.own_code {
        sum.costs = sum.costs.set(Cost::Time, None);
        if let Cost::Time = cost {
            causes.add(UnboundedCause {
                name: step.name,
                inside,
                why: UnboundedReason::BlockCode,
            });
        }
    }
    sum
}

/// Adds a block to the block around it.
const fn add_to_outer<'a>(sum: &Sum<'a>, what: OpenKind, outer: &mut OpenBlock<'a>, cost: Cost) {
    match (what, outer.what) {
        (OpenKind::Arm, OpenKind::Match) => outer.sum.add_alternative(sum, cost),
        (OpenKind::Branch, OpenKind::Parallel { limit: None }) => outer.sum.add_concurrent(sum),
        _ => outer.sum.add(sum),
    }
}

/// Closes a block or agent, and adds its cost to the block around it.
const fn close<'a>(
    inner: &OpenBlock<'a>,
    inside: &'a str,
    outer: &mut OpenBlock<'a>,
    cost: Cost,
    causes: &mut UnboundedCauses<'a>,
) {
    let (name, mut sum) = (inner.name, inner.sum);
    match inner.what {
        OpenKind::Loop { max: Some(max), .. } => {
            // A loop runs at least once. A `max` of 0 has a diagnostic of its own.
            let max = if max == 0 { 1 } else { max };
            let round = sum
                .costs
                .set(Cost::Rounds, add(sum.costs.get(Cost::Rounds), Some(1)));
            sum = rounds_sum(sum, round, ShareKind::Loop(max, 0), name, inside, cost);
        }
        OpenKind::Try(attempts) => sum = attempts_sum(sum, attempts, name, inside, cost),
        OpenKind::Loop { max: None, until } => {
            sum.costs = sum.costs.endless().set(Cost::Rounds, None);
            // A loop that nothing ends is reported by `loop-endless`, and not also here.
            if sum.costs.get(cost).is_none() && (until || sum.exits) {
                causes.add(UnboundedCause {
                    name,
                    inside,
                    why: UnboundedReason::Loop,
                });
            }
        }
        OpenKind::Each {
            max: Some(max),
            limit,
        } => {
            let max = if max == 0 { 1 } else { max };
            let element = sum.costs;
            // At most `limit` elements run concurrently. The elements therefore run in groups, one
            // group after the other.
            let groups = match limit {
                None | Some(0) => 1,
                Some(limit) => max.div_ceil(limit),
            };
            sum.costs = element
                .times(max)
                .set(Cost::Time, times(element.get(Cost::Time), groups));
            if let (Some(each), Some(total)) = (element.get(cost), sum.costs.get(cost))
                && max > 1
                && total > 0
            {
                sum.largest = CostShare {
                    name,
                    inside,
                    total,
                    kind: ShareKind::Each(max, each),
                };
            }
        }
        OpenKind::Each { max: None, .. } => {
            sum.costs = sum.costs.endless();
            if sum.costs.get(cost).is_none() {
                causes.add(UnboundedCause {
                    name,
                    inside,
                    why: UnboundedReason::Each,
                });
            }
        }
        OpenKind::Workflow => {
            sum = sum
                .without_exits()
                .gather(name, inner.after.inside, ShareKind::Workflow, cost)
        }
        OpenKind::Match | OpenKind::Parallel { .. } | OpenKind::Block => {
            sum = sum.gather(name, inside, ShareKind::Block, cost)
        }
        OpenKind::Root | OpenKind::Targets | OpenKind::Arm | OpenKind::Branch => {}
    }
    add_to_outer(&sum, inner.what, outer, cost);
}

/// Multiplies the cost of a `try` by its attempts, and adds the waits between them.
const fn attempts_sum<'a>(
    sum: Sum<'a>,
    attempts: Attempts,
    name: &'a str,
    inside: &'a str,
    cost: Cost,
) -> Sum<'a> {
    let attempt = match (sum.costs.get(Cost::Time), attempts.timeout) {
        (Some(time), Some(most)) if time <= millis(most) => sum.costs,
        (_, Some(most)) => sum.costs.set(Cost::Time, Some(millis(most))),
        (_, None) => sum.costs,
    };
    let sum = rounds_sum(
        sum,
        attempt,
        ShareKind::Try(attempts.most, 0),
        name,
        inside,
        cost,
    );
    let time = add(sum.costs.get(Cost::Time), Some(attempts.waits()));
    Sum {
        costs: sum.costs.set(Cost::Time, time),
        ..sum
    }
}

/// Multiplies the cost of a round or attempt by the number of rounds or attempts.
const fn rounds_sum<'a>(
    mut sum: Sum<'a>,
    round: Costs,
    kind: ShareKind,
    name: &'a str,
    inside: &'a str,
    cost: Cost,
) -> Sum<'a> {
    let (ShareKind::Loop(most, _) | ShareKind::Try(most, _)) = kind else {
        return sum;
    };
    sum.costs = round.times(most);
    // With one round, the step inside the loop keeps the largest share, because the loop adds
    // nothing.
    if let (Some(each), Some(total)) = (round.get(cost), sum.costs.get(cost))
        && (most > 1 || sum.largest.total == 0)
    {
        let kind = match kind {
            ShareKind::Try(..) => ShareKind::Try(most, each),
            _ => ShareKind::Loop(most, each),
        };
        sum.largest = CostShare {
            name,
            inside,
            total,
            kind,
        };
    }
    sum
}

/// Returns the cost of an agent itself, without the steps inside it.
const fn agent_sum<'a>(
    meta: &AgentMeta<'a>,
    name: &'a str,
    is_target: bool,
    inside: &'a str,
    cost: Cost,
    causes: &mut UnboundedCauses<'a>,
) -> Sum<'a> {
    if !meta.steps.is_empty() {
        return Sum::NOTHING;
    }
    let why = match meta.kind {
        AgentKind::Llm if calls_agents(meta) => Some(UnboundedReason::Agents),
        AgentKind::Llm if calls_tools(meta) => Some(UnboundedReason::Tools),
        AgentKind::Llm if meta.more_tools => Some(UnboundedReason::MoreTools),
        AgentKind::Llm if !meta.transfer.is_empty() => Some(UnboundedReason::Transfer),
        AgentKind::Llm if !answers_text(meta) => Some(UnboundedReason::Typed),
        // An agent of this kind asks its model once, and again only after another handover to it.
        AgentKind::Llm => None,
        _ => Some(UnboundedReason::Silent),
    };
    let calls = match (why, meta.max_turns) {
        (None, Some(turns)) if is_target => Some(turns as u64),
        (None, _) => Some(1),
        (Some(UnboundedReason::Agents), Some(turns)) if causes.known_calls => Some(turns as u64),
        (Some(UnboundedReason::Agents), None) if causes.known_calls => Some(1),
        // One turn may call any number of agents.
        (Some(UnboundedReason::Agents), _) | (Some(_), None) => None,
        (Some(_), Some(turns)) => Some(turns as u64),
    };
    // A summary may precede each call.
    let each = if meta.compacts { 2 } else { 1 };
    let calls = times(calls, each);
    let (costs, without) = costs(meta, calls, &causes.unit);
    let total = match costs.get(cost) {
        Some(total) => total,
        None => {
            let why = match (cost, calls, why) {
                (Cost::ToolCalls, ..) => UnboundedReason::ToolCalls,
                (Cost::ModelCalls | Cost::Tokens, None, Some(why)) => why,
                (Cost::Time, None, Some(why)) if !matches!(why, UnboundedReason::Silent) => why,
                (Cost::Time, ..) => without,
                _ => causes.unit.unknown_reason(),
            };
            causes.add(UnboundedCause { name, inside, why });
            0
        }
    };
    let exits = meta.may_exit || !meta.exits.is_empty();
    Sum {
        costs,
        largest: CostShare {
            name,
            inside,
            total,
            kind: ShareKind::Agent(each as u64),
        },
        exits,
    }
}

/// Returns the cost of an agent for a number of model calls, and the reason if its time is unknown.
const fn costs(
    meta: &AgentMeta<'_>,
    calls: Option<u64>,
    unit: &AnswerUnit<'_>,
) -> (Costs, UnboundedReason) {
    let costs = Costs::NOTHING.set(Cost::ModelCalls, calls);
    let asks = matches!(meta.kind, AgentKind::Llm);
    let tokens = match (calls, unit.call_cost(meta)) {
        (Some(0), _) => Some(0),
        (Some(calls), Some(each)) => Some(calls.saturating_mul(each)),
        _ => None,
    };
    let no_tools = if asks {
        !calls_tools(meta) && !meta.more_tools
    } else {
        matches!(calls, Some(0))
    };
    let costs = costs
        .set(Cost::Tokens, tokens)
        .set(Cost::ToolCalls, if no_tools { Some(0) } else { None });
    let (time, without) = match (meta.timeout, longest_tool(meta)) {
        _ if meta.own_code => (None, UnboundedReason::OwnCode),
        (Some(own), Some(tools)) => (
            Some(millis(own).saturating_add(tools)),
            UnboundedReason::Timeout,
        ),
        (Some(_), None) => (None, UnboundedReason::ToolTimeout),
        (None, _) if matches!(meta.kind, AgentKind::Await) => (None, UnboundedReason::Wait),
        (None, _) => (None, UnboundedReason::Timeout),
    };
    let time = match (asks, time, calls) {
        (true, Some(time), Some(calls)) => Some(time.saturating_mul(calls)),
        (true, ..) => None,
        (false, time, _) => time,
    };
    (costs.set(Cost::Time, time), without)
}

/// Returns the longest time of the tool calls of one turn in milliseconds. The calls run
/// concurrently.
const fn longest_tool(meta: &AgentMeta<'_>) -> Option<u64> {
    // The longest wait before another attempt.
    const WAIT: u64 = 60_000;
    if meta.more_tools {
        return None;
    }
    let mut longest = 0;
    each!(tool in meta.tools => {
        // The time of the model call contains the time of the tool.
        if tool.at_provider {
            continue;
        }
        let (Some(timeout), false) = (tool.timeout, tool.confirm || tool.long_running) else {
            return None;
        };
        let attempts = tool.retry as u64;
        let time = millis(timeout).saturating_mul(attempts.saturating_add(1));
        let time = time.saturating_add(attempts.saturating_mul(WAIT));
        if time > longest {
            longest = time;
        }
    });
    Some(longest)
}

/// Returns whether the runtime calls tools of an agent, and its model again after the calls.
const fn calls_tools(meta: &AgentMeta<'_>) -> bool {
    any!(tool in meta.tools => !tool.at_provider)
}

/// Returns whether an agent uses agents as tools. The agents that it calls make model calls of
/// their own.
const fn calls_agents(meta: &AgentMeta<'_>) -> bool {
    any!(tool in meta.tools => tool.agent.is_some())
}

/// Returns whether an agent writes its answer as plain text.
///
/// Const evaluation cannot compare types, so the spelling of the type decides. An alias of `String`
/// counts as another type, which can only enlarge the bound.
const fn answers_text(meta: &AgentMeta<'_>) -> bool {
    !any!(key in meta.writes => !same(key.ty, "String"))
}
