//! [`FunctionAgent`]: the agent that `#[agent]` makes of a function.
//!
//! An expansion consists of a marker type and of one impl for it. rustc checks what is here once, and each body in an expansion
//! for each function of the user's crate.

use super::super::made::{MadeByMacro, Making};
use super::super::resources::SaysNeeds;
use super::super::typed::Typed;
use super::Work;
use crate::runtime::resources::Needs;
use crate::{AgentMeta, Context, Result};
use std::fmt;
use std::marker::PhantomData;

/// The agent of a function. `F` is the marker of the function.
pub struct FunctionAgent<F>(PhantomData<fn() -> F>);

/// What `#[agent]` says of a function, for the marker of the function.
pub trait AgentFunction: 'static {
    /// The description of the agent.
    const META: &'static AgentMeta<'static>;
    /// The key of the value that the function returns; empty for none.
    const KEY: &'static str;

    /// Reads the parameters.
    ///
    /// # Errors
    /// When a key does not hold what its parameter takes.
    fn begin(cx: &mut Context) -> Result<Work<'_>>;
}

#[diagnostic::do_not_recommend]
impl<F: AgentFunction> MadeByMacro for FunctionAgent<F> {
    const META: &'static AgentMeta<'static> = F::META;

    fn made(&self) -> Making<'_> {
        Making::Function(F::KEY, F::begin)
    }
}

#[diagnostic::do_not_recommend]
impl<F: Typed> Typed for FunctionAgent<F> {
    type Reads = F::Reads;
    type Writes = F::Writes;
}

#[diagnostic::do_not_recommend]
impl<F: SaysNeeds> SaysNeeds for FunctionAgent<F> {}

// rustc goes on to what the runner does not give, so this one may be recommended.
impl<R: ?Sized, F: Needs<R>> Needs<R> for FunctionAgent<F> {}

impl<F> Clone for FunctionAgent<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for FunctionAgent<F> {}

impl<F> Default for FunctionAgent<F> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<F: AgentFunction> fmt::Debug for FunctionAgent<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(F::META.name)
    }
}
