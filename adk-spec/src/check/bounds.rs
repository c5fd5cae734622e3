//! `bounds-exceeded`: what it says, and whom it names.

use crate::bounds::{Cause, Causes, Cost, Kind, Part, Place, Sum, Why, total};
use crate::check::Check;
use crate::message::Message;
use crate::spec::Spec;

/// Ends const evaluation when a workflow may cost more than its `#[bounds(...)]` allows: more model calls, or, at the place
/// of those, more rounds. A workflow that is `faulty` by itself is not reported: its cost depends on its faults.
#[track_caller]
pub const fn raise_bounds(spec: &Spec<'_>, rounds: bool, faulty: bool) {
    if !faulty
        && let Some((message, of_rounds)) = find(spec)
        && of_rounds == rounds
    {
        panic!("{}", message.as_str());
    }
}

/// What is wrong with the worst case of a workflow.
pub(super) const fn describe(spec: &Spec<'_>) -> Option<Message> {
    match find(spec) {
        Some((message, _)) => Some(message),
        None => None,
    }
}

/// One message, for model calls before rounds, and whether it is about rounds.
const fn find(spec: &Spec<'_>) -> Option<(Message, bool)> {
    if spec.has_stub() {
        return None;
    }
    if let Some(message) = exceeded(spec, spec.limits.model_calls, Cost::ModelCalls) {
        return Some((message, false));
    }
    match exceeded(spec, spec.limits.rounds, Cost::Rounds) {
        Some(message) => Some((message, true)),
        None => None,
    }
}

const fn exceeded(spec: &Spec<'_>, allowed: Option<u64>, cost: Cost) -> Option<Message> {
    let Some(allowed) = allowed else { return None };
    let mut causes = Causes::new();
    let Sum { bounds, largest, .. } = total(Place::start(spec.steps), cost, &mut causes);
    let mut m = Message::new();
    m.begin(Check::BoundsExceeded);
    match cost.of(bounds) {
        Some(worst) if worst <= allowed => return None,
        Some(worst) => {
            m.push("the worst case of this workflow is ");
            m.push(if worst == u64::MAX { "more than " } else { "" });
            amount(&mut m, if worst == u64::MAX { worst - 1 } else { worst }, cost);
            m.push(", and it allows ");
            m.number(allowed as i128);
            finite(&mut m, worst, allowed, &largest, cost);
        }
        // `loop-endless` reports the loop without end.
        None if causes.count == 0 => return None,
        None => {
            m.push("the worst case of this workflow is unbounded, and it allows ");
            amount(&mut m, allowed, cost);
            m.push(": ");
            unbounded(&mut m, &causes, cost);
        }
    }
    Some(m)
}

const fn word(cost: Cost) -> &'static str {
    match cost {
        Cost::ModelCalls => "model_calls",
        Cost::Rounds => "rounds",
    }
}

const fn amount(m: &mut Message, number: u64, cost: Cost) {
    m.number(number as i128);
    m.push(match cost {
        Cost::ModelCalls => " model call",
        Cost::Rounds => " round",
    });
    m.push(if number == 1 { "" } else { "s" });
    if let Cost::Rounds = cost {
        m.push(" of its loops");
    }
}

/// Names the step that has the largest part in a cost, and what to write so that it fits.
const fn finite(m: &mut Message, worst: u64, allowed: u64, largest: &Part<'_>, cost: Cost) {
    let (kind, setting, each) = match largest.kind {
        Kind::Agent => ("agent", "max_turns", 1),
        Kind::Loop(_, each) => ("loop", "max", each),
        Kind::Each(_, each) => ("block", "max", each),
        Kind::Try(_, each) => ("try", "attempts", each),
        Kind::Workflow => ("workflow", "", 1),
        Kind::Block => ("block", "", 1),
    };
    let fewer = match cost {
        Cost::ModelCalls => "place fewer agents that ask a model",
        Cost::Rounds => "place fewer loops",
    };
    if largest.total == u64::MAX {
        m.push(": ");
        named(m, kind, largest.name, largest.inside);
        m.all(&[
            " makes more than anybody can count; help: lower its `",
            setting,
            "` and those of the loops in it",
        ]);
    } else if largest.total > 1 {
        m.push(": ");
        named(m, kind, largest.name, largest.inside);
        m.push(" makes up to ");
        m.number(largest.total as i128);
        m.push(" of them");
        let parts = match largest.kind {
            Kind::Loop(max, each) => Some((max, each, (" in each of ", " rounds"))),
            Kind::Each(max, each) => Some((max, each, (" for each of ", " elements"))),
            Kind::Try(max, each) => Some((max, each, (" in each of ", " attempts"))),
            Kind::Agent | Kind::Workflow | Kind::Block => None,
        };
        if let Some((max, each, (of, parts))) = parts {
            m.push(", ");
            m.number(each as i128);
            m.push(of);
            m.number(max as i128);
            m.push(parts);
        }
        if setting.is_empty() {
            m.all(&["; help: ", fewer, " in it"]);
        } else {
            let left = allowed.saturating_sub(worst - largest.total) / each;
            m.all(&["; help: lower its `", setting, "`"]);
            if left > 0 {
                m.push(" to ");
                m.number(left as i128);
            }
        }
    } else {
        m.push(match cost {
            Cost::ModelCalls => ", one for each agent that asks a model; help: ",
            Cost::Rounds => ", one for each loop; help: ",
        });
        m.push(fewer);
    }
    if worst == u64::MAX {
        // So many that they were not counted to the end.
        return;
    }
    m.all(&[", or write `#[bounds(", word(cost), " = "]);
    m.number(worst as i128);
    m.push(")]`");
}

const fn named(m: &mut Message, kind: &str, name: &str, inside: &str) {
    m.all(&[kind, " `", name, "`"]);
    if !inside.is_empty() {
        m.all(&[" in `", inside, "`"]);
    }
}

/// Names what has no end, and what to write so that it has one.
const fn unbounded(m: &mut Message, causes: &Causes<'_>, cost: Cost) {
    let (mut turns, mut silent, mut max, mut each, mut agents) = (false, false, false, false, false);
    let mut i = 0;
    while i < causes.first.len() {
        let Some(Cause { name, inside, why }) = causes.first[i] else { break };
        if i > 0 {
            m.push(if i + 1 == causes.count { ", and " } else { ", " });
        }
        let (kind, fact, seen) = match why {
            Why::Tools => ("agent", " has tools and no `max_turns`", &mut turns),
            Why::MoreTools => ("agent", " may be given tools and has no `max_turns`", &mut turns),
            Why::Transfer => ("agent", " may transfer and has no `max_turns`", &mut turns),
            Why::Typed => {
                ("agent", " answers with a type that is not `String` and has no `max_turns`", &mut turns)
            }
            Why::Agents => ("agent", " calls agents as tools, as often as its model likes", &mut agents),
            Why::Silent => ("agent", " does not say how often it calls a model", &mut silent),
            Why::Loop => ("loop", " has no `max`", &mut max),
            Why::Each => ("block", " runs once per element of a list and has no `max`", &mut each),
        };
        *seen = true;
        named(m, kind, name, inside);
        m.push(fact);
        i += 1;
    }
    if causes.count > causes.first.len() {
        m.push(", and ");
        m.number((causes.count - causes.first.len()) as i128);
        m.push(" more");
    }
    let mut join = "; help: ";
    let remedies = [
        (turns, "give the agent a `max_turns`, as in `max_turns: 3`"),
        (silent, "say it in its `META`, as in `.max_turns(Some(3))`"),
        (max, "give the loop a `max`, as in `loop(max = 5)`"),
        (each, "give the `each` a `max`, as in `each(max = 20)`"),
    ];
    let mut i = 0;
    while i < remedies.len() {
        if remedies[i].0 {
            m.all(&[join, remedies[i].1]);
            join = ", and ";
        }
        i += 1;
    }
    if agents {
        m.all(&[join, "leave `", word(cost), "` out of `#[bounds(...)]`"]);
    }
}

#[cfg(test)]
mod tests;
