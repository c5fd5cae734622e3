//! [`BeforeBlock`]: a function as the `before_agent` callback of a block. The flow check must know
//! whether the callback may replace its block, so the `SPEC` of a workflow evaluates the type of
//! the function and reports a function that is not a callback. The expansion then adds only real
//! callbacks, so no second message follows.

pub use crate::runtime::callback::accept::may_stand;

use crate::runtime::callback::{AgentCallbacks, BeforeAgent};
use std::marker::PhantomData;

/// A function whose type [`may_stand`] has evaluated.
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

/// A fallback for functions that are not callbacks. The inherent method `add_to` wins over this
/// one, so only code that does not compile reaches it.
pub trait NoCallback: Sized {
    fn add_to(self, _: &mut AgentCallbacks) {}
}

impl<F> NoCallback for BeforeBlock<F, ()> {}
