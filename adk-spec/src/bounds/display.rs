//! [`Bounds`] as a table.

use super::{Bounds, BoundsCursor, Cost, ShareKind, UnboundedCauses, total};
use crate::check::bounds::describe_cause;
use std::fmt::{self, Write as _};
use std::time::Duration;

/// Writes a table: a line for each number, with the step that contributes most to it or has no
/// limit, and whether a run is known to end.
///
/// ```
/// # use adk_spec as adk;
/// use adk::spec::{AgentKind, AgentMeta, Spec, Step, StepKind};
/// # use std::time::Duration;
/// const CRITIC: AgentMeta<'static> =
///     AgentMeta::new(AgentKind::Llm, "critic").timeout(Duration::from_secs(30));
/// let steps = [
///     Step::new("refinement", StepKind::Loop { max: Some(5), until: None }, 2),
///     Step::new("critic", StepKind::Agent { meta: &CRITIC, instance: false }, 1),
///     Step::new("", StepKind::End, 2),
/// ];
/// assert_eq!(Spec::new("writing", "", &steps).bounds().to_string(), "\
/// model calls  5          loop `refinement`: 5, 1 in each of 5 rounds
/// rounds       5          loop `refinement`: 5, 1 in each of 5 rounds
/// tool calls   0
/// tokens       unbounded  agent `critic` has no `max_output_tokens`
/// time         2 min 30 s loop `refinement`: 2 min 30 s, 30 s in each of 5 rounds
/// ends         at most 5 calls, 2 min 30 s");
/// ```
impl fmt::Display for Bounds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut without = None;
        for cost in Cost::ALL {
            let mut causes = UnboundedCauses::new();
            let sum = total(BoundsCursor::start(self.steps), cost, &mut causes);
            let name = match cost {
                Cost::Time => "time".to_owned(),
                _ => cost.word().replace('_', " "),
            };
            let most = sum.costs.get(cost);
            let mut why = String::new();
            let part = sum.largest;
            if most.is_none() {
                why = causes.first[0]
                    .map_or_else(|| "a loop that nothing ends".to_owned(), describe_cause);
                if !matches!(cost, Cost::ToolCalls | Cost::Tokens) {
                    without = without.or(Some(why.clone()));
                }
            } else if part.total > 0 {
                write!(
                    why,
                    "{} `{}`: {}",
                    part.kind.word(),
                    part.name,
                    to_text(cost, part.total)
                )?;
                if let (
                    ShareKind::Loop(_, each) | ShareKind::Each(_, each) | ShareKind::Try(_, each),
                    Some(parts),
                ) = (part.kind, part.kind.parts())
                {
                    let (preposition, max, parts) = parts;
                    write!(
                        why,
                        ", {} {preposition} each of {max} {parts}",
                        to_text(cost, each)
                    )?;
                }
            }
            let most = most.map_or_else(|| "unbounded".to_owned(), |most| to_text(cost, most));
            writeln!(f, "{}", format!("{name:<12} {most:<10} {why}").trim_end())?;
        }
        match (without, self.model_calls, self.time) {
            (None, Some(calls), Some(time)) => {
                let s = if calls == 1 { "" } else { "s" };
                write!(
                    f,
                    "ends         at most {calls} call{s}, {}",
                    to_duration_text(time)
                )
            }
            (why, ..) => write!(f, "ends         not known: {}", why.unwrap_or_default()),
        }
    }
}

fn to_text(cost: Cost, amount: u64) -> String {
    match cost {
        Cost::Time => to_duration_text(Duration::from_millis(amount)),
        _ => amount.to_string(),
    }
}

/// Formats a duration in its two largest units: `72 h 14 min`.
fn to_duration_text(time: Duration) -> String {
    let millis = super::millis(time);
    let units = [(3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms")];
    let mut rest = millis;
    let mut parts = Vec::new();
    for (size, unit) in units {
        if rest >= size && parts.len() < 2 {
            parts.push(format!("{} {unit}", rest / size));
            rest %= size;
        }
    }
    if parts.is_empty() {
        "0 s".to_owned()
    } else {
        parts.join(" ")
    }
}

impl fmt::Debug for Bounds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounds")
            .field("rounds", &self.rounds)
            .field("model_calls", &self.model_calls)
            .field("tool_calls", &self.tool_calls)
            .field("tokens", &self.tokens)
            .field("time", &self.time)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Bounds<'_> {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |bounds: &Self| {
            (
                bounds.rounds,
                bounds.model_calls,
                bounds.tool_calls,
                bounds.tokens,
                bounds.time,
            )
        };
        numbers(self) == numbers(other)
    }
}

impl Eq for Bounds<'_> {}
