//! What a workflow costs at most.
//!
//! One pass over the flat list of steps, with a stack of the blocks that matter: no recursion over blocks or nested
//! workflows, since const evaluation allows 128 calls within each other.

mod sum;
mod walk;

use crate::spec::Spec;
pub(crate) use sum::{Kind, Part, Sum};
pub(crate) use walk::{Place, total};

/// The most that one run of a workflow may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Bounds {
    /// Rounds of all loops together; `None` is unbounded.
    pub rounds: Option<u64>,
    /// Model calls, retries not counted; `None` is unbounded.
    pub model_calls: Option<u64>,
}

impl Bounds {
    pub(crate) const NOTHING: Self = Self { rounds: Some(0), model_calls: Some(0) };
}

impl Spec<'_> {
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
    /// Retries do not count, nor does what is asked again since the model called a tool that is not there.
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
    pub const fn bounds(&self) -> Bounds {
        total(Place::start(self.steps), Cost::ModelCalls, &mut Causes::new()).bounds
    }
}

/// What is limited.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cost {
    ModelCalls,
    Rounds,
}

impl Cost {
    pub(crate) const fn of(self, bounds: Bounds) -> Option<u64> {
        match self {
            Self::ModelCalls => bounds.model_calls,
            Self::Rounds => bounds.rounds,
        }
    }
}

/// What makes a workflow cost without end: the first few, and how many there are.
pub(crate) struct Causes<'a> {
    pub(crate) first: [Option<Cause<'a>>; 3],
    pub(crate) count: usize,
}

#[derive(Clone, Copy)]
pub(crate) struct Cause<'a> {
    pub(crate) name: &'a str,
    /// The nested workflow around it, if any.
    pub(crate) inside: &'a str,
    pub(crate) why: Why,
}

#[derive(Clone, Copy)]
pub(crate) enum Why {
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
    /// A loop without `max`.
    Loop,
    /// An `each` without `max`.
    Each,
}

impl<'a> Causes<'a> {
    pub(crate) const fn new() -> Self {
        Self { first: [None; 3], count: 0 }
    }

    pub(crate) const fn add(&mut self, cause: Cause<'a>) {
        if self.count < self.first.len() {
            self.first[self.count] = Some(cause);
        }
        self.count += 1;
    }
}

#[cfg(test)]
pub(crate) mod tests;
