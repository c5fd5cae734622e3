//! [`Spec`]: a workflow as a flat list of steps with end markers.

use super::{AgentMeta, Budget, Guards, InputSpec, KeySpec, OnError, SourcePlace};
use std::time::Duration;

/// The description of a whole workflow: `MyWorkflow::SPEC`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Spec<'a> {
    /// The name of the workflow as an agent, in snake case.
    pub name: &'a str,
    /// The doc comment.
    pub description: &'a str,
    /// The inputs, in order.
    pub inputs: &'a [InputSpec<'a>],
    /// Keys with an initial value.
    pub lets: &'a [KeySpec<'a>],
    /// Keys that the session already holds.
    pub states: &'a [KeySpec<'a>],
    /// The outputs, in order.
    pub outputs: &'a [KeySpec<'a>],
    /// The body.
    pub steps: &'a [Step<'a>],
    /// Agents that are declared in the workflow and never placed.
    pub unplaced: &'a [&'a str],
    /// The limits of the cost: `#[bounds(...)]`.
    pub limits: Limits,
    /// The rules about text that strangers wrote: `#[guards(...)]`.
    pub guards: Option<&'a Guards<'a>>,
    /// The name of the type and the place of its definition, if a macro wrote the workflow.
    pub definition: Option<(&'a str, SourcePlace<'a>)>,
    /// Whether builders made the workflow. Messages then use the words of the builders.
    pub(crate) built: bool,
}

/// Limits of the cost of a workflow: `#[bounds(...)]`. The runtime enforces them as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Limits {
    /// The largest number of model calls.
    pub model_calls: Option<u64>,
    /// The largest number of rounds of all loops together.
    pub rounds: Option<u64>,
    /// The largest number of tool calls.
    pub tool_calls: Option<u64>,
    /// The largest number of tokens, of requests and answers together.
    pub tokens: Option<u64>,
    /// The longest time of a run, waits included.
    pub time: Option<Duration>,
    /// Whether the workflow must be known to end.
    pub ends: bool,
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self::new(None, None);

    /// Creates limits of model calls and rounds; `None` is unlimited.
    pub const fn new(model_calls: Option<u64>, rounds: Option<u64>) -> Self {
        Self {
            model_calls,
            rounds,
            tool_calls: None,
            tokens: None,
            time: None,
            ends: false,
        }
    }

    setters! { [const]
        /// Sets the largest number of model calls.
        model_calls(most: u64) = Some(most);
        /// Sets the largest number of rounds of all loops together.
        rounds(most: u64) = Some(most);
        /// Sets the largest number of tool calls.
        tool_calls(most: u64) = Some(most);
        /// Sets the largest number of tokens.
        tokens(most: u64) = Some(most);
        /// Sets the longest time of a run.
        time(longest: Duration) = Some(longest);
        /// Sets whether the workflow must be known to end.
        ends(yes: bool) = yes;
    }
}

impl<'a> Spec<'a> {
    /// Creates a workflow without keys.
    pub const fn new(name: &'a str, description: &'a str, steps: &'a [Step<'a>]) -> Self {
        Self {
            name,
            description,
            inputs: &[],
            lets: &[],
            states: &[],
            outputs: &[],
            steps,
            unplaced: &[],
            limits: Limits::new(None, None),
            guards: None,
            definition: None,
            built: false,
        }
    }

    setters! { [const]
        /// Sets the inputs.
        inputs(inputs: &'a [InputSpec<'a>]) = inputs;
        /// Sets the keys with an initial value.
        lets(keys: &'a [KeySpec<'a>]) = keys;
        /// Sets the keys that the session already holds.
        states(keys: &'a [KeySpec<'a>]) = keys;
        /// Sets the outputs.
        outputs(keys: &'a [KeySpec<'a>]) = keys;
        /// Sets the agents that are declared and never placed.
        unplaced(names: &'a [&'a str]) = names;
        /// Sets the limits of the cost.
        limits(limits: Limits) = limits;
        /// Sets the rules about text that strangers wrote.
        guards(guards: Option<&'a Guards<'a>>) = guards;
    }

    /// Sets the name of the type and the place of its definition.
    #[must_use]
    pub const fn defined(mut self, name: &'a str, place: SourcePlace<'a>) -> Self {
        self.definition = Some((name, place));
        self
    }

    /// Returns whether a step is a stub for an agent that was rejected.
    pub(crate) const fn has_stub(&self) -> bool {
        any!(step in self.steps => {
            matches!(step.kind, StepKind::Agent { meta, .. } if meta.is_stub())
        })
    }

    /// Returns a declared key: the inputs come first, then the keys with an initial value, then the
    /// keys of the session.
    pub(crate) const fn declared_key(&self, i: usize) -> Option<KeySpec<'a>> {
        let (lets, states) = (self.inputs.len(), self.inputs.len() + self.lets.len());
        if i < lets {
            Some(self.inputs[i].key())
        } else if i < states {
            Some(self.lets[i - lets])
        } else if i < self.declared_count() {
            Some(self.states[i - states])
        } else {
            None
        }
    }

    /// Returns the number of declared keys.
    pub(crate) const fn declared_count(&self) -> usize {
        self.inputs.len() + self.lets.len() + self.states.len()
    }

    /// Marks the workflow as made by builders, and not by `workflow!`.
    #[must_use]
    pub const fn built(mut self) -> Self {
        self.built = true;
        self
    }
}

/// A step of a workflow. A block consists of its opening step, the steps inside, and
/// [`StepKind::End`].
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The name of the agent or block: the author of its events and its segment of the path.
    /// Markers, such as [`StepKind::End`], have an empty name.
    pub name: &'a str,
    /// The kind of the step.
    pub kind: StepKind<'a>,
    /// The index of the matching [`StepKind::End`]; the step's own index if the step is not a
    /// block.
    pub end: usize,
    /// The doc comment of a named block.
    pub description: &'a str,
    /// Whether the name is from the source. An unnamed block is called `kind_N`.
    pub named: bool,
    /// The renamed keys of an instance.
    pub renames: Renames<'a>,
    /// The effect of a failed branch or element on its block.
    pub on_error: OnError,
    /// Whether a `before_agent` callback of the block may answer in its place, so that the steps
    /// inside do not run.
    pub skippable: bool,
    /// The budget of the steps of the block, for each execution of the block.
    pub budget: Option<Budget>,
    /// Whether the block has callbacks, whose time is unlimited.
    pub own_code: bool,
}

/// The renamed keys of an instance: `critic(draft = essay) -> essay_criticism`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Renames<'a> {
    /// Renamed reads: the key of the definition, and the key that is read instead.
    pub reads: &'a [(&'a str, &'a str)],
    /// The names of all written keys, in the order of the definition; empty if no written key is
    /// renamed.
    pub writes: &'a [&'a str],
}

impl<'a> Renames<'a> {
    /// No renamed keys.
    pub const NONE: Self = Self::new(&[], &[]);

    /// Creates renamings of reads and writes.
    pub const fn new(reads: &'a [(&'a str, &'a str)], writes: &'a [&'a str]) -> Self {
        Self { reads, writes }
    }
}

/// The treatment of a list with more elements than the `max` of its `each`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Over {
    /// The run fails.
    #[default]
    Fail,
    /// The elements beyond `max` are left out.
    Cut,
}

/// The kind of a step.
#[derive(Clone, Copy, Debug)]
pub enum StepKind<'a> {
    /// Runs an agent.
    Agent {
        /// The description of the agent.
        meta: &'a AgentMeta<'a>,
        /// Whether the agent is placed as an instance, with `as`.
        instance: bool,
    },
    /// Runs its steps in sequence.
    Sequence,
    /// Runs its branches concurrently.
    Parallel {
        /// The largest number of concurrent branches.
        max_concurrency: Option<u32>,
        /// Whether the first finished branch wins, and the others are cancelled.
        first: bool,
    },
    /// A branch of a parallel.
    Branch,
    /// Runs the arm that a key selects.
    Match {
        /// The key.
        key: &'a str,
    },
    /// An arm of a match.
    Arm {
        /// The pattern as the user spelled it, with its guard.
        pattern: &'a str,
    },
    /// Runs its steps once per element of a list, concurrently.
    Each {
        /// The key of the element, which is only visible inside.
        item: &'a str,
        /// The key of the list.
        list: &'a str,
        /// The largest number of elements.
        max: Option<u32>,
        /// The treatment of a longer list.
        over: Over,
        /// The largest number of concurrent elements.
        max_concurrency: Option<u32>,
    },
    /// Repeats its steps.
    Loop {
        /// The largest number of rounds.
        max: Option<u32>,
        /// The `bool` key that ends the loop after a round.
        until: Option<&'a str>,
    },
    /// Repeats its steps when they fail.
    Try(Attempts),
    /// The steps after the last failed attempt of a `try`. It is the last step of the `try`, and is
    /// itself a block.
    Else,
    /// Ends the innermost loop, or the loop with a name.
    Break {
        /// The name of the loop.
        target: Option<&'a str>,
    },
    /// The end of a block.
    End,
}

/// The number and time of a `try`'s attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Attempts {
    /// The largest number of attempts. The default is 3.
    pub most: u32,
    /// The longest time of one attempt. The default is unlimited.
    pub timeout: Option<Duration>,
    /// The wait before the second attempt. Each later attempt waits twice as long as the previous
    /// one. By default, attempts do not wait.
    pub delay: Option<Duration>,
    /// Whether any error causes another attempt, and not only a transient one.
    pub all: bool,
}

impl Attempts {
    /// Creates attempts without waits and time limits, which end with the first permanent error.
    pub const fn new(most: Option<u32>) -> Self {
        let most = match most {
            Some(most) => most,
            None => 3,
        };
        Self {
            most,
            timeout: None,
            delay: None,
            all: false,
        }
    }

    setters! { [const]
        /// Sets the longest time of one attempt.
        timeout(timeout: Duration) = Some(timeout);
        /// Sets the wait before the second attempt.
        delay(delay: Duration) = Some(delay);
    }

    /// Returns the total wait before all further attempts, in milliseconds.
    pub(crate) const fn waits(&self) -> u64 {
        let first = match self.delay {
            Some(delay) => delay.as_millis() as u64,
            None => 0,
        };
        match 1_u64.checked_shl(self.most.saturating_sub(1)) {
            Some(times) => first.saturating_mul(times - 1),
            None if first == 0 => 0,
            None => u64::MAX,
        }
    }

    /// Makes any error cause another attempt.
    #[must_use]
    pub const fn all(mut self) -> Self {
        self.all = true;
        self
    }
}

/// The key of the error in the `else` of a `try`: a `String`.
pub const ERROR_KEY: &str = "error";

impl<'a> Step<'a> {
    /// Creates a step. `end` is the index of the step, or, for a block, the index of its end.
    pub const fn new(name: &'a str, kind: StepKind<'a>, end: usize) -> Self {
        let named = !name.is_empty();
        Self {
            name,
            kind,
            end,
            description: "",
            named,
            renames: Renames::NONE,
            on_error: OnError::Fail,
            skippable: false,
            budget: None,
            own_code: false,
        }
    }

    /// Creates a step that runs an agent.
    pub const fn agent(name: &'a str, meta: &'a AgentMeta<'a>, instance: bool, at: usize) -> Self {
        Self::new(name, StepKind::Agent { meta, instance }, at)
    }

    setters! { [const]
        /// Sets the description of the block.
        description(description: &'a str) = description;
        /// Sets the renamed keys of an instance.
        renames(renames: Renames<'a>) = renames;
        /// Sets the effect of a failed branch or element on the block.
        on_error(on_error: OnError) = on_error;
        /// Sets whether a `before_agent` callback of the block may answer in its place. Writes
        /// inside such a block are not certain.
        skippable(yes: bool) = yes;
        /// Sets whether the block has callbacks.
        own_code(yes: bool) = yes;
        /// Sets the budget of the steps of the block, for each execution of the block.
        budget(budget: Budget) = Some(budget);
    }

    /// Returns whether writes in a parallel block are not certain after it, because a branch may
    /// fail.
    pub(crate) const fn skips_branches(&self) -> bool {
        matches!(self.kind, StepKind::Parallel { .. }) && self.on_error.skips()
    }

    /// Marks the name as generated. Generated names are exempt from `name-duplicate` across
    /// workflows.
    #[must_use]
    pub const fn unnamed(mut self) -> Self {
        self.named = false;
        self
    }
}
