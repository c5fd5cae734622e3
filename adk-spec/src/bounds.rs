//! [`Bounds`]: the worst case of a workflow.
//!
//! One pass goes over the flat list of steps, with a stack of the open blocks. It does not recurse
//! into blocks or nested workflows, because const evaluation limits calls to a depth of 128.

mod display;
mod sum;
mod walk;

use crate::spec::{AgentMeta, Limits, Spec, Step};
use crate::text::same;
use std::time::Duration;
pub(crate) use sum::{CostShare, ShareKind, Sum};
pub(crate) use walk::{BoundsCursor, total};

/// The worst case of one run of a workflow.
///
/// `Display` writes a table with the step that contributes most to each number, and with a line
/// that says whether the run is known to end.
#[derive(Clone, Copy, serde::Serialize)]
#[non_exhaustive]
pub struct Bounds<'a> {
    /// Rounds of all loops together; `None` is unbounded.
    pub rounds: Option<u64>,
    /// Model calls without retries; `None` is unbounded.
    pub model_calls: Option<u64>,
    /// Calls of tools: 0 without tools, otherwise unbounded, because one reply of a model may
    /// contain any number of calls.
    pub tool_calls: Option<u64>,
    /// Tokens of answers: model calls times `max_output_tokens`; `None` if an agent has no such
    /// limit.
    pub tokens: Option<u64>,
    /// The time of all calls and waits, by their `timeout`s; `None` if one of them has no timeout.
    pub time: Option<Duration>,
    #[serde(skip)]
    steps: &'a [Step<'a>],
}

impl<'a> Spec<'a> {
    /// Returns the worst case of a run, such as the number of rounds and of model calls.
    ///
    /// An LLM agent counts as one model call. An agent that has tools, may get tools at run time
    /// (`tools: [..]`) or may transfer makes further calls, and counts its `max_turns`. An agent
    /// that answers with another type than `String` counts its `answer_attempts`. Transfer targets
    /// count too, each with its `max_turns`, or with one call if only a handover makes the target
    /// ask its model again. An `impl Agent` by hand counts the `max_turns` of its description. An
    /// agent with `compact` also counts a summary before each of its calls, at the price of its own
    /// model.
    ///
    /// Steps add up, in sequence or in parallel. A `match` counts as its worst arm, a loop or an
    /// `each` as its `max` times its steps, and a `try` as its attempts times its steps, plus its
    /// `else`. Without `max`, a loop (with or without `until`) and an `each` are unbounded, unless
    /// their steps cost nothing.
    ///
    /// Retries, calls of a `fallback` model and repeated calls after a call of an unknown tool do
    /// not count. If an agent uses agents as tools, the number is unknown, because its model
    /// decides how often it calls them.
    ///
    /// Tokens and time are known if all parts state them: `max_output_tokens`, and the `timeout` of
    /// each call, tool, function and `await` (as texts such as `"30s"`). Concurrent steps count
    /// with the longest time among them, unless `max_concurrency` limits the concurrency.
    ///
    /// The method is a `const fn`, so the compiler can evaluate an assertion about it:
    ///
    /// ```
    /// # use adk_spec as adk;
    /// use adk::spec::{AgentKind, AgentMeta, Spec, Step, StepKind};
    /// const CRITIC: AgentMeta<'static> = AgentMeta::new(AgentKind::Llm, "critic");
    /// const STEPS: &[Step<'static>] = &[
    ///     Step::new("refinement", StepKind::Loop { max: Some(5), until: None }, 2),
    ///     Step::new("critic", StepKind::Agent { meta: &CRITIC, instance: false }, 1),
    ///     Step::new("", StepKind::End, 2),
    /// ];
    /// const SPEC: Spec<'static> = Spec::new("writing", "", STEPS);
    /// const _: () = assert!(matches!(SPEC.bounds().model_calls, Some(0..=10)));
    /// assert_eq!(SPEC.bounds().rounds, Some(5));
    /// ```
    ///
    /// A workflow with `#[bounds(model_calls = 10)]` does not compile if its worst case is greater.
    #[must_use]
    pub const fn bounds(&self) -> Bounds<'a> {
        let costs = total(
            BoundsCursor::start(self.steps),
            Cost::ModelCalls,
            &mut UnboundedCauses::new(),
        )
        .costs;
        Bounds {
            rounds: costs.get(Cost::Rounds),
            model_calls: costs.get(Cost::ModelCalls),
            tool_calls: costs.get(Cost::ToolCalls),
            tokens: costs.get(Cost::Tokens),
            time: match costs.get(Cost::Time) {
                Some(millis) => Some(Duration::from_millis(millis)),
                None => None,
            },
            steps: self.steps,
        }
    }
}

/// A quantity that bounds limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Calls of models.
    ModelCalls,
    /// Rounds of loops.
    Rounds,
    /// Calls of tools.
    ToolCalls,
    /// Tokens. The worst case counts only the tokens of answers; the run time also counts the
    /// tokens of requests.
    Tokens,
    /// Milliseconds.
    Time,
}

impl Cost {
    /// All quantities, in the order in which they are checked.
    pub const ALL: [Self; 5] = [
        Self::ModelCalls,
        Self::Rounds,
        Self::ToolCalls,
        Self::Tokens,
        Self::Time,
    ];

    /// Returns the argument of `#[bounds(...)]`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ModelCalls => "model_calls",
            Self::Rounds => "rounds",
            Self::ToolCalls => "tool_calls",
            Self::Tokens => "tokens",
            Self::Time => "time",
        }
    }

    /// Returns the name of one unit.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::ModelCalls => "model call",
            Self::Rounds => "round",
            Self::ToolCalls => "tool call",
            Self::Tokens => "token",
            Self::Time => "millisecond",
        }
    }

    /// Returns the limit of this quantity in `limits`, if there is one.
    pub const fn allowed(self, limits: &Limits) -> Option<u64> {
        match self {
            Self::ModelCalls => limits.model_calls,
            Self::Rounds => limits.rounds,
            Self::ToolCalls => limits.tool_calls,
            Self::Tokens => limits.tokens,
            Self::Time => match limits.time {
                Some(time) => Some(millis(time)),
                None => None,
            },
        }
    }
}

/// Converts a duration to milliseconds, at most `u64::MAX`.
pub(crate) const fn millis(time: Duration) -> u64 {
    let millis = time.as_millis();
    if millis > u64::MAX as u128 {
        u64::MAX
    } else {
        millis as u64
    }
}

/// The steps that make a cost unbounded: the first three, and the number of all.
pub(crate) struct UnboundedCauses<'a> {
    pub(crate) first: [Option<UnboundedCause<'a>>; 3],
    pub(crate) count: usize,
    /// The unit in which [`Cost::Tokens`] is counted.
    pub(crate) unit: AnswerUnit<'a>,
    /// Whether an agent that calls agents as tools counts with its own model calls. If not, its
    /// cost is unbounded, because the number of calls that the other agents make is unknown.
    pub(crate) known_calls: bool,
}

/// The unit in which the cost of a model call is counted.
#[derive(Clone, Copy)]
pub(crate) enum AnswerUnit<'a> {
    /// Tokens of the answer: at most `max_output_tokens`.
    Tokens,
    /// Money: the prices of the models. The last entry is for agents that name no model.
    Money(&'a [ModelPrice<'a>]),
}

/// The largest price of a call of a model.
#[derive(Clone, Copy)]
pub(crate) struct ModelPrice<'a> {
    pub(crate) model: &'a str,
    /// The price of the longest request.
    pub(crate) prompt: Option<u64>,
    /// The price of one token of the answer.
    pub(crate) token: u64,
    /// The largest number of tokens of the answer.
    pub(crate) longest: Option<u64>,
}

impl AnswerUnit<'_> {
    /// Returns the largest cost of one call of an agent.
    const fn call_cost(&self, meta: &AgentMeta<'_>) -> Option<u64> {
        let own = match meta.max_output_tokens {
            Some(tokens) => Some(tokens as u64),
            None => None,
        };
        let AnswerUnit::Money(mut prices) = *self else {
            return own;
        };
        while let [price, rest @ ..] = prices {
            if rest.is_empty() || same(price.model, meta.model) {
                let longest = if own.is_some() { own } else { price.longest };
                let (Some(prompt), Some(longest)) = (price.prompt, longest) else {
                    return None;
                };
                return Some(prompt.saturating_add(longest.saturating_mul(price.token)));
            }
            prices = rest;
        }
        None
    }

    /// Returns the reason why the cost of a call is unknown.
    const fn unknown_reason(&self) -> UnboundedReason {
        match self {
            AnswerUnit::Tokens => UnboundedReason::Tokens,
            AnswerUnit::Money(_) => UnboundedReason::Price,
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct UnboundedCause<'a> {
    pub(crate) name: &'a str,
    /// The nested workflow around the step, if any.
    pub(crate) inside: &'a str,
    pub(crate) why: UnboundedReason,
}

#[derive(Clone, Copy)]
pub(crate) enum UnboundedReason {
    /// An agent with tools and without `max_turns`. The agents of the next three variants have no
    /// `max_turns` either.
    Tools,
    /// Tools may be added to the agent at run time.
    MoreTools,
    Transfer,
    /// The agent answers with another type than text.
    Typed,
    /// The agent uses agents as tools.
    Agents,
    /// The description does not state how often the agent calls a model.
    Silent,
    /// The model decides how often it calls tools.
    ToolCalls,
    /// The agent has no `max_output_tokens`.
    Tokens,
    /// The price of the agent's model, or the length of the model's longest answer, is unknown.
    Price,
    /// The agent has no `timeout`.
    Timeout,
    /// The agent has a tool without `timeout`, or may get tools at run time.
    ToolTimeout,
    /// Callbacks, or functions that make the instruction, run in the agent's turns.
    OwnCode,
    /// The block has callbacks.
    BlockCode,
    /// An `await` without `timeout`.
    Wait,
    /// A loop without `max`.
    Loop,
    /// An `each` without `max`.
    Each,
}

impl<'a> UnboundedCauses<'a> {
    pub(crate) const fn new() -> Self {
        Self::with_unit(AnswerUnit::Tokens)
    }

    pub(crate) const fn with_unit(unit: AnswerUnit<'a>) -> Self {
        Self {
            first: [None; 3],
            count: 0,
            unit,
            known_calls: false,
        }
    }

    pub(crate) const fn add(&mut self, cause: UnboundedCause<'a>) {
        if self.count < self.first.len() {
            self.first[self.count] = Some(cause);
        }
        self.count += 1;
    }
}

#[cfg(test)]
pub(crate) mod tests;
