//! [`AgentFunction`]: a function as an agent, as `#[agent]` generates it.
//!
//! rustc checks this impl once, but it checks each generated body for every function of the user's
//! crate.

use super::super::generated::{Behavior, GeneratedAgent};
use super::Work;
use crate::{AgentMeta, Context, Result};

/// A function as an agent. `#[agent]` implements this trait for the type that has the function's
/// name.
pub trait AgentFunction: Send + Sync + 'static {
    /// The description of the agent.
    const META: &'static AgentMeta<'static>;
    /// The key that receives the function's value; empty if the function writes no key.
    const KEY: &'static str;

    /// Reads the parameters.
    ///
    /// # Errors
    /// Fails if a key does not hold a value of its parameter's type.
    fn begin(cx: &mut Context) -> Result<Work<'_>>;
}

#[diagnostic::do_not_recommend]
impl<F: AgentFunction> GeneratedAgent for F {
    const META: &'static AgentMeta<'static> = F::META;

    fn behavior(&self) -> Behavior<'_> {
        Behavior::Function(F::KEY, F::begin)
    }
}
