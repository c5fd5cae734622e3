//! What tools and functions take from the program, as their expansions do.

use crate::runtime::resources::SharedResources;
use crate::{Context, Result, ToolContext};

pub use crate::runtime::resources::{Gives, Needs, Resources};
pub use adk_spec::spec::ResourceSpec;

/// Resources that a function or a tool is about to take. It borrows nothing, so that the work may run anywhere.
#[derive(Debug)]
pub struct RunResources(SharedResources);

/// Those of the run of an agent.
pub fn run_resources(cx: &Context) -> RunResources {
    RunResources(cx.resources().clone())
}

/// Those of the run of a call.
pub fn call_resources(cx: &ToolContext) -> RunResources {
    RunResources(cx.resources().clone())
}

impl RunResources {
    /// The resource of that type.
    ///
    /// # Errors
    /// When the runner gives none.
    pub fn take<T: Send + Sync + 'static>(&self) -> Result<&T> {
        self.0.get()
    }
}

/// An agent or a tool that says what it needs: it implements [`Needs`]. Of another it is looked for when a run begins.
pub trait DeclaresNeeds {}

/// What a workflow asks of a step or a tool: `<T as NeedsOf<{ ItemFacts::<T>::NEEDS }>>::Of`.
pub trait NeedsOf<const SAYS: bool> {
    /// The type itself, or one that needs nothing.
    type Of;
}

impl<T> NeedsOf<true> for T {
    type Of = T;
}

impl<T> NeedsOf<false> for T {
    type Of = NoNeeds;
}

/// It needs nothing.
#[derive(Debug)]
pub enum NoNeeds {}

impl<R: ?Sized> Needs<R> for NoNeeds {}
