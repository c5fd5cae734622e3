//! A workflow as a flat list of steps with end markers.

use super::{AgentMeta, Budget, InputSpec, KeySpec};
use std::time::Duration;

/// The whole of a workflow: `MyWorkflow::SPEC`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Spec<'a> {
    /// The name of the workflow as an agent, in snake case.
    pub name: &'a str,
    /// Its doc comment.
    pub description: &'a str,
    /// What it takes, in order.
    pub inputs: &'a [InputSpec<'a>],
    /// Keys with an initial value.
    pub lets: &'a [KeySpec<'a>],
    /// Keys that the session already holds.
    pub states: &'a [KeySpec<'a>],
    /// What it gives, in order.
    pub outputs: &'a [KeySpec<'a>],
    /// Its body.
    pub steps: &'a [Step<'a>],
    /// Agents that are declared in it and never placed.
    pub unplaced: &'a [&'a str],
    /// What its author allows it to cost: `#[bounds(...)]`.
    pub limits: Limits,
    /// It was made by builders: what is said of it is said in their words.
    pub(crate) built: bool,
}

/// What a workflow may cost at most: `#[bounds(...)]`. It is held while the workflow runs as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Limits {
    /// The most model calls.
    pub model_calls: Option<u64>,
    /// The most rounds of all loops together.
    pub rounds: Option<u64>,
    /// The most calls of tools.
    pub tool_calls: Option<u64>,
    /// The most tokens, of requests and answers together.
    pub tokens: Option<u64>,
    /// The longest that it may take, waits included.
    pub time: Option<Duration>,
    /// Whether it has to be known that it ends.
    pub ends: bool,
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self::new(None, None);

    /// Limits of model calls and rounds; `None` is no limit.
    pub const fn new(model_calls: Option<u64>, rounds: Option<u64>) -> Self {
        Self { model_calls, rounds, tool_calls: None, tokens: None, time: None, ends: false }
    }

    setters! { [const]
        /// The most model calls.
        model_calls(most: u64) = Some(most);
        /// The most rounds of all loops together.
        rounds(most: u64) = Some(most);
        /// The most calls of tools.
        tool_calls(most: u64) = Some(most);
        /// The most tokens.
        tokens(most: u64) = Some(most);
        /// The longest that it may take.
        time(longest: Duration) = Some(longest);
        /// Whether it has to be known that it ends.
        ends(yes: bool) = yes;
    }
}

impl<'a> Spec<'a> {
    /// A workflow without keys.
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
            built: false,
        }
    }

    setters! { [const]
        /// What it takes.
        inputs(inputs: &'a [InputSpec<'a>]) = inputs;
        /// Keys with an initial value.
        lets(keys: &'a [KeySpec<'a>]) = keys;
        /// Keys that the session already holds.
        states(keys: &'a [KeySpec<'a>]) = keys;
        /// What it gives.
        outputs(keys: &'a [KeySpec<'a>]) = keys;
        /// Agents that are declared and never placed.
        unplaced(names: &'a [&'a str]) = names;
        /// What it may cost at most.
        limits(limits: Limits) = limits;
    }

    /// Whether a step is a stub for an agent that was refused.
    pub(crate) const fn has_stub(&self) -> bool {
        any!(step in self.steps => matches!(step.kind, StepKind::Agent { meta, .. } if meta.is_stub()))
    }

    /// Its inputs, the keys with an initial value and those of the session, one after the other.
    pub(crate) const fn declared(&self, i: usize) -> Option<KeySpec<'a>> {
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

    /// How many of these there are.
    pub(crate) const fn declared_count(&self) -> usize {
        self.inputs.len() + self.lets.len() + self.states.len()
    }

    /// Says that it was made by builders and not by `workflow!`.
    #[must_use]
    pub const fn built(mut self) -> Self {
        self.built = true;
        self
    }
}

/// One step. A block is its opening step, the steps inside, and [`StepKind::End`].
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The name of the agent or block: the author of its events and its part of the path. Empty for markers.
    pub name: &'a str,
    /// What it is.
    pub kind: StepKind<'a>,
    /// The index of the matching [`StepKind::End`]; its own index for a step that is no block.
    pub end: usize,
    /// The doc comment of a named block.
    pub description: &'a str,
    /// Whether the name is from the source; an unnamed block is called `kind_N`.
    pub named: bool,
    /// The keys of an instance, where they are not those of the definition.
    pub renames: Renames<'a>,
    /// What a branch or an element does to its block that fails.
    pub on_error: OnError,
    /// Whether a `before_agent` callback of the block may answer in its place, so that nothing inside of it runs.
    pub skippable: bool,
    /// What the steps of the block may use, each time that it runs.
    pub budget: Option<Budget>,
    /// Whether the block has callbacks, whose time nothing limits.
    pub own_code: bool,
}

/// The keys of an instance: `critic(draft = essay) -> essay_criticism`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Renames<'a> {
    /// What it reads: the key of the definition, and the key that is read instead.
    pub reads: &'a [(&'a str, &'a str)],
    /// What it writes, in the order in which the definition writes; empty when nothing is renamed.
    pub writes: &'a [&'a str],
}

impl<'a> Renames<'a> {
    /// No other keys than those of the definition.
    pub const NONE: Self = Self::new(&[], &[]);

    /// Other keys.
    pub const fn new(reads: &'a [(&'a str, &'a str)], writes: &'a [&'a str]) -> Self {
        Self { reads, writes }
    }
}

/// What becomes of a list with more elements than the `max` of its `each`.
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

/// What becomes of a parallel block, or of an `each`, when a branch or an element of it fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnError {
    /// It fails as well, and the others are cancelled.
    #[default]
    Fail,
    /// It goes on without what has failed.
    Skip,
}

/// What a step is.
#[derive(Clone, Copy, Debug)]
pub enum StepKind<'a> {
    /// Runs an agent.
    Agent {
        /// Its description.
        meta: &'a AgentMeta<'a>,
        /// Whether it is an instance of its own, by `as`.
        instance: bool,
    },
    /// One after the other.
    Sequence,
    /// Its branches at the same time.
    Parallel {
        /// The most branches that run at a time.
        max_concurrency: Option<u32>,
        /// The first branch that finishes wins, and the others are cancelled.
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
        /// The pattern as it was written, with its guard.
        pattern: &'a str,
    },
    /// Runs its steps once per element of a list, at the same time.
    Each {
        /// The key of the element, which is visible inside only.
        item: &'a str,
        /// The key of the list.
        list: &'a str,
        /// The most elements.
        max: Option<u32>,
        /// What becomes of a longer list.
        over: Over,
        /// The most elements at a time.
        max_concurrency: Option<u32>,
    },
    /// Repeats.
    Loop {
        /// The most rounds.
        max: Option<u32>,
        /// The `bool` key that ends it after a round.
        until: Option<&'a str>,
    },
    /// Runs its steps again when they fail.
    Try(Attempts),
    /// What runs when all attempts have failed: the last step of a try, and a block of its own.
    Else,
    /// Ends the innermost loop, or the loop of that name.
    Break {
        /// The name of the loop.
        target: Option<&'a str>,
    },
    /// The end of a block.
    End,
}

/// How often a `try` runs its steps, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Attempts {
    /// The most attempts. Default 3.
    pub most: u32,
    /// The time that one attempt may take. By default there is no limit.
    pub timeout: Option<Duration>,
    /// How long the second attempt waits; each later one waits twice as long as that before it. By default none waits.
    pub delay: Option<Duration>,
    /// Whether it tries again after any error, and not only after one that may pass.
    pub all: bool,
}

impl Attempts {
    /// Attempts that begin at once, have all the time they need, and end with an error that will not pass.
    pub const fn new(most: Option<u32>) -> Self {
        let most = match most {
            Some(most) => most,
            None => 3,
        };
        Self { most, timeout: None, delay: None, all: false }
    }

    setters! { [const]
        /// The time that one attempt may take.
        timeout(timeout: Duration) = Some(timeout);
        /// How long the second attempt waits.
        delay(delay: Duration) = Some(delay);
    }

    /// The milliseconds that all attempts wait together.
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

    /// Says that it tries again after any error.
    #[must_use]
    pub const fn all(mut self) -> Self {
        self.all = true;
        self
    }
}

/// The key of the error in the `else` of a `try`: a `String`.
pub const ERROR_KEY: &str = "error";

impl<'a> Step<'a> {
    /// A step at `end`, or a block that ends there.
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

    /// A step that runs an agent.
    pub const fn agent(name: &'a str, meta: &'a AgentMeta<'a>, instance: bool, at: usize) -> Self {
        Self::new(name, StepKind::Agent { meta, instance }, at)
    }

    setters! { [const]
        /// What the block is for.
        description(description: &'a str) = description;
        /// The keys of an instance.
        renames(renames: Renames<'a>) = renames;
        /// Says what a branch or an element does to the block that fails.
        on_error(on_error: OnError) = on_error;
        /// Says that a `before_agent` callback of the block may answer in its place: what it writes is not certain then.
        skippable(yes: bool) = yes;
        /// Says whether the block has callbacks.
        own_code(yes: bool) = yes;
        /// What the steps of the block may use, each time that it runs.
        budget(budget: Budget) = Some(budget);
    }

    /// Whether what is written in a parallel block is not certain after it, since a branch may fail.
    pub(crate) const fn skips_branches(&self) -> bool {
        matches!((self.kind, self.on_error), (StepKind::Parallel { .. }, OnError::Skip))
    }

    /// Says that nobody chose the name: it is exempt from `name-duplicate` across workflows.
    #[must_use]
    pub const fn unnamed(mut self) -> Self {
        self.named = false;
        self
    }
}
