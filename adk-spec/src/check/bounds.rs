//! `bounds-exceeded`: the messages, and the step that each of them names.

use crate::bounds::{
    BoundsCursor, Cost, CostShare, ShareKind, Sum, UnboundedCause, UnboundedCauses,
    UnboundedReason, total,
};
use crate::check::Check;
use crate::message::Message;
use crate::spec::Spec;
use crate::text::same;

/// Ends const evaluation when a workflow may cost more than its `#[bounds(...)]` allows. The error
/// is at the token of the first exceeded argument, which is `word`.
///
/// A `faulty` workflow, which has other diagnostics, is not reported, because its cost depends on
/// its errors.
#[track_caller]
pub const fn raise_bounds(spec: &Spec<'_>, word: &str, faulty: bool) {
    if !faulty
        && let Some((message, argument)) = find(spec)
        && same(argument, word)
    {
        panic!("{}", message.as_str());
    }
}

/// Returns the message about the worst case of a workflow, if the worst case exceeds a limit.
pub(super) fn describe(spec: &Spec<'_>) -> Option<Message> {
    find(spec).map(|(message, _)| message)
}

/// Returns the first message, and the argument of `#[bounds(...)]` that it is about.
const fn find(spec: &Spec<'_>) -> Option<(Message, &'static str)> {
    if spec.has_stub() {
        return None;
    }
    each!(cost in &Cost::ALL => {
        if let Some(message) = describe_exceeded(spec, cost.allowed(&spec.limits), *cost) {
            return Some((message, cost.word()));
        }
    });
    if spec.limits.ends
        && let Some(message) = describe_endless(spec)
    {
        return Some((message, "ends"));
    }
    None
}

const fn describe_exceeded(spec: &Spec<'_>, allowed: Option<u64>, cost: Cost) -> Option<Message> {
    let Some(allowed) = allowed else { return None };
    // Calls of agents that are used as tools do not count here: the runtime limits them.
    let mut causes = UnboundedCauses {
        known_calls: true,
        ..UnboundedCauses::new()
    };
    let Sum { costs, largest, .. } = total(BoundsCursor::start(spec.steps), cost, &mut causes);
    let mut m = Message::new();
    m.begin(Check::BoundsExceeded);
    match costs.get(cost) {
        Some(worst) if worst <= allowed => return None,
        Some(worst) => {
            m.push("the worst case of this workflow is ");
            m.push(if worst == u64::MAX { "more than " } else { "" });
            push_amount(
                &mut m,
                if worst == u64::MAX { worst - 1 } else { worst },
                cost,
            );
            m.push(", and it allows ");
            push_quantity(&mut m, allowed, cost);
            describe_finite(&mut m, worst, allowed, &largest, cost);
        }
        // `loop-endless` reports the loop without end.
        None if causes.count == 0 => return None,
        // Tool calls, tokens and time are often unbounded before a run. The runtime limits them.
        None if matches!(cost, Cost::ToolCalls | Cost::Tokens | Cost::Time) => return None,
        None => {
            m.push("the worst case of this workflow is unbounded, and it allows ");
            push_amount(&mut m, allowed, cost);
            m.push(": ");
            describe_unbounded(&mut m, &causes, cost);
        }
    }
    Some(m)
}

/// Describes why a run may have no end. A workflow with a limit of time needs no limits on its
/// calls and waits.
const fn describe_endless(spec: &Spec<'_>) -> Option<Message> {
    each!(cost in &[Cost::ModelCalls, Cost::Rounds, Cost::Time] => {
        let mut causes = UnboundedCauses::new();
        let Sum { costs, .. } = total(BoundsCursor::start(spec.steps), *cost, &mut causes);
        let is_limited = matches!(cost, Cost::Time) && spec.limits.time.is_some();
        // A `try` with a timeout may limit a step that is among the causes, so the total cost
        // decides.
        if !is_limited && costs.get(*cost).is_none() && causes.count > 0 {
            let mut m = Message::of(Check::BoundsExceeded, &["it is not known that this workflow \
                ends: "]);
            describe_unbounded(&mut m, &causes, *cost);
            return Some(m);
        }
    });
    None
}

/// Adds a number, or a time, without a unit.
const fn push_quantity(m: &mut Message, number: u64, cost: Cost) {
    match cost {
        Cost::Time => push_duration(m, number),
        _ => m.number(number as i128),
    }
}

const fn push_amount(m: &mut Message, number: u64, cost: Cost) {
    push_quantity(m, number, cost);
    if let Cost::Time = cost {
        return;
    }
    m.all(&[" ", cost.unit(), if number == 1 { "" } else { "s" }]);
    if let Cost::Rounds = cost {
        m.push(" of its loops");
    }
}

/// Adds milliseconds as `1h` or `90s`: in the largest unit that divides them.
const fn push_duration(m: &mut Message, millis: u64) {
    let units = [(3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")];
    let mut i = 0;
    while i + 1 < units.len() && (millis == 0 || !millis.is_multiple_of(units[i].0)) {
        i += 1;
    }
    m.number((millis / units[i].0) as i128);
    m.push(units[i].1);
}

/// Names the step with the largest share of a cost, and what to lower so that the cost fits.
const fn describe_finite(
    m: &mut Message,
    worst: u64,
    allowed: u64,
    largest: &CostShare<'_>,
    cost: Cost,
) {
    let kind = largest.kind.word();
    let (setting, each) = match largest.kind {
        ShareKind::Agent(each) => (
            "max_turns",
            if let Cost::ModelCalls = cost { each } else { 0 },
        ),
        ShareKind::Loop(_, each) | ShareKind::Each(_, each) => ("max", each),
        ShareKind::Try(_, each) => ("attempts", each),
        ShareKind::Workflow | ShareKind::Block => ("", 1),
    };
    let fewer = match cost {
        Cost::ModelCalls => "place fewer agents that ask a model",
        Cost::Rounds => "place fewer loops",
        Cost::ToolCalls => "place fewer agents with tools",
        Cost::Tokens => "lower the `max_output_tokens` of the agents",
        Cost::Time => "lower the `timeout`s",
    };
    if largest.total == u64::MAX {
        m.push(": ");
        push_name(m, kind, largest.name, largest.inside);
        m.all(&[
            " makes more than can be counted; help: lower its `",
            setting,
        ]);
        m.push("` and those of the loops in it");
    } else if largest.total > 1 {
        m.push(": ");
        push_name(m, kind, largest.name, largest.inside);
        m.push(if let Cost::Time = cost {
            " takes up to "
        } else {
            " makes up to "
        });
        push_quantity(m, largest.total, cost);
        m.push(if let Cost::Time = cost {
            " of it"
        } else {
            " of them"
        });
        if let Some((preposition, max, parts)) = largest.kind.parts() {
            m.push(", ");
            push_quantity(m, each, cost);
            m.all(&[" ", preposition, " each of "]);
            m.number(max as i128);
            m.all(&[" ", parts]);
        }
        let left = allowed
            .saturating_sub(worst.saturating_sub(largest.total))
            .checked_div(each);
        describe_remedy(m, setting, left, fewer, cost);
    } else {
        m.push(match cost {
            Cost::ModelCalls => ", one for each agent that asks a model; help: ",
            Cost::Rounds => ", one for each loop; help: ",
            Cost::ToolCalls | Cost::Tokens | Cost::Time => "; help: ",
        });
        m.push(fewer);
    }
    if worst == u64::MAX {
        // The count saturated, so the exact number is unknown.
        return;
    }
    m.all(&[", or write `#[bounds(", cost.word(), " = "]);
    let quote = if let Cost::Time = cost { "\"" } else { "" };
    m.push(quote);
    push_quantity(m, worst, cost);
    m.all(&[quote, ")]`"]);
}

/// Adds what to lower: a setting, with its new value if the value is known, or the contents of a
/// block.
const fn describe_remedy(
    m: &mut Message,
    setting: &str,
    left: Option<u64>,
    fewer: &str,
    cost: Cost,
) {
    if setting.is_empty() {
        return m.all(&["; help: ", fewer, " in it"]);
    }
    m.all(&["; help: lower its `", setting, "`"]);
    match left {
        Some(0) => {}
        Some(left) => {
            m.push(" to ");
            m.number(left as i128);
        }
        None => m.push(if let Cost::Tokens = cost {
            " or `max_output_tokens`"
        } else {
            " or `timeout`"
        }),
    }
}

const fn push_name(m: &mut Message, kind: &str, name: &str, inside: &str) {
    m.all(&[kind, " `", name, "`"]);
    if !inside.is_empty() {
        m.all(&[" in `", inside, "`"]);
    }
}

/// Names the steps without a limit, and how to limit them.
const fn describe_unbounded(m: &mut Message, causes: &UnboundedCauses<'_>, cost: Cost) {
    let mut seen = [false; REMEDIES.len()];
    let mut i = 0;
    while i < causes.first.len() {
        let Some(cause) = causes.first[i] else { break };
        if i > 0 {
            m.push(if i + 1 == causes.count {
                ", and "
            } else {
                ", "
            });
        }
        seen[push_cause(m, &cause)] = true;
        i += 1;
    }
    if causes.count > causes.first.len() {
        m.push(", and ");
        m.number((causes.count - causes.first.len()) as i128);
        m.push(" more");
    }
    let mut join = "; help: ";
    let mut i = 0;
    while i < REMEDIES.len() {
        if seen[i] {
            m.all(&[join, REMEDIES[i]]);
            if REMEDIES[i].is_empty() {
                m.all(&["leave `", cost.word(), "` out of `#[bounds(...)]`"]);
            }
            join = ", and ";
        }
        i += 1;
    }
}

const REMEDIES: [&str; 9] = [
    "give the agent a `max_turns`, as in `max_turns: 3`",
    "set it in its `META`, as in `.max_turns(Some(3))`",
    "give the loop a `max`, as in `loop(max = 5)`",
    "give the `each` a `max`, as in `each(max = 20)`",
    "give the agent `max_output_tokens`, as in `max_output_tokens: 1000`",
    "give it a `timeout`, as in `timeout: \"30s\"` or `#[agent(timeout = \"30s\")]`",
    "give each tool a `timeout`, as in `#[tool(timeout = \"20s\")]`",
    "limit the time of the whole run, as in `#[bounds(ends, time = \"10m\")]`",
    "",
];

/// Adds the cause of an unbounded worst case to the message. Returns the index of its remedy in
/// [`REMEDIES`]; the last remedy is to remove the demanded bound.
const fn push_cause(m: &mut Message, cause: &UnboundedCause<'_>) -> usize {
    let (kind, fact, remedy) = match cause.why {
        UnboundedReason::Tools => ("agent", " has tools and no `max_turns`", 0),
        UnboundedReason::MoreTools => ("agent", " may be given tools and has no `max_turns`", 0),
        UnboundedReason::Transfer => ("agent", " may transfer and has no `max_turns`", 0),
        UnboundedReason::Typed => (
            "agent",
            " answers with a type that is not `String` and has no `max_turns`",
            0,
        ),
        UnboundedReason::Silent => ("agent", " does not state how often it calls a model", 1),
        UnboundedReason::Loop => ("loop", " has no `max`", 2),
        UnboundedReason::Each => (
            "block",
            " runs once per element of a list and has no `max`",
            3,
        ),
        UnboundedReason::Tokens => ("agent", " has no `max_output_tokens`", 4),
        UnboundedReason::Price => (
            "agent",
            " asks a model whose price or longest answer is not known",
            4,
        ),
        UnboundedReason::Timeout => ("agent", " has no `timeout`", 5),
        UnboundedReason::Wait => ("`await`", " has no `timeout`", 5),
        UnboundedReason::ToolTimeout => ("agent", " has a tool without `timeout`", 6),
        UnboundedReason::OwnCode => (
            "agent",
            " has callbacks or an instruction by a function, which no `timeout` ends",
            7,
        ),
        UnboundedReason::BlockCode => ("block", " has callbacks, which no `timeout` ends", 7),
        UnboundedReason::Agents => (
            "agent",
            " calls agents as tools, as often as its model likes",
            8,
        ),
        UnboundedReason::ToolCalls => ("agent", " calls tools as often as its model likes", 8),
    };
    push_name(m, kind, cause.name, cause.inside);
    m.push(fact);
    remedy
}

/// Returns the reason why a step has no limit, as text.
pub(crate) fn describe_cause(cause: UnboundedCause<'_>) -> String {
    let mut m = Message::new();
    push_cause(&mut m, &cause);
    m.as_str().to_owned()
}

#[cfg(test)]
mod tests;
