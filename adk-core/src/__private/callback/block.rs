//! Functions as callbacks before a block. The flow has to know whether one may replace its block, so that its type
//! is asked for in the `SPEC` of a workflow, and one that is no callback is reported there. Where it is added it is added if it
//! is one, and no second message follows.

pub use crate::runtime::callback::accept::may_stand;

use crate::runtime::callback::{AgentCallbacks, BeforeAgent};
use std::marker::PhantomData;

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
pub trait NoCallback: Sized {
    fn add_to(self, _: &mut AgentCallbacks) {}
}

impl<F> NoCallback for BeforeBlock<F, ()> {}
