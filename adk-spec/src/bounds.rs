//! What a workflow costs at most.
//!
//! One pass over the flat list of steps, with a stack of the blocks that matter: no recursion over blocks or nested
//! workflows, since const evaluation allows 128 calls within each other.

mod display;
mod sum;
mod walk;

use crate::spec::{AgentMeta, Limits, Spec, Step};
use crate::text::same;
use std::time::Duration;
pub(crate) use sum::{CostShare, ShareKind, Sum};
pub(crate) use walk::{BoundsCursor, total};

/// The most that one run of a workflow may do. Shown, it is a table with the step that contributes most to each number, and
/// whether the run is known to end.
#[derive(Clone, Copy, serde::Serialize)]
#[non_exhaustive]
pub struct Bounds<'a> {
    /// Rounds of all loops together; `None` is unbounded.
    pub rounds: Option<u64>,
    /// Model calls, retries not counted; `None` is unbounded.
    pub model_calls: Option<u64>,
    /// Calls of tools: 0 without tools, otherwise unbounded, since one reply of a model may hold any number.
    pub tool_calls: Option<u64>,
    /// Tokens of answers: model calls times `max_output_tokens`; `None` where that is not known.
    pub tokens: Option<u64>,
    /// The time of all calls and waits, by their `timeout`s; `None` where one has none.
    pub time: Option<Duration>,
    #[serde(skip)]
    steps: &'a [Step<'a>],
}

impl<'a> Spec<'a> {
    /// The worst case of a run: how many rounds its loops make and how often models are called.
    ///
    /// An agent that asks a model counts one call, or its `max_turns` when it has tools, may be given some (`tools: [..]`) or may
    /// transfer, since these take further calls; one that answers with another type than `String` counts its
    /// `answer_attempts`. What it may transfer to is counted as well, each
    /// with its `max_turns`, or with one call where nothing but being handed over to makes it ask again. An
    /// `impl Agent` by hand counts the `max_turns` of its description. Steps add up, whether one after the other or at
    /// the same time; a `match` counts as its worst arm; a loop or an `each` as its `max` times its steps; a `try` as its
    /// attempts times its steps, and its `else`. Without `max` neither loop nor `each` has a bound, whether a loop has `until`
    /// or not, unless there is nothing to count.
    /// An agent with `compact` counts a summary before each of its calls, at the price of its own model.
    /// Retries do not count, nor does what another model is asked by `fallback`, or what is asked again since the model called a
    /// tool that is not there.
    /// Where agents are tools of another, the number is not known: a model calls them as often as it likes.
    ///
    /// Tokens and time are known where the parts say enough: `max_output_tokens`, and the `timeout` of each call, tool, function
    /// and `await` (written as texts such as `"30s"`). What runs at the same time counts as the longest of it, unless
    /// `max_concurrency` limits that.
    ///
    /// It is a `const fn`, so a test may be an assertion that the compiler evaluates:
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
    /// With `#[bounds(model_calls = 10)]` on it, a workflow whose worst case is greater does not compile.
    #[must_use]
    pub const fn bounds(&self) -> Bounds<'a> {
        let costs =
            total(BoundsCursor::start(self.steps), Cost::ModelCalls, &mut UnboundedCauses::new()).costs;
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

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Calls of models.
    ModelCalls,
    /// Rounds of loops.
    Rounds,
    /// Calls of tools.
    ToolCalls,
    /// Tokens: of answers where it is computed, all of them where it is counted.
    Tokens,
    /// Milliseconds.
    Time,
}

impl Cost {
    /// All of them, in the order in which they are checked.
    pub const ALL: [Self; 5] = [Self::ModelCalls, Self::Rounds, Self::ToolCalls, Self::Tokens, Self::Time];

    /// The argument of `#[bounds(...)]`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ModelCalls => "model_calls",
            Self::Rounds => "rounds",
            Self::ToolCalls => "tool_calls",
            Self::Tokens => "tokens",
            Self::Time => "time",
        }
    }

    /// What is counted, one of it.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::ModelCalls => "model call",
            Self::Rounds => "round",
            Self::ToolCalls => "tool call",
            Self::Tokens => "token",
            Self::Time => "millisecond",
        }
    }

    /// The most that is allowed.
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

/// The milliseconds of a length of time; what does not fit is the most.
pub(crate) const fn millis(time: Duration) -> u64 {
    let millis = time.as_millis();
    if millis > u64::MAX as u128 { u64::MAX } else { millis as u64 }
}

/// What makes a workflow cost without end: the first few, and how many there are.
pub(crate) struct UnboundedCauses<'a> {
    pub(crate) first: [Option<UnboundedCause<'a>>; 3],
    pub(crate) count: usize,
    /// What `tokens` counts.
    pub(crate) unit: AnswerUnit<'a>,
    /// An agent that calls agents as tools counts its own turns: how many calls the others make is not known.
    pub(crate) known_calls: bool,
}

/// What an answer is counted by.
#[derive(Clone, Copy)]
pub(crate) enum AnswerUnit<'a> {
    /// Its longest number of tokens.
    Tokens,
    /// What the whole call costs at most, of these models; the last one is for agents that name none.
    Money(&'a [ModelPrice<'a>]),
}

/// The most that a call of a model costs.
#[derive(Clone, Copy)]
pub(crate) struct ModelPrice<'a> {
    pub(crate) model: &'a str,
    /// Its longest request.
    pub(crate) prompt: Option<u64>,
    /// A token of its answer.
    pub(crate) token: u64,
    /// The most tokens of its answer.
    pub(crate) longest: Option<u64>,
}

impl AnswerUnit<'_> {
    /// The most for one call of an agent.
    const fn call_cost(&self, meta: &AgentMeta<'_>) -> Option<u64> {
        let own = match meta.max_output_tokens {
            Some(tokens) => Some(tokens as u64),
            None => None,
        };
        let AnswerUnit::Money(mut prices) = *self else { return own };
        while let [price, rest @ ..] = prices {
            if rest.is_empty() || same(price.model, meta.model) {
                let longest = if own.is_some() { own } else { price.longest };
                let (Some(prompt), Some(longest)) = (price.prompt, longest) else { return None };
                return Some(prompt.saturating_add(longest.saturating_mul(price.token)));
            }
            prices = rest;
        }
        None
    }

    /// Why it is not known.
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
    /// The nested workflow around it, if any.
    pub(crate) inside: &'a str,
    pub(crate) why: UnboundedReason,
}

#[derive(Clone, Copy)]
pub(crate) enum UnboundedReason {
    /// An agent with tools and without `max_turns`; the next three are without it, too.
    Tools,
    /// Tools may be added to it at run time.
    MoreTools,
    Transfer,
    /// It answers with another type than text.
    Typed,
    /// Agents are among its tools.
    Agents,
    /// Its description does not say how often it asks a model.
    Silent,
    /// It may call its tools as often as its model likes.
    ToolCalls,
    /// It has no `max_output_tokens`.
    Tokens,
    /// There is no price for its model, or the most tokens of that are not known.
    Price,
    /// It has no `timeout`.
    Timeout,
    /// It has a tool without `timeout`, or one that may be anything.
    ToolTimeout,
    /// Callbacks, or functions that make its instruction, run in its turns.
    OwnCode,
    /// The same of a block.
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
        Self { first: [None; 3], count: 0, unit, known_calls: false }
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
