//! [`Block`] and [`LoopBlock`]: the fields of a workflow for its named blocks.

use crate::runtime::callback::{AfterAgent, AgentCallbacks, BeforeAgent, setters};
use crate::spec::{Spec, StepKind};
use crate::{Error, ErrorKind, Result};
use std::fmt;
use std::marker::PhantomData;

/// A type that has its whole tree as a const, as `workflow!` generates it.
pub trait Described {
    /// The whole tree.
    const SPEC: Spec<'static>;
}

/// A named block of the workflow `W`, at step `STEP` of its spec.
///
/// Each block has its own type, so the fields of two blocks cannot be swapped.
pub struct Block<W, const STEP: usize> {
    callbacks: AgentCallbacks,
    workflow: PhantomData<fn() -> W>,
}

/// A named loop of the workflow `W`, at step `STEP` of its spec.
pub struct LoopBlock<W, const STEP: usize> {
    max: Option<u32>,
    callbacks: AgentCallbacks,
    workflow: PhantomData<fn() -> W>,
}

/// The field of a named block in the struct of its workflow: access to the callbacks of the block.
pub trait BlockField: Default {
    /// Returns the callbacks before and after the block.
    fn callbacks(&self) -> &AgentCallbacks;

    /// Returns the callbacks before and after the block, to add more.
    fn callbacks_mut(&mut self) -> &mut AgentCallbacks;
}

macro_rules! field {
    ($name:ident) => {
        impl<W, const STEP: usize> BlockField for $name<W, STEP> {
            fn callbacks(&self) -> &AgentCallbacks {
                &self.callbacks
            }

            fn callbacks_mut(&mut self) -> &mut AgentCallbacks {
                &mut self.callbacks
            }
        }

        impl<W, const STEP: usize> $name<W, STEP> {
            setters! {
                [] (&mut self) -> &mut Self, (self);
                add_before_agent(impl BeforeAgent<M>), add_after_agent(impl AfterAgent<M>)
            }
        }
    };
}
field!(Block);
field!(LoopBlock);

impl<W: Described, const STEP: usize> LoopBlock<W, STEP> {
    /// Returns the maximum number of rounds; `None` if only `until` or a step inside ends the loop.
    pub fn max(&self) -> Option<u32> {
        self.max.or(declared_max::<W, STEP>())
    }

    /// Lowers the maximum number of rounds. A higher number than the declared one is an error,
    /// since the checks relied on the declared number.
    ///
    /// # Errors
    /// Returns an error for zero, and for more than the declared `max`.
    pub fn set_max(&mut self, rounds: u32) -> Result<&mut Self> {
        let declared = declared_max::<W, STEP>();
        let name = W::SPEC.steps.get(STEP).map_or("", |step| step.name);
        let refuse = |why: String, help: String| {
            let message = format!("loop-max: `set_max({rounds})` on loop `{name}`: {why}");
            Err(Error::new(ErrorKind::Config, message).with_help(help))
        };
        if rounds == 0 {
            return refuse(
                "a loop runs at least once".into(),
                "set at least one round".into(),
            );
        }
        if let Some(most) = declared.filter(|most| rounds > *most) {
            let why = format!("the checks rely on its declared `max = {most}`");
            return refuse(
                why,
                format!("set at most {most} rounds, or declare a higher `max`"),
            );
        }
        self.max = Some(rounds);
        Ok(self)
    }
}

fn declared_max<W: Described, const STEP: usize>() -> Option<u32> {
    match W::SPEC.steps.get(STEP)?.kind {
        StepKind::Loop { max, .. } => max,
        _ => None,
    }
}

impl<W, const STEP: usize> Default for Block<W, STEP> {
    fn default() -> Self {
        Self {
            callbacks: AgentCallbacks::default(),
            workflow: PhantomData,
        }
    }
}

impl<W, const STEP: usize> Default for LoopBlock<W, STEP> {
    fn default() -> Self {
        Self {
            max: None,
            callbacks: AgentCallbacks::default(),
            workflow: PhantomData,
        }
    }
}

impl<W, const STEP: usize> fmt::Debug for Block<W, STEP> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Block")
    }
}

impl<W, const STEP: usize> fmt::Debug for LoopBlock<W, STEP> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopBlock").field("max", &self.max).finish()
    }
}
