//! Functions as callbacks before a block. The flow has to know whether one may replace its block, so that its type
//! is asked for in the `SPEC` of a workflow, and one that is no callback is reported there. Where it is added it is added if it
//! is one, and no second message follows.

use super::AgentCallbacks;
use super::accept::{Asked, BeforeAgent, BeforeAgentForm, Said};
use std::marker::PhantomData;

/// True if the type of a callback before an agent or a block lets it replace that.
pub const fn may_stand<M, F: BeforeAgent<M>>(_: &F) -> bool {
    <<F as BeforeAgentForm<'static, M>>::Given as Asked<'static, Said, M>>::MAY_STAND
}

/// What [`may_stand`] was asked of.
#[derive(Debug)]
pub struct BeforeBlock<F, M>(F, PhantomData<M>);

impl<F, M> BeforeBlock<F, M> {
    pub const fn new(callback: F) -> Self {
        Self(callback, PhantomData)
    }
}

impl<F: BeforeAgent<M>, M> BeforeBlock<F, M> {
    pub fn add_to(self, callbacks: &mut AgentCallbacks) {
        callbacks.before(self.0);
    }
}

/// An inherent method wins over one of a trait: this one is left to what is no callback, with which nothing compiles.
pub trait Refused: Sized {
    fn add_to(self, _: &mut AgentCallbacks) {}
}

impl<F> Refused for BeforeBlock<F, ()> {}
