//! [`AgentFunction`]: what `#[agent]` says of a function.
//!
//! rustc checks what is here once, and each body in an expansion for each function of the user's crate.

use super::super::generated::{Behavior, GeneratedAgent};
use super::Work;
use crate::{AgentMeta, Context, Result};

/// A function as an agent, for the type of its name.
pub trait AgentFunction: Send + Sync + 'static {
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
impl<F: AgentFunction> GeneratedAgent for F {
    const META: &'static AgentMeta<'static> = F::META;

    fn behavior(&self) -> Behavior<'_> {
        Behavior::Function(F::KEY, F::begin)
    }
}
