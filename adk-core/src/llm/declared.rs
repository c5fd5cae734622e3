//! An agent that a macro declared, as a type.

use super::LlmAgent;
use super::declare::LlmDecl;
use crate::agent::{Agent, Flow};
use crate::run::{Context, Prepare};
use crate::spec::AgentMeta;
use crate::{DynAgent, Result};
use std::fmt;
use std::marker::PhantomData;

/// What a macro writes for each `agent NAME { ... }`: the declaration, as a const of a type and a number.
pub trait Declares<const N: usize> {
    /// The declaration.
    const DECL: LlmDecl;
}

/// The `N`th agent that `W` declares.
///
/// Each declared agent is a type of its own, so that two of them cannot be exchanged. Only what no check depends
/// on can be set.
pub struct Declared<W, const N: usize = 0> {
    agent: LlmAgent,
    owner: PhantomData<fn() -> W>,
}

impl<W: Declares<N>, const N: usize> Default for Declared<W, N> {
    fn default() -> Self {
        Self { agent: LlmAgent::declared(const { &W::DECL }), owner: PhantomData }
    }
}

impl<W: Declares<N>, const N: usize> Agent for Declared<W, N> {
    const META: AgentMeta<'static> = W::DECL.meta;

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        self.agent.run_dyn(cx).await
    }

    fn prepare(&self, prepare: &mut Prepare<'_>) {
        self.agent.prepare_dyn(prepare);
    }
}

impl<W, const N: usize> Declared<W, N> {
    /// As what workflows hold.
    #[doc(hidden)]
    pub fn as_dyn(&self) -> &dyn DynAgent {
        &self.agent
    }
}

impl<W, const N: usize> fmt::Debug for Declared<W, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.agent.fmt(f)
    }
}
